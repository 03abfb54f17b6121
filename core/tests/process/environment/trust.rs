//! Which certificates are trusted.

use std::net::TcpListener;
use std::time::Instant;

use rig::remote::{Remote, refused};
use rig::{HANG, Rig, host};
use serde_json::json;
use trunkline::ErrorCode;

use crate::environment::front::{Front, certificate};
use crate::environment::{address, config, set, use_it};

/// Starts a server of one kind.
type Start = fn(&Rig, &str, &[&str]) -> Remote;

/// A kind of server, its scheme without TLS and with it.
const KINDS: [(Start, &str, &str); 3] = [
    (Remote::start, "http", "https"),
    (Remote::start_events, "http", "https"),
    (Remote::start_socket, "ws", "wss"),
];

fn trust_the_authority() {
    set(&[("SSL_CERT_FILE", certificate("authority").to_str().unwrap())]);
}

/// SPEC 4.6: by name and by address, over each transport.
#[test]
fn a_server_whose_authority_is_trusted_is_reached_over_tls() {
    rig::alone!();
    trust_the_authority();
    for (start, _, scheme) in KINDS {
        for name in ["localhost", "127.0.0.1"] {
            let rig = Rig::new(json!({}));
            let remote = start(&rig, "", &["--list-changes"]);
            let front = Front::start("good", address(&remote));
            host(use_it(&rig, config(&remote, scheme, name, front.address.port())));
        }
    }
}

/// SPEC 4.6, 5.12: at once, with the reason in the error and in `status`, and before a header of
/// ours is sent.
#[test]
fn a_certificate_that_is_not_trusted_says_why() {
    rig::alone!();
    trust_the_authority();
    let certificates = [
        ("selfsigned", "certificate"),
        ("expired", "expired"),
        ("elsewhere", "elsewhere.test"),
        ("crowded", "not valid for name"),
    ];
    for (start, plain, encrypted) in KINDS {
        for (shown, words) in certificates {
            let rig = Rig::new(json!({}));
            let remote = start(&rig, "", &[]);
            let front = Front::start(shown, address(&remote));
            let port = front.address.port();
            // A second try hangs.
            let mut config_of_tls = config(&remote, encrypted, "localhost", port);
            config_of_tls["connect_timeout_ms"] = json!(300_000);
            let begun = Instant::now();
            let error = host(refused(&rig, config_of_tls));
            assert!(begun.elapsed() < HANG, "{shown}: {:?}", begun.elapsed());
            assert_eq!(error.code(), ErrorCode::ConnectFailed, "{shown}: {error}");
            assert_eq!(error.detail()["kind"], "tls", "{shown}: {error}");
            assert!(error.message().contains(words), "{shown}: {error}");
            assert!(error.message().len() < 1_000, "{error}");
            assert!(error.hint().is_some(), "{error}");
            let row = rig.pool.status()["servers"]["s"].clone();
            assert_eq!(row["error_code"], "connect_failed", "{row}");
            assert_eq!(row["last_error"]["message"], error.message(), "{row}");
            assert!(remote.requests().is_empty(), "{shown}");
            // The other way round: its first words are no HTTP.
            let error = host(refused(&rig, config(&remote, plain, "localhost", port)));
            assert_eq!(error.detail()["kind"], "not_http", "{shown}: {error}");
        }
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let rig = Rig::new(json!({ "connect_timeout_ms": 300 }));
    let url = format!("https://localhost:{}/mcp", silent.local_addr().unwrap().port());
    let error = host(refused(&rig, json!({ "type": "http", "url": url })));
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
}

/// SPEC 4.6: a machine without trusted roots still has servers of its own; of others it says what
/// is missing.
#[test]
fn without_any_authority_only_plain_addresses_are_reached() {
    rig::alone!();
    set(&[("SSL_CERT_FILE", "/nonexistent"), ("SSL_CERT_DIR", "/nonexistent")]);
    for (start, plain, encrypted) in KINDS {
        let rig = Rig::new(json!({}));
        let remote = start(&rig, "", &["--list-changes"]);
        let front = Front::start("good", address(&remote));
        host(use_it(&rig, config(&remote, plain, "localhost", address(&remote).port())));
        let port = front.address.port();
        let error = host(refused(&rig, config(&remote, encrypted, "localhost", port)));
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{error}");
        assert_eq!(error.detail()["kind"], "tls", "{error}");
        assert!(error.hint().unwrap().contains("SSL_CERT_FILE"), "{error}");
    }
}

/// SPEC 18.9, 4.6: roots are read with a bound, and nobody is waited for who may never write.
#[test]
fn a_pipe_in_the_place_of_roots_holds_nothing_up() {
    rig::alone!();
    let rig = Rig::new(json!({}));
    let pipe = rig.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    set(&[("SSL_CERT_FILE", pipe.to_str().unwrap())]);
    let begun = Instant::now();
    let error = host(refused(&rig, json!({ "url": "https://localhost:1/mcp" })));
    assert!(begun.elapsed() < HANG, "{:?}", begun.elapsed());
    assert_eq!(error.detail()["kind"], "tls", "{error}");
    let words = ["`SSL_CERT_FILE` names", "a pipe"];
    assert!(words.iter().all(|words| error.message().contains(words)), "{error}");
}
