//! The rules of reading, one by one.

use serde_json::{Value, json};
use trunkline_pool::config::{RemoteKind, ServerSpec, Transport};
use trunkline_pool::settings::{
    Approved, Container, FORMATS, Format, Meaning, NullEnv, ReadOptions, Rule, Source, Syntax,
    Template, Unit, read,
};
use trunkline_pool::{Error, ErrorCode};

fn as_format(text: &str, format: Format) -> Source {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let end = match format.row().syntax {
        Syntax::Toml => "toml",
        Syntax::Yaml => "yaml",
        _ => "json",
    };
    read(text, &format!("settings.{end}"), &options).unwrap()
}

/// A file of that format with one server of those fields.
fn file_of(format: Format, fields: &Value) -> String {
    let row = format.row();
    let mut root = match row.containers[0] {
        Container::Map(_) | Container::Bare => json!({ "one": fields }),
        _ => {
            let mut named = fields.clone();
            named["name"] = "one".into();
            json!([named])
        }
    };
    if let Container::Map(way) | Container::List(way) = row.containers[0] {
        for step in way.iter().rev() {
            root = json!({ *step: root });
        }
    }
    match row.syntax {
        Syntax::Toml => toml_of(fields),
        // JSON is YAML.
        _ => root.to_string(),
    }
}

fn toml_of(fields: &Value) -> String {
    let lines = fields.as_object().unwrap().iter().map(|(name, value)| {
        let value = match value {
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| format!("\"{name}\" = {value}"));
                format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
            }
            value => value.to_string(),
        };
        format!("{name} = {value}\n")
    });
    format!("[mcp_servers.one]\n{}", lines.collect::<String>())
}

fn template(format: Format, fields: &Value) -> Template {
    one(format, fields).unwrap()
}

fn one(format: Format, fields: &Value) -> Result<Template, Error> {
    let source = as_format(&file_of(format, fields), format);
    assert_eq!(source.servers.len(), 1, "{format:?}");
    source.servers[0].template.clone()
}

/// The fields of a stdio server, as the format spells them.
fn stdio(format: Format) -> Value {
    match format {
        Format::Opencode => json!({ "type": "local", "command": ["x"] }),
        Format::Goose => json!({ "type": "stdio", "cmd": "x" }),
        _ => json!({ "command": "x" }),
    }
}

fn with(mut fields: Value, name: &str, value: Value) -> Value {
    fields[name] = value;
    fields
}

fn detail(error: &Error, name: &str) -> u64 {
    error.detail()[name].as_u64().unwrap()
}

fn whole_error(text: &str, file: &str) -> (String, u64, u64) {
    let error = read(text, file, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidConfig);
    let path = error.detail()["path"].as_str().unwrap().to_owned();
    (path, detail(&error, "line"), detail(&error, "column"))
}

/// SPEC 10.3: the unit of a time is that of the product, to the millisecond, and where it came from
/// is said.
#[test]
fn times_have_the_unit_of_their_product() {
    let mut seen = 0;
    for &format in FORMATS {
        for field in format.row().fields {
            let Meaning::Time(name, unit) = field.meaning else { continue };
            let (value, millis, rule) = match unit {
                Unit::Milliseconds => (json!(2500), 2500, Rule::Milliseconds),
                Unit::Seconds => (json!(2.5), 2500, Rule::Seconds),
                _ => (json!("2.5s"), 2500, Rule::DurationText),
            };
            let template = template(format, &with(stdio(format), field.name, value));
            assert_eq!(template.configuration()[name], millis, "{format:?} {}", field.name);
            let provenance = template.provenance().iter().find(|one| one.field == name).unwrap();
            assert_eq!((provenance.path.as_str(), provenance.rule), (field.name, rule));
            seen += 1;
            for wrong in [json!(-1), json!(0), json!("soon"), json!([]), json!(true)] {
                let error =
                    one(format, &with(stdio(format), field.name, wrong.clone())).unwrap_err();
                assert_eq!(error.detail()["path"], field.name, "{format:?} {wrong}");
                assert!(error.message().contains(field.name), "{error}");
            }
        }
    }
    assert!(seen >= 12, "only {seen} times");
}

/// SPEC 10.3: a time whose file nobody can be told from is in milliseconds, and that is said to be
/// assumed.
#[test]
fn a_time_of_nobody_is_assumed_to_be_milliseconds() {
    let template = template(Format::Trunkline, &json!({ "command": "x", "timeout": 30 }));
    assert_eq!(template.unexpanded().call_timeout.unwrap().as_millis(), 30);
    assert_eq!(template.provenance()[0].rule, Rule::AssumedMilliseconds);
}

