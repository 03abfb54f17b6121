//! Which era a server is spoken with, whatever it makes of the question (SPEC 4.8).

use trunkline_pool::config::Era;

use super::*;

/// The reference server, and how often it was started.
struct Started {
    folder: Folder,
    server: Server,
}

impl Started {
    fn new(opening: Opening, args: &[&str]) -> Started {
        let folder = Folder::new();
        let log = folder.join("starts");
        let server = test_server(&[args, &["--start-log", log.to_str().unwrap()]].concat());
        let server = server.options(|options| {
            options.opening = opening;
            options.timeout = Duration::from_secs(6);
        });
        Started { folder, server }
    }

    fn starts(&self) -> usize {
        std::fs::read_to_string(self.folder.join("starts")).unwrap().lines().count()
    }

    /// Connects, and gives the era, how often each of these methods was seen, and how many
    /// processes it took.
    async fn connect(&self, methods: [&str; 2]) -> (Option<Era>, [String; 2], usize) {
        let open = self.server.connect().await;
        let mut seen = [String::new(), String::new()];
        for (method, seen) in methods.iter().zip(&mut seen) {
            let answer = open.call("seen", json!({ "method": method })).await.unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            *seen = answer["content"][0]["text"].as_str().unwrap().to_owned();
        }
        assert!(!open.catalog.tools.is_empty());
        let era = open.connection.server_facts().era;
        open.close().await;
        (era, seen, self.starts())
    }
}

const GREETINGS: [&str; 2] = ["server/discover", "initialize"];

fn seen(discover: &str, initialize: &str) -> [String; 2] {
    [discover.to_owned(), initialize.to_owned()]
}

/// SPEC 4.8: without a handshake, and with nothing that only a session knows.
#[tokio::test]
async fn a_server_that_speaks_the_modern_era_is_spoken_with_in_it() {
    for era in ["modern", "dual"] {
        let server = Started::new(Opening::Probe, &["--era", era]);
        let found = server.connect(GREETINGS).await;
        assert_eq!(found, (Some(Era::Modern), seen("1", "0"), 1), "{era}");
        let open = server.server.connect().await;
        let facts = open.connection.server_facts();
        assert_eq!(
            (&*facts.protocol_version, &*facts.name),
            ("2026-07-28", "trunkline-testserver")
        );
        let count = open.call("seen", json!({ "method": "notifications/initialized" })).await;
        assert!(count.unwrap().contains("\"0\""));
        open.close().await;
    }
}

/// SPEC 4.8: whatever a server of the legacy era makes of a question that it does not know, it is
/// connected.
#[tokio::test]
async fn a_legacy_server_is_connected_whatever_it_makes_of_the_question() {
    for (early, discovers, starts) in [
        ("answered", "1", 1),
        ("ignored", "1", 1),
        ("exits", "0", 2),
        ("hangs", "0", 2),
        ("confused", "0", 2),
    ] {
        let server = Started::new(Opening::Probe, &["--early", early]);
        let found = server.connect(GREETINGS).await;
        assert_eq!(found, (Some(Era::Legacy), seen(discovers, "1"), starts), "{early}");
    }
}

/// SPEC 4.6, 4.8: what did not read the question did not end by it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_that_ends_by_itself_is_not_started_again() {
    let server = Started::new(Opening::Probe, &["--exit-at-start", "3"]);
    let error = server.server.refused().await;
    assert_eq!((error.code(), &error.detail()["status"]), (ErrorCode::Exited, &json!(3)));
    assert_eq!(server.starts(), 1);
}

/// SPEC 4.8: who is still starting is not taken for one of the legacy era.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_modern_server_that_starts_slowly_is_waited_for() {
    let slow = ["--era", "dual", "--start-delay-ms", "2500"];
    let server = Started::new(Opening::Probe, &slow);
    assert_eq!(server.connect(GREETINGS).await, (Some(Era::Modern), seen("1", "0"), 1));
}

/// SPEC 4.8: an answer that comes after the other question was asked too still settles it.
#[tokio::test]
async fn a_late_answer_to_the_question_is_taken() {
    let late = r#"
        read -r line; id=${line#*\"id\":}; id=${id%%,*}
        read -r line
        printf '{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}\n' "$id"
        printf '{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"no handshake"}}\n'
        while read -r line; do
            id=${line#*\"id\":}; id=${id%%,*}
            printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"any","inputSchema":{"type":"object"}}]}}\n' "$id"
        done"#;
    let open = script(late).connect().await;
    assert_eq!(open.connection.server_facts().era, Some(Era::Modern));
    assert_eq!(open.catalog.tools.len(), 1);
    open.close().await;
}

/// SPEC 4.8: what is known of a server is tried first, and found out again when it is no longer so.
#[tokio::test]
async fn an_era_that_is_known_is_not_asked_for_and_found_out_again_when_it_fails() {
    use Opening::Known;
    for (opening, era, found, greetings, starts) in [
        (Known(Era::Legacy), "dual", Era::Legacy, seen("0", "1"), 1),
        (Known(Era::Modern), "dual", Era::Modern, seen("1", "0"), 1),
        (Known(Era::Legacy), "modern", Era::Modern, seen("1", "0"), 2),
        (Known(Era::Modern), "legacy", Era::Legacy, seen("1", "1"), 1),
    ] {
        let name = format!("{opening:?} {era}");
        let server = Started::new(opening, &["--era", era]);
        assert_eq!(server.connect(GREETINGS).await, (Some(found), greetings, starts), "{name}");
    }
}

