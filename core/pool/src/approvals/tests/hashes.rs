//! What the hash covers.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{process, spec};
use crate::approvals::{ApprovalHash, Candidate, CandidateLaunch, Declared};
use crate::config::{ServerSpec, Transport};
use crate::expand::{Commands, VariableLookup, look_up};
use crate::interface::{OptionScope, options};
use crate::settings::{ReadOptions, Template, read};

fn stdio() -> Value {
    with(json!({
        "type": "stdio",
        "command": "server",
        "args": ["a", "b"],
        "cwd": "/w",
        "env": { "A": "1", "__proto__": "2", "constructor": "3", "GONE": null },
        "inherit_env": ["I*"],
    }))
}

fn remote() -> Value {
    with(json!({
        "type": "http",
        "url": "https://h.example/mcp?q=1",
        "headers": { "a": "1", "__proto__": "2" },
        "socket_path": "/run/s",
        "oauth": {
            "clientId": "i", "clientSecret": "s", "scopes": ["x"], "audiences": ["y"],
            "authorizationUrl": "https://a", "odd": { "__proto__": 1 },
        },
        "provider_type": "p",
        "target_audience": "t",
        "target_service_account": "u",
    }))
}

fn with(value: Value) -> Value {
    // Everything that all kinds of servers can say.
    let mut common: Value = serde_json::from_str(include_str!("common.json")).unwrap();
    // Each is other than what goes without saying.
    common["disabled"] = true.into();
    let Value::Object(mut members) = common else { unreachable!() };
    let Value::Object(own) = value else { unreachable!() };
    members.extend(own);
    members.into()
}

/// What a specification would run, its texts as they are.
fn shown(spec: &ServerSpec) -> CandidateLaunch {
    CandidateLaunch::of(spec, Some("/usr/bin/server".into())).unwrap()
}

fn hash(value: &Value) -> ApprovalHash {
    let spec = spec(value);
    Candidate::of_spec(&spec, &shown(&spec)).identity().hash
}

/// Every value in it that is no container, changed by one byte or its like; with the path to it.
fn changes(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(members) => {
            let inner = members.iter().flat_map(|(name, inner)| {
                changes(inner).into_iter().map(move |(path, changed)| {
                    let mut out = members.clone();
                    out[name] = changed;
                    (format!("{name}.{path}"), Value::Object(out))
                })
            });
            inner.collect()
        }
        Value::Array(items) => {
            let inner = items.iter().enumerate().flat_map(|(index, inner)| {
                changes(inner).into_iter().map(move |(path, changed)| {
                    let mut out = items.clone();
                    out[index] = changed;
                    (format!("{index}.{path}"), Value::Array(out))
                })
            });
            inner.collect()
        }
        Value::String(text) => match text.as_str() {
            // Words of a short list.
            "stdio" => Vec::new(),
            "http" => vec![(String::new(), json!("sse"))],
            "pool" => vec![(String::new(), json!("session"))],
            "legacy" => vec![(String::new(), json!("modern"))],
            "lazy" => vec![(String::new(), json!("eager"))],
            text => vec![(String::new(), json!(format!("{text}x")))],
        },
        Value::Number(number) => vec![(String::new(), json!(number.as_u64().unwrap() + 1))],
        Value::Bool(is) => vec![(String::new(), json!(!is))],
        Value::Null => vec![(String::new(), json!("set"))],
    }
}

/// SPEC 12.2, S-01, S-14: one byte of anything is another hash, reserved names included; of the
/// description it is the same one.
#[test]
fn one_byte_of_any_field_is_another_hash() {
    for full in [stdio(), remote()] {
        let mut seen = BTreeSet::from([hash(&full)]);
        let changes = changes(&full);
        assert!(changes.len() > 20);
        for (path, changed) in changes {
            let is_new = seen.insert(hash(&changed));
            assert_eq!(is_new, path != "description.", "{path}");
        }
        for name in full.as_object().unwrap().keys() {
            let mut without = full.clone();
            without.as_object_mut().unwrap().shift_remove(name);
            let parsed = ServerSpec::from_value("s", &without);
            // One has the transport's own default, the others are what makes it that transport.
            if ["type", "command", "url"].contains(&name.as_str()) || parsed.is_err() {
                continue;
            }
            let is_other = hash(&without) != hash(&full);
            assert_eq!(is_other, name != "description", "{name}");
        }
    }
}