/// SPEC 10.3: a time beyond what is allowed here is cut and told, since the file was written for
/// another program.
#[test]
fn times_out_of_range_are_cut() {
    let text = file_of(
        Format::Codex,
        &json!({ "command": "x", "startup_timeout_sec": 600, "tool_timeout_sec": 0.0001 }),
    );
    let source = as_format(&text, Format::Codex);
    let configuration = source.servers[0].template.as_ref().unwrap().configuration().clone();
    assert_eq!(
        (&configuration["connect_timeout_ms"], &configuration["call_timeout_ms"]),
        (&json!(300_000), &json!(1))
    );
    assert_eq!(source.findings.len(), 1);
}

/// SPEC 10.3, 10.4: every spelling of a transport is the transport, in every format, and `http` is
/// not a guess.
#[test]
fn types_have_many_spellings() {
    let spellings = [
        ("http", RemoteKind::Http),
        ("streamable-http", RemoteKind::Http),
        ("streamableHttp", RemoteKind::Http),
        ("streamable_http", RemoteKind::Http),
        ("remote", RemoteKind::Http),
        ("sse", RemoteKind::Sse),
        ("ws", RemoteKind::Websocket),
        ("websocket", RemoteKind::Websocket),
    ];
    for &format in FORMATS {
        for (word, kind) in spellings {
            let scheme = if kind == RemoteKind::Websocket { "wss" } else { "https" };
            let template =
                template(format, &json!({ "type": word, "url": format!("{scheme}://h.example/") }));
            let Transport::Remote(remote) = &template.unexpanded().transport else {
                panic!("{word}")
            };
            assert_eq!(remote.kind, kind, "{format:?} {word}");
        }
        for word in ["stdio", "local"] {
            let template = template(format, &with(stdio(format), "type", word.into()));
            assert_eq!(template.unexpanded().transport_name(), "stdio", "{format:?} {word}");
        }
    }
}

/// SPEC 10.4: a bare address is tried, unless its product has but one protocol.
#[test]
fn bare_addresses_are_tried() {
    for &format in FORMATS {
        let template = template(format, &json!({ "url": "https://h.example/mcp" }));
        let Transport::Remote(remote) = &template.unexpanded().transport else { panic!() };
        let expected =
            if format.row().bare_url.is_some() { RemoteKind::Http } else { RemoteKind::Auto };
        assert_eq!(remote.kind, expected, "{format:?}");
    }
}

/// SPEC 10.3: null in an environment is what its product means by it.
#[test]
fn null_in_an_environment_is_the_products() {
    for &format in FORMATS.iter().filter(|format| format.row().syntax != Syntax::Toml) {
        let name = format.row().fields.iter().find(|row| row.meaning == Meaning::As("env"));
        let name = name.map_or("env", |row| row.name);
        let template = template(format, &with(stdio(format), name, json!({ "A": null, "B": "b" })));
        let Transport::Stdio(stdio) = &template.unexpanded().transport else { panic!() };
        let inherits = format.row().null_env == NullEnv::Inherits;
        assert_eq!(stdio.unset_env.contains("A"), !inherits, "{format:?}");
        assert_eq!(stdio.inherit_env == ["A"], inherits, "{format:?}");
        assert_eq!(stdio.env.len(), 1);
    }
}

/// SPEC 11.7: S-03: a flag that lets tools run unasked is recorded in every format, and grants
/// nothing in any.
#[test]
fn flags_of_approval_are_recorded_and_never_granted() {
    let flags = [
        ("trust", json!(true), Approved::Everything),
        ("autoApprove", json!("*"), Approved::Everything),
        ("autoApprove", json!(["a", "b"]), Approved::Names(vec!["a".into(), "b".into()])),
        ("alwaysAllow", json!(["a"]), Approved::Names(vec!["a".into()])),
    ];
    for &format in FORMATS {
        for (name, value, what) in &flags {
            let source =
                as_format(&file_of(format, &with(stdio(format), name, value.clone())), format);
            let template = source.servers[0].template.as_ref().unwrap();
            assert!(!template.unexpanded().trust, "{format:?}");
            assert!(!template.configuration().contains_key(*name));
            assert_eq!(source.approvals.len(), 1, "{format:?} {name}");
            assert_eq!(
                (&source.approvals[0].what, source.approvals[0].server.as_deref()),
                (what, Some("one"))
            );
        }
        let none = json!({ "trust": false, "autoApprove": [], "alwaysAllow": [] });
        let mut fields = stdio(format);
        fields.as_object_mut().unwrap().extend(none.as_object().unwrap().clone());
        assert!(as_format(&file_of(format, &fields), format).approvals.is_empty());
    }
}

