//! Sessions that servers forget, and how they end.

use std::time::{Duration, Instant};

use serde_json::json;
use trunkline::{ErrorCode, EventMask};

use crate::remote::{Remote, assert_shows_no_secret, close, connected, failed, host, sockets_to};
use crate::rig::{Rig, text, until};

/// SPEC 8.4, S-35: a server that restarted is not dead, whichever way it says so.
#[test]
fn a_forgotten_session_is_made_anew_at_once() {
    for fault in ["forget-404=2", "forget-400=2"] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, fault, &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            let events = rig.pool.subscribe(EventMask::ALL).unwrap();
            text(&lease, "echo", json!({"message": "hi"})).await;
            let begun = Instant::now();
            let error = failed(&lease, "echo", json!({"message": "hi"})).await;
            assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
            until(|| lease.generation() == 2 && lease.state().is_connected());
            assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
            text(&lease, "echo", json!({"message": "again"})).await;
            let all: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
            let lost = |event: &&trunkline::Event| event.json().contains("session_lost");
            assert_eq!(all.iter().filter(lost).count(), 1, "{fault}: {all:?}");
            assert_shows_no_secret(&rig, &error);
        });
        let first = remote.requests()[0].clone();
        assert!(first["headers"]["mcp-session-id"].is_null());
    }
}

/// SPEC 9.7: a server that does not end its session holds up nobody for longer than the graces.
#[test]
fn the_end_of_a_session_is_waited_for_within_the_graces() {
    for (faults, least, most) in [("no-delete", 0, 2_000), ("stuck-delete", 300, 5_000)] {
        let rig = Rig::new(json!({ "exit_grace_ms": 300, "kill_grace_ms": 300 }));
        let remote = Remote::start(&rig, faults, &[]);
        let _held = host(connected(&rig, &remote));
        let begun = Instant::now();
        close(&rig);
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(least), "{faults}: {took:?}");
        assert!(took < Duration::from_millis(most), "{faults}: {took:?}");
        assert_eq!(remote.count("DELETE", ""), 1);
        until(|| sockets_to(&remote) == 0);
    }
}
