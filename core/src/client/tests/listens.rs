//! What a server of the modern era announces, and streams of it that end (SPEC 7.1, 7.7).

use super::*;

fn modern(more: &[&str]) -> Server {
    test_server(&[&["--era", "modern", "--list-changes"][..], more].concat())
}

async fn text(open: &Open, tool: &str, arguments: Value) -> String {
    let answer = open.call(tool, arguments).await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Waits until the server has streams about this.
async fn wait_for_streams(open: &Open, expected: &str) {
    let begun = Instant::now();
    loop {
        let streams = text(open, "listens", json!({})).await;
        if streams == expected {
            return;
        }
        assert!(begun.elapsed() < HANG, "{streams} instead of {expected}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const ALL_LISTS: &str = "prompts resources tools";

/// SPEC 7.1: what it declares to change is listened to before it is listed.
#[tokio::test]
async fn a_modern_server_is_listened_to_and_its_changes_are_told() {
    let open = modern(&[]).connect().await;
    assert_eq!(text(&open, "listens", json!({})).await, ALL_LISTS);
    for (list, told) in [("tools", "Tools"), ("prompts", "Prompts"), ("resources", "Resources")] {
        open.call("change_list", json!({ "list": list, "add": ["new"] })).await.unwrap();
        open.recorder.wait_for(&format!("list_changed {told}")).await;
    }
    open.close().await;
    let open = test_server(&["--era", "modern"]).connect().await;
    assert_eq!(text(&open, "listens", json!({})).await, "");
    open.close().await;
}

/// SPEC 7.1: however a stream ends it is opened again, and what may have been missed is listed.
#[tokio::test]
async fn a_stream_that_ends_is_opened_again_and_followed_by_a_listing() {
    for how in ["result", "error", "cancelled"] {
        let open = modern(&[]).connect().await;
        open.call("end_listens", json!({ "how": how })).await.unwrap();
        open.recorder.wait_for("list_changed Tools").await;
        wait_for_streams(&open, ALL_LISTS).await;
        assert_eq!(open.recorder.told().len(), 1, "{how}");
        open.call("change_list", json!({ "list": "prompts", "add": ["new"] })).await.unwrap();
        open.recorder.wait_for("list_changed Prompts").await;
        open.close().await;
    }
}

/// SPEC 7.1: a server that granted a stream once is asked for it again, whatever it says in
/// between.
#[tokio::test]
async fn a_stream_that_is_taken_back_before_it_stands_again_is_opened_once_more() {
    for listen in ["cancel-second", "refuse-second"] {
        let open = modern(&["--listen", listen]).connect().await;
        open.call("end_listens", json!({})).await.unwrap();
        open.recorder.wait_for("list_changed Tools").await;
        wait_for_streams(&open, ALL_LISTS).await;
        open.close().await;
    }
}

/// SPEC 7.1: a server that grants no stream is connected all the same.
#[tokio::test]
async fn a_server_without_streams_is_connected() {
    for listen in ["refuse", "mute", "nothing"] {
        let open = modern(&["--listen", listen]).connect().await;
        assert!(!open.catalog.tools.is_empty());
        assert_eq!(open.recorder.told(), [""; 0], "{listen}");
        open.close().await;
    }
}

/// SPEC 7.1: over a pipe a notification belongs to the stream that it names.
#[tokio::test]
async fn what_belongs_to_no_stream_of_ours_is_ignored() {
    let open = modern(&[]).connect().await;
    let line = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#;
    open.call("write", json!({ "line": line })).await.unwrap();
    let line = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
    open.call("write", json!({ "line": line })).await.unwrap();
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 7.7.
#[tokio::test]
async fn a_resource_is_listened_to_by_a_stream_of_its_own_until_nobody_wants_it() {
    let open = test_server(&["--era", "modern"]).connect().await;
    let touch = async |uri: &str| text(&open, "touch_resource", json!({ "uri": uri })).await;
    assert_eq!(touch("test://one").await, "not subscribed");
    open.connection.listen("test://one").await.unwrap();
    open.connection.listen("test://two").await.unwrap();
    assert_eq!(touch("test://one").await, "announced");
    open.recorder.wait_for("updated test://one").await;
    open.connection.ignore("test://one");
    wait_for_streams(&open, "test://two").await;
    assert_eq!(touch("test://one").await, "not subscribed");
    // An update may have been missed between the two streams.
    open.call("end_listens", json!({})).await.unwrap();
    open.recorder.wait_for("updated test://two").await;
    open.close().await;
    for (listen, code) in [("refuse", ErrorCode::ServerError), ("nothing", ErrorCode::Protocol)] {
        let open = test_server(&["--era", "modern", "--listen", listen]).connect().await;
        let error = open.connection.listen("test://one").await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        open.close().await;
    }
}

/// SPEC 7.1, 7.7: the stream says whose an update is, also where it is one of a part.
#[tokio::test]
async fn an_update_of_a_part_is_told_as_one_of_what_is_listened_to() {
    let open = test_server(&["--era", "modern"]).connect().await;
    let RequestId(stream) = open.connection.0.calls.next_id();
    open.connection.listen("test://one").await.unwrap();
    for uri in ["test://one", "test://one/part"] {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": stream.to_string() });
        let params = json!({ "uri": uri, "_meta": meta });
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params });
        open.call("write", json!({ "line": line.to_string() })).await.unwrap();
    }
    assert_eq!(open.recorder.told(), ["updated test://one"; 2]);
    open.close().await;
}

/// SPEC 7.8: a server that announced once, and then has no stream to announce on, is listed at the
/// keep-alive.
#[tokio::test]
async fn a_server_that_is_heard_no_more_is_listed_at_the_keep_alive() {
    let server = modern(&["--listen", "once"]);
    let interval = Duration::from_millis(100);
    let server = server.options(|options| options.keepalive = interval);
    // It may take its time to answer.
    let open = server.options(|options| options.keepalive_misses = 100).connect().await;
    open.call("change_list", json!({ "add": ["announced"] })).await.unwrap();
    open.recorder.wait_for("list_changed Tools").await;
    open.call("end_listens", json!({})).await.unwrap();
    let told = open.recorder.told().len();
    let begun = Instant::now();
    while open.recorder.told().len() == told {
        assert!(begun.elapsed() < HANG, "nothing looks at its lists");
        tokio::time::sleep(interval).await;
    }
    open.close().await;
}
