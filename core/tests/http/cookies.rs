//! Cookies of balancers: they go back to the server that set them, and nowhere else.

use rig::remote::{close, failed, refused};
use rig::{Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::EventMask;

use crate::script::{Answer, Asked, Script, refusal};

/// A balancer that knows its node by a cookie, and moves to the next node with the third call.
fn balanced(asked: &Asked) -> Answer {
    let cookies = |node: &str| {
        Answer::With(vec![
            format!("set-cookie: NODE={node}; Path=/; Expires=Fri, 31 Dec 9999 23:59:59 GMT"),
            format!("set-cookie: NODES={node}; Path=/; Secure; SameSite=None"),
            format!("set-cookie: other={node}; Path=/other"),
            format!("set-cookie: gone={node}; Max-Age=0"),
        ])
    };
    let moved = asked.method() == "tools/call" && asked.number == 2;
    match (asked.method(), asked.header("cookie")) {
        ("initialize", _) => cookies("canary-n1"),
        ("server/discover", "") => Answer::Usual,
        (_, "NODE=canary-n1") if moved => cookies("canary-n2"),
        ("tools/call", "NODE=canary-n1") if asked.number < 2 => Answer::Usual,
        ("tools/call" | "DELETE", "NODE=canary-n2") => Answer::Usual,
        ("tools/call" | "DELETE", _) => refusal("404 Not Found", &[]),
        (_, "NODE=canary-n1") => Answer::Usual,
        _ => refusal("404 Not Found", &[]),
    }
}

/// SPEC 18.6: the newest value goes with every request to that server, and with no request of
/// another entry.
#[test]
fn a_session_that_a_cookie_keeps_at_its_node_stays_there() {
    let rig = Rig::new(json!({}));
    let (script, other) = (Script::start(balanced), Script::start(|_| Answer::Usual));
    let events = rig.pool.subscribe(EventMask::ALL).unwrap();
    host(async {
        rig.configure(json!({ "s": script.config(), "t": other.config() })).await;
        let session = rig.session("a");
        let (lease, others) = (acquire(&session, "s").await, acquire(&session, "t").await);
        for _ in 0..5 {
            assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
            text(&others, "echo", json!({})).await;
        }
        let told: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        let shown = format!("{} {told:?}", rig.pool.status());
        assert!(!shown.contains("canary"), "{shown}");
    });
    close(&rig);
    assert_eq!(script.of("initialize").len(), 1);
    assert_eq!(script.of("DELETE")[0].header("cookie"), "NODE=canary-n2");
    assert!(other.seen().iter().all(|asked| asked.header("cookie").is_empty()));
}

/// SPEC 18.6: they outlive a session that is lost, and end with the connection.
#[test]
fn cookies_are_kept_over_a_lost_session_and_end_with_the_connection() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    let script = Script::start(|asked| match asked.method() {
        "tools/call" if asked.number == 0 => refusal("404 Not Found", &[]),
        "initialize" if asked.number == 0 => Answer::With(vec!["set-cookie: a=1".into()]),
        _ => Answer::Usual,
    });
    let handshakes = || {
        let of = |asked: &Asked| asked.header("cookie").to_owned();
        script.of("initialize").iter().map(of).collect::<Vec<_>>()
    };
    host(async {
        rig.configure(json!({ "s": script.config() })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        failed(&lease, "echo", json!({})).await;
        until(|| lease.generation() == 2 && lease.state().is_connected());
        assert_eq!(handshakes(), ["", "a=1"]);
        session.close(None);
        let entries = || rig.pool.status()["servers"]["s"]["entries"].clone();
        until(|| entries().as_array().is_none_or(Vec::is_empty));
        let _lease = acquire(&rig.session("b"), "s").await;
        assert_eq!(handshakes(), ["", "a=1", ""]);
    });
}

/// SPEC 18.6: the configuration's own rule, and nothing is added to them.
#[test]
fn a_cookie_of_the_configuration_is_the_only_one() {
    let rig = Rig::new(json!({}));
    let script = Script::start(|_| Answer::With(vec!["set-cookie: a=1".into()]));
    host(async {
        let mut config = script.config();
        config["headers"] = json!({ "Cookie": "own=7" });
        rig.configure(json!({ "s": config })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        text(&lease, "echo", json!({})).await;
    });
    assert!(script.seen().iter().all(|asked| asked.header("cookie") == "own=7"));
}

/// SPEC 18.6: a redirect that is followed may set one; one that leads away sets none.
#[test]
fn a_redirect_to_another_origin_sets_no_cookie() {
    let led_away = |to: &'static str| {
        move |asked: &Asked| match asked.path.as_str() {
            "/mcp" if asked.header("cookie").is_empty() => refusal(
                "307 Temporary Redirect",
                &[&format!("location: {to}"), "set-cookie: a=1; Path=/"],
            ),
            _ => Answer::Usual,
        }
    };
    let rig = Rig::new(json!({}));
    let script = Script::start(led_away("/real"));
    host(async {
        rig.configure(json!({ "s": script.config() })).await;
        acquire(&rig.session("a"), "s").await;
    });
    assert!(script.seen().iter().skip(1).all(|asked| asked.header("cookie") == "a=1"));
    let rig = Rig::new(json!({}));
    let script = Script::start(led_away("http://127.0.0.1:1/real"));
    host(async {
        refused(&rig, script.config()).await;
        let options = trunkline::AcquireOptions::default();
        assert!(rig.session("b").acquire("s", None, &options).await.is_err());
    });
    assert!(script.seen().len() > 1);
    assert!(script.seen().iter().all(|asked| asked.header("cookie").is_empty()));
}
