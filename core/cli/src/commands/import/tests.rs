//! What is written is what was read, for every file of the library's own tests and every product.

use std::path::{Path, PathBuf};

use trunkline::settings::{FORMATS, Format, ReadOptions, Source, read};

use serde_json::{Value, json};

use super::conversion::{Made, gates, is_shut, made};

/// The settings files of the tests of the reader.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pool/tests/settings/files");
    let (mut folders, mut files) = (vec![root], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "reading") => {}
                false => files.push(path),
            }
        }
    }
    assert!(files.len() >= FORMATS.len());
    files
}

fn options(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, workspace: Some("/srv/project".into()), project: None }
}

/// The template of that name, and whether it is there.
fn same(before: &Source, after: &Source, name: &str) -> bool {
    let of = |source: &Source| {
        let found = source.servers.iter().find(|server| server.name == name);
        found.map(|server| server.template.clone().unwrap())
    };
    of(before) == of(after)
}

#[test]
fn what_is_written_is_read_as_what_it_was() {
    let (mut whole, mut with_loss) = (0, 0);
    for path in files() {
        let (content, file) = (std::fs::read_to_string(&path).unwrap(), path.to_str().unwrap());
        let before = read(&content, file, &options(None)).unwrap();
        for to in FORMATS.iter().copied() {
            let made = made(&content, (file, &options(None)), to).ok().unwrap();
            let after = read(&made.text, "made", &options(Some(to)));
            let after = after
                .unwrap_or_else(|error| panic!("{file} as {}: {error}\n{}", to.name(), made.text));
            let names: Vec<&str> = after.servers.iter().map(|server| &*server.name).collect();
            assert_eq!(names, made.servers, "{file} as {}", to.name());
            for name in &made.servers {
                let server = after.servers.iter().find(|server| server.name == *name).unwrap();
                assert!(
                    server.template.is_ok(),
                    "{file} as {}: {:?}\n{}",
                    to.name(),
                    server.template,
                    made.text
                );
                let is_shut = is_shut(&gates(&before.lists), name);
                if made.lost.iter().chain(&made.literal).any(|row| row["server"] == **name) {
                    with_loss += 1;
                } else if is_shut {
                    let template = server.template.as_ref().unwrap();
                    assert!(template.unexpanded().disabled, "{file} as {}: {name}", to.name());
                } else {
                    whole += 1;
                    assert!(
                        same(&before, &after, name),
                        "{file} as {}: {name}\n{}",
                        to.name(),
                        made.text
                    );
                }
            }
        }
    }
    assert!(whole > with_loss / 4, "{whole} written whole, {with_loss} with a loss");
}

/// What becomes of a file of one server, as that product writes it.
fn imported(file: &str, content: &Value, to: Format) -> Made {
    made(&content.to_string(), (file, &options(None)), to).ok().unwrap()
}

/// SPEC 11.1: what a file shuts out is not let in by being written elsewhere.
#[test]
fn a_server_that_its_file_shuts_out_is_switched_off() {
    let servers = json!({ "prod": { "command": "x" }, "dev": { "command": "y" } });
    for lists in [json!({ "excluded": ["prod"] }), json!({ "allowed": ["dev"] })] {
        let file = json!({ "mcp": lists, "mcpServers": servers });
        let made = imported(".gemini/settings.json", &file, Format::Codex);
        let after = read(&made.text, "made", &options(Some(Format::Codex))).unwrap();
        let off = |name: &str| {
            let server = after.servers.iter().find(|server| server.name == name).unwrap();
            server.template.as_ref().unwrap().unexpanded().disabled
        };
        assert_eq!([off("prod"), off("dev")], [true, false], "{}", made.text);
        // It has no such field, and would start the server.
        let made = imported(".gemini/settings.json", &file, Format::ClaudeCode);
        let why = "it is switched off, which claude-code has no field for";
        assert_eq!(made.left_out, [json!({ "server": "prod", "what": why })]);
        assert_eq!(made.servers, ["dev"]);
    }
}

#[test]
fn what_is_part_of_a_product_is_left_out_and_told() {
    let file = json!({ "extensions": { "developer": { "type": "builtin", "name": "developer" } } });
    let made = imported("goose/config.yaml", &file, Format::Codex);
    assert_eq!((made.servers.len(), made.left_out.len()), (0, 1));
    assert_eq!(made.left_out[0]["server"], "developer");
}

