//! Sessions that servers forget, and how they end.

use std::time::{Duration, Instant};

use rig::remote::{Remote, assert_shows_no_secret, close, connected, failed, sockets_to};
use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{ErrorCode, EventMask};

/// SPEC 8.4, S-35: a server that restarted is not dead, whichever way it says so.
#[test]
fn a_forgotten_session_is_made_anew_at_once() {
    for fault in ["forget-404=2", "forget-400=2"] {
        // A caller that waits for a delay hangs.
        let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [600_000] } } }));
        let remote = Remote::start(&rig, fault, &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            let events = rig.pool.subscribe(EventMask::ALL).unwrap();
            text(&lease, "echo", json!({"message": "hi"})).await;
            let error = failed(&lease, "echo", json!({"message": "hi"})).await;
            assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
            until(|| lease.generation() == 2 && lease.state().is_connected());
            text(&lease, "echo", json!({"message": "again"})).await;
            let all: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
            let lost = |event: &&trunkline::Event| event.json().contains("session_lost");
            assert_eq!(all.iter().filter(lost).count(), 1, "{fault}: {all:?}");
            assert_shows_no_secret(&rig, &error);
        });
        close(&rig);
        assert_is_forgotten(&remote.requests());
    }
}

/// Of two sessions, the first is named up to the message that found it gone and never again, not
/// even for its end.
fn assert_is_forgotten(requests: &[Value]) {
    let session = |request: &Value| request["headers"]["mcp-session-id"].clone();
    let mut named: Vec<Value> = requests.iter().map(session).filter(|it| !it.is_null()).collect();
    named.dedup();
    let [first, second] = &named[..] else { panic!("{named:?}") };
    assert_ne!(first, second);
    let last = requests.iter().rfind(|request| session(request) == *first).unwrap();
    assert_eq!(last["method"], "tools/call", "{last}");
    let handshakes = requests.iter().filter(|request| request["method"] == "initialize");
    assert_eq!(handshakes.map(session).collect::<Vec<_>>(), [Value::Null, Value::Null]);
    let ends = requests.iter().filter(|request| request["http"] == "DELETE");
    assert_eq!(ends.map(session).collect::<Vec<_>>(), named[1..]);
}

/// S-35, S-47: what one session of the host says is said in no other's session with the server.
#[test]
fn a_session_is_never_shared_between_two_of_the_host() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &[]);
    let mut used = host(async {
        rig.configure(json!({ "s": remote.config() })).await;
        let (a, b) = (rig.session("a"), rig.session("b"));
        let (first, second) = (acquire(&a, "s").await, acquire(&b, "s").await);
        for lease in [&first, &second, &first, &second] {
            text(lease, "echo", json!({"message": "hi"})).await;
        }
        let requests = remote.requests();
        let calls = requests.iter().filter(|request| request["method"] == "tools/call");
        calls.map(|it| it["headers"]["mcp-session-id"].clone()).collect::<Vec<_>>()
    });
    assert!(used.iter().all(Value::is_string), "{used:?}");
    assert_ne!(used[0], used[1]);
    assert_eq!(used[..2], used[2..]);
    close(&rig);
    let requests = remote.requests();
    let ends = requests.iter().filter(|request| request["http"] == "DELETE");
    let mut ended: Vec<_> = ends.map(|it| it["headers"]["mcp-session-id"].to_string()).collect();
    used.truncate(2);
    let mut used: Vec<_> = used.iter().map(Value::to_string).collect();
    ended.sort();
    used.sort();
    assert_eq!(ended, used);
}

/// SPEC 9.7: a server that does not end its session holds up nobody for longer than the graces.
#[test]
fn the_end_of_a_session_is_waited_for_within_the_graces() {
    // A close that waits for the long grace hangs.
    for (faults, grace_ms) in [("no-delete", 600_000), ("stuck-delete", 300)] {
        let rig = Rig::new(json!({ "exit_grace_ms": grace_ms, "kill_grace_ms": grace_ms }));
        let remote = Remote::start(&rig, faults, &[]);
        let _held = host(connected(&rig, &remote));
        let begun = Instant::now();
        close(&rig);
        let (took, grace) = (begun.elapsed(), Duration::from_millis(grace_ms));
        assert_eq!(took >= grace, faults == "stuck-delete", "{faults}: {took:?}");
        assert!(took < HANG, "{faults}: {took:?}");
        assert_eq!(remote.count("DELETE", ""), 1);
        until(|| sockets_to(&remote) == 0);
    }
}