/// SPEC 10.3, 11.7: a field in an object that stands for a part of the entry means what it means
/// beside it.
#[test]
fn nested_fields_mean_what_they_mean_outside() {
    for (format, container, program) in
        [(Format::Zed, "command", "path"), (Format::Cline, "transport", "command")]
    {
        let read =
            |nested: Value| as_format(&file_of(format, &json!({ container: nested })), format);
        let source = read(json!({ program: "x", "timeout": 60, "trust": true }));
        let template = source.servers[0].template.as_ref().unwrap();
        assert_eq!(template.configuration()["call_timeout_ms"], 60_000, "{format:?}");
        assert!(!template.unexpanded().trust, "{format:?}");
        assert_eq!(source.approvals[0].path, format!("{container}.trust"));
        let source = read(json!({ program: "x", "Timeout": 60 }));
        let error = source.servers[0].template.as_ref().unwrap_err();
        assert!(error.message().contains("must be written `timeout`"), "{error}");
    }
    let remote = json!({ "transport": { "transport": "sse", "url": "https://h.example" } });
    assert_eq!(template(Format::Cline, &remote).unexpanded().transport_name(), "sse");
    let program = json!({ "command": { "command": "x" } });
    assert_eq!(template(Format::Zed, &program).configuration()["command"], "x");
}

/// S-15: a field that differs from a known one in its case alone is refused by name, in every
/// format.
#[test]
fn fields_in_the_wrong_case_are_refused() {
    for &format in FORMATS {
        for field in format.row().fields {
            let wrong = field.name.to_ascii_uppercase();
            let error = one(format, &with(stdio(format), &wrong, json!("x"))).unwrap_err();
            assert!(error.message().contains("must be written"), "{format:?} {wrong}: {error}");
            assert_eq!(error.detail()["path"].as_str(), Some(wrong.as_str()));
        }
    }
}

/// SPEC 10.3: a member that nobody knows is kept, and told with its place.
#[test]
fn unknown_members_are_kept_and_told() {
    for &format in FORMATS {
        let source =
            as_format(&file_of(format, &with(stdio(format), "colour", json!({ "r": 1 }))), format);
        let template = source.servers[0].template.as_ref().unwrap();
        assert_eq!(template.unexpanded().unknown["colour"], json!({ "r": 1 }), "{format:?}");
        let told = source.findings.iter().filter(|one| one.path == "colour").count();
        assert_eq!(told, 1, "{format:?}");
    }
}

/// SPEC 10.9: two fields that are one are an error that names both, also where a product has a name
/// of its own.
#[test]
fn two_spellings_of_one_field_are_refused() {
    for (format, first, second, value) in [
        (Format::Codex, "headers", "http_headers", json!({ "A": "b" })),
        (Format::Opencode, "env", "environment", json!({ "A": "b" })),
        (Format::Mcporter, "url", "baseUrl", json!("https://h.example")),
        (Format::Copilot, "includeTools", "tools", json!(["a"])),
        (Format::Codex, "startup_timeout_sec", "startup_timeout_ms", json!(1000)),
    ] {
        let error = one(format, &with(with(stdio(format), first, value.clone()), second, value))
            .unwrap_err();
        let message = error.message();
        assert!(message.contains(&format!("`{second}`")), "{message}");
        assert!(message.contains(&format!("`{first}`")), "{message}");
    }
}

/// SPEC 10.9: arguments that are there twice are an error, whichever of the two comes first.
#[test]
fn arguments_beside_a_command_line_are_refused() {
    for text in [
        r#"{"mcp": {"one": {"args": ["a"], "command": ["x", "y"]}}}"#,
        r#"{"mcp": {"one": {"command": ["x", "y"], "args": ["a"]}}}"#,
    ] {
        let source = as_format(text, Format::Opencode);
        let error = source.servers[0].template.as_ref().unwrap_err();
        assert!(error.message().contains("are the same field"), "{error}");
    }
}