/// SPEC 12.2, S-01: the walk knows every member that a configuration can have.
#[test]
fn no_member_of_a_configuration_is_left_out_of_the_walk() {
    let walked = [stdio(), remote()];
    for row in options(OptionScope::Server) {
        let is_there = |value: &Value| row.spellings().iter().any(|name| value.get(name).is_some());
        let is_walked = walked.iter().any(is_there);
        // Other ways to write what `oauth` and `disabled` hold.
        let is_spelling = ["oauth_scopes", "auth", "enabled"].contains(&row.name);
        assert!(is_walked || is_spelling, "{}", row.name);
    }
}

fn template(file: &str, env_file: Option<&str>, entry: &Value) -> Template {
    let mut entry = entry.clone();
    if let Some(env_file) = env_file {
        entry["envFile"] = env_file.into();
    }
    let text = json!({ "servers": { "s": entry } }).to_string();
    let source = read(&text, file, &ReadOptions::default()).unwrap();
    source.servers[0].template.clone().unwrap()
}

/// SPEC 12.2: the file that variables come from counts, the file that the entry stands in does not.
#[test]
fn where_an_entry_stands_does_not_count() {
    let entry = json!({ "command": "server", "env": { "TOKEN": "${env:SECRET}" } });
    let shown = process("server", &[]);
    let hash = |template: &Template| {
        Candidate::of_template(template, &Declared::default(), &shown).identity().hash
    };
    let one = hash(&template("/a/.vscode/mcp.json", None, &entry));
    assert_eq!(one, hash(&template("/b/.vscode/mcp.json", None, &entry)));
    assert_ne!(one, hash(&template("/a/.vscode/mcp.json", Some(".env"), &entry)));
    assert_ne!(
        hash(&template("/a/.vscode/mcp.json", Some(".env"), &entry)),
        hash(&template("/a/.vscode/mcp.json", Some(".env2"), &entry))
    );
}

/// SPEC 12.2, S-07, S-08: what a variable or `PATH` makes of a program, an argument, a folder or an
/// address counts; what is written does too, so that a value that looks like a variable is not one.
#[test]
fn what_would_run_counts_and_how_it_is_written_too() {
    let written = json!({ "command": "$TOOL", "args": ["${input:x}"], "cwd": "$DIR" });
    let spec = spec(&written);
    let shown = |command: &str, program: Option<&str>, arg: &str, cwd: Option<&str>| {
        CandidateLaunch::Process {
            command: command.into(),
            program: program.map(Into::into),
            args: vec![arg.into()],
            cwd: cwd.map(Into::into),
            in_workspace: Vec::new(),
        }
    };
    let hash = |shown: CandidateLaunch| Candidate::of_spec(&spec, &shown).identity().hash;
    let hashes = [
        hash(shown("tool", Some("/bin/tool"), "${input:x}", Some("/d"))),
        hash(shown("tool2", Some("/bin/tool"), "${input:x}", Some("/d"))),
        hash(shown("tool", Some("/tmp/tool"), "${input:x}", Some("/d"))),
        hash(shown("tool", None, "${input:x}", Some("/d"))),
        hash(shown("tool", Some("/bin/tool"), "x", Some("/d"))),
        hash(shown("tool", Some("/bin/tool"), "${input:x}", Some("/e"))),
        hash(shown("tool", Some("/bin/tool"), "${input:x}", None)),
    ];
    assert_eq!(BTreeSet::from(hashes).len(), hashes.len());
    let literal = super::spec(&json!({ "command": "tool", "args": ["$A"], "cwd": "/d" }));
    let variable = super::spec(&json!({ "command": "tool", "args": ["$B"], "cwd": "/d" }));
    let same = shown("tool", Some("/bin/tool"), "$A", Some("/d"));
    assert_ne!(
        Candidate::of_spec(&literal, &same).identity().hash,
        Candidate::of_spec(&variable, &same).identity().hash
    );
}

