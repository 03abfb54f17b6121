//! What a request is refused for: that request's alone, and told with what a reader of the error
//! needs.

use rig::remote::{failed, refused};
use rig::{Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{ErrorCode, EventKind, EventMask, Lease, Outcome, Session};

use crate::script::{Answer, Script, refusal};

/// Two challenges in headers of their own; the one for a token is not the first.
const CHALLENGES: [&str; 2] = [
    "www-authenticate: Basic realm=\"other\"",
    "www-authenticate: Bearer scope=\"read write\", resource_metadata=\"https://h.example/m\"",
];

const PAGE: &str =
    "<html><title>Blocked</title><style>p { }</style><p>Your request was\n blocked. Ray 7\u{1b}[2J";

fn page(status: &'static str) -> Answer {
    let headers = vec!["content-type: text/html; charset=utf-8".to_owned()];
    Answer::Http(status, headers, PAGE.as_bytes().to_vec())
}

async fn connected(rig: &Rig, script: &Script) -> (Session, Lease) {
    rig.configure(json!({ "s": script.config() })).await;
    let session = rig.session("a");
    let lease = acquire(&session, "s").await;
    (session, lease)
}

fn row(rig: &Rig) -> Value {
    rig.pool.status()["servers"]["s"].clone()
}

/// SPEC 18.4, 5.6: each refusal of a call, with its code, whether the call can have run, and what
/// is missing. What comes after it works, over the same connection.
#[test]
fn a_call_that_is_refused_ends_nothing_else() {
    type Refuse = fn() -> Answer;
    const LESS: &str = "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"more\"";
    let cases: [(Refuse, ErrorCode, Outcome, Value); 6] = [
        (
            || refusal("401 Unauthorized", &[]),
            ErrorCode::AuthRequired,
            Outcome::NotSent,
            json!({ "missing": "token", "status": 401 }),
        ),
        (
            || refusal("401 Unauthorized", &CHALLENGES),
            ErrorCode::AuthRequired,
            Outcome::NotSent,
            json!({ "missing": "token", "scope": "read write", "resource_metadata": "https://h.example/m" }),
        ),
        (
            || refusal("403 Forbidden", &[LESS]),
            ErrorCode::AuthRequired,
            Outcome::NotSent,
            json!({ "missing": "scope", "scope": "more", "status": 403 }),
        ),
        (
            || refusal("403 Forbidden", &[]),
            ErrorCode::AuthRequired,
            Outcome::Unknown,
            json!({ "missing": "permission" }),
        ),
        (
            || page("403 Forbidden"),
            ErrorCode::Protocol,
            Outcome::Unknown,
            json!({ "status": 403, "content_type": "text/html", "words": "Blocked Your request was blocked. Ray 7\\u{1b}[2J" }),
        ),
        (
            || page("406 Not Acceptable"),
            ErrorCode::Protocol,
            Outcome::Unknown,
            json!({ "status": 406, "content_type": "text/html" }),
        ),
    ];
    for (number, (refuse, code, outcome, detail)) in cases.into_iter().enumerate() {
        let rig = Rig::new(json!({}));
        let script = Script::start(move |asked| match asked.method() {
            "tools/call" if asked.number == 0 => refuse(),
            _ => Answer::Usual,
        });
        host(async {
            let (_session, lease) = connected(&rig, &script).await;
            let error = failed(&lease, "echo", json!({ "message": "hi" })).await;
            let told = (error.code(), error.outcome(), error.is_retryable());
            assert_eq!(told, (code, Some(outcome), false), "{number}: {error}");
            for (name, value) in detail.as_object().unwrap() {
                assert_eq!(&error.detail()[name], value, "{number}: {error:?}");
            }
            assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
            assert_eq!((lease.generation(), row(&rig)["state"].as_str()), (1, Some("connected")));
            let calls = script.of("tools/call");
            assert_eq!(calls.len(), 2, "{number}");
            assert!(calls.iter().all(|call| call.header("mcp-session-id") == "session-0"));
        });
    }
}

/// SPEC 15.3, 18.4: all challenges are kept, that for a token first.
#[test]
fn every_challenge_of_a_refusal_is_told() {
    let rig = Rig::new(json!({}));
    let script = Script::start(|_| refusal("401 Unauthorized", &CHALLENGES));
    let events = rig.pool.subscribe(EventMask::ALL).unwrap();
    let error = host(refused(&rig, script.config()));
    let [basic, bearer] = CHALLENGES.map(|line| line.split_once(": ").unwrap().1);
    assert_eq!(error.detail()["www_authenticate"], format!("{bearer}, {basic}"));
    let needs = json!({
        "missing": "token", "scope": "read write", "resource_metadata": "https://h.example/m",
    });
    assert_eq!(row(&rig)["auth_need"], needs);
    let mut told = None;
    until(|| {
        told = events.try_next().filter(|event| event.kind() == EventKind::AuthRequired);
        told.is_some()
    });
    let told = told.expect("it is told");
    let told: Value = serde_json::from_str(told.json()).unwrap();
    for (name, value) in needs.as_object().unwrap() {
        assert_eq!(&told[name], value, "{told}");
    }
}

/// SPEC 18.4: after three requests in a row that are refused with 401, and not when one succeeds
/// between.
#[test]
fn a_connection_that_lets_nothing_in_any_more_lacks_credentials() {
    let rig = Rig::new(json!({}));
    let script = Script::start(|asked| match asked.method() {
        "tools/call" if asked.number != 2 => refusal("401 Unauthorized", &[]),
        _ => Answer::Usual,
    });
    host(async {
        let (_session, lease) = connected(&rig, &script).await;
        let hi = json!({ "message": "hi" });
        let refuse = async || {
            let error = failed(&lease, "echo", hi.clone()).await;
            let told = (error.code(), error.outcome());
            assert_eq!(told, (ErrorCode::AuthRequired, Some(Outcome::NotSent)), "{error}");
        };
        refuse().await;
        refuse().await;
        assert_eq!(text(&lease, "echo", hi.clone()).await, "hi");
        refuse().await;
        refuse().await;
        assert_eq!(row(&rig)["state"], "connected");
        refuse().await;
        until(|| row(&rig)["reason"] == "auth_required");
        assert_eq!(row(&rig)["auth_need"]["missing"], "token");
        assert_eq!(script.of("initialize").len(), 1, "it is no retry loop");
    });
}

/// SPEC 18.6, 15.3: a firewall's page is no wish for credentials, and neither is a page in the
/// place of an answer.
#[test]
fn a_page_in_the_place_of_a_handshake_is_told_as_one() {
    for (status, number) in [("403 Forbidden", 403), ("200 OK", 200), ("451 Legal", 451)] {
        let rig = Rig::new(json!({}));
        let script = Script::start(move |_| page(status));
        let error = host(refused(&rig, script.config()));
        assert_eq!(error.code(), ErrorCode::Protocol, "{error}");
        let detail = error.detail();
        assert_eq!(
            (&detail["status"], &detail["content_type"]),
            (&json!(number), &json!("text/html"))
        );
        for words in [&*number.to_string(), "Your request was blocked. Ray 7"] {
            assert!(error.message().contains(words), "{error}");
        }
        assert!(!error.message().contains('\u{1b}') && !error.message().contains('<'), "{error}");
        assert_ne!(row(&rig)["reason"], "auth_required");
    }
}

/// SPEC 5.6, 18.4: the server says that it knows no such session, so that the call did not run; it
/// may be repeated in the next one.
#[test]
fn a_call_in_a_session_that_is_lost_was_not_sent() {
    let rig = Rig::new(json!({}));
    let script = Script::start(|asked| match asked.method() {
        "tools/call" if asked.number % 2 == 0 => refusal("404 Not Found", &[]),
        _ => Answer::Usual,
    });
    host(async {
        let (_session, lease) = connected(&rig, &script).await;
        let error = failed(&lease, "echo", json!({ "message": "hi" })).await;
        let told = (error.code(), error.outcome(), error.is_retryable());
        assert_eq!(told, (ErrorCode::CallInterrupted, Some(Outcome::NotSent), true), "{error}");
        until(|| lease.generation() == 2 && lease.state().is_connected());
        assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
        let options = trunkline::CallOptions::from_json(r#"{"retry":"not_sent"}"#).unwrap();
        let called = lease.call_tool("echo", r#"{"message":"again"}"#, &options).await;
        assert!(called.unwrap().json().contains("again"));
        assert_eq!(script.of("tools/call").len(), 4);
    });
}

/// SPEC 18.4: the stream of what is unasked is a request as well.
#[test]
fn a_stream_that_is_refused_ends_nothing() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let rig = Rig::new(json!({}));
        let script = Script::start(move |asked| match asked.method() {
            "GET" if asked.number > 0 => refusal(status, &CHALLENGES),
            "GET" => {
                Answer::Http("200 OK", vec!["content-type: text/event-stream".into()], Vec::new())
            }
            _ => Answer::Usual,
        });
        host(async {
            let (_session, lease) = connected(&rig, &script).await;
            until(|| script.of("GET").len() == 2);
            assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
            assert_eq!(row(&rig)["state"], "connected");
        });
    }
}