/// SPEC 10.7: a file that does not parse is one error, at its line and column, in each syntax.
#[test]
fn a_file_that_does_not_parse_is_one_error() {
    assert_eq!(
        whole_error("{\n  \"mcpServers\": {\n    \"a\": }\n}", "x.json"),
        (String::new(), 3, 10)
    );
    assert_eq!(whole_error("", "x.json").1, 1);
    assert_eq!(whole_error("[1]", "x.json").1, 1);
    assert_eq!(whole_error("{} {}", "x.json"), (String::new(), 1, 4));
    assert_eq!(whole_error("{\"mcpServers\": {}, \"a\": \"\\ud800\"}", "x.json").1, 1);
    assert_eq!(whole_error("[mcp_servers.a]\ncommand = x", "x.toml").1, 2);
    assert_eq!(whole_error("[a]\nb = 1\nb = 2", "x.toml").1, 3);
    assert_eq!(whole_error("a:\n  - b\n c: d", "x.yaml").1, 3);
    assert_eq!(whole_error("a: 1\n---\nb: 2", "x.yaml").1, 3);
}

/// SPEC 10.7, S-15: a container that is none, is there twice or is miswritten spoils the file, and
/// says where.
#[test]
fn a_bad_container_spoils_the_file() {
    assert_eq!(whole_error("{\n\"mcpServers\": 3}", "x.json"), ("mcpServers".into(), 2, 15));
    assert_eq!(
        whole_error("{\"mcpServers\": {},\n\"mcpServers\": {}}", "x.json"),
        ("mcpServers".into(), 2, 1)
    );
    assert_eq!(whole_error("{\"mcpservers\": {}}", ".mcp.json"), ("mcpservers".into(), 1, 2));
    let gate = "{\"mcp\": {\"allowed\": \"a\"}}";
    assert_eq!(whole_error(gate, ".gemini/settings.json"), ("mcp.allowed".into(), 1, 21));
    assert_eq!(
        whole_error("{\"mcp\": {\"excluded\": [1]}}", ".gemini/settings.json").0,
        "mcp.excluded"
    );
    for (file, text, path) in [
        (".gemini/settings.json", "{\n\"mcp\": {\"Excluded\": []}}", "mcp.Excluded"),
        (".qwen/settings.json", "{\n\"MCP\": {\"allowed\": []}}", "MCP"),
        (".claude/settings.json", "{\n\"disabledMcpjsonservers\": []}", "disabledMcpjsonservers"),
    ] {
        let (found, line, _) = whole_error(text, file);
        assert_eq!((found.as_str(), line), (path, 2));
    }
}

/// SPEC 10.7: a server that is there twice is neither of the two, and spoils itself alone.
#[test]
fn a_server_that_is_there_twice_is_neither() {
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"b\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}, \"a\": {}}}";
    let source = read(text, ".mcp.json", &ReadOptions::default()).unwrap();
    let verdicts = source.servers.iter().map(|one| (one.name.as_str(), one.template.is_ok()));
    assert_eq!(verdicts.collect::<Vec<_>>(), [("a", false), ("b", true)]);
}

/// SPEC 17: a byte order mark at the start of a file is dropped, and one in a value is refused.
#[test]
fn a_byte_order_mark_counts_at_the_start_alone() {
    let text = "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"b\": {\"command\": \"\u{feff}x\"}}}";
    let source = read(text, ".mcp.json", &ReadOptions::default()).unwrap();
    assert!(source.servers[0].template.is_ok());
    assert_eq!(source.servers[1].template.as_ref().unwrap_err().detail()["path"], "command");
}

/// SPEC 13.5: templates are equal by what they mean: the order, the spelling, comments and the
/// place do not count.
#[test]
fn templates_are_compared_by_meaning() {
    let read = |text: &str| {
        let source = read(text, "x.json", &ReadOptions::default()).unwrap();
        source.servers[0].template.clone().unwrap()
    };
    let one = read(
        r#"{"mcpServers": {"a": {"command": "x", "env": {"A": "1", "B": "2"}, "call_timeout_ms": 5}}}"#,
    );
    let same = read(
        "{/* c */ mcpServers: {\n a: { callTimeoutMs: 0x5, env: { B: '2', A: \"1\", }, command: 'x', }, }, }",
    );
    assert!(one == same);
    let other = read(
        r#"{"mcpServers": {"a": {"command": "x", "env": {"A": "1", "B": "3"}, "call_timeout_ms": 5}}}"#,
    );
    assert!(one != other);
}

