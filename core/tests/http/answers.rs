//! Answers in both forms, the headers of every message, and servers that differ from the usual.

use std::time::{Duration, Instant};

use rig::remote::{
    Remote, assert_has_progress, assert_shows_no_secret, close, connected, failed, sockets_to,
};
use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::{CallOptions, ErrorCode, Outcome};

/// SPEC 2.1, 9.4
#[test]
fn a_server_answers_in_both_forms_and_leaves_nothing() {
    for faults in ["", "json", "stateless", "stateless,json,no-get", "redirect-here", "late-accept"]
    {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &["--tools", "3"]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi", "{faults}");
            assert_eq!(text(&lease, "pid", json!({})).await, remote.pid().to_string());
            let failure = failed(&lease, "error", json!({})).await;
            assert_eq!(failure.code(), ErrorCode::ServerError);
            assert!(session.tools().unwrap().len() > 3);
            let row = rig.pool.status()["servers"]["s"].clone();
            assert_eq!((&row["transport"], &row["state"]), (&json!("http"), &json!("connected")));
            assert_eq!(row["pid_count"], 0);
            assert!(sockets_to(&remote) > 0);
        });
        close(&rig);
        until(|| sockets_to(&remote) == 0);
        let ended = usize::from(!faults.contains("stateless"));
        assert_eq!(remote.count("DELETE", ""), ended, "{faults}");
    }
}

/// PROTOCOL 1.1, SPEC 5.10: each message is its own POST and carries the session and the revision.
#[test]
fn every_message_after_the_handshake_names_its_session_and_revision() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &[]);
    let requests = host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        text(&lease, "echo", json!({"message": "hi"})).await;
        until(|| remote.count("GET", "") == 1);
        remote.requests()
    });
    // The first question, which tells the legacy era, belongs to no session.
    let asked = |request: &serde_json::Value| request["method"] == "server/discover";
    for request in requests.into_iter().filter(|request| !asked(request)) {
        let headers = &request["headers"];
        let first = request["method"] == "initialize";
        assert_eq!(headers["mcp-session-id"].is_null(), first, "{request}");
        assert_eq!(headers["mcp-protocol-version"].is_null(), first, "{request}");
        assert_eq!(headers["authorization"], rig::remote::TOKEN);
        let accept = headers["accept"].as_str().unwrap();
        assert!(accept.contains("text/event-stream"));
        assert_eq!(accept.contains("application/json"), request["http"] == "POST");
    }
}

/// SPEC 2.1, 2.2, 7.5: not shared unless the operator says so.
#[test]
fn sessions_have_their_own_connections_unless_it_is_shared() {
    for (share, connections) in [(false, 2), (true, 1)] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, "", &[]);
        host(async {
            let mut config = remote.config();
            if share {
                config["share"] = json!("pool");
            }
            rig.configure(json!({ "s": config, "local": rig.server(&[]) })).await;
            let (a, b) = (rig.session("a"), rig.session("b"));
            let (_a, _b) = (acquire(&a, "s").await, acquire(&b, "s").await);
            let (_c, _d) = (acquire(&a, "local").await, acquire(&b, "local").await);
            assert_eq!(rig.starts().len(), 1);
            assert_eq!(remote.count("POST", "initialize"), connections);
            let entries = rig.pool.status()["servers"]["s"]["entries"].clone();
            assert_eq!(entries.as_array().unwrap().len(), connections);
        });
    }
}

/// SPEC 5.9: progress comes in order, before the result, over the call's own stream.
#[test]
fn progress_and_log_messages_come_with_their_call() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        assert_has_progress(&rig, &lease).await;
    });
}

/// SPEC 5.5: the server is told, the call is free at once, and its socket does not stay.
#[test]
fn a_call_that_is_no_longer_wanted_is_taken_back() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        until(|| remote.count("GET", "") == 1);
        let before = sockets_to(&remote);
        let options =
            CallOptions::from_json(r#"{"timeout_ms":100,"idle_timeout_ms":100}"#).unwrap();
        let error = lease.call_tool("sleep", r#"{"ms":60000}"#, &options).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout);
        until(|| remote.count("POST", "notifications/cancelled") == 1);
        // Its socket can serve no other call any more, and is closed.
        until(|| sockets_to(&remote) < before);
        text(&lease, "echo", json!({"message": "still here"})).await;
    });
}

/// SPEC 4.3: an answer of a gateway is no answer of the server.
#[test]
fn lists_are_asked_for_again_when_a_gateway_fails() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "unavailable=2", &[]);
    host(async {
        connected(&rig, &remote).await;
        assert_eq!(remote.count("POST", "tools/list"), 3);
    });
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "unavailable=1,unavailable-wait=1", &[]);
    let begun = Instant::now();
    host(async {
        connected(&rig, &remote).await;
        assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
        assert_eq!(remote.count("POST", "tools/list"), 2);
    });
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "unavailable=3", &[]);
    host(async {
        // The list loses itself alone (SPEC 4.4).
        connected(&rig, &remote).await;
        assert_eq!(remote.count("POST", "tools/list"), 3);
    });
}

/// SPEC 8.4, 4.3: a list is not asked for again before the server has time for it.
#[test]
fn a_list_of_a_server_that_has_no_time_is_asked_for_once() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "list-status=429", &[]);
    host(async {
        connected(&rig, &remote).await;
        assert_eq!(remote.count("POST", "tools/list"), 1);
    });
}

/// SPEC 8.4, 5.7: what may be repeated is not repeated before the server has time for it, and not
/// at all when the call does not.
#[test]
fn a_safe_call_is_repeated_once_the_server_has_time() {
    for (faults, calls) in [
        ("busy-calls", 1),
        ("busy-call=1,busy-status=502 Bad Gateway", 2),
        ("cut-after-id,busy-resume", 1),
    ] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &[]);
        host(async {
            rig.configure(json!({ "s": remote.config() })).await;
            let options = json!({ "id": "a", "servers": [], "trust": { "s": true } });
            let lease = acquire(&rig.session_with(options), "s").await;
            let options = CallOptions::from_json(r#"{"retry":"safe"}"#).unwrap();
            let begun = Instant::now();
            let called = lease.call_tool("echo", r#"{"message":"hi"}"#, &options).await;
            match called {
                Ok(_) => assert!(begun.elapsed() >= Duration::from_secs(1), "{faults}"),
                Err(error) => {
                    let said = (error.code(), error.outcome());
                    assert_eq!(said, (ErrorCode::CallInterrupted, Some(Outcome::Unknown)));
                    assert_eq!(error.detail()["retry_after_ms"], 3_600_000, "{faults}");
                }
            }
            assert_eq!(remote.count("POST", "tools/call"), calls, "{faults}");
        });
    }
}

/// SPEC 8.4: what the server asks for is waited for, within the connect's time.
#[test]
fn a_busy_server_gets_the_time_it_asks_for() {
    for faults in ["busy=2", "busy-date=2"] {
        let rig = Rig::new(json!({ "connect_timeout_ms": 60_000 }));
        let remote = Remote::start(&rig, faults, &[]);
        let begun = Instant::now();
        host(connected(&rig, &remote));
        let took = begun.elapsed();
        assert!(took >= Duration::from_secs(2) && took < HANG, "{faults}: {took:?}");
        assert_eq!(remote.count("POST", "server/discover"), 3);
        assert_eq!(remote.count("POST", "initialize"), 1);
    }
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "busy-calls", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.code(), ErrorCode::CallInterrupted);
        assert_eq!(error.detail()["retry_after_ms"], 3_600_000);
        assert_shows_no_secret(&rig, &error);
    });
}
