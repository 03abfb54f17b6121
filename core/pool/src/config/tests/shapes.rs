//! The shapes that configurations come in.

use std::time::Duration;

use serde_json::json;

use super::super::*;
use super::{fault, spec};
use crate::catalog::Filter;

fn stdio(value: Value) -> StdioSpec {
    match spec(value).transport {
        Transport::Stdio(stdio) => stdio,
        other => panic!("{other:?}"),
    }
}

fn remote(value: Value) -> RemoteSpec {
    match spec(value).transport {
        Transport::Remote(remote) => remote,
        other => panic!("{other:?}"),
    }
}

/// SPEC 10.3: every field of a stdio server reaches its place.
#[test]
fn a_stdio_server_is_read() {
    let parsed = stdio(json!({
        "command": "npx", "args": ["-y", "", "a b"], "cwd": "/w", "env": {"A": "1", "EMPTY": "", "B": null, "__proto__": "p"},
        "inherit_env": ["HTTP_*"], "type": "stdio",
    }));
    assert_eq!(parsed.command, "npx");
    assert_eq!(parsed.args, ["-y", "", "a b"]);
    assert_eq!(parsed.cwd.as_deref(), Some("/w"));
    let env: Vec<_> = parsed.env.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(env, [("A", "1"), ("EMPTY", ""), ("__proto__", "p")]);
    assert_eq!(parsed.unset_env.into_iter().collect::<Vec<_>>(), ["B"]);
    assert_eq!(parsed.inherit_env, ["HTTP_*"]);
    assert_eq!(spec(json!({"command": "c"})).transport_name(), "stdio");
}

/// SPEC 10.3: a Unix socket is where it is whatever folder the host is in.
#[test]
fn the_socket_of_a_remote_server_is_a_path_or_a_name() {
    let with = |name: &str, path: &str| json!({"url": "http://h/mcp", name: path});
    for (name, path) in [("socket_path", "/run/s"), ("socket_path", "@s"), ("socketPath", "/s")] {
        assert_eq!(remote(with(name, path)).socket_path.as_deref(), Some(path));
    }
    let long = format!("/{}", "x".repeat(107));
    for path in ["", "s", "./s", "~/s", "@", "/a\0b", &long] {
        assert_eq!(fault(with("socket_path", path)), "socket_path", "{path:?}");
    }
    assert_eq!(remote(json!({"url": "http://h"})).socket_path, None);
}

/// SPEC 10.3, 10.4: addresses and transports in the spellings of their products.
#[test]
fn remote_servers_are_read_in_every_spelling() {
    for (value, kind, name) in [
        (json!({"url": "https://h/mcp"}), RemoteKind::Auto, "http"),
        (json!({"serverUrl": "https://h/mcp"}), RemoteKind::Auto, "http"),
        (json!({"httpUrl": "https://h/mcp"}), RemoteKind::Http, "http"),
        (json!({"url": "http://h", "type": "http"}), RemoteKind::Http, "http"),
        (json!({"url": "http://h", "type": "streamable-http"}), RemoteKind::Http, "http"),
        (json!({"url": "http://h", "type": "streamableHttp"}), RemoteKind::Http, "http"),
        (json!({"url": "http://h", "transport": "streamable_http"}), RemoteKind::Http, "http"),
        (json!({"url": "http://h", "transportType": "remote"}), RemoteKind::Http, "http"),
        (json!({"httpUrl": "http://h", "type": "http"}), RemoteKind::Http, "http"),
        (json!({"url": "http://h/sse", "type": "sse"}), RemoteKind::Sse, "sse"),
        (json!({"url": "ws://h", "type": "ws"}), RemoteKind::Websocket, "websocket"),
        (json!({"url": "WSS://h"}), RemoteKind::Websocket, "websocket"),
        (json!({"tcp": "ws://h:1/x"}), RemoteKind::Websocket, "websocket"),
        (json!({"url": "http://u:p@[::1]:8/?q#f"}), RemoteKind::Auto, "http"),
    ] {
        assert_eq!(remote(value.clone()).kind, kind, "{value}");
        assert_eq!(spec(value.clone()).transport_name(), name, "{value}");
    }
}