/// SPEC 10.3: by whose rules a file is read can be said, whatever its name and content imply.
#[test]
fn the_format_can_be_said() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "timeout": 60, "httpUrl": null}}}"#;
    let millis = |format| {
        let source = as_format(text, format);
        source.servers[0].template.as_ref().unwrap().configuration().get("call_timeout_ms").cloned()
    };
    assert_eq!(millis(Format::Cline), Some(json!(60_000)));
    assert_eq!(millis(Format::Gemini), Some(json!(60)));
    assert!(FORMATS.iter().all(|format| Format::of_name(format.name()) == Some(*format)));
    assert_eq!(Format::of_name("emacs"), None);
}

/// SPEC 10.5, 10.9: what goes wrong once variables are expanded is told in the terms of the file.
#[test]
fn errors_after_expansion_name_the_place_too() {
    let template = template(
        Format::Codex,
        &json!({ "url": "https://h.example", "http_headers": { "X-A": "${A}" } }),
    );
    assert!(matches!(template.unexpanded().transport, Transport::Remote(_)));
    let mut expanded = template.configuration().clone();
    assert!(template.spec_of(&expanded).is_ok());
    expanded["headers"]["X-A"] = "two\nlines".into();
    let error = template.spec_of(&expanded).unwrap_err();
    assert_eq!(error.detail()["path"], "http_headers.X-A");
    assert_eq!(detail(&error, "line"), 3);
    let error = template.error(
        ErrorCode::UndefinedVariable,
        "headers.X-A",
        "the variable `A` is not defined",
    );
    assert_eq!((error.code(), error.server()), (ErrorCode::UndefinedVariable, Some("one")));
    assert_eq!(error.detail()["path"], "http_headers.X-A");
}

/// S-48: neither a template nor a source prints a value.
#[test]
fn debug_prints_no_values() {
    let canary = "canary-5f1c";
    let text = format!(
        r#"{{"servers": {{"a": {{"command": "x", "args": ["{canary}"], "env": {{"A": "{canary}"}}, "odd": "{canary}"}},
        "b": {{"url": "https://u:{canary}@h.example/?k={canary}", "headers": {{"A": "{canary}"}}, "oauth": {{"clientSecret": "{canary}"}}}}}},
        "inputs": [{{"type": "promptString", "id": "i", "default": "{canary}"}}]}}"#
    );
    let source = read(&text, ".vscode/mcp.json", &ReadOptions::default()).unwrap();
    assert!(source.servers.iter().all(|one| one.template.is_ok()));
    assert!(!format!("{source:?}").contains(canary));
}

/// SPEC 10.3, 11.1: a list that lets in nothing is not a list that is not there.
#[test]
fn an_empty_list_is_not_an_absent_one() {
    let allowed = |text: &str| {
        read(text, ".gemini/settings.json", &ReadOptions::default()).unwrap().lists.allowed
    };
    assert_eq!(allowed("{}"), None);
    assert_eq!(allowed(r#"{"mcp": {"allowed": null}}"#), None);
    assert_eq!(allowed(r#"{"mcp": {"allowed": []}}"#), Some(Vec::new()));
}

/// SPEC 10.3: what is read is what the pool's own configuration takes, field for field.
#[test]
fn a_template_is_the_pools_own_configuration() {
    let template = template(
        Format::Gemini,
        &json!({ "httpUrl": "https://h.example", "timeout": 5, "excludeTools": ["x"] }),
    );
    let own = json!({ "transport": "http", "url": "https://h.example", "call_timeout_ms": 5, "exclude": ["x"] });
    assert!(*template.unexpanded() == ServerSpec::from_value("one", &own).unwrap());
}

/// SPEC 10.3: opencode switches a sign-in off by one word, and calls scopes as OAuth does.
#[test]
fn oauth_of_opencode_means_what_it_says() {
    let remote =
        |oauth: Value| json!({ "type": "remote", "url": "https://s.example/mcp", "oauth": oauth });
    let oauth = |written: Value| {
        let template = template(Format::Opencode, &remote(written));
        template.spec_of(template.configuration()).unwrap().oauth
    };
    assert!(oauth(json!(false)).is_empty());
    assert_eq!(oauth(json!({ "scope": "b a" }))["scopes"], json!(["a", "b"]));
    let twice = one(Format::Opencode, &remote(json!({ "scope": "a", "scopes": ["b"] })));
    assert_eq!(twice.unwrap_err().code(), ErrorCode::InvalidConfig);
    let wrong = one(Format::Opencode, &remote(json!(true)));
    assert_eq!(wrong.unwrap_err().detail()["path"], "oauth");
}
