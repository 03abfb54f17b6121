//! Addresses where nothing good answers: typed, bounded, explained, and without a word of ours for
//! others.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use rig::remote::{Remote, TOKEN, assert_shows_no_secret, connected, failed, lists, refused};
use rig::{HANG, Rig, host, text, until};
use serde_json::{Value, json};
use trunkline::{CallOptions, ErrorCode, Outcome, Session};

fn config(url: &str) -> Value {
    json!({ "type": "http", "url": url, "headers": { "Authorization": TOKEN } })
}

/// An address that nobody listens at.
fn closed_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/mcp", listener.local_addr().unwrap())
}

/// SPEC 4.6, 5.12: what cannot be reached says why, and what to do.
#[test]
fn a_server_that_cannot_be_reached_says_why() {
    let refusing = closed_address();
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let not_tls = format!("https://{}/mcp", plain.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in plain.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 64]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let unknown = "http://no-such-host.invalid/mcp?key=canary-query-1";
    for (url, kind) in [(&*refusing, "refused"), (unknown, "dns"), (&not_tls, "tls")] {
        let rig = Rig::new(json!({}));
        let error = host(refused(&rig, config(url)));
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{error}");
        assert_eq!(error.detail()["kind"], kind, "{error}");
        assert!(error.hint().is_some() && error.is_retryable());
        let row = rig.pool.status()["servers"]["s"].clone();
        assert_eq!(row["error_code"], "connect_failed", "{row}");
    }
}

/// SPEC 4.2: five seconds by default, less where it is said.
#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    for limit in [Some(200), None] {
        let rig = Rig::new(json!({}));
        let mut config = config(&url);
        if let Some(limit) = limit {
            config["connect_timeout_ms"] = json!(limit);
        }
        let begun = Instant::now();
        let error = host(refused(&rig, config));
        assert_eq!(error.code(), ErrorCode::Timeout);
        assert_eq!(error.detail()["limit_ms"], limit.unwrap_or(5_000));
        assert!(begun.elapsed() < HANG);
    }
}

/// SPEC 5.10: whatever is no MCP is said to be none.
#[test]
fn an_address_of_something_else_is_said_to_be_one() {
    for (faults, words) in [("html", "a web page"), ("text", "text/plain")] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &[]);
        let error = host(refused(&rig, remote.config()));
        assert_eq!(error.code(), ErrorCode::Protocol);
        assert!(error.message().contains(words), "{error}");
    }
}

/// SPEC 8.4, 15.3: asked once, with or without a challenge.
#[test]
fn a_server_that_wants_credentials_is_asked_once() {
    for (faults, challenge) in [("auth", false), ("auth-challenge", true), ("forbidden", false)] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &[]);
        let error = host(refused(&rig, remote.config()));
        assert_eq!(error.code(), ErrorCode::AuthRequired);
        assert_eq!(error.detail().contains_key("www_authenticate"), challenge);
        let missing = if faults == "forbidden" { "permission" } else { "token" };
        let row = rig.pool.status()["servers"]["s"].clone();
        let named = challenge.then_some("https://auth.invalid/");
        let need = &row["auth_need"];
        assert_eq!(
            (&need["missing"], need["resource_metadata"].as_str()),
            (&json!(missing), named)
        );
        assert_eq!(row["entries"][0]["state"], "auth_required");
        assert_eq!(
            (&row["auth_required"], &row["reason"]),
            (&json!(true), &json!("auth_required"))
        );
        assert_eq!(remote.requests().len(), 1);
    }
}

/// S-24, SPEC 5.10: the call that it belongs to fails, and nothing else.
#[test]
fn endless_answers_fail_their_call_at_the_limit() {
    for faults in ["endless-body", "endless-event"] {
        let rig = Rig::new(json!({ "limits": { "frame_bytes": 200_000 } }));
        let remote = Remote::start(&rig, faults, &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            for _ in 0..2 {
                let error = failed(&lease, "echo", json!({"message": "hi"})).await;
                assert_eq!(error.code(), ErrorCode::Limit, "{error}");
                assert_eq!(error.detail()["limit"], "frame_bytes");
            }
            assert_eq!(remote.count("POST", "initialize"), 1);
            assert!(lease.state().is_connected());
        });
    }
}

