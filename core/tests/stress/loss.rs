//! A server that is killed amid its calls.

use std::sync::mpsc;
use std::time::Instant;

use rig::{HANG, Rig, acquire, host, text, traces};
use serde_json::json;
use trunkline::{CallOptions, ErrorCode, EventKind, EventMask, Outcome};

use crate::{median, rounds};

const CALLS: usize = 20;

/// SPEC 5.6, 5.7, 5.8, I-17: each call ends once and typed, none is sent again, and the lease goes
/// on.
#[test]
fn a_server_killed_amid_twenty_calls_ends_each_of_them_once_and_replays_none() {
    let rig = Rig::new(json!({
        // A caller that waits for a grace hangs.
        "exit_grace_ms": 600_000, "kill_grace_ms": 600_000,
        "reconnect": { "delays_ms": { "local": [0] }, "breaker": { "losses": 1000 }, "healthy_after_ms": 0 },
    }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let events = session.subscribe(EventMask::ALL).unwrap();
        let lease = acquire(&session, "s").await;
        let mut times = Vec::new();
        for round in 0..rounds(5, 100) {
            let pid = text(&lease, "pid", json!({})).await.parse().unwrap();
            let (send, results) = mpsc::channel();
            for call in 0..CALLS {
                let arguments = json!({ "ms": 600_000, "call": call }).to_string();
                let send = send.clone();
                let done = move |end: trunkline::Result<_>| {
                    send.send((call, Instant::now(), end.map(drop))).unwrap();
                };
                lease.start_call_tool("sleep", &arguments, &CallOptions::default(), done);
            }
            drop(send);
            while text(&lease, "under_way", json!({})).await != CALLS.to_string() {}
            let killed = Instant::now();
            traces::kill("KILL", pid);
            let mut ended: Vec<_> =
                (0..CALLS).map(|_| results.recv_timeout(HANG).unwrap()).collect();
            assert!(results.recv().is_err(), "a call ended twice");
            ended.sort_by_key(|(call, ..)| *call);
            let slowest = ended.iter().map(|(_, at, _)| *at - killed).max().unwrap();
            for (place, (call, _, end)) in ended.into_iter().enumerate() {
                let error = end.unwrap_err();
                assert_eq!((call, error.code()), (place, ErrorCode::CallInterrupted));
                assert_eq!(error.outcome(), Some(Outcome::Unknown));
                assert_eq!(error.detail()["generation"], round + 1);
            }
            while events.next().await.unwrap().kind() != EventKind::Reconnected {}
            assert_eq!(text(&lease, "count", json!({})).await, "1", "a call was sent again");
            times.push(slowest);
        }
        let ended = median(times);
        println!("all calls had ended {ended:?} after the kill was begun");
    });
}
