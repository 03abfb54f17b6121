//! What a server can make this process hold on to.

use rig::remote::{Remote, close, connected, sockets_to};
use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::{CallOptions, Lease};

/// SPEC 5.11, I-25: a server that takes no cancellation costs a bounded number of sockets, however
/// many calls are cancelled.
#[test]
fn a_server_that_takes_nothing_costs_a_bounded_number_of_sockets() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "hung-notices", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let options = CallOptions::default();
        let call = |_| lease.start_call_tool("sleep", r#"{"ms":60000}"#, &options, |_| {});
        for round in 1..=8 {
            let calls: Vec<_> = (0..64).map(call).collect();
            until(|| remote.count("POST", "tools/call") == 64 * round);
            calls.iter().for_each(|call| call.cancel());
        }
        until(|| remote.count("POST", "notifications/cancelled") == 256);
        // 256 notifications, 64 calls that were taken back, and what closes or waits to be used
        // again; 512 calls were cancelled.
        let sockets = sockets_to(&remote);
        assert!((200..=420).contains(&sockets), "{sockets} sockets");
        assert_eq!(text(&lease, "echo", json!({ "message": "on" })).await, "on");
    });
    close(&rig);
    until(|| sockets_to(&remote) == 0);
}

/// SPEC 5.5: the end of a session takes all its calls back, however many there are, from a server
/// that goes on for others.
#[test]
fn every_call_that_ends_here_is_taken_back_from_the_server() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "hung-notices=200", &[]);
    host(async {
        rig.configure(json!({ "s": remote.shared() })).await;
        let session = rig.session("a");
        let (lease, stays) = (acquire(&session, "s").await, acquire(&rig.session("b"), "s").await);
        let options = CallOptions::default();
        let call = |_| lease.start_call_tool("sleep", r#"{"ms":60000}"#, &options, |_| {});
        let calls: Vec<_> = (0..300).map(call).collect();
        until(|| remote.count("POST", "tools/call") == calls.len());
        session.close(None);
        until(|| remote.count("POST", "notifications/cancelled") == calls.len());
        while text(&stays, "under_way", json!({})).await != "0" {}
    });
    close(&rig);
}

/// Calls that the server works on, all of them cancelled at once: more than may be told at one
/// time.
fn cancel_many(lease: &Lease, remote: &Remote) {
    let options = CallOptions::default();
    let call = |_| lease.start_call_tool("sleep", r#"{"ms":60000}"#, &options, |_| {});
    let calls: Vec<_> = (0..300).map(call).collect();
    until(|| remote.count("POST", "tools/call") == calls.len());
    calls.iter().for_each(|call| call.cancel());
}

/// SPEC 5.5, 15.1: what a server asks while it hears of hundreds of calls that end is answered.
#[test]
fn a_server_that_is_told_much_has_its_questions_answered() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "hung-notices=500", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        cancel_many(&lease, &remote);
        let asked = text(&lease, "ask", json!({ "method": "ping" }));
        let answer = tokio::time::timeout(HANG, asked).await.expect("it has its answer");
        assert_eq!(answer, r#"{"result":{}}"#);
    });
    close(&rig);
}

/// SPEC 15.2, 15.4: a server that takes no more for a while hears of changed roots when it does
/// again, of all changes as one.
#[test]
fn a_change_of_the_roots_is_told_when_there_is_room_for_it() {
    let rig = Rig::new(json!({ "roots": ["src"], "limits": { "in_flight_per_session": 512 } }));
    let remote = Remote::start(&rig, "hung-notices=3000", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        cancel_many(&lease, &remote);
        until(|| remote.count("POST", "notifications/cancelled") == 256);
        for roots in ["tests", "examples"] {
            rig.pool.set_roots(&[roots.to_owned()]).await.unwrap();
        }
        assert_eq!(remote.count("POST", ROOTS_CHANGED), 0);
        until(|| remote.count("POST", ROOTS_CHANGED) > 0);
        assert_eq!(text(&lease, "echo", json!({ "message": "on" })).await, "on");
        assert_eq!(remote.count("POST", ROOTS_CHANGED), 1);
    });
    close(&rig);
}

const ROOTS_CHANGED: &str = "notifications/roots/list_changed";