/// SPEC 5.7, 5.8: a message can fail alone, and its call is sent through the same connection once
/// the server is there.
#[test]
fn a_call_that_waits_is_sent_when_the_server_is_back() {
    let rig = Rig::new(json!({}));
    let mut remote = Remote::start(&rig, "stateless", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        remote.kill();
        let options = CallOptions::from_json(r#"{"wait":true,"retry":"not_sent"}"#).unwrap();
        // The first call may still find a socket that nobody has closed yet.
        let _ = failed(&lease, "echo", json!({"message": "hi"})).await;
        let calling = lease.call_tool("echo", r#"{"message":"hi"}"#, &options);
        let returning = async {
            tokio::time::sleep(Duration::from_millis(400)).await;
            remote.replace(&rig, "stateless", &[]);
        };
        let (called, ()) = futures_util::future::join(calling, returning).await;
        assert!(called.unwrap().json().contains("hi"));
        assert!(lease.state().is_connected());
    });
}

/// SPEC 5.6: a server that is gone for a moment interrupts the calls of that moment.
#[test]
fn a_call_to_a_server_that_is_gone_was_not_sent() {
    let rig = Rig::new(json!({}));
    let mut remote = Remote::start(&rig, "", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        text(&lease, "echo", json!({"message": "hi"})).await;
        remote.kill();
        // The first call may still find a socket that nobody has closed yet.
        let _ = failed(&lease, "echo", json!({"message": "hi"})).await;
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.code(), ErrorCode::CallInterrupted);
        assert_eq!(error.outcome(), Some(Outcome::NotSent), "{error}");
        assert_eq!(error.detail()["kind"], "refused");
        assert!(lease.state().is_connected());
        assert_shows_no_secret(&rig, &error);
    });
}

/// SPEC 5.6, 5.10, 8.4: one bad answer is that of its call alone, and says what it was.
#[test]
fn an_answer_that_is_none_fails_its_call_alone() {
    let kinds = [
        ("call-status=429", ErrorCode::CallInterrupted, "429"),
        ("call-status=503", ErrorCode::CallInterrupted, "503"),
        ("call-status=500", ErrorCode::Protocol, "500"),
        ("call-status=404,stateless", ErrorCode::Protocol, "404"),
        ("call-status=202", ErrorCode::Protocol, "no answer"),
        ("cut-body", ErrorCode::CallInterrupted, "the connection broke"),
    ];
    for (faults, code, words) in kinds {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            for _ in 0..2 {
                let error = failed(&lease, "echo", json!({"message": "hi"})).await;
                assert_eq!(error.code(), code, "{faults}: {error}");
                assert_eq!(error.outcome(), Some(Outcome::Unknown), "{faults}");
                assert!(error.message().contains(words), "{faults}: {error}");
                assert_shows_no_secret(&rig, &error);
            }
            assert_eq!((lease.generation(), lease.state().is_connected()), (1, true), "{faults}");
            assert_eq!(remote.count("POST", "tools/call"), 2, "{faults}");
        });
    }
}

/// SPEC 5.5: a call that was taken back while it waited for a busy server is not sent to it
/// afterwards.
#[test]
fn a_call_that_is_taken_back_is_not_sent_when_the_server_has_time() {
    for start in [Remote::start, Remote::start_events] {
        let rig = Rig::new(json!({}));
        let remote = start(&rig, "busy-call=1", &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            let options = CallOptions::default();
            let call = lease.start_call_tool("echo", r#"{"message":"hi"}"#, &options, |_| {});
            until(|| remote.count("POST", "tools/call") == 1);
            call.cancel();
            // It ends after the moment at which the other one would have been sent again.
            text(&lease, "sleep", json!({ "ms": 2_000 })).await;
            assert_eq!(remote.count("POST", "tools/call"), 2);
        });
    }
}

