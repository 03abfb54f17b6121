//! Servers that say back what they were let in with.

use rig::person::{CANARIES, assert_shows_no_secret, guarded, sign_in};
use rig::{Rig, acquire, host, until};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, EventMask, SessionOptions};

/// S-48: a token that came while the pool ran is as secret as one of the configuration: in errors
/// of calls, in log messages, and in the errors of HTTP.
#[test]
fn a_server_that_echoes_a_token_shows_it_to_nobody() {
    for echoes in ["messages", "status"] {
        let rig = Rig::new(json!({}));
        host(async {
            let (_remote, config) = guarded(&rig, &json!({ "echoes": echoes }), json!({}));
            rig.configure(json!({ "s": config })).await;
            let options = SessionOptions::from_json(r#"{"id":"a","servers":[]}"#).unwrap();
            let session = rig.pool.session(options).unwrap();
            session.acquire("s", None, &AcquireOptions::default()).await.err().unwrap();
            let events = rig.pool.subscribe(EventMask::ALL).unwrap();
            let mut seen = String::new();
            // The second token is one that another took the place of.
            for _ in 0..2 {
                sign_in(&rig, "s").await.unwrap();
                let lease = acquire(&session, "s").await;
                let called = lease.call_tool("echo", "{}", &CallOptions::default()).await;
                let error = called.unwrap_err();
                assert!(error.message().contains("you sent Bearer [redacted]"), "{error}");
                assert_shows_no_secret(&rig, Some(&error));
                if echoes == "messages" {
                    until(|| {
                        while let Some(event) = events.try_next() {
                            seen.push_str(event.json());
                        }
                        seen.contains("notifications/message") || seen.contains(r#""type":"log""#)
                    });
                    assert_eq!(error.detail()["data"]["sent"], Value::from("Bearer [redacted]"));
                    assert!(seen.contains(r#""Bearer [redacted]":true"#), "{seen}");
                }
            }
            while let Some(event) = events.try_next() {
                seen.push_str(event.json());
            }
            for canary in CANARIES {
                assert!(!seen.contains(canary), "{seen}");
            }
        });
    }
}
