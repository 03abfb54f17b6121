//! Servers that ask for more time than the connect has, or for nearly as much.

use std::time::Duration;

use rig::remote::{Remote, close, connected, refused};
use rig::{Rig, host, text, until};
use serde_json::json;
use trunkline::{AcquireOptions, ErrorCode};

/// Refuses whatever comes with 503, and asks for 10 s: twice the time that there is to connect.
const BUSY: &str = "busy=1000,busy-wait=10";

/// Several times what the schedule has an attempt wait for.
const QUIET: Duration = Duration::from_millis(500);

/// SPEC 8.4, 4.6, 5.12: nobody waits for what would come too late. What the server said is the
/// error, and it is sent nothing more.
#[test]
fn a_server_that_asks_for_more_time_than_there_is_to_connect_is_reported_at_once() {
    for kind in ["http", "bare", "sse", "ws"] {
        let rig = Rig::new(json!({}));
        let remote = match kind {
            "ws" => Remote::start_socket(&rig, BUSY, &[]),
            "sse" => Remote::start_events(&rig, BUSY, &[]),
            _ => Remote::start(&rig, BUSY, &[]),
        };
        let mut config = remote.config();
        if kind == "bare" {
            config.as_object_mut().unwrap().remove("type");
        }
        let error = host(refused(&rig, config));
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{kind}: {error}");
        let said = ["status", "retry_after_ms"].map(|member| error.detail()[member].clone());
        assert_eq!(said, [json!(503), json!(10_000)], "{kind}");
        assert_eq!(remote.requests().len(), 1, "{kind}");
        close(&rig);
    }
}

/// SPEC 8.4: so it is known how long the next attempt has to wait, where the schedule would have it
/// come much sooner.
#[test]
fn a_held_server_that_asks_for_time_is_left_alone() {
    // Some attempts may come before the second server is there, however slow the machine is.
    let delays = vec![200; 100];
    let delays = json!({ "local": delays, "remote": delays });
    for start in [Remote::start_events, Remote::start_socket] {
        let rig = Rig::new(json!({ "reconnect": { "delays_ms": delays } }));
        let mut remote = start(&rig, "", &[]);
        host(async {
            let _held = connected(&rig, &remote).await;
            remote.replace(&rig, BUSY, &[]);
            let row = || rig.pool.status()["servers"]["s"].clone();
            until(|| row()["last_error"]["detail"]["retry_after_ms"] == 10_000);
            tokio::time::sleep(QUIET).await;
            assert_eq!((&row()["state"], remote.requests().len()), (&json!("connecting"), 1));
        });
        close(&rig);
    }
}

/// SPEC 8.4, 4.8: what a question waits for, the handshake that stands in for it waits for as well.
#[test]
fn no_handshake_is_sent_within_the_time_that_a_server_asked_for() {
    let rig = Rig::new(json!({ "connect_timeout_ms": 1_400 }));
    let remote = Remote::start(&rig, "busy=1", &[]);
    host(async {
        rig.configure(json!({ "s": remote.config() })).await;
        let _ = rig.session("a").acquire("s", None, &AcquireOptions::default()).await;
    });
    let requests = remote.requests();
    let sent: Vec<_> = requests.iter().filter_map(|sent| sent["method"].as_str()).collect();
    assert_eq!(sent[0], "server/discover");
    assert!(sent.get(1).is_none_or(|second| *second == "server/discover"), "{sent:?}");
}

/// SPEC 8.4: a call has time of its own, however little there was to connect.
#[test]
fn a_call_soon_after_the_connect_waits_for_a_busy_server() {
    let rig = Rig::new(json!({ "connect_timeout_ms": 2_000 }));
    let remote = Remote::start(&rig, "busy-call=1,busy-wait=2", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
        assert_eq!(remote.count("POST", "tools/call"), 2);
    });
}
