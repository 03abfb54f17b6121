//! Which proxies are used.

use std::net::TcpListener;

use rig::remote::{Remote, TOKEN, refused};
use rig::{Rig, host};
use serde_json::json;
use trunkline::ErrorCode;

use crate::environment::front::{Front, certificate};
use crate::environment::proxy::Proxy;
use crate::environment::{address, config, set, use_it};

/// A name that nobody but a proxy resolves, and for which there is a certificate.
pub const NAME: &str = "server.test";

/// The name that a proxy gets; nobody may show it.
const USER: &str = "user:canary-proxy";

/// The place of a proxy that is named by these variables from now on.
pub fn named_by(variables: &[&str]) -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{USER}@{}", listener.local_addr().unwrap());
    let pairs: Vec<_> = variables.iter().map(|name| (*name, url.as_str())).collect();
    set(&pairs);
    listener
}

/// SPEC 4.6: TLS and the websocket over it pass a proxy end to end; it sees the name and its own
/// credentials, and nothing else.
#[test]
fn what_is_encrypted_goes_through_a_tunnel_of_the_proxy() {
    rig::alone!();
    let listener = named_by(&["HTTPS_PROXY"]);
    set(&[("SSL_CERT_FILE", certificate("authority").to_str().unwrap())]);
    let proxy = Proxy::start(listener, None);
    for (start, scheme) in [
        (Remote::start as fn(&Rig, &str, &[&str]) -> Remote, "https"),
        (Remote::start_events, "https"),
        (Remote::start_socket, "wss"),
    ] {
        let rig = Rig::new(json!({}));
        let remote = start(&rig, "", &["--list-changes"]);
        let front = Front::start("good", address(&remote));
        let before = proxy.count("CONNECT");
        host(use_it(&rig, config(&remote, scheme, NAME, front.address.port())));
        assert!(proxy.count("CONNECT") > before, "{scheme}");
    }
    for head in proxy.heads() {
        assert!(head.starts_with(&format!("CONNECT {NAME}:")), "{head}");
        assert!(head.to_lowercase().contains("proxy-authorization: basic "), "{head}");
        assert!(!head.contains(TOKEN) && !head.contains("/mcp"), "{head}");
    }
}

/// SPEC 4.6: without TLS a proxy is asked for the address itself, by a websocket too.
#[test]
fn what_is_not_encrypted_is_passed_on_by_the_proxy() {
    rig::alone!();
    let proxy = Proxy::start(named_by(&["HTTP_PROXY"]), None);
    for (start, scheme) in [
        (Remote::start as fn(&Rig, &str, &[&str]) -> Remote, "http"),
        (Remote::start_events, "http"),
        (Remote::start_socket, "ws"),
    ] {
        let rig = Rig::new(json!({}));
        let remote = start(&rig, "", &["--list-changes"]);
        let before = proxy.heads().len();
        host(use_it(&rig, config(&remote, scheme, NAME, address(&remote).port())));
        assert!(proxy.heads().len() > before, "{scheme}");
    }
    assert_eq!(proxy.count("CONNECT"), 0);
    assert!(proxy.heads().iter().all(|head| head.contains(&format!(" http://{NAME}:"))));
}

/// SPEC 4.6: this machine is reached without a proxy whatever is said, and so is what `NO_PROXY`
/// names.
#[test]
fn no_proxy_is_used_where_none_is_to_be() {
    rig::alone!();
    let listener = named_by(&["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]);
    set(&[("NO_PROXY", "other.test,.server.test")]);
    let proxy = Proxy::start(listener, None);
    for name in ["127.0.0.1", "localhost", "127.0.0.1.", "LOCALHOST"] {
        for (start, scheme) in [
            (Remote::start as fn(&Rig, &str, &[&str]) -> Remote, "http"),
            (Remote::start_socket, "ws"),
        ] {
            let rig = Rig::new(json!({}));
            let remote = start(&rig, "", &["--list-changes"]);
            host(use_it(&rig, config(&remote, scheme, name, address(&remote).port())));
        }
    }
    for name in [NAME, "deeper.server.test", "other.test"] {
        let rig = Rig::new(json!({}));
        let error = host(refused(&rig, json!({ "url": format!("http://{name}:1/mcp") })));
        assert_eq!(error.detail()["kind"], "dns", "{error}");
    }
    assert!(proxy.heads().is_empty(), "{:?}", proxy.heads());
}

/// SPEC 4.6, 5.12, S-48: a reader of the error looks at the proxy and not at the server.
#[test]
fn a_proxy_that_refuses_or_is_gone_is_named() {
    rig::alone!();
    let refusing = named_by(&["HTTPS_PROXY"]);
    let closed = named_by(&["HTTP_PROXY"]);
    drop(closed);
    let proxy = Proxy::start(refusing, Some("407 Proxy Authentication Required"));
    for (url, words) in [
        ("https://server.test:1/mcp", "the proxy"),
        ("wss://server.test:1/ws", "the proxy"),
        ("http://server.test:1/mcp", "the proxy"),
        ("ws://server.test:1/ws", "the proxy"),
    ] {
        let rig = Rig::new(json!({}));
        let error = host(refused(&rig, json!({ "url": url })));
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{error}");
        assert_eq!(error.detail()["kind"], "proxy", "{error}");
        assert!(error.message().contains(words), "{error}");
        assert!(error.hint().unwrap().contains("NO_PROXY"), "{error}");
        let row = rig.pool.status()["servers"]["s"].clone();
        assert_eq!(row["last_error"]["message"], error.message(), "{row}");
    }
    assert_eq!(proxy.count("CONNECT"), 2);
}

/// SPEC 18.6, 5.12: what is meant for a proxy goes nowhere else, though the value of the variable
/// names none.
#[test]
fn a_proxy_that_cannot_be_read_is_no_way_around_it() {
    rig::alone!();
    set(&[("HTTPS_PROXY", "http://canary word"), ("ALL_PROXY", "canary:port:1")]);
    for (url, variable) in [
        ("https://server.test:1/mcp", "HTTPS_PROXY"),
        ("wss://server.test:1/ws", "HTTPS_PROXY"),
        ("http://server.test:1/mcp", "ALL_PROXY"),
    ] {
        let rig = Rig::new(json!({}));
        let error = host(refused(&rig, json!({ "url": url })));
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{error}");
        let told = ["kind", "variable"].map(|name| error.detail()[name].as_str().unwrap());
        assert_eq!(told, ["proxy", variable], "{error}");
        let shown = format!("{error} {:?} {}", error.hint(), rig.pool.status());
        assert!(error.message().contains(variable) && !shown.contains("canary"), "{shown}");
    }
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &["--list-changes"]);
    host(use_it(&rig, config(&remote, "http", "localhost", address(&remote).port())));
}
