//! Edits of files: the lines of one server change, and nothing else.

use serde_json::{Map, Value, json};
use trunkline::settings::{Format, Syntax, read};

use super::*;

fn members(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn edited(format: Format, text: &str, name: &str, change: &Change) -> Option<String> {
    let before = read(text, "f", &options(format)).unwrap();
    let after = match before.syntax {
        Syntax::Toml => toml_edit::edited(text, format, name, change),
        Syntax::Yaml => yaml_edit::edited(text, format, name, change),
        _ => json_edit::edited(text, format, name, change),
    };
    after.filter(|after| is_only_change((&before, text), after, (name, change)))
}

const JSON: &str = r#"// Mine.
{
  "theme": "dark", // stays
  "context_servers": {
    /* first */
    "one": { "command": "a" },
    "two": {
      "command": "b", // why
      "args": ["x"],
    },
  },
}
"#;

#[test]
fn json_keeps_its_comments_and_its_order() {
    let add = Change::Add(members(json!({ "command": "c", "args": [] })));
    let added = edited(Format::Zed, JSON, "three", &add).unwrap();
    for line in JSON.lines() {
        assert!(added.contains(line), "{line}: {added}");
    }
    let back = edited(Format::Zed, &added, "three", &Change::Remove).unwrap();
    assert_eq!(back, JSON);
    let off = edited(Format::Zed, JSON, "two", &Change::Set("enabled", false)).unwrap();
    assert!(off.contains("// why") && off.contains("\"enabled\": false"), "{off}");
    let on = edited(Format::Zed, &off, "two", &Change::Set("enabled", true)).unwrap();
    assert_eq!(on, off.replace("false", "true"));
    let gone = edited(Format::Zed, JSON, "one", &Change::Remove).unwrap();
    assert!(gone.contains("// stays") && !gone.contains("\"one\""), "{gone}");
}

const TOML: &str = "# Mine.\nmodel = \"m\"\n\n[mcp_servers.one] # first\ncommand = \"a\"\n\n[mcp_servers.one.env]\nA = \"b\"\n\n\
                    [mcp_servers.\"t.w o\"]\ncommand = \"b\"\n\n[other]\nx = 1\n";

#[test]
fn toml_keeps_its_comments_and_its_order() {
    let add = Change::Add(members(json!({ "command": "c" })));
    let added = edited(Format::Codex, TOML, "three", &add).unwrap();
    assert_eq!(added, format!("{TOML}\n[mcp_servers.three]\ncommand = \"c\"\n"));
    let gone = edited(Format::Codex, TOML, "one", &Change::Remove).unwrap();
    let wanted =
        "# Mine.\nmodel = \"m\"\n\n[mcp_servers.\"t.w o\"]\ncommand = \"b\"\n\n[other]\nx = 1\n";
    assert_eq!(gone, wanted);
    let off = edited(Format::Codex, TOML, "t.w o", &Change::Set("enabled", false)).unwrap();
    assert_eq!(off, TOML.replace("o\"]\n", "o\"]\nenabled = false\n"));
    let on = edited(Format::Codex, &off, "t.w o", &Change::Set("enabled", true)).unwrap();
    assert_eq!(on, off.replace("false", "true"));
}

const YAML: &str = "# Mine.\nextensions:\n  # first\n  one:\n    type: stdio\n    cmd: a\n    enabled: true  # yes\n\n  \"two\":\n    \
                    type: stdio\n    cmd: b\n# The rest.\nGOOSE_MODEL: m\n";

#[test]
fn yaml_keeps_its_comments_and_its_order() {
    let add = Change::Add(members(json!({ "type": "stdio", "cmd": "c" })));
    let added = edited(Format::Goose, YAML, "three", &add).unwrap();
    let entry = "  \"three\":\n    type: \"stdio\"\n    cmd: \"c\"\n";
    assert_eq!(added, YAML.replace("# The rest.", &format!("{entry}# The rest.")));
    let off = edited(Format::Goose, YAML, "two", &Change::Set("enabled", false)).unwrap();
    assert_eq!(off, YAML.replace("\"two\":\n", "\"two\":\n    enabled: false\n"));
    let off = edited(Format::Goose, YAML, "one", &Change::Set("enabled", false)).unwrap();
    assert!(off.contains("    enabled: false  # yes\n") && off.contains("# first"), "{off}");
    let gone = edited(Format::Goose, YAML, "one", &Change::Remove).unwrap();
    assert!(gone.contains("\"two\":") && !gone.contains("cmd: a"), "{gone}");
}

#[test]
fn lists_of_servers_are_edited_by_their_names() {
    let yaml = "mcpServers:\n- name: one\n  command: a\n- name: two\n  command: b\n";
    let add = Change::Add(members(json!({ "command": "c" })));
    let added = edited(Format::Continue, yaml, "three", &add).unwrap();
    assert_eq!(added, format!("{yaml}- name: \"three\"\n  command: \"c\"\n"));
    let gone = edited(Format::Continue, yaml, "one", &Change::Remove).unwrap();
    assert_eq!(gone, "mcpServers:\n- name: two\n  command: b\n");
    let json = r#"{"mcpServers": [{"name": "one", "command": "a", "enabled": true}]}"#;
    let off = edited(Format::McpProxy, json, "one", &Change::Set("enabled", false)).unwrap();
    assert_eq!(off.trim(), json.replace("true", "false"));
    let added = edited(Format::McpProxy, json, "two", &add).unwrap();
    assert!(added.contains("\"name\": \"two\""), "{added}");
}

/// What only looks like the server's lines, or holds more than them, is not touched.
#[test]
fn what_cannot_be_edited_is_left_as_it_is() {
    let inline = "mcp_servers = { one = { command = \"a\" } }\n";
    assert_eq!(edited(Format::Codex, inline, "one", &Change::Remove), None);
    let flow = "extensions: {one: {type: stdio, cmd: a}}\n";
    assert_eq!(edited(Format::Goose, flow, "one", &Change::Remove), None);
    let text =
        "[other]\nx = \"\"\"\n[mcp_servers.one]\n\"\"\"\n\n[mcp_servers.one]\ncommand = \"a\"\n";
    assert_eq!(edited(Format::Codex, text, "one", &Change::Remove), None);
    let excluded = r#"{"mcp": {"excluded": ["one"]}, "mcpServers": {"one": {"command": "a"}}}"#;
    assert_eq!(edited(Format::Gemini, excluded, "one", &Change::Set("disabled", false)), None);
}

/// A comment is about what follows it, unless it stands deeper than the entry before.
#[test]
fn comments_of_the_next_entry_stay() {
    let toml = "[mcp_servers.one]\ncommand = \"a\"\n\n# Two.\n[mcp_servers.two]\ncommand = \"b\"\n\n\
                # Rest.\n[other]\nx = 1\n";
    let gone = edited(Format::Codex, toml, "one", &Change::Remove).unwrap();
    assert_eq!(gone, "# Two.\n[mcp_servers.two]\ncommand = \"b\"\n\n# Rest.\n[other]\nx = 1\n");
    let gone = edited(Format::Codex, toml, "two", &Change::Remove).unwrap();
    assert!(gone.contains("# Rest.\n[other]") && !gone.contains("mcp_servers.two"), "{gone}");
    let yaml = "extensions:\n  one:\n    type: stdio\n    cmd: a\n    # of one\n\n  # Two.\n  two:\n    \
                type: stdio\n    cmd: b\n\n# The rest.\nGOOSE_MODEL: m\n";
    let gone = edited(Format::Goose, yaml, "one", &Change::Remove).unwrap();
    assert!(gone.contains("\n  # Two.\n  two:") && !gone.contains("# of one"), "{gone}");
    let gone = edited(Format::Goose, yaml, "two", &Change::Remove).unwrap();
    assert!(
        gone.contains("# of one") && gone.ends_with("\n# The rest.\nGOOSE_MODEL: m\n"),
        "{gone}"
    );
    let list = "mcpServers:\n# One.\n- name: one # first\n  command: a\n# Two.\n- name: two\n  command: b\n";
    let gone = edited(Format::Continue, list, "one", &Change::Remove).unwrap();
    assert_eq!(gone, "mcpServers:\n# One.\n# Two.\n- name: two\n  command: b\n");
}

/// A variable may have the name of the switch.
#[test]
fn only_the_entrys_own_field_is_the_switch() {
    let off = Change::Set("enabled", false);
    let yaml = "extensions:\n  one:\n    type: stdio\n    cmd: a\n    envs:\n      enabled: \"true\"\n    enabled: true  # yes\n";
    let after = edited(Format::Goose, yaml, "one", &off).unwrap();
    assert_eq!(after, yaml.replace("enabled: true  #", "enabled: false  #"));
    let toml = "[mcp_servers.one]\ncommand = \"a\"\nenabled = true # yes\n\n[mcp_servers.one.env]\nenabled = \"true\"\n";
    let after = edited(Format::Codex, toml, "one", &off).unwrap();
    assert_eq!(after, toml.replace("= true # yes", "= false # yes"));
    let toml = "[mcp_servers.one.env]\nenabled = \"x\"\n\n[mcp_servers.one]\ncommand = \"a\"\n";
    let after = edited(Format::Codex, toml, "one", &off).unwrap();
    assert_eq!(after, toml.replace("one]\n", "one]\nenabled = false\n"));
}

/// What is no server counts as well.
#[test]
fn an_edit_that_changes_anything_else_is_none() {
    let before = "model = \"m\"\n[mcp_servers.one]\ncommand = \"a\"\n";
    let source = read(before, "f", &options(Format::Codex)).unwrap();
    let off = Change::Set("enabled", false);
    let only = |after: &str| is_only_change((&source, before), after, ("one", &off));
    assert!(only(&format!("{before}enabled = false\n")));
    assert!(!only(&format!("{}enabled = false\n", before.replace("\"m\"", "\"n\""))));
    assert!(!only(&format!("{before}enabled = false\nargs = []\n")));
}