/// SPEC 12.2: a variable in an environment or header value stands as it is written, so that a
/// rotated secret asks nobody.
#[test]
fn values_of_environment_and_headers_stay_as_they_are_written() {
    let entry = json!({ "command": "server", "env": { "TOKEN": "${env:SECRET}" } });
    let template = template("/a/.vscode/mcp.json", None, &entry);
    let Transport::Stdio(stdio) = &template.unexpanded().transport else { panic!("another") };
    assert!(stdio.env["TOKEN"].contains("SECRET"));
    let literal = json!({ "command": "server", "env": { "TOKEN": stdio.env["TOKEN"] } });
    let literal = spec(&literal);
    let shown = process("server", &[]);
    // The same text that is meant literally is another configuration.
    assert_ne!(
        Candidate::of_template(&template, &Declared::default(), &shown).identity().hash,
        Candidate::of_spec(&literal, &shown).identity().hash
    );
}

/// SPEC 12.2, 13.3: the order of members does not count, that of arguments does.
#[test]
fn the_order_of_members_does_not_count() {
    for full in [stdio(), remote()] {
        let Value::Object(members) = &full else { unreachable!() };
        let reversed: Map<_, _> =
            members.iter().rev().map(|(k, v)| (k.clone(), v.clone())).collect();
        assert_eq!(hash(&full), hash(&reversed.into()));
    }
    let args = |args: Value| hash(&json!({ "command": "c", "args": args }));
    assert_ne!(args(json!(["a", "b"])), args(json!(["b", "a"])));
    assert_ne!(args(json!(["ab"])), args(json!(["a", "b"])));
    assert_ne!(args(json!([])), args(json!([""])));
}

/// SPEC 12.2, S-01: the whole digest is the text, and nothing else is one. The number is what other
/// versions must come to as well.
#[test]
fn a_hash_has_one_text() {
    let hash = super::identity("server", &["a"]).hash;
    let text = hash.to_string();
    assert_eq!(text.len(), "v1:".len() + 64);
    assert_eq!(ApprovalHash::parse(&text), Some(hash));
    let wrong = [
        text.to_uppercase(),
        text.replace("v1", "v2"),
        text[..text.len() - 1].to_owned(),
        format!("{text}0"),
        format!(" {text}"),
        text[3..].to_owned(),
        String::new(),
    ];
    for wrong in wrong {
        assert_eq!(ApprovalHash::parse(&wrong), None, "{wrong}");
    }
}

/// A host whose variables are written so.
struct Host<'a>(&'a str);

impl VariableLookup for Host<'_> {
    fn env(&self, _name: &str) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn workspace_folder(&self) -> Option<String> {
        None
    }

    fn user_home(&self) -> Option<String> {
        None
    }
}

/// SPEC 12.2, S-07: a variable whose value is written like another variable comes to the same text
/// as that one, and is another configuration.
#[test]
fn a_value_that_looks_like_a_variable_is_another_configuration() {
    let of = |entry: Value| {
        let template = template("/a/.vscode/mcp.json", None, &entry);
        let looked_up = look_up(&template, &Host("${input:y}"), Commands::Refused).unwrap();
        let shown = CandidateLaunch::of(&looked_up.spec, Some("/usr/bin/server".into())).unwrap();
        let hash = Candidate::of_template(&template, &Declared::default(), &shown).identity().hash;
        (shown, hash)
    };
    let process = |text: &str| json!({ "command": "server", "args": [text], "cwd": "/w" });
    let folder = |text: &str| json!({ "command": "server", "cwd": text });
    let remote = |text: &str| json!({ "url": format!("https://h/{text}") });
    for entry in [&process as &dyn Fn(&str) -> Value, &folder, &remote] {
        let (value, variable) = (of(entry("$X")), of(entry("${input:y}")));
        assert!(value.0 == variable.0, "both are shown alike");
        assert_ne!(value.1, variable.1);
    }
}
