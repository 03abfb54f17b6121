//! Websockets: messages, farewells, and frames that no server should send.

use std::net::TcpListener;
use std::time::Instant;

use rig::remote::{
    Remote, TOKEN, assert_has_progress, assert_shows_no_secret, assert_times_out, close, connected,
    failed, lists, refused, sockets_to,
};
use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::{DrainOptions, ErrorCode, Outcome};

/// SPEC 2.1, 9.4, 5.10: in whatever form its messages come.
#[test]
fn a_server_over_a_websocket_answers_and_leaves_nothing() {
    for faults in ["", "binary", "fragments", "pings", "noise", "redirect-here", "busy=1"] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_socket(&rig, faults, &["--list-changes"]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi", "{faults}");
            let failure = failed(&lease, "error", json!({})).await;
            assert_eq!(failure.code(), ErrorCode::ServerError);
            text(&lease, "change_list", json!({"add": "fresh"})).await;
            until(|| lists(&session, "fresh"));
            let other = rig.session("b");
            let shared = acquire(&other, "s").await;
            assert_eq!(text(&shared, "echo", json!({"message": "b"})).await, "b");
            let row = rig.pool.status()["servers"]["s"].clone();
            assert_eq!((&row["transport"], &row["entry_count"]), (&json!("websocket"), &json!(1)));
            assert_eq!(sockets_to(&remote), 1);
        });
        close(&rig);
        until(|| sockets_to(&remote) == 0);
        let opening = remote.requests().pop().unwrap();
        assert_eq!(opening["headers"]["authorization"], TOKEN);
        assert_eq!(opening["headers"]["sec-websocket-protocol"], "mcp");
    }
}

/// SPEC 4.2: there is nobody yet to tell farewell, so that nothing waits for an answer to it.
#[test]
fn a_websocket_that_never_opens_is_given_up_without_a_farewell() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/mcp", silent.local_addr().unwrap());
    let grace_ms = 2 * HANG.as_millis();
    let rig = Rig::new(json!({ "connect_timeout_ms": 200, "exit_grace_ms": grace_ms }));
    let begun = Instant::now();
    let error = host(refused(&rig, json!({ "url": url })));
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
    assert!(begun.elapsed() < HANG, "{:?}", begun.elapsed());
}

/// SPEC 5.3, 5.5, 5.9
#[test]
fn large_calls_progress_and_cancels_pass_a_websocket() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start_socket(&rig, "", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let long = "x".repeat(1 << 20);
        assert_eq!(text(&lease, "echo", json!({ "message": long })).await, long);
        assert_has_progress(&rig, &lease).await;
        assert_times_out(&lease).await;
        text(&lease, "echo", json!({"message": "still here"})).await;
    });
}

/// SPEC 5.6, 5.10, S-24: each ends its connection and nothing else, at once, and says why.
#[test]
fn a_websocket_that_breaks_interrupts_its_calls_and_comes_back() {
    let kinds = [
        ("cut", "transport_closed", "closed the connection"),
        ("close=1000", "transport_closed", "closed the connection"),
        ("close=1011", "transport_error", "code 1011: the reason"),
        ("close-open=1011", "transport_error", "code 1011: the reason"),
        ("huge-frame", "transport_error", "frame_bytes"),
        ("endless-message", "transport_error", "frame_bytes"),
        ("bad-frame", "transport_error", "the rules of the websocket"),
    ];
    for (faults, reason, words) in kinds {
        let rig = Rig::new(json!({
            "limits": { "frame_bytes": 200_000 }, "reconnect": { "delays_ms": { "local": [500] } }, "keepalive_ms": 0,
        }));
        let remote = Remote::start_socket(&rig, faults, &[]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            let events = rig.pool.subscribe(trunkline::EventMask::ALL).unwrap();
            let begun = Instant::now();
            let error = failed(&lease, "echo", json!({"message": "hi"})).await;
            assert!(begun.elapsed() < HANG);
            assert_eq!(error.code(), ErrorCode::CallInterrupted, "{faults}: {error}");
            assert_eq!(error.outcome(), Some(Outcome::Unknown));
            until(|| rig.pool.status()["servers"]["s"]["last_error"].to_string().contains(words));
            until(|| lease.generation() == 2 && lease.state().is_connected());
            assert!(!session.tools().unwrap().is_empty());
            let all: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
            let lost = |event: &&trunkline::Event| event.json().contains(&format!("\"{reason}\""));
            assert_eq!(all.iter().filter(lost).count(), 1, "{faults}: {all:?}");
            assert_shows_no_secret(&rig, &error);
        });
    }
}

