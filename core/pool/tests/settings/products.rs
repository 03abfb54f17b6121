//! What single products write that others do not.

use serde_json::{Value, json};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::expand::{Commands, needs};
use trunkline_pool::settings::{FindingKind, Format, ReadOptions, Source, Template, read};

fn source(format: Format, text: &str) -> Source {
    let options =
        ReadOptions { format: Some(format), workspace: Some("/srv/project".into()), project: None };
    let end = if matches!(format, Format::Goose | Format::Continue) { "yaml" } else { "json" };
    read(text, &format!("settings.{end}"), &options).unwrap()
}

/// The server `s` of a product with a map of servers of that name.
fn server(format: Format, container: &str, entry: Value) -> trunkline_pool::Result<Template> {
    let source = source(format, &json!({ container: { "s": entry } }).to_string());
    source.servers[0].template.clone()
}

/// SPEC 18.10: where a file belongs to another project than the workspace, its programs start
/// there, unless the entry says where.
#[test]
fn programs_of_another_project_start_in_it() {
    for (entry, folder) in [
        (json!({ "command": "./x" }), Some("/other")),
        (json!({ "command": "x", "cwd": "tools" }), Some("/other/tools")),
        (json!({ "command": "x", "cwd": "/srv" }), Some("/srv")),
        (json!({ "command": "x", "cwd": "~/w" }), Some("~/w")),
        (json!({ "command": "x", "cwd": "${workspaceFolder}/w" }), Some("${workspaceFolder}/w")),
        (json!({ "url": "https://h/mcp" }), None),
    ] {
        let text = json!({ "mcpServers": { "s": entry } }).to_string();
        let options = ReadOptions { project: Some("/other".into()), ..ReadOptions::default() };
        let source = read(&text, "/other/.mcp.json", &options).unwrap();
        let template = source.servers[0].template.clone().unwrap();
        let cwd = template.configuration().get("cwd").and_then(Value::as_str);
        assert_eq!(cwd, folder, "{entry}");
    }
}

/// SPEC 10.3: Claude Code loads every tool of a server, or none, by one word; patterns are taken as
/// they are.
#[test]
fn always_load_of_claude_code_is_a_word_for_all_tools() {
    for (word, tools) in
        [(json!(true), json!(["*"])), (json!(false), json!([])), (json!(["a*"]), json!(["a*"]))]
    {
        let entry = json!({ "command": "x", "alwaysLoad": word });
        let read = server(Format::ClaudeCode, "mcpServers", entry).unwrap();
        assert_eq!(json!(read.unexpanded().always_load), tools);
    }
    let wrong = json!({ "command": "x", "alwaysLoad": "yes" });
    let error = server(Format::ClaudeCode, "mcpServers", wrong).unwrap_err();
    assert_eq!(error.detail()["path"], "alwaysLoad");
}

/// SPEC 10.3: a filter in the portable form of Copilot filters in a `.mcp.json` too.
#[test]
fn tools_of_a_portable_file_are_a_filter() {
    let entry = json!({ "command": "x", "tools": ["look"] });
    let read = server(Format::ClaudeCode, "mcpServers", entry).unwrap();
    assert_eq!(read.unexpanded().filter.include, Some(vec!["look".to_owned()]));
}

/// SPEC 10.3: headers of a remote extension of Goose are filled from its own variables, and no
/// other key of it is asked for.
#[test]
fn headers_of_a_goose_extension_have_its_variables() {
    let entry = json!({
        "type": "streamable_http", "uri": "https://h.example/mcp",
        "envs": { "TEAM": "core", "IDLE": "x" }, "env_keys": ["TOKEN", "UNUSED"],
        "headers": { "a": "Bearer $TOKEN", "b": "${TOKEN}", "c": "${ TOKEN }!", "d": "$TEAM-${TEAM}", "e": "$OTHER $TOKENS $$TOKEN" },
    });
    let source = source(Format::Goose, &json!({ "extensions": { "s": entry } }).to_string());
    let read = source.servers[0].template.as_ref().unwrap();
    let secret = "${secret:TOKEN}";
    let headers = json!({
        "a": format!("Bearer {secret}"), "b": secret, "c": format!("{secret}!"),
        "d": "core-core", "e": "$OTHER $TOKENS $$TOKEN",
    });
    assert_eq!(read.configuration()["headers"], headers);
    assert_eq!(read.configuration().get("env"), None);
    let asked: Vec<String> = needs(read, Commands::Refused).secrets.into_iter().collect();
    assert_eq!(asked, ["TOKEN"]);
    let told: Vec<_> = source.findings.iter().map(|one| (&*one.path, one.kind)).collect();
    assert_eq!(
        told,
        [("env_keys[1]", FindingKind::NoEffect), ("envs.IDLE", FindingKind::NoEffect)]
    );
}

