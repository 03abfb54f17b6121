//! Where the limits of a configuration end, and what its errors say.

use serde_json::json;

use super::super::*;
use super::{fault, spec};

fn refusal(value: Value) -> String {
    ServerSpec::from_value("s", &value).unwrap_err().message().to_owned()
}

/// SPEC 10.9, S-24: lists and maps have ten thousand items at most.
#[test]
fn the_longest_lists_are_taken() {
    let args = |count: usize| json!({"command": "c", "args": vec!["a"; count]});
    let Transport::Stdio(stdio) = spec(args(10_000)).transport else { unreachable!() };
    assert_eq!(stdio.args.len(), 10_000);
    for count in [10_001, 10_002] {
        assert_eq!(fault(args(count)), "args");
        assert_eq!(refusal(args(count)), "`args` has more than 10000 items");
    }
    let env = |count: usize| {
        let members = (0..count).map(|index| (format!("A{index}"), json!("1")));
        json!({"command": "c", "env": Value::Object(members.collect())})
    };
    let Transport::Stdio(stdio) = spec(env(10_000)).transport else { unreachable!() };
    assert_eq!(stdio.env.len(), 10_000);
    assert_eq!(refusal(env(10_001)), "`env` has more than 10000 items");
}

/// SPEC 10.7, S-24: a name has 256 bytes at most, and a text 16 MiB.
#[test]
fn the_longest_names_and_texts_are_taken() {
    let value = json!({"command": "c"});
    assert!(ServerSpec::from_value(&"n".repeat(256), &value).is_ok());
    for bytes in [257, 258] {
        let error = ServerSpec::from_value(&"n".repeat(bytes), &value).unwrap_err();
        assert_eq!(error.message(), "the name of a server has at most 256 bytes");
    }
    let padded = |bytes: usize| format!("{{{}}}", " ".repeat(bytes - 2));
    assert!(parse_servers(&padded(16 << 20)).unwrap().is_empty());
    let error = parse_servers(&padded((16 << 20) + 1)).unwrap_err();
    assert_eq!(error.message(), "the configuration is longer than 16777216 bytes");
}

/// SPEC 4.2: the time without progress may be all the time there is.
#[test]
fn two_times_may_be_equal() {
    let parsed = spec(json!({"command": "c", "timeout": 5, "call_idle_timeout_ms": 5}));
    assert_eq!(parsed.call_idle_timeout, parsed.call_timeout);
    assert_eq!(
        refusal(json!({"command": "c", "timeout": 5, "call_idle_timeout_ms": 6})),
        "the time without progress is longer than the time in all"
    );
}

/// SPEC 10.3: a server may be said to be on and not off, in as many words.
#[test]
fn enabled_and_disabled_may_agree() {
    for (disabled, enabled) in [(true, false), (false, true)] {
        let value = json!({"command": "c", "disabled": disabled, "enabled": enabled});
        assert_eq!(spec(value).disabled, disabled);
    }
    assert!(!spec(json!({"command": "c", "enabled": true})).disabled);
    assert_eq!(fault(json!({"command": "c", "disabled": false, "enabled": false})), "enabled");
}

/// SPEC 1.2, 10.9: a wrong OAuth field is named under the spelling that was used.
#[test]
fn wrong_oauth_fields_are_refused() {
    for (oauth, path) in [
        (json!({"clientId": 5}), "oauth.clientId"),
        (json!({"client_secret": ""}), "oauth.client_secret"),
        (json!({"tokenUrl": ["x"]}), "oauth.tokenUrl"),
        (json!({"proxy": "http://proxy.example"}), "oauth.proxy"),
        (json!({"proxy": ""}), "oauth.proxy"),
        (json!({"proxy": true}), "oauth.proxy"),
        (json!({"scopes": 5}), "oauth.scopes"),
        (json!({"audiences": ["a", 1]}), "oauth.audiences[1]"),
    ] {
        assert_eq!(fault(json!({"url": "http://h", "oauth": oauth})), path, "{oauth}");
    }
}

/// SPEC 10.9, S-49: an address that would deceive a reader, and a header without a name, are
/// refused.
#[test]
fn hidden_addresses_and_nameless_headers_are_refused() {
    assert_eq!(fault(json!({"url": "http://h/\u{202e}x"})), "url");
    assert_eq!(fault(json!({"url": "http://h", "headers": {"": "x"}})), "headers[\"\"]");
}

/// S-15: the error of a text that two readers could understand differently says what is wrong with
/// it.
#[test]
fn ambiguous_entries_are_explained() {
    let deep = format!(r#"{{"command":"c","x":{}{}}}"#, "[".repeat(63), "]".repeat(63));
    let place = "[0]".repeat(62);
    for (entry, expected) in [
        (r#"{"command":"c","command":"d"}"#, "`command` is there twice".to_owned()),
        (r#"{"command":"c","timeout":1e300}"#, "`timeout` is a number out of range".into()),
        (&*deep, format!("`x{place}` is nested too deep")),
    ] {
        let servers = parse_servers(&format!(r#"{{"a":{entry}}}"#)).unwrap();
        assert_eq!(servers["a"].as_ref().unwrap_err().message(), expected);
    }
    let servers = parse_servers(r#"{"a":{"command":"c"},"a":{"command":"c"}}"#).unwrap();
    assert_eq!(servers["a"].as_ref().unwrap_err().message(), "`a` is there twice");
}

/// SPEC 10.9, 9.4: a word that is no transport is shown, and not what may be a value that slipped
/// there.
#[test]
fn a_word_that_is_no_transport_is_shown_and_a_value_is_not() {
    let [longest, longer] = [32, 33].map(|bytes| "w".repeat(bytes));
    for word in ["carrier-pigeon", "carrier_pigeon", "x25", &longest] {
        let said = refusal(json!({"command": "c", "transport": word}));
        assert!(said.contains(&format!("`{word}`")), "{said}");
    }
    for value in ["two words", "key=CANARY", "CANARY/", &longer] {
        let said = refusal(json!({"command": "c", "type": value}));
        assert!(said.contains("`type` is not a transport") && !said.contains(value), "{said}");
    }
}

/// As much as an address of a Unix socket holds.
#[test]
fn the_path_of_a_socket_has_at_most_107_bytes() {
    let of = |bytes: usize| json!({"url": "http://h", "socket_path": format!("/{}", "s".repeat(bytes - 1))});
    spec(of(107));
    assert_eq!(fault(of(108)), "socket_path");
}