/// S-24, SPEC 5.10: nothing is inflated, and no memory goes to what would be.
#[test]
fn an_answer_that_inflates_to_gigabytes_fails_its_call_alone() {
    const PEAK_KB_MAX: u64 = 512 << 10;
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "gzip-calls", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        for _ in 0..4 {
            let error = failed(&lease, "echo", json!({"message": "hi"})).await;
            assert_eq!(error.code(), ErrorCode::Protocol, "{error}");
            assert!(error.message().contains("compressed its answer (gzip)"), "{error}");
        }
        assert_eq!((lease.generation(), lease.state().is_connected()), (1, true));
    });
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < PEAK_KB_MAX, "{peak} kB");
}

/// S-38, SPEC 4.5: a deep schema comes through, one that is deeper spoils its own tool, over each
/// transport.
#[test]
fn deep_schemas_come_through_and_deeper_ones_spoil_their_tool_alone() {
    let schema = |levels: usize| {
        let open = r#"{"properties":{"a":"#.repeat(levels);
        serde_json::from_str::<Value>(&format!("{open}{{}}{}", "}}".repeat(levels))).unwrap()
    };
    for start in [Remote::start, Remote::start_events, Remote::start_socket] {
        let rig = Rig::new(json!({}));
        let remote = start(&rig, "", &["--list-changes"]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            let tool = |name: &str, levels| json!({ "name": name, "inputSchema": schema(levels) });
            // 61 levels of objects, and 81.
            let arguments =
                json!({ "define": [tool("deep", 30), tool("deeper", 40)], "add": "last" });
            text(&lease, "change_list", arguments).await;
            let listed = |name: &str| {
                let tools = session.tools().unwrap();
                tools.iter().find(|tool| &*tool.own_name == name).map(|tool| tool.to_json())
            };
            until(|| listed("last").is_some());
            let found: Value = serde_json::from_str(&listed("deep").unwrap()).unwrap();
            assert_eq!(found["definition"]["inputSchema"], schema(30));
            assert!(listed("deeper").is_none());
        });
    }
}

/// Sessions that want `s` on connections of their own, and do not have it yet.
async fn waiting(rig: &Rig, remote: &mut Remote) -> [Session; 2] {
    remote.kill();
    rig.configure(json!({ "s": remote.config() })).await;
    let sessions = ["a", "b"].map(|id| rig.session_with(json!({ "id": id, "servers": ["s"] })));
    for session in &sessions {
        let error = session.ready(Some("s"), None).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{error}");
    }
    sessions
}

/// Each session has a connection of its own to the server that is there now.
fn is_there(rig: &Rig, remote: &Remote, sessions: &[Session]) {
    until(|| sessions.iter().all(|session| lists(session, "echo")));
    let entries = rig.pool.status()["servers"]["s"]["entries"].clone();
    let entries = entries.as_array().unwrap();
    assert!(entries.iter().all(|entry| entry["state"] == "active"), "{entries:?}");
    assert_eq!((entries.len(), remote.count("POST", "initialize")), (2, 2), "{entries:?}");
}

/// SPEC 8.1: a server that starts late comes back for each session that wants it, by nobody's
/// doing.
#[test]
fn a_server_that_starts_late_comes_back_for_each_session() {
    let rig =
        Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [] }, "revive_ms": [200] } }));
    let mut remote = Remote::start(&rig, "", &[]);
    host(async {
        let sessions = waiting(&rig, &mut remote).await;
        remote.replace(&rig, "", &[]);
        is_there(&rig, &remote, &sessions);
    });
}

/// SPEC 8.1, 11.6: where nothing tries it again by itself, a caller that waits for it does.
#[test]
fn whoever_waits_for_a_server_that_starts_late_tries_it_again() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [] }, "revive_ms": [] } }));
    let mut remote = Remote::start(&rig, "", &[]);
    host(async {
        let sessions = waiting(&rig, &mut remote).await;
        remote.replace(&rig, "", &[]);
        for session in &sessions {
            session.ready(Some("s"), None).await.unwrap();
        }
        is_there(&rig, &remote, &sessions);
    });
}