/// SPEC 1.2: header names are compared without case.
#[test]
fn header_names_are_lower_cased() {
    let parsed =
        remote(json!({"url": "http://h", "headers": {"X-A": "1", "authorization": "b\tc"}}));
    let headers: Vec<_> = parsed.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(headers, [("authorization", "b\tc"), ("x-a", "1")]);
    assert_eq!(
        fault(json!({"url": "http://h", "headers": {"X-A": "1", "x-a": "1"}})),
        "headers.x-a"
    );
}

/// SPEC 10.3: what is beside the transport, in either spelling, with milliseconds for times.
#[test]
fn the_other_fields_are_read() {
    let parsed = spec(json!({
        "command": "c", "timeout": 5000, "callIdleTimeoutMs": 4000, "connect_timeout_ms": 100, "share": "session",
        "era": "legacy",
        "includeTools": ["a(x)"], "disabledTools": ["b"], "trust": true, "alwaysLoadTools": ["c"],
        "description": "d", "enabled": false, "autoApprove": ["x"], "envFile": ".env", "null": null,
    }));
    let ms = |ms| Some(Duration::from_millis(ms));
    assert_eq!((parsed.call_timeout, parsed.call_idle_timeout), (ms(5000), ms(4000)));
    assert_eq!(parsed.connect_timeout, ms(100));
    assert_eq!((parsed.share, parsed.era), (Some(Share::Session), Some(Era::Legacy)));
    assert_eq!(spec(json!({"command": "c", "era": "auto"})).era, None);
    let filter = Filter { include: Some(vec!["a(x)".into()]), exclude: vec!["b".into()] };
    assert_eq!(parsed.filter, filter);
    assert!(parsed.trust && parsed.disabled);
    assert_eq!(parsed.always_load, ["c"]);
    assert_eq!(parsed.description.as_deref(), Some("d"));
    assert_eq!(parsed.unknown.keys().collect::<Vec<_>>(), ["autoApprove", "envFile"]);
}

/// SPEC 13.3: absent, null and empty are one for args, env, headers, exclude and descriptions, and
/// not for include.
#[test]
fn absent_is_empty_but_for_include() {
    let bare = spec(json!({"command": "c"}));
    let empty = json!({"command": "c", "args": [], "env": {}, "exclude": [], "always_load": [], "oauth": {},
                       "description": ""});
    let null = json!({"command": "c", "args": null, "env": null, "exclude": null, "include": null, "url": null,
                      "oauth": null, "timeout": null});
    assert!(spec(empty) == bare && spec(null) == bare);
    assert!(spec(json!({"command": "c", "include": []})) != bare);
    let headers = spec(json!({"url": "http://h", "headers": {}}));
    assert!(headers == spec(json!({"url": "http://h"})));
}

