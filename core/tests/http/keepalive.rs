//! Remote servers that stop answering.

use std::process::Command;
use std::time::Duration;

use serde_json::json;
use trunkline::EventMask;

use crate::remote::{Remote, connected, host};
use crate::rig::{Rig, text, until};

fn signal(remote: &Remote, name: &str) {
    let status = Command::new("kill").args([name, &remote.pid().to_string()]).status().unwrap();
    assert!(status.success());
}

/// SPEC 8.3, 8.6: over each transport, such a server (or one that a sleeping machine lost) is lost by the misses alone, and is back
/// when it answers again.
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

/// SPEC 8.3, 8.4: a server that refuses the question itself lives, and one that is busy is left alone for as long as it asks.
#[test]
fn a_remote_server_that_refuses_the_question_itself_is_not_lost() {
    for status in [400, 405, 500, 429] {
        let rig = Rig::new(json!({ "keepalive_ms": 100, "keepalive_misses": 3 }));
        let remote = Remote::start(&rig, &format!("ping-status={status}"), &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            let pings = || remote.count("POST", "ping");
            until(|| pings() >= 1);
            if status == 429 {
                tokio::time::sleep(Duration::from_secs(2)).await;
                assert_eq!(pings(), 1);
            } else {
                until(|| pings() >= 8);
            }
            assert!(lease.state().is_connected(), "{status}");
            assert_eq!(lease.generation(), 1, "{status}");
        });
    }
}
