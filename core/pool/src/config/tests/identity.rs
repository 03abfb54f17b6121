//! The fingerprint.

use std::collections::BTreeSet;

use serde_json::{Map, json};

use super::super::*;
use super::spec;
use crate::base::random::Random;

fn print(value: Value) -> Fingerprint {
    spec(value).fingerprint("context", &["roots"])
}

/// A stdio server with every field set.
fn full_stdio() -> Value {
    json!({
        "command": "c", "args": ["a", "b"], "cwd": "/w", "env": {"A": "1", "U": null}, "inherit_env": ["I"],
        "call_timeout_ms": 20, "call_idle_timeout_ms": 10, "connect_timeout_ms": 200, "share": "pool", "start": "lazy",
        "reconnect": {"breaker": {"losses": 3}},
        "era": "modern",
        "include": ["i"], "exclude": ["e"], "trust": true, "always_load": ["l"], "description": "d",
        "disabled": false, "oauth": full_oauth(), "provider_type": "p", "target_audience": "t",
        "target_service_account": "sa", "somethingElse": 1,
    })
}

fn full_oauth() -> Value {
    json!({
        "client_id": "id", "client_secret": "secret", "scopes": ["s1", "s2"], "audiences": ["a1", "a2"],
        "authorization_url": "https://a", "token_url": "https://t", "registration_url": "https://r",
        "redirect_uri": "http://localhost", "token_param_name": "n", "proxy": "direct", "later_field": {"x": 1},
    })
}

fn full_remote() -> Value {
    let mut value = full_stdio();
    for name in ["command", "args", "cwd", "env", "inherit_env"] {
        value.as_object_mut().unwrap().remove(name);
    }
    value["url"] = json!("https://h/mcp");
    value["type"] = json!("http");
    value["headers"] = json!({"A": "1"});
    value["socket_path"] = json!("/run/s");
    value
}

/// SPEC 1.1, 1.7: a golden value, so that the form never changes by accident.
#[test]
fn the_form_is_stable() {
    let key = PoolKey { server: "s".into(), fingerprint: print(json!({"command": "c"})) };
    assert_eq!(key.connection_id(), GOLDEN);
    assert_eq!(key.fingerprint.printed(), GOLDEN[3..19]);
}

/// SHA-256 of
/// `{"authorization_context":"context","call_idle_timeout":null,"call_timeout":null,"capabilities":["roots"],`
/// `"oauth":{},"transport":{"args":[],"command":"c","cwd":null,"env":{},"inherit_env":[],"kind":"stdio",`
/// `"unset_env":[]},"v":1}`, computed elsewhere.
const GOLDEN: &str = "s::bab84201de488bb9479fbe4a980d6b6fbfe6682f1dec6c967f6143d931efd802";

/// What each field of the configuration type is for. A new field does not build until it is put
/// here too.
fn changes_of_fields(spec: &ServerSpec) -> Vec<(&'static str, bool, ServerSpec)> {
    let ServerSpec {
        transport: _,
        call_timeout: _,
        call_idle_timeout: _,
        connect_timeout: _,
        reconnect: _,
        share: _,
        start: _,
        era: _,
        filter: _,
        trust: _,
        always_load: _,
        description: _,
        disabled: _,
        oauth: _,
        unknown: _,
        value_files: _,
    } = spec;
    let mut out = Vec::new();
    let mut change = |name, hashed, change: &dyn Fn(&mut ServerSpec)| {
        let mut changed = spec.clone();
        change(&mut changed);
        assert!(changed != *spec, "{name} was not changed");
        out.push((name, hashed, changed));
    };
    let hour = Some(Duration::from_secs(3600));
    change("call_timeout", true, &|spec| spec.call_timeout = hour);
    change("call_timeout absent", true, &|spec| spec.call_timeout = None);
    change("call_idle_timeout", true, &|spec| spec.call_idle_timeout = hour);
    change("connect_timeout", false, &|spec| spec.connect_timeout = hour);
    change("reconnect", false, &|spec| spec.reconnect = None);
    change("share", false, &|spec| spec.share = Some(Share::Session));
    change("start", false, &|spec| spec.start = Some(Start::Eager));
    change("era", true, &|spec| spec.era = Some(Era::Legacy));
    change("era absent", true, &|spec| spec.era = None);
    change("include", false, &|spec| spec.filter.include = None);
    change("exclude", false, &|spec| spec.filter.exclude.clear());
    change("trust", false, &|spec| spec.trust = false);
    change("always_load", false, &|spec| spec.always_load.clear());
    change("description", false, &|spec| spec.description = None);
    change("disabled", false, &|spec| spec.disabled = true);
    change("unknown", false, &|spec| spec.unknown.clear());
    let value = ValueOfFiles::new("env.A", [Piece::file("/k")]);
    change("value_files", true, &|spec| spec.value_files = vec![value.clone()]);
    change("oauth", true, &|spec| spec.oauth.clear());
    for name in spec.oauth.keys() {
        change("oauth member", true, &|spec| {
            spec.oauth.insert(name.clone(), json!("other"));
        });
        change("oauth member absent", true, &|spec| {
            spec.oauth.shift_remove(name);
        });
    }
    out
}

