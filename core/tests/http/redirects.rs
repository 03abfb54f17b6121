//! Redirects to another origin: nothing of ours arrives there.

use rig::remote::{Remote, connected, failed, refused};
use rig::{Rig, host, text, until};
use serde_json::json;
use trunkline::ErrorCode;

use crate::trap::Trap;

/// What leads away.
enum Redirect {
    /// The first message, or the handshake of a websocket.
    First,
    /// The wish for the stream of what is unasked.
    Listen,
    /// The wish for the rest of an answer.
    Resume,
}

/// Starts a server of one kind.
type Start = fn(&Rig, &str, &[&str]) -> Remote;

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

const KINDS: [(Start, &[&str], Redirect); 6] = [
    (Remote::start, &[], Redirect::First),
    (Remote::start, &["--era", "modern"], Redirect::First),
    (Remote::start_events, &[], Redirect::First),
    (Remote::start_socket, &[], Redirect::First),
    (Remote::start, &["--list-changes"], Redirect::Listen),
    (Remote::start, &[], Redirect::Resume),
];

/// S-32: by whatever status, from whatever request.
#[test]
fn nothing_of_ours_follows_a_redirect_to_another_origin() {
    for (number, (start, flags, redirect)) in KINDS.iter().enumerate() {
        for status in STATUSES {
            let case = format!("case {number}, {status}");
            let (rig, trap) = (Rig::new(json!({})), Trap::new());
            let start = |faults: &str| {
                let origin = trap.origin();
                let faults = faults.replace("ADDRESS", &format!("{origin}/mcp?x=1"));
                start(&rig, &format!("{faults},redirect-status={status}"), flags)
            };
            match redirect {
                Redirect::First => {
                    let remote = start("redirect=ADDRESS");
                    let error = host(refused(&rig, remote.config()));
                    assert_eq!(error.code(), ErrorCode::Protocol, "{case}: {error}");
                    let (own, there) = (&*remote.url, format!("{}/mcp", trap.origin()));
                    assert_eq!(error.detail()["location"], there, "{case}: {error}");
                    assert_eq!(error.detail()["address"], own, "{case}: {error}");
                    for address in [own, &there] {
                        assert!(error.message().contains(address), "{case}: {error}");
                    }
                    assert_eq!(remote.requests().len(), 1, "{case}");
                }
                Redirect::Listen => host(async {
                    let remote = start("redirect-get=ADDRESS");
                    let (_session, lease) = connected(&rig, &remote).await;
                    until(|| remote.count("GET", "") == 1);
                    // Messages still go where they went.
                    let said = text(&lease, "echo", json!({ "message": "hi" })).await;
                    assert_eq!(said, "hi", "{case}");
                    assert_eq!(remote.count("GET", ""), 1, "{case}");
                }),
                Redirect::Resume => host(async {
                    let remote = start("cut-after-id,no-get,redirect-resume=ADDRESS");
                    let (_session, lease) = connected(&rig, &remote).await;
                    let error = failed(&lease, "echo", json!({ "message": "hi" })).await;
                    assert_eq!(error.code(), ErrorCode::CallInterrupted, "{case}: {error}");
                    assert!(lease.state().is_connected(), "{case}");
                }),
            }
            assert!(trap.is_untouched(), "{case}");
        }
    }
}
