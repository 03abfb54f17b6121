//! What may be a secret is never printed.

use serde_json::json;

use super::super::*;
use super::spec;

const CANARY: &str = "CANARY7f3a";

/// SPEC 9.4, S-48: values are redacted by their position, whatever their names.
#[test]
fn nothing_secret_is_in_debug() {
    let c = CANARY;
    for value in [
        json!({"command": "c", "args": [c], "env": {"DIFY_KEY": c}, "oauth": {"clientSecret": c, "later": {"x": c}},
               "target_audience": c, "bearer_token": c, "envFile": [c]}),
        json!({"url": format!("https://u:{c}@h/{c}?k={c}"), "headers": {"X-Odd": c}, "auth": c}),
    ] {
        let spec = spec(value);
        let text = format!("{spec:?} {spec:#?} {:?}", spec.transport);
        assert!(!text.contains(CANARY), "{text}");
        let print = spec.fingerprint(CANARY, &[]);
        let key = PoolKey { server: "s".into(), fingerprint: print };
        let text = format!("{print:?} {key:?}");
        assert!(!text.contains(CANARY) && !text.contains(&print.printed()), "{text}");
    }
}

/// SPEC 1.8: by what is written beside credentials their configuration is known again, and nobody
/// can tell whether two are of one.
#[test]
fn a_salted_fingerprint_is_another_with_each_salt() {
    let [one, other] =
        ["c", "d"].map(|command| spec(json!({ "command": command })).fingerprint("", &[]));
    let texts = [one.salted("a"), one.salted("b"), other.salted("a"), other.salted("b")];
    assert!(texts.iter().all(|text| text.len() == 64 && !text.contains(&one.printed())));
    assert_eq!(std::collections::BTreeSet::from_iter(&texts).len(), texts.len());
    assert_eq!(one.salted("a"), texts[0]);
}

/// SPEC 9.4, S-48: what is not secret is there, or nobody could tell one server from another in a
/// log.
#[test]
fn what_is_not_secret_is_in_debug() {
    let stdio = spec(json!({
        "command": "c", "args": ["x", "y"], "cwd": "/w", "env": {"A": "1", "B": null}, "inherit_env": ["I*"],
        "oauth": {"clientId": "i"}, "odd": 1,
    }));
    let transport = "StdioSpec { command: \"c\", args: 2 [redacted], cwd: Some(\"/w\"), env: [\"A\"], \
                     unset_env: [\"B\"], inherit_env: [\"I*\"] }";
    assert_eq!(format!("{:?}", stdio.transport), transport);
    assert_eq!(
        format!("{stdio:?}"),
        format!(
            "ServerSpec {{ transport: {transport}, call_timeout: None, connect_timeout: None, reconnect: None, \
             share: None, start: None, era: None, filter: Filter {{ include: None, exclude: [] }}, disabled: false, oauth: [\"client_id\"], \
             unknown: [\"odd\"], .. }}"
        )
    );
    let remote = spec(json!({"url": "http://h", "headers": {"X-A": "1"}})).transport;
    assert_eq!(
        format!("{remote:?}"),
        "RemoteSpec { kind: Auto, url: \"[redacted]\", headers: [\"x-a\"], socket_path: None }"
    );
    let key = PoolKey { server: "s".into(), fingerprint: stdio.fingerprint("", &[]) };
    assert_eq!(format!("{key:?} {:?}", key.fingerprint), "PoolKey(s) Fingerprint");
}

/// SPEC 1.8, 9.4, S-48: a refused configuration gives away no value: every value in the wrong
/// place, one at a time.
#[test]
fn nothing_secret_is_in_errors() {
    let c = CANARY;
    let spaced = format!("http://{c} {c}");
    let bad_header = format!("{c}\n");
    let wrong = [
        json!([[c]]),
        json!({"x": [c]}),
        json!({"x": {"y": c}}),
        json!(format!("{c}\0")),
        json!([{"a": c}]),
    ];
    let fields = [
        "command",
        "args",
        "cwd",
        "env",
        "headers",
        "url",
        "httpUrl",
        "timeout",
        "connect_timeout_ms",
        "include",
        "oauth",
        "oauthScopes",
        "targetAudience",
        "share",
        "start",
        "era",
        "trust",
        "disabled",
        "always_load",
        "inherit_env",
    ];
    let mut values: Vec<Value> = fields
        .iter()
        .flat_map(|field| wrong.iter().map(move |wrong| json!({"env": {"K": c}, *field: wrong})))
        .collect();
    values.extend([
        json!({"url": spaced}),
        json!({"url": c}),
        json!({"url": "http://h", "headers": {"A": bad_header}}),
        json!({"command": "c", "timeout": c}),
        json!({"command": "c", "share": c}),
        json!({"command": c, "url": c}),
        json!({"command": "c", "args": c}),
        json!({"command": "c", "env": c}),
        json!({"command": "c", "env": {format!("A={c}"): ""}}),
        json!({"url": "http://h", "headers": {format!("Authorization: {c}"): ""}}),
        json!({"url": "http://h", "headers": {format!("Bearer {c}"): ""}}),
    ]);
    let mut refused = 0;
    for value in values {
        let Err(error) = ServerSpec::from_value("s", &value) else { continue };
        refused += 1;
        let text = format!("{error} {error:?} {}", error.to_json());
        assert!(!text.contains(CANARY), "{text}");
    }
    assert!(refused > 80, "{refused}");
}

/// S-48: nor does a text that cannot be parsed, or that says something twice.
#[test]
fn nothing_secret_is_in_errors_of_texts() {
    for text in [
        format!("{{\"s\": {{\"env\": {{\"A\": \"{CANARY}\"}}, }}}}"),
        format!("{{\"s\": {CANARY}}}"),
        format!("\"{CANARY}\""),
    ] {
        let error = parse_servers(&text).unwrap_err();
        let shown = format!("{error} {error:?} {}", error.to_json());
        assert!(!shown.contains(CANARY), "{shown}");
    }
    let text = format!("{{\"s\":{{\"command\":\"{CANARY}\",\"command\":\"{CANARY}\"}}}}");
    let servers = parse_servers(&text).unwrap();
    let error = servers["s"].as_ref().unwrap_err();
    assert!(!format!("{error} {}", error.to_json()).contains(CANARY));
}

/// S-49: what a configuration names is escaped before it is shown.
#[test]
fn names_are_escaped_in_errors_and_debug() {
    let evil = "\u{1b}[31m\u{202e}";
    for value in [
        json!({"command": "c", "env": {evil: 1}}),
        json!({"command": "c", "type": evil}),
        json!({"url": "http://h", "headers": {evil: "x"}}),
    ] {
        let error = ServerSpec::from_value("s", &value).unwrap_err();
        let text = format!("{error} {}", error.detail()["path"]);
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
    let spec = spec(json!({"command": evil, "env": {evil: "x"}, evil: 1}));
    assert!(!format!("{spec:?}").contains(['\u{1b}', '\u{202e}']));
}
