//! Sockets that a server closes while nobody looks, and what is sent again by another.

use rig::remote::{close, failed};
use rig::{Rig, acquire, host, until};
use serde_json::json;
use trunkline::{CallOptions, ErrorCode, Outcome};

use crate::script::{Answer, Script};

/// SPEC 18.6: what changes nothing is sent once more, by a socket of its own, when its first was
/// closed without an answer; a second time it is not.
#[test]
fn what_changes_nothing_is_sent_once_more_by_a_fresh_socket() {
    for method in ["server/discover", "initialize", "tools/list"] {
        for closed in [1, 2] {
            let rig = Rig::new(json!({ "connect_timeout_ms": 5_000 }));
            let script = Script::start(move |asked| match asked.method() == method {
                true if asked.number < closed => Answer::Nothing,
                _ => Answer::Usual,
            });
            let acquired = host(async {
                rig.configure(json!({ "s": script.config() })).await;
                let session = rig.session("a");
                session.acquire("s", None, &trunkline::AcquireOptions::default()).await.map(drop)
            });
            let asked = script.of(method);
            assert!(asked.len() >= 2, "{method}");
            assert_ne!(asked[0].socket, asked[1].socket, "{method}");
            let first_of_its_socket =
                script.seen().iter().find(|other| other.socket == asked[1].socket).unwrap().clone();
            assert_eq!(first_of_its_socket.body, asked[1].body, "{method}: the socket is fresh");
            if closed == 1 || method == "tools/list" {
                // A list has attempts of its own beside this.
                acquired.unwrap();
                continue;
            }
            assert_eq!(acquired.unwrap_err().code(), ErrorCode::ConnectFailed, "{method}");
            assert_eq!(asked.len(), 2, "{method}");
        }
    }
}

/// SPEC 18.6, 5.7: a call is never sent again, whatever became of its socket.
#[test]
fn a_call_is_not_sent_again() {
    let rig = Rig::new(json!({}));
    let script = Script::start(|asked| match asked.method() {
        "tools/call" => Answer::Nothing,
        _ => Answer::Usual,
    });
    host(async {
        rig.configure(json!({ "s": script.config() })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        let error = failed(&lease, "echo", json!({})).await;
        let told = (error.code(), error.outcome());
        assert_eq!(told, (ErrorCode::CallInterrupted, Some(Outcome::Unknown)), "{error}");
        assert_eq!(script.of("tools/call").len(), 1);
        assert!(lease.state().is_connected());
    });
}

/// SPEC 18.6: the ping as well; a server whose balancer closes sockets is no server that misses
/// pings.
#[test]
fn a_ping_is_sent_once_more() {
    let rig = Rig::new(json!({ "keepalive_ms": 1_000, "keepalive_misses": 1 }));
    let script = Script::start(|asked| match asked.method() {
        "ping" if asked.number % 2 == 0 => Answer::Nothing,
        _ => Answer::Usual,
    });
    host(async {
        rig.configure(json!({ "s": script.config() })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        until(|| script.of("ping").len() >= 4);
        assert_eq!((lease.generation(), lease.state().is_connected()), (1, true));
    });
}

/// SPEC 18.6: within a turn calls share sockets; after a pause each takes a fresh one, which no
/// hint of `Keep-Alive` can be shorter than, and so does the word that the session is over.
#[test]
fn a_socket_that_was_idle_is_not_used_for_a_call() {
    let rig = Rig::new(json!({}));
    let script = Script::start(|_| Answer::With(vec!["keep-alive: timeout=1".to_owned()]));
    host(async {
        rig.configure(json!({ "s": script.config() })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        let socket = async || {
            let options = CallOptions::default();
            lease.call_tool("echo", r#"{"message":"hi"}"#, &options).await.unwrap();
            script.of("tools/call").last().unwrap().socket
        };
        let first = socket().await;
        assert_eq!(socket().await, first);
        // In the pause of a model between two calls nobody else closes it.
        until(|| script.has_ended(first));
        let second = socket().await;
        assert_ne!(second, first);
        until(|| script.has_ended(second));
    });
    close(&rig);
    let ends = script.of("DELETE");
    assert_eq!(ends.len(), 1);
    assert!(script.of("tools/call").iter().all(|call| call.socket != ends[0].socket));
}

/// SPEC 18.6: whatever takes its socket away in an answer is believed, though the socket stays
/// open.
#[test]
fn a_socket_that_an_answer_ends_is_not_used_again() {
    for line in ["keep-alive: timeout=0", "Keep-Alive: timeout=5, max=0", "connection: close"] {
        let rig = Rig::new(json!({}));
        let script = Script::start(move |_| Answer::With(vec![line.to_owned()]));
        host(async {
            rig.configure(json!({ "s": script.config() })).await;
            let lease = acquire(&rig.session("a"), "s").await;
            for _ in 0..3 {
                let options = CallOptions::default();
                lease.call_tool("echo", r#"{"message":"hi"}"#, &options).await.unwrap();
            }
        });
        let mut sockets: Vec<_> = script.of("tools/call").iter().map(|call| call.socket).collect();
        sockets.dedup();
        assert_eq!(sockets.len(), 3, "{line}");
    }
}