/// SPEC 10.9: each of the usual mistakes is an error with the path of its field.
#[test]
fn mistakes_are_named_by_their_path() {
    for (value, path) in [
        (json!({"command": "c", "args": "-y x"}), "args"),
        (json!({"command": "c", "args": ["a", 1]}), "args[1]"),
        (json!({"command": "c", "args": ["a\0b"]}), "args[0]"),
        (json!({}), "command"),
        (json!({"args": []}), "command"),
        (json!({"type": "stdio"}), "command"),
        (json!({"command": ""}), "command"),
        (json!({"command": ["npx"]}), "command"),
        (json!({"command": "c", "url": "http://h"}), "url"),
        (json!({"command": "c", "httpUrl": "http://h"}), "httpUrl"),
        (json!({"url": "http://h", "httpUrl": "http://h"}), "httpUrl"),
        (json!({"command": "c", "type": "http"}), "command"),
        (json!({"url": "http://h", "type": "stdio"}), "url"),
        (json!({"type": "sse"}), "url"),
        (json!({"httpUrl": "http://h", "type": "sse"}), "httpUrl"),
        (json!({"tcp": "http://h"}), "tcp"),
        (json!({"command": "c", "type": "sdk"}), "type"),
        (json!({"command": "c", "type": "stdio", "transport": "stdio"}), "type"),
        (json!({"command": "c", "timeout": -1}), "timeout"),
        (json!({"command": "c", "timeout": 0}), "timeout"),
        (json!({"command": "c", "timeout": 1.5}), "timeout"),
        (json!({"command": "c", "timeout": "5"}), "timeout"),
        (json!({"command": "c", "timeout": 1, "call_timeout_ms": 1}), "timeout"),
        (json!({"command": "c", "connect_timeout_ms": 99}), "connect_timeout_ms"),
        (json!({"command": "c", "connect_timeout_ms": 300_001}), "connect_timeout_ms"),
        (json!({"command": "c", "timeout": 5, "call_idle_timeout_ms": 6}), "call_idle_timeout_ms"),
        (json!({"command": "c", "env": {"A": 1}}), "env.A"),
        (json!({"command": "c", "env": {"A": true}}), "env.A"),
        (json!({"command": "c", "env": {"A=B": "x"}}), "env[\"A\u{2026}\"]"),
        (json!({"command": "c", "env": {"": "x"}}), "env[\"\"]"),
        (json!({"command": "c", "env": ["A=1"]}), "env"),
        (json!({"command": "c", "cwd": ""}), "cwd"),
        (json!({"command": "c", "share": "all"}), "share"),
        (json!({"command": "c", "era": "old"}), "era"),
        (json!({"command": "c", "include": "x"}), "include"),
        (json!({"command": "c", "trust": "yes"}), "trust"),
        (json!({"command": "c", "disabled": true, "enabled": true}), "enabled"),
        (json!({"command": "c", "start": "soon"}), "start"),
        (json!({"url": "h/mcp"}), "url"),
        (json!({"url": "ftp://h"}), "url"),
        (json!({"url": "http://"}), "url"),
        (json!({"url": "http://:80/"}), "url"),
        (json!({"url": "http://u@/"}), "url"),
        (json!({"url": "http://h/a b"}), "url"),
        (json!({"url": "http://h\\@evil/"}), "url"),
        (json!({"url": "http://h", "type": "ws"}), "url"),
        (json!({"url": "http://h", "headers": {"a b": "x"}}), "headers[\"a\u{2026}\"]"),
        (json!({"url": "http://h", "headers": {"a": "x\r\ny: z"}}), "headers.a"),
        (json!({"url": "http://h", "oauth": "x"}), "oauth"),
        (json!([]), ""),
        (json!("npx"), ""),
    ] {
        assert_eq!(fault(value.clone()), path, "{value}");
    }
}

/// SPEC 10.7: the name of a server is checked with it.
#[test]
fn hostile_names_of_servers_are_refused() {
    let value = json!({"command": "c"});
    for name in ["a", "a.b/c::d", "__proto__", "ü 漢", "constructor"] {
        assert!(ServerSpec::from_value(name, &value).is_ok(), "{name}");
    }
    for name in ["", "a\nb", "a\u{1b}[2J", "a\u{202e}b", "\u{feff}a", &"ä".repeat(200)] {
        let error = ServerSpec::from_value(name, &value).unwrap_err();
        assert!(!error.to_string().contains(['\n', '\u{1b}', '\u{202e}']), "{error}");
    }
}

/// SPEC 2.1: what the host provides is never shared, and no configuration can name it.
#[test]
fn a_server_of_the_hosts_own_is_provided_and_never_configured() {
    let shared = ["host", "stdio"].map(str::to_owned);
    let (one, other) = (ServerSpec::of_host(1), ServerSpec::of_host(2));
    assert_eq!((one.transport_name(), one.share(&shared)), ("host", Share::Session));
    assert_eq!(
        ServerSpec { share: Some(Share::Pool), ..one.clone() }.share(&shared),
        Share::Session
    );
    assert_ne!(one.fingerprint("c", &[]), other.fingerprint("c", &[]));
    let error = ServerSpec::from_value("s", &json!({"type": "host", "command": "x"})).unwrap_err();
    assert!(error.message().contains("provided to a session"), "{error}");
}
