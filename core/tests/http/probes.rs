//! Addresses without a word on what they speak, and servers that are no longer what they were.

use std::time::{Duration, Instant};

use rig::remote::{Remote, assert_shows_no_secret, close, refused, sockets_to};
use rig::{Rig, host, text, until};
use serde_json::json;
use trunkline::{Error, ErrorCode};

/// SPEC 10.4
#[test]
fn a_bare_address_is_tried_and_falls_back() {
    for (is_old, transport, handshakes) in [(false, "http", 1), (true, "sse", 2)] {
        let rig = Rig::new(json!({}));
        let remote = match is_old {
            true => Remote::start_events(&rig, "", &[]),
            false => Remote::start(&rig, "", &[]),
        };
        host(async {
            let config = json!({ "url": remote.url, "headers": { "X-Key": "canary-1" } });
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            let lease = rig::acquire(&session, "s").await;
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
            assert_eq!(rig.pool.status()["servers"]["s"]["transport"], transport);
            assert_eq!(remote.count("POST", "initialize"), handshakes);
        });
    }
}

/// SPEC 10.4, 4.6: what was tried is said.
#[test]
fn an_address_that_speaks_neither_says_so() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start_events(&rig, "", &[]);
    let url = remote.url.replace("/sse", "/nothing");
    let error = host(refused(&rig, json!({ "url": url })));
    assert_eq!(error.code(), ErrorCode::Protocol);
    assert_eq!(error.detail()["status"], 404);
    assert!(error.message().contains("neither Streamable HTTP"), "{error}");
    assert!(error.hint().is_some());
}

/// SPEC 4.8, 10.4, PROTOCOL 1.2: an error that only a modern server gives is no reason to try the
/// older transport.
#[test]
fn a_bare_address_of_a_modern_server_is_not_taken_for_the_old_transport() {
    for kind in [json!(null), json!("http")] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, "", &["--era", "modern"]);
        let mut config = json!({ "url": remote.url, "era": "legacy" });
        if !kind.is_null() {
            config["type"] = kind;
        }
        let error = host(refused(&rig, config));
        assert_eq!(error.code(), ErrorCode::Protocol, "{error}");
        assert!(error.message().contains("refused the handshake"), "{error}");
        let code = error.cause().map(|cause| cause.detail()["code"].clone());
        assert_eq!(code, Some(json!(-32020)));
        assert_eq!((remote.count("POST", "initialize"), remote.count("GET", "")), (1, 0));
    }
}

/// SPEC 4.8: what is known of a server is found out again in the attempt in which it turns out to
/// be wrong.
#[test]
fn a_server_at_an_address_that_became_a_modern_one_is_asked_again() {
    for bare in [false, true] {
        let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
        let mut remote = Remote::start(&rig, "", &[]);
        host(async {
            let mut config = remote.config();
            if bare {
                config.as_object_mut().unwrap().remove("type");
            }
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            let era = || rig.pool.status()["servers"]["s"]["era"].clone();
            rig::acquire(&session, "s").await.release();
            until(|| sockets_to(&remote) == 0);
            remote.replace(&rig, "", &["--era", "modern"]);
            let lease = rig::acquire(&session, "s").await;
            assert_eq!((era(), remote.count("POST", "initialize")), (json!("modern"), 1));
            lease.release();
            until(|| sockets_to(&remote) == 0);
            remote.replace(&rig, "", &[]);
            let lease = rig::acquire(&session, "s").await;
            assert_eq!(era(), "legacy");
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
        });
        close(&rig);
    }
}

/// What comes of a bare address whose stream of HTTP+SSE does this, within this time.
fn probed(faults: &str, connect_timeout_ms: u64) -> (Error, Duration) {
    let rig = Rig::new(json!({}));
    let remote = Remote::start_events(&rig, faults, &[]);
    let config = json!({ "url": remote.url, "connect_timeout_ms": connect_timeout_ms });
    let begun = Instant::now();
    let error = host(refused(&rig, config));
    let took = begun.elapsed();
    assert!(error.message().contains("neither Streamable HTTP (the server answered"), "{error}");
    assert_eq!(error.detail()["status"], 404, "{error}");
    assert_shows_no_secret(&rig, &error);
    close(&rig);
    until(|| sockets_to(&remote) == 0);
    (error, took)
}

/// SPEC 4.2, 4.6, 10.4: neither a short nor a long time to connect hides what both attempts met.
#[test]
fn a_stream_of_a_bare_address_that_says_nothing_is_given_up_with_a_report_of_both_attempts() {
    for (connect_timeout_ms, most) in [(3_000, 3_000), (120_000, 5_000)] {
        let (error, took) = probed("no-endpoint", connect_timeout_ms);
        assert_eq!(
            (error.code(), &error.detail()["which"]),
            (ErrorCode::Timeout, &json!("connect"))
        );
        assert!(error.message().contains("where messages are posted"), "{error}");
        assert!(error.detail()["limit_ms"].as_u64().unwrap() <= most, "{error}");
        assert!(took < Duration::from_secs(30), "{took:?}");
    }
}

/// SPEC 4.6, 10.4
#[test]
fn a_stream_of_a_bare_address_that_ends_at_once_is_reported_with_both_attempts() {
    let (error, _) = probed("early-end", 10_000);
    assert_eq!(error.code(), ErrorCode::Protocol);
    assert!(error.message().contains("ended before"), "{error}");
}

/// SPEC 4.6, 4.8, 10.4: what answered the question over Streamable HTTP speaks that, however it
/// refuses the handshake beside it.
#[test]
fn a_bare_address_that_answered_the_question_is_not_asked_for_the_older_transport() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [] } } }));
    let remote = Remote::start(&rig, "stateless,no-handshake,late-discover=last", &[]);
    let config = json!({ "url": remote.url, "connect_timeout_ms": 6_000 });
    let error = host(refused(&rig, config));
    assert!(error.message().starts_with("the server answered with HTTP status 404"), "{error}");
    assert_eq!((remote.count("POST", "initialize"), remote.count("GET", "")), (1, 0));
    close(&rig);
}
