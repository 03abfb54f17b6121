//! What a server can make this process hold on to.

use serde_json::json;
use trunkline::{CallOptions, ErrorCode};

use crate::remote::{Remote, close, connected, host, sockets_to};
use crate::rig::{Rig, text, until};

/// SPEC 5.11, I-25: a server that takes no cancellation costs a bounded number of sockets, however many calls are cancelled.
#[test]
fn a_server_that_takes_nothing_costs_a_bounded_number_of_sockets() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "hung-notices", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let options =
            CallOptions::from_json(r#"{"timeout_ms":200,"idle_timeout_ms":200}"#).unwrap();
        for _ in 0..8 {
            let calls = (0..64).map(|_| lease.call_tool("sleep", r#"{"ms":60000}"#, &options));
            for ended in futures_util::future::join_all(calls).await {
                assert_eq!(ended.unwrap_err().code(), ErrorCode::Timeout);
            }
        }
        // 256 notifications, 64 calls that were taken back, and what closes or waits to be used again; 512 calls were cancelled.
        let sockets = sockets_to(&remote);
        assert!((200..=420).contains(&sockets), "{sockets} sockets");
        assert_eq!(text(&lease, "echo", json!({ "message": "on" })).await, "on");
    });
    close(&rig);
    until(|| sockets_to(&remote) == 0);
}
