//! HTTP+SSE, and addresses without a word on what they speak.

use std::net::TcpListener;

use rig::remote::{
    Remote, assert_has_progress, assert_shows_no_secret, assert_times_out, close, connected,
    failed, lists, refused, sockets_to,
};
use rig::{Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::{ErrorCode, HandlerKind, Handlers, Outcome, Session, SessionOptions};

/// SPEC 2.1, 9.4
#[test]
fn a_server_of_the_old_transport_answers_and_leaves_nothing() {
    for faults in ["", "redirect-here"] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_events(&rig, faults, &["--list-changes"]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
            let failure = failed(&lease, "error", json!({})).await;
            assert_eq!(failure.code(), ErrorCode::ServerError);
            text(&lease, "change_list", json!({"add": "fresh"})).await;
            until(|| lists(&session, "fresh"));
            let row = rig.pool.status()["servers"]["s"].clone();
            assert_eq!((&row["transport"], &row["state"]), (&json!("sse"), &json!("connected")));
        });
        close(&rig);
        until(|| sockets_to(&remote) == 0);
        assert_eq!(remote.count("DELETE", ""), 0);
        for request in remote.requests() {
            assert_eq!(request["headers"]["authorization"], rig::remote::TOKEN);
        }
    }
}

/// SPEC 5.5, 5.9
#[test]
fn calls_of_the_old_transport_have_progress_and_can_be_taken_back() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start_events(&rig, "", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        assert_has_progress(&rig, &lease).await;
        assert_times_out(&lease).await;
        until(|| remote.count("POST", "notifications/cancelled") == 1);
    });
}

/// S-32: nothing of ours is posted at another origin, whatever the stream says.
#[test]
fn an_endpoint_at_another_origin_is_refused() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}", other.local_addr().unwrap());
    other.set_nonblocking(true).unwrap();
    for endpoint in [format!("{place}/message"), place.replace("http:", ""), "http://[".to_owned()]
    {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_events(&rig, &format!("endpoint={endpoint}"), &[]);
        let error = host(refused(&rig, remote.config()));
        assert_eq!(error.code(), ErrorCode::Protocol, "{error}");
        assert!(error.message().contains("another origin"), "{error}");
        assert_eq!(other.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        assert_eq!(remote.count("POST", "initialize"), 0);
    }
}

/// SPEC 4.2
#[test]
fn a_stream_that_names_no_endpoint_is_given_up_in_time() {
    let rig = Rig::new(json!({ "connect_timeout_ms": 300 }));
    let remote = Remote::start_events(&rig, "no-endpoint", &[]);
    let error = host(refused(&rig, remote.config()));
    assert_eq!((error.code(), &error.detail()["which"]), (ErrorCode::Timeout, &json!("connect")));
}

/// SPEC 5.6, 8.1: the stream is the connection.
#[test]
fn the_end_of_the_stream_is_the_end_of_the_connection() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [10] } } }));
    let remote = Remote::start_events(&rig, "cut", &[]);
    host(async {
        let (session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
        assert_eq!(error.outcome(), Some(Outcome::Unknown));
        until(|| lease.generation() == 2 && lease.state().is_connected());
        assert!(!session.tools().unwrap().is_empty());
        assert_shows_no_secret(&rig, &error);
    });
}

/// SPEC 8.4: the server forgot the session, and says so to a message.
#[test]
fn a_forgotten_session_of_the_old_transport_is_made_anew_at_once() {
    // A caller that waits for a delay hangs.
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [600_000] } } }));
    let remote = Remote::start_events(&rig, "forget-404=1", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
        assert_shows_no_secret(&rig, &error);
        until(|| lease.generation() == 2 && lease.state().is_connected());
        assert_eq!(text(&lease, "echo", json!({"message": "again"})).await, "again");
    });
}

/// S-24, I-25: what is said to a message beside its answer keeps no socket, though it has no end.
#[test]
fn posts_that_are_answered_without_an_end_keep_no_sockets() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start_events(&rig, "open-accept", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        for _ in 0..100 {
            text(&lease, "echo", json!({"message": "hi"})).await;
        }
        until(|| sockets_to(&remote) < 10);
        assert_eq!((lease.generation(), lease.state().is_connected()), (1, true));
    });
    close(&rig);
}

/// S-24, SPEC 5.10
#[test]
fn an_endless_event_of_the_old_transport_is_bounded() {
    let rig = Rig::new(json!({
        "limits": { "frame_bytes": 200_000 }, "reconnect": { "delays_ms": { "remote": [10] } },
    }));
    let remote = Remote::start_events(&rig, "endless-event", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        let codes = [ErrorCode::Limit, ErrorCode::CallInterrupted];
        assert!(codes.contains(&error.code()), "{error}");
        until(|| lease.generation() == 2 && lease.state().is_connected());
    });
}

/// SPEC 8.4
#[test]
fn a_busy_server_of_the_old_transport_keeps_its_connection() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start_events(&rig, "busy-calls", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.detail()["retry_after_ms"], 3_600_000);
        assert!(lease.state().is_connected());
    });
    for (faults, code) in [("auth", ErrorCode::AuthRequired), ("html", ErrorCode::Protocol)] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_events(&rig, faults, &[]);
        assert_eq!(host(refused(&rig, remote.config())).code(), code);
    }
}

/// SPEC 15.1: a server that refuses a call works on it no more, and what it asks next is another's;
/// a gateway's word is not the server's.
#[test]
fn what_a_server_asks_after_it_refused_a_call_is_not_in_doubt() {
    for (status, is_doubtful) in [(429, false), (400, false), (502, true)] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_events(&rig, &format!("first-call={status}"), &[]);
        host(async {
            rig.configure(json!({ "s": remote.shared() })).await;
            let (one, other) = (agreeing(&rig, "one"), agreeing(&rig, "other"));
            let (refused, lease) = (acquire(&one, "s").await, acquire(&other, "s").await);
            assert_eq!(refused.entry_index(), lease.entry_index());
            let error = failed(&refused, "echo", json!({ "message": "hi" })).await;
            assert_eq!(error.outcome(), Some(Outcome::Unknown), "{error}");
            let question = json!({ "method": "elicitation/create", "params": { "message": "m" } });
            let answer = text(&lease, "ask", question).await;
            let expected = if is_doubtful { "several sessions" } else { "accept" };
            assert!(answer.contains(expected), "{status}: {answer}");
        });
    }
}

/// A session with somebody who agrees to everything.
fn agreeing(rig: &Rig, id: &str) -> Session {
    let options = json!({ "id": id, "servers": [] }).to_string();
    let mut options = SessionOptions::from_json(&options).unwrap();
    options.handlers = Handlers::new().with(HandlerKind::Elicitation, |_| async {
        Ok(r#"{"action":"accept","content":{}}"#.to_owned())
    });
    rig.pool.session(options).unwrap()
}