fn changes_of_transport(transport: &Transport) -> Vec<(&'static str, Transport)> {
    let mut out = Vec::new();
    match transport {
        Transport::Stdio(stdio) => {
            let StdioSpec { command: _, args: _, cwd: _, env: _, unset_env: _, inherit_env: _ } =
                stdio;
            let mut change = |name, change: &dyn Fn(&mut StdioSpec)| {
                let mut changed = stdio.clone();
                change(&mut changed);
                out.push((name, Transport::Stdio(changed)));
            };
            change("command", &|spec| spec.command.push('x'));
            change("args", &|spec| spec.args[0].push('x'));
            change("args order", &|spec| spec.args.reverse());
            change("args boundary", &|spec| spec.args = vec!["ab".into()]);
            change("args empty one", &|spec| spec.args.push(String::new()));
            change("cwd", &|spec| spec.cwd = Some("/x".into()));
            change("cwd absent", &|spec| spec.cwd = None);
            change("env value", &|spec| drop(spec.env.insert("A".into(), "2".into())));
            change("env name", &|spec| drop(spec.env.insert("__proto__".into(), "1".into())));
            change("env absent", &|spec| spec.env.clear());
            change("unset_env", &|spec| spec.unset_env.clear());
            change("inherit_env", &|spec| spec.inherit_env.push("J".into()));
        }
        Transport::Remote(remote) => {
            let RemoteSpec { kind: _, url: _, headers: _, socket_path: _ } = remote;
            let mut change = |name, change: &dyn Fn(&mut RemoteSpec)| {
                let mut changed = remote.clone();
                change(&mut changed);
                out.push((name, Transport::Remote(changed)));
            };
            change("kind auto", &|spec| spec.kind = RemoteKind::Auto);
            change("kind sse", &|spec| spec.kind = RemoteKind::Sse);
            change("kind websocket", &|spec| spec.kind = RemoteKind::Websocket);
            change("url", &|spec| spec.url.push('x'));
            change("header value", &|spec| drop(spec.headers.insert("a".into(), "2".into())));
            change("header name", &|spec| drop(spec.headers.insert("b".into(), "1".into())));
            change("headers absent", &|spec| spec.headers.clear());
            change("socket_path", &|spec| spec.socket_path = Some("/run/other".into()));
            change("socket_path absent", &|spec| spec.socket_path = None);
        }
        Transport::Host(HostSpec { provided }) => {
            out.push(("provided", Transport::Host(HostSpec { provided: provided + 1 })));
        }
    }
    out
}

/// SPEC 1.2, 1.4, 1.6, S-47: a walk over every field. A hashed one changes the fingerprint, an
/// excluded one does not.
#[test]
fn every_field_is_either_hashed_or_excluded() {
    for value in [full_stdio(), full_remote()] {
        let full = spec(value);
        let base = full.fingerprint("context", &["roots"]);
        let mut seen = BTreeSet::from([base]);
        for (name, hashed, changed) in changes_of_fields(&full) {
            let print = changed.fingerprint("context", &["roots"]);
            assert_eq!(print != base, hashed, "{name}");
            assert_eq!(seen.insert(print), hashed, "{name} is like another change");
        }
        for (name, transport) in changes_of_transport(&full.transport) {
            let changed = ServerSpec { transport, ..full.clone() };
            let print = changed.fingerprint("context", &["roots"]);
            assert!(seen.insert(print), "{name}");
        }
        assert!(seen.insert(full.fingerprint("another", &["roots"])));
        assert!(seen.insert(full.fingerprint("context", &[])));
        assert!(seen.insert(full.fingerprint("context", &["roots", "sampling"])));
    }
}