/// SPEC 4.8: a configuration that names its era is not asked and not doubted.
#[tokio::test]
async fn an_era_that_the_configuration_names_is_the_only_one() {
    let only = |era, args: &[&str]| Started::new(Opening::Only(era), args);
    let server = only(Era::Legacy, &["--era", "dual"]);
    assert_eq!(server.connect(GREETINGS).await, (Some(Era::Legacy), seen("0", "1"), 1));
    let error = only(Era::Modern, &[]).server.refused().await;
    assert_eq!(error.code(), ErrorCode::Protocol);
    assert!(error.message().contains("modern era"), "{error}");
    let error = only(Era::Legacy, &["--era", "modern"]).server.refused().await;
    assert!(error.message().contains("refused the handshake"), "{error}");
}

/// SPEC 4.8: the revision is ours to check.
#[tokio::test]
async fn a_modern_server_without_a_common_revision_is_refused_with_both_sides_named() {
    let args = ["--era", "modern", "--revisions", "2029-01-01,2030-01-01"];
    let server = Started::new(Opening::Probe, &args);
    let error = server.server.refused().await;
    assert_eq!(error.code(), ErrorCode::Protocol);
    assert_eq!(error.detail()["supported"], json!(["2029-01-01", "2030-01-01"]));
    assert!(error.detail()["known"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert_eq!(server.starts(), 1);
    let args = ["--era", "dual", "--revisions", "2029-01-01,2026-07-28"];
    let server = Started::new(Opening::Probe, &args);
    assert_eq!(server.connect(GREETINGS).await, (Some(Era::Modern), seen("1", "0"), 1));
}

/// SPEC 4.8, PROTOCOL 1.2: a refusal that names what is spoken is followed, to a revision with a
/// handshake too.
#[tokio::test]
async fn a_server_that_refuses_the_revision_is_spoken_with_in_one_that_it_names() {
    let args = ["--era", "dual", "--revisions", "2025-11-25,2024-11-05"];
    let server = Started::new(Opening::Probe, &args);
    let (era, _, starts) = server.connect(GREETINGS).await;
    assert_eq!((era, starts), (Some(Era::Legacy), 2));
    for data in [json!({}), json!({ "supported": "2026-07-28" }), json!(null)] {
        let refusal = json!({ "code": -32022, "message": "unsupported", "data": data });
        let line = format!(r#"{{"jsonrpc":"2.0","id":4294967296,"error":{refusal}}}"#);
        let server = script(&format!("read -r line; printf '%s\\n' '{line}'; cat > /dev/null"));
        let error = server.refused().await;
        assert_eq!(error.code(), ErrorCode::Protocol, "{error}");
        assert_eq!(error.detail()["supported"], json!([]), "{error}");
    }
}

/// SPEC 8.3: the modern era has no ping.
#[tokio::test]
async fn a_silent_modern_server_is_asked_what_it_speaks() {
    let server = test_server(&["--era", "modern"]);
    let interval = Duration::from_millis(200);
    let server = server.options(|options| options.keepalive = interval);
    // It may take its time to answer.
    let open = server.options(|options| options.keepalive_misses = 100).connect().await;
    let asked = || open.call("seen", json!({ "method": "server/discover" }));
    while asked().await.unwrap().contains("\"1\"") {
        tokio::time::sleep(interval * 3).await;
    }
    assert!(open.call("seen", json!({ "method": "ping" })).await.unwrap().contains("\"0\""));
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 4.8, 5.12: a missing type says complete; one that is unknown is an answer that cannot be
/// used.
#[tokio::test]
async fn a_result_is_what_its_type_says() {
    let open = test_server(&["--era", "modern"]).connect().await;
    let answer = async |result: &str| open.call("verbatim", json!({ "result": result })).await;
    for result in [r#"{"content":[]}"#, r#"{"resultType":"complete","content":[]}"#] {
        assert_eq!(answer(result).await.unwrap(), result);
    }
    let error = answer(r#"{"resultType":"task","taskId":"1"}"#).await.unwrap_err();
    assert_eq!(
        (error.code(), &error.detail()["result_type"]),
        (ErrorCode::Protocol, &json!("task"))
    );
    let error = answer(r#"{"resultType":"input_required","inputRequests":{}}"#).await.unwrap_err();
    // Nothing is asked, and the same request again would bring the same.
    assert_eq!(error.code(), ErrorCode::Protocol);
    open.close().await;
    let open = test_server(&[]).connect().await;
    let odd = r#"{"resultType":"task"}"#;
    assert_eq!(open.call("verbatim", json!({ "result": odd })).await.unwrap(), odd);
    open.close().await;
}

/// SPEC 4.8, 5.5: a cancellation is told over a pipe in both eras; a request of the server is not
/// answered.
#[tokio::test]
async fn a_modern_server_hears_of_cancellations_and_gets_no_replies() {
    let open = test_server(&["--era", "modern"]).connect().await;
    let (id, answer) = open.start("sleep", json!({ "ms": 60000 }));
    open.call("echo", json!({ "message": "x" })).await.unwrap();
    open.connection.cancel(id);
    assert_eq!(ended(answer).await.unwrap_err().code(), ErrorCode::Cancelled);
    assert!(open.call("cancelled", json!({})).await.unwrap().contains("\"1\""));
    for request in [r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#, r#"{"id":8,"method":"x"}"#]
    {
        open.call("write", json!({ "line": request })).await.unwrap();
    }
    let replies = open.call("seen", json!({ "method": "a reply" })).await.unwrap();
    assert!(replies.contains("\"0\""), "{replies}");
    open.close().await;
}