/// SPEC 4.6, 8.4: typed, and asked once.
#[test]
fn an_address_without_a_websocket_says_what_is_there() {
    let kinds = [
        ("html", ErrorCode::Protocol, "a web page"),
        ("auth-challenge", ErrorCode::AuthRequired, "wants credentials"),
        ("bad-accept", ErrorCode::Protocol, "the handshake of the websocket"),
        ("subprotocol=chat", ErrorCode::Protocol, "something else than MCP"),
        (
            "redirect=http://127.0.0.1:1/ws",
            ErrorCode::Protocol,
            "redirects to http://127.0.0.1:1/ws, which is another place",
        ),
    ];
    for (faults, code, words) in kinds {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_socket(&rig, faults, &[]);
        let error = host(refused(&rig, remote.config()));
        assert_eq!(error.code(), code, "{faults}: {error}");
        assert!(error.message().contains(words), "{faults}: {error}");
        assert_eq!(remote.requests().len(), 1);
    }
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &[]);
    let url = remote.url.replace("http:", "ws:");
    let error = host(refused(&rig, json!({ "url": url })));
    assert_eq!((error.code(), &error.detail()["status"]), (ErrorCode::Protocol, &json!(404)));
    let error = host(refused(&rig, json!({ "url": "ws://127.0.0.1:1/" })));
    assert_eq!(error.detail()["kind"], "refused");
}

/// SPEC 4.8: the older servers of this transport end their connection at what they do not know, and
/// are spoken with anew.
#[test]
fn a_websocket_that_ends_at_the_question_is_greeted_as_one_of_the_legacy_era() {
    for faults in ["close-asked=1000", "close-asked=1011", "close-asked"] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_socket(&rig, faults, &[]);
        host(async {
            let (_session, lease) = connected(&rig, &remote).await;
            assert_eq!(rig.pool.status()["servers"]["s"]["era"], "legacy", "{faults}");
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi", "{faults}");
            assert_eq!(remote.requests().len(), 2, "{faults}");
        });
        close(&rig);
        until(|| sockets_to(&remote) == 0);
    }
}

/// SPEC 4.8, 8.4: a farewell that says that the server goes, or has no time, is about no message.
#[test]
fn a_websocket_that_ends_for_a_reason_of_its_own_is_not_opened_again() {
    for code in [1001, 1012, 1013] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start_socket(&rig, &format!("close-asked={code}"), &[]);
        let error = host(refused(&rig, remote.config()));
        let is_told = code == 1001 || error.detail()["close_code"] == code;
        assert!(is_told, "{code}: {error}");
        assert_eq!(remote.requests().len(), 1, "{code}");
    }
}

/// SPEC 9.7: a server that does not say farewell holds up nobody for longer than the grace.
#[test]
fn the_farewell_of_a_websocket_is_waited_for_within_the_grace() {
    let rig = Rig::new(json!({ "exit_grace_ms": 300, "kill_grace_ms": 600_000 }));
    let remote = Remote::start_socket(&rig, "no-farewell", &[]);
    let _held = host(connected(&rig, &remote));
    let begun = Instant::now();
    close(&rig);
    assert!(begun.elapsed() < HANG, "{:?}", begun.elapsed());
    until(|| sockets_to(&remote) == 0);
}

/// SPEC 4.6, 9.7, I-25: also where the server leaves open what it said farewell on.
#[test]
fn the_socket_of_a_websocket_goes_with_its_connection() {
    let rig = Rig::new(json!({
        "reconnect": { "delays_ms": { "remote": [] } }, "keepalive_ms": 0,
    }));
    let remote = Remote::start_socket(&rig, "close-open=1000", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        failed(&lease, "echo", json!({"message": "hi"})).await;
        let report = rig.pool.drain_all(&DrainOptions::default()).await.unwrap();
        assert_eq!(sockets_to(&remote), 0, "{report}");
    });
}