#[test]
fn variables_are_spelled_as_the_product_does_or_told() {
    let file =
        |value: &str| json!({ "mcpServers": { "s": { "command": "x", "env": { "T": value } } } });
    for (value, to, written, is_told) in [
        ("${TOKEN}", Format::VsCode, "${env:TOKEN}", false),
        ("a ${TOKEN} b", Format::Cursor, "a ${env:TOKEN} b", false),
        ("${env:TOKEN}", Format::ClaudeCode, "${TOKEN}", false),
        ("${TOKEN:-x}", Format::ClaudeCode, "${TOKEN:-x}", false),
        ("${TOKEN:-x}", Format::VsCode, "${TOKEN:-x}", true),
        ("${workspaceFolder}", Format::VsCode, "${workspaceFolder}", false),
        ("${workspaceFolder}", Format::ClaudeCode, "${workspaceFolder}", true),
        ("${workspaceFolder}", Format::Opencode, "${workspaceFolder}", true),
        ("${workspaceFolderBasename}", Format::VsCode, "${workspaceFolderBasename}", false),
        ("${workspaceFolderBasename}", Format::Codex, "${workspaceFolderBasename}", false),
        ("${pathSeparator}${/}", Format::Cursor, "${pathSeparator}${/}", false),
        ("${config:a.b}", Format::VsCode, "${config:a.b}", true),
        ("${TOKEN}", Format::Mcporter, "${TOKEN}", false),
        ("${TOKEN}", Format::ClaudeDesktop, "${TOKEN}", true),
        ("${TOKEN}", Format::Opencode, "{env:TOKEN}", false),
        ("${input:token}", Format::VsCode, "${input:token}", true),
        ("a $TOKEN-b", Format::VsCode, "a ${env:TOKEN}-b", false),
        ("$TOKEN", Format::ClaudeCode, "${TOKEN}", false),
        ("$TOKEN", Format::Gemini, "$TOKEN", false),
        ("$TOKEN", Format::Opencode, "{env:TOKEN}", false),
        ("$TOKEN", Format::ClaudeDesktop, "$TOKEN", true),
        ("$${TOKEN}", Format::VsCode, "$${TOKEN}", true),
        ("$${TOKEN}", Format::Gemini, "$${TOKEN}", false),
        ("5$ $1 $", Format::VsCode, "5$ $1 $", false),
    ] {
        let made = imported("a.json", &file(value), to);
        assert!(made.text.contains(&format!("\"{written}\"")), "{}: {}", to.name(), made.text);
        let told = made.literal;
        assert_eq!(!told.is_empty(), is_told, "{value} as {}: {told:?}", to.name());
        assert!(made.lost.is_empty(), "{value} as {}: {:?}", to.name(), made.lost);
    }
}

/// SPEC 6.1: a product that compares names as they are would let in what a pattern keeps out.
#[test]
fn a_pattern_of_tools_is_told() {
    let file =
        |tools: &str| json!({ "mcpServers": { "s": { "command": "x", "exclude": [tools] } } });
    for (tools, told) in [
        ("delete", json!([])),
        ("delete_*", json!([{ "server": "s", "what": "exclude: delete_*" }])),
        ("*", json!([{ "server": "s", "what": "exclude: *" }])),
    ] {
        let made = imported("a.json", &file(tools), Format::Codex);
        assert!(made.text.contains(tools), "{}", made.text);
        assert_eq!(json!(made.lost), told);
    }
}

/// S-49: what a terminal would act on is written as an escape, which the product reads as what it
/// was.
#[test]
fn nothing_that_is_written_acts_on_a_terminal() {
    let arguments = json!(["\u{9b}2J\u{202e}", "\u{7f}", "\u{e0041}", "\u{200b}ü"]);
    let file = json!({ "mcpServers": { "s": { "command": "x", "args": arguments } } });
    for to in FORMATS.iter().copied() {
        let made = imported("a.json", &file, to);
        let hidden = |c: char| trunkline_pool::text::is_hidden(c) && c != '\n';
        assert!(!made.text.contains(hidden), "{}: {:?}", to.name(), made.text);
        let after = read(&made.text, "made", &options(Some(to))).unwrap();
        let template = after.servers[0].template.as_ref().unwrap();
        let args = match &template.unexpanded().transport {
            trunkline_pool::config::Transport::Stdio(stdio) => json!(stdio.args),
            _ => Value::Null,
        };
        assert_eq!(args, arguments, "{}: {}", to.name(), made.text);
    }
}