/// SPEC 1.2, 1.6: the same walk from the outside: every member of the JSON counts as it should.
#[test]
fn every_member_of_the_json_counts_or_does_not() {
    let excluded = [
        "connect_timeout_ms",
        "reconnect",
        "share",
        "start",
        "include",
        "exclude",
        "trust",
        "always_load",
        "description",
        "disabled",
        "somethingElse",
    ];
    for full in [full_stdio(), full_remote()] {
        let base = print(full.clone());
        for name in full.as_object().unwrap().keys() {
            let mut value = full.clone();
            value.as_object_mut().unwrap().shift_remove(name);
            if matches!(name.as_str(), "command" | "url") {
                continue;
            }
            // Without a total, the time without progress stands alone, which is allowed.
            assert_eq!(print(value) == base, excluded.contains(&name.as_str()), "{name}");
        }
    }
}

/// SPEC 1.3: OAuth absent, null, empty and switched off are one value.
#[test]
fn oauth_that_is_off_is_absent() {
    let with = |oauth: Value| print(json!({"url": "http://h", "oauth": oauth}));
    let absent = print(json!({"url": "http://h"}));
    let empty = [json!({}), json!({"enabled": false}), json!({"clientId": null})];
    for off in [json!(null), json!(false)].into_iter().chain(empty) {
        assert_eq!(with(off), absent);
    }
    assert_ne!(with(json!({"enabled": true})), absent);
    assert_ne!(with(json!({"enabled": false, "clientId": "x"})), absent);
}

/// SPEC 1.2: spellings, and the order of scopes and audiences, do not count.
#[test]
fn oauth_fields_have_one_form() {
    let with = |oauth: Value| print(json!({"url": "http://h", "oauth": oauth}));
    let one = with(json!({"clientId": "i", "scopes": ["b", "a"], "audiences": ["y", "x"]}));
    assert_eq!(one, with(json!({"client_id": "i", "audiences": ["x", "y"], "scopes": "a  b"})));
    assert_eq!(one, with(json!({"clientId": "i", "audiences": ["x", "y"], "scope": "a b"})));
    assert_eq!(
        one,
        print(json!({"url": "http://h", "oauthScopes": ["a", "b"],
                                 "auth": {"CLIENT_ID": "i", "audiences": ["x", "y"]}}))
    );
    assert_ne!(one, with(json!({"clientId": "i", "scopes": ["a"], "audiences": ["x", "y"]})));
    assert_eq!(
        super::fault(json!({"url": "http://h", "oauth": {"clientId": "a", "client_id": "a"}})),
        "oauth.client_id"
    );
}

/// SPEC 1.7: 500 shuffles of a configuration's members, at every level, have one fingerprint; and
/// of each, one byte more in one string has another.
#[test]
fn order_never_counts_and_every_byte_does() {
    let mut random = Random::new(3);
    for full in [full_stdio(), full_remote()] {
        let base = print(full.clone());
        for _ in 0..250 {
            let mut value = shuffled(&full, &mut random);
            assert_eq!(print(value.clone()), base);
            let member = *random.pick(&["env", "headers", "oauth"]);
            let Some(members) = value.get_mut(member).and_then(Value::as_object_mut) else {
                continue;
            };
            // That one has a single value.
            let names = members.keys().filter(|name| *name != "proxy").cloned();
            let names: Vec<String> = names.collect();
            let Some(Value::String(text)) = members.get_mut(random.pick(&names)) else { continue };
            text.push(*random.pick(&['x', ' ', '\u{301}', '"', '}']));
            assert_ne!(print(value), base);
        }
    }
}

fn shuffled(value: &Value, random: &mut Random) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let mut members: Vec<_> =
        members.iter().map(|(name, value)| (name.clone(), shuffled(value, random))).collect();
    random.shuffle(&mut members);
    Value::Object(members.into_iter().collect::<Map<_, _>>())
}

/// SPEC 1.1: a connection id is parsed at the last `::`, since a name may hold one.
#[test]
fn connection_ids_come_back_whatever_the_name() {
    let fingerprint = print(json!({"command": "c"}));
    for server in ["s", "a::b", "::", ":::", "a:", ":", "a::0123456789abcdef"] {
        let key = PoolKey { server: server.into(), fingerprint };
        assert_eq!(PoolKey::from_connection_id(&key.connection_id()), Some(key));
    }
    let id = PoolKey { server: "s".into(), fingerprint }.connection_id();
    let wrong = [
        "s",
        "s::",
        "s::xyz",
        &id[..id.len() - 1],
        &format!("{id}0"),
        &id.to_uppercase(),
        &id.replace("::", ":"),
        &format!("s::{}", "é".repeat(32)),
    ];
    for id in wrong {
        assert_eq!(PoolKey::from_connection_id(id), None, "{id}");
    }
}
