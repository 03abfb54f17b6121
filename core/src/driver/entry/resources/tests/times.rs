//! How long a host waits at most until its subscription is there.

use super::*;
use crate::{Error, Outcome};

/// What a host is told whose time is over.
fn told(error: &Error) -> (ErrorCode, Option<&Value>, Option<Outcome>) {
    (error.code(), error.detail().get("limit_ms"), error.outcome())
}

/// SPEC 5.4: what the wait for another took is gone for the request, and the error says the time
/// that there was.
#[tokio::test]
async fn a_subscription_has_one_time_for_its_wait_and_its_request() {
    let folder = Folder::new();
    let times = json!({ "call_timeout_ms": 4000 });
    let pool = pool_with(SERVER, &folder.join(""), times).await;
    let lease = acquire(&session(&pool, "a")).await;
    let cell = pool.driver().entries().remove(0).1;
    let mut silent = Box::pin(lease.subscribe_resource("test://silent"));
    {
        // Somebody is at it, as a renewal is, for most of the time.
        let in_hand = cell.resources.told("test://silent");
        let _at_it = in_hand.told.lock().await;
        assert!((&mut silent).now_or_never().is_none());
        tokio::time::sleep(Duration::from_millis(2500)).await;
    }
    // What has ended counts, however late it is looked at.
    let error = tokio::select! {
        biased;
        ended = silent => ended.unwrap_err(),
        () = tokio::time::sleep(Duration::from_millis(3900)) => panic!("its request has all the time anew"),
    };
    assert_eq!(told(&error), (ErrorCode::Timeout, Some(&json!(4000)), Some(Outcome::Unknown)));
    until(|| heard(&folder.join(""), &["notifications/cancelled"]) == 1).await;
    until(|| heard(&folder.join(""), &["resources/unsubscribe", "silent"]) == 1).await;
    pool.close().await.unwrap();
}

/// SPEC 5.4, 7.7: so it is where a modern server acknowledges no stream, which is given up then.
#[tokio::test]
async fn a_stream_that_is_not_acknowledged_has_the_time_of_a_call() {
    let folder = Folder::new();
    let server = json!({ "era": "modern", "call_timeout_ms": 1000 });
    let pool = pool_with(MUTE, &folder.join(""), server).await;
    let lease = acquire(&session(&pool, "a")).await;
    let mute = tokio::time::timeout(HANG, lease.subscribe_resource("test://mute")).await;
    let error = mute.expect("it has an end").unwrap_err();
    assert_eq!(told(&error), (ErrorCode::Timeout, Some(&json!(1000)), Some(Outcome::Unknown)));
    until(|| heard(&folder.join(""), &["notifications/cancelled"]) == 1).await;
    let cell = pool.driver().entries().remove(0).1;
    until(|| cell.resources.lines().is_empty()).await;
    assert_eq!(heard(&folder.join(""), &["subscriptions/listen"]), 1);
    pool.close().await.unwrap();
}

/// SPEC 5.4, 5.12: with more time than that it ends after what a stream has to be acknowledged, and
/// says so.
#[tokio::test]
async fn a_stream_that_is_not_acknowledged_says_what_time_it_had() {
    let folder = Folder::new();
    let pool = pool_with(MUTE, &folder.join(""), json!({ "era": "modern" })).await;
    let lease = acquire(&session(&pool, "a")).await;
    let mute = tokio::time::timeout(HANG, lease.subscribe_resource("test://mute")).await;
    let error = mute.expect("it has an end").unwrap_err();
    assert_eq!(told(&error), (ErrorCode::Timeout, Some(&json!(10_000)), Some(Outcome::Unknown)));
    assert!(error.hint().is_some());
    pool.close().await.unwrap();
}

/// A server of the modern era that acknowledges nothing.
const MUTE: &str = r#"
while read -r line; do
    echo "$line" >> "$HERE/log"
    id=$(expr "$line" : '.*"id":\([0-9]*\)')
    case "$line" in
        *'"server/discover"'*) result='{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true}}}' ;;
        *'"tools/list"'*) result='{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
        *'"resources/list"'*) result='{"resources":[]}' ;;
        *'"resources/templates/list"'*) result='{"resourceTemplates":[]}' ;;
        *) continue ;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
"#;
