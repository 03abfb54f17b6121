//! Remote servers that stop answering.

use std::process::Command;

use rig::remote::{Remote, connected};
use rig::{Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::EventMask;

fn signal(remote: &Remote, name: &str) {
    let status = Command::new("kill").args([name, &remote.pid().to_string()]).status().unwrap();
    assert!(status.success());
}

/// SPEC 8.3, 8.6: over each transport, such a server (or one that a sleeping machine lost) is lost
/// by the misses alone, and is back when it answers again.
#[test]
fn a_remote_server_that_stops_answering_is_lost_and_comes_back() {
    for start in [Remote::start, Remote::start_events, Remote::start_socket] {
        let rig = Rig::new(json!({
            "keepalive_ms": 1000, "keepalive_misses": 3, "exit_grace_ms": 100, "kill_grace_ms": 100,
            "reconnect": { "delays_ms": { "local": [100], "remote": [100] } },
        }));
        let remote = start(&rig, "", &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            let events = rig.pool.subscribe(EventMask::ALL).unwrap();
            signal(&remote, "-STOP");
            until(|| !lease.state().is_connected());
            signal(&remote, "-CONT");
            until(|| lease.generation() >= 2 && lease.state().is_connected());
            let said = text(&lease, "echo", json!({ "message": "hi" })).await;
            assert_eq!(said, "hi");
            let all: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
            let missed = |event: &&trunkline::Event| event.json().contains("keepalive");
            assert_eq!(all.iter().filter(missed).count(), 1, "{all:?}");
        });
    }
}

/// SPEC 8.3: a server that refuses the question itself lives.
#[test]
fn a_remote_server_that_refuses_the_question_itself_is_not_lost() {
    for status in [400, 405, 500] {
        let rig = Rig::new(json!({ "keepalive_ms": 100, "keepalive_misses": 3 }));
        let remote = Remote::start(&rig, &format!("ping-status={status}"), &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            until(|| remote.count("POST", "ping") >= 8);
            assert!(lease.state().is_connected(), "{status}");
            assert_eq!(lease.generation(), 1, "{status}");
        });
    }
}

/// SPEC 8.3, 8.4: one that is busy lives too, and is left alone for as long as it asks, while
/// another is asked again and again.
#[test]
fn a_busy_remote_server_is_left_alone() {
    let rig = Rig::new(json!({ "keepalive_ms": 100, "keepalive_misses": 3 }));
    let [busy, other] =
        [429, 400].map(|status| Remote::start(&rig, &format!("ping-status={status}"), &[]));
    host(async {
        rig.configure(json!({ "busy": busy.config(), "other": other.config() })).await;
        let session = rig.session("a");
        let leases = [acquire(&session, "busy").await, acquire(&session, "other").await];
        until(|| busy.count("POST", "ping") == 1);
        let before = other.count("POST", "ping");
        until(|| other.count("POST", "ping") >= before + 16);
        assert_eq!(busy.count("POST", "ping"), 1);
        assert!(leases.iter().all(|lease| lease.state().is_connected() && lease.generation() == 1));
    });
}
