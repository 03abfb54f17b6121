//! Whose credentials changed: what they let in, and what they leave alone.

use rig::person::{guarded, sign_in};
use rig::remote::Remote;
use rig::{Rig, acquire, host, text};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, HandlerKind, Handlers, Session, SessionOptions};

/// A session with this token of its own.
fn with_token(rig: &Rig, token: &'static str) -> Session {
    let mut options = SessionOptions::from_json(r#"{"id":"b","servers":[]}"#).unwrap();
    options.handlers = Handlers::new().with(HandlerKind::Credentials, move |_| {
        std::future::ready(Ok(json!({ "token": token }).to_string()))
    });
    rig.pool.session(options).unwrap()
}

/// How often the tools were listed with this token.
fn listed(remote: &Remote, token: &str) -> usize {
    let header = json!(format!("Bearer {token}"));
    let is_it = |request: &&Value| {
        request["method"] == "tools/list" && request["headers"]["authorization"] == header
    };
    remote.requests().iter().filter(is_it).count()
}

/// SPEC 15.3, 1.2: a sign-in of the pool changes nothing for a session with credentials of its own.
#[test]
fn a_sign_in_leaves_the_connections_of_other_credentials_alone() {
    let rig = Rig::new(json!({}));
    host(async {
        let ways = json!({ "accepts": { "token-canary-own": "" } });
        let (remote, config) = guarded(&rig, &ways, json!({}));
        rig.configure(json!({ "s": config })).await;
        let own = acquire(&with_token(&rig, "token-canary-own"), "s").await;
        assert_eq!(listed(&remote, "token-canary-own"), 1);
        sign_in(&rig, "s").await.unwrap();
        let pools = acquire(&rig.session("a"), "s").await;
        // Whatever the sign-in began is over by the time of the second answer to either.
        for _ in 0..2 {
            for lease in [&own, &pools] {
                assert_eq!(text(lease, "echo", json!({ "message": "hi" })).await, "hi");
            }
        }
        assert_eq!(listed(&remote, "token-canary-own"), 1);
    });
}

/// SPEC 15.3: credentials belong to a configuration, whatever it is called.
#[test]
fn a_sign_in_lets_in_every_server_of_its_configuration() {
    let rig = Rig::new(json!({}));
    host(async {
        let (_remote, config) = guarded(&rig, &json!({}), json!({}));
        rig.configure(json!({ "s": config, "t": config })).await;
        let session = rig.session_with(json!({ "id": "a" }));
        session.ready(Some("s"), None).await.unwrap_err();
        session.ready(Some("t"), None).await.unwrap_err();
        sign_in(&rig, "s").await.unwrap();
        session.ready(Some("s"), None).await.unwrap();
        session.ready(Some("t"), None).await.unwrap();
    });
}

/// SPEC 3.2: a host that may have a token by now is asked for that session's connection, and for no
/// other.
#[test]
fn a_session_that_asks_again_moves_nothing_of_the_pool() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, config) = guarded(&rig, &json!({}), json!({}));
        rig.configure(json!({ "s": config })).await;
        sign_in(&rig, "s").await.unwrap();
        let pools = acquire(&rig.session("a"), "s").await;
        let token = remote.requests().into_iter().find_map(|request| {
            let header = request["headers"]["authorization"].as_str()?.to_owned();
            header.strip_prefix("Bearer ").map(str::to_owned)
        });
        let token = token.unwrap();
        assert_eq!(listed(&remote, &token), 1);
        let without = with_token(&rig, "token-canary-none");
        for _ in 0..2 {
            let asked = without.acquire("s", None, &AcquireOptions::default()).await;
            asked.err().expect("it is not let in");
        }
        for _ in 0..2 {
            assert_eq!(text(&pools, "echo", json!({ "message": "hi" })).await, "hi");
        }
        assert_eq!(listed(&remote, &token), 1);
    });
}