/// SPEC 10.3: VS Code writes a socket as an address, with the path behind the host in the fragment.
#[test]
fn socket_addresses_of_vs_code_are_read() {
    for (url, rest) in [("unix:///run/s.sock", ""), ("unix:///run/s.sock#/mcp/sub", "mcp/sub")] {
        let entry = json!({ "type": "http", "url": url });
        let read = server(Format::VsCode, "servers", entry).unwrap();
        let configuration = read.configuration();
        assert_eq!(configuration["socket_path"], "/run/s.sock");
        assert_eq!(configuration["url"], format!("http://localhost/{rest}"));
    }
    let error = server(Format::VsCode, "servers", json!({ "url": "unix://s.sock" })).unwrap_err();
    assert_eq!(error.detail()["path"], "url");
}

/// SPEC 10.3, 11.1: a server of the file that Claude Code switched off for this project is kept
/// out.
#[test]
fn servers_that_a_project_of_claude_code_switched_off_are_kept_out() {
    let text = json!({
        "mcpServers": { "a": { "command": "x" }, "b": { "command": "x" } },
        "projects": {
            "/srv/project": { "mcpServers": { "c": { "command": "x" } }, "disabledMcpServers": ["a", "c", "plugin:d"] },
            "/srv/other": { "disabledMcpServers": ["b"] },
        },
    });
    // What is another's has lists of its own.
    assert_eq!(source(Format::ClaudeCode, &text.to_string()).lists.excluded, ["a", "c"]);
}

/// SPEC 18.9: what opencode reads from a file is one here, by a path that begins at the settings
/// file.
#[test]
fn a_file_in_a_value_of_opencode_begins_at_the_settings_file() {
    let entry =
        json!({ "type": "local", "command": ["x"], "environment": { "KEY": "{file:~/.key}" } });
    let read = server(Format::Opencode, "mcp", entry).unwrap();
    assert_eq!(read.configuration()["env"]["KEY"], "${file:~/.key}");
}

/// SPEC 10.5: mcporter's own way to name a variable.
#[test]
fn variables_of_mcporter_have_a_word_before_them() {
    let entry = json!({ "baseUrl": "https://h.example", "headers": { "a": "Bearer $env:TOKEN", "b": "$env: $$env:X" } });
    let read = server(Format::Mcporter, "mcpServers", entry).unwrap();
    let headers = json!({ "a": "Bearer ${env:TOKEN}", "b": "$env: $$env:X" });
    assert_eq!(read.configuration()["headers"], headers);
}

/// SPEC 10.3: a block of Continue's hub is part of the product, with or without a name, and no
/// broken server.
#[test]
fn blocks_of_the_hub_of_continue_are_skipped() {
    let text = "mcpServers:\n- uses: owner/block\n- {name: named, uses: owner/other}\n- {name: s, command: x}\n";
    let source = source(Format::Continue, text);
    let skipped: Vec<_> = source.skipped.iter().map(|one| (&*one.name, &*one.what)).collect();
    assert_eq!(skipped, [("owner/block", "block"), ("named", "block")]);
    assert_eq!(source.servers.len(), 1);
}

/// SPEC 10.9: an address that no client could take is told where it stands.
#[test]
fn an_address_that_is_none_is_an_error_of_its_field() {
    for url in ["https://x.example:99999/", "https://[::1/", "https://%zz/"] {
        let error = server(Format::Trunkline, "mcpServers", json!({ "url": url })).unwrap_err();
        assert_eq!(error.detail()["path"], "url", "{url}");
        assert_eq!(error.detail()["line"], 1, "{url}");
    }
    let entry = json!({ "url": null, "serverUrl": "https://x.example:99999/" });
    let error = ServerSpec::from_value("s", &entry).unwrap_err();
    assert_eq!(error.detail()["path"], "serverUrl");
    // What a variable may still become is judged when it is known.
    for url in ["https://h:$PORT/", "https://h:8080$REST", "https://1.2.3.26$X/"] {
        let read = server(Format::Trunkline, "mcpServers", json!({ "url": url })).unwrap();
        let mut expanded = read.configuration().clone();
        expanded["url"] = "https://h:99999/".into();
        assert_eq!(read.spec_of(&expanded).unwrap_err().detail()["path"], "url");
    }
}

/// SPEC 10.3: a container that is null holds no servers; it is neither news nor a server.
#[test]
fn a_container_that_is_null_is_empty() {
    for (format, text) in [
        (Some(Format::VsCode), r#"{"servers":null}"#),
        (Some(Format::Trunkline), r#"{"mcpServers":null}"#),
        (None, r#"{"mcpServers":null}"#),
    ] {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let source = read(text, "settings.json", &options).unwrap();
        assert_eq!((source.servers.len(), source.findings.len()), (0, 0), "{text}");
    }
}

/// SPEC 10.9: a whole number may be written with a point or an exponent.
#[test]
fn a_time_is_whole_however_it_is_written() {
    for text in ["1e3", "1000.0", "1000"] {
        let text =
            format!(r#"{{"mcpServers":{{"s":{{"command":"x","call_timeout_ms":{text}}}}}}}"#);
        let source = source(Format::Trunkline, &text);
        let read = source.servers[0].template.as_ref().unwrap();
        assert_eq!(read.unexpanded().call_timeout.unwrap().as_millis(), 1000);
    }
}
