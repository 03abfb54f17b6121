//! What a session is told of a loss and of its end, in which order, and what it sees at that moment.

use serde_json::{Value, json};
use trunkline::{ErrorCode, EventMask, Session, Subscription};

use crate::follower::{definitions, newest};
use crate::rig::{HANG, acquire, testserver, text};
use crate::{change, crash, host, rig, rig_with, until};

/// The next event of the session, whole.
async fn next(events: &Subscription) -> Value {
    let event = tokio::time::timeout(HANG, events.next()).await.expect("it never came");
    serde_json::from_str(event.unwrap().json()).unwrap()
}

/// Kind and generation of an event.
fn head(event: &Value) -> (&str, u64) {
    (event["type"].as_str().unwrap(), event["generation"].as_u64().unwrap())
}

fn start_seen(session: &Session) -> u64 {
    newest(&definitions(session)).0
}

/// SPEC 8.5, 6.7: the new lists are published when `reconnected` is told, `tools_changed` follows with the same generation, and the
/// old lists are shown until then.
#[test]
fn a_reconnect_publishes_then_tells_and_tells_of_differences_last() {
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": rig.server(&["--drift", "--tools", "1"]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let events = session.subscribe(EventMask::ALL).unwrap();
        for generation in 2..5 {
            assert_eq!(start_seen(&session), generation - 1);
            crash(&lease).await;
            assert_eq!(head(&next(&events).await), ("disconnected", generation - 1));
            assert!(start_seen(&session) >= generation - 1, "there is no gap");
            assert_eq!(head(&next(&events).await), ("reconnected", generation));
            assert_eq!(start_seen(&session), generation);
            let told = next(&events).await;
            assert_eq!(head(&told), ("tools_changed", generation));
            let names = (&told["added"], &told["removed"], &told["changed"]);
            assert_eq!(names, (&json!([]), &json!([]), &json!(["tool_1"])));
        }
    });
}

/// SPEC 8.5: lists that are the same after a reconnect are no news.
#[test]
fn a_reconnect_with_the_same_lists_tells_of_no_difference() {
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes", "--tools", "1"]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let events = session.subscribe(EventMask::ALL).unwrap();
        crash(&lease).await;
        assert_eq!(head(&next(&events).await), ("disconnected", 1));
        assert_eq!(head(&next(&events).await), ("reconnected", 2));
        change(&lease, json!({ "list": "prompts", "add": "new" })).await;
        assert_eq!(head(&next(&events).await), ("prompts_changed", 2), "and nothing between");
    });
}

/// SPEC 5.8, 8.1, 8.5: while attempts are made the tools stay; when they are used up the session is told `failed` first, then that
/// its tools, prompts and resources are gone.
#[test]
fn a_failure_is_told_before_its_tools_go() {
    let rig = rig_with(json!({ "reconnect": { "delays_ms": { "local": [0, 400] } } }));
    let program = rig.path("program");
    std::os::unix::fs::symlink(testserver(), &program).unwrap();
    host(async {
        let mut server = rig.server(&["--tools", "1"]);
        server["command"] = json!(program);
        rig.configure(json!({ "s": server })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let before = definitions(&session);
        let events = session.subscribe(EventMask::ALL).unwrap();
        std::fs::remove_file(&program).unwrap();
        crash(&lease).await;
        assert_eq!(head(&next(&events).await), ("disconnected", 1));
        assert_eq!(definitions(&session), before, "another attempt is to come");
        let unavailable = lease.call_tool("tool_1", "", &Default::default()).await.err().unwrap();
        assert_eq!(
            (unavailable.code(), unavailable.is_retryable()),
            (ErrorCode::Unavailable, true)
        );
        let told = next(&events).await;
        assert_eq!(head(&told), ("failed", 3), "{told}");
        let kinds = ["tools_changed", "prompts_changed", "resources_changed"];
        for kind in kinds {
            let told = next(&events).await;
            assert_eq!(head(&told), (kind, 3));
            assert_eq!((&told["added"], &told["changed"]), (&json!([]), &json!([])));
            assert_ne!(told["removed"], json!([]));
        }
        assert_eq!(definitions(&session), Default::default());
        // An acquire buys an attempt, and brings them back.
        std::os::unix::fs::symlink(testserver(), &program).unwrap();
        let again = acquire(&session, "s").await;
        assert_eq!(text(&again, "tool_1", json!({})).await, "tool_1");
        until(async || definitions(&session) == before).await;
    });
}
