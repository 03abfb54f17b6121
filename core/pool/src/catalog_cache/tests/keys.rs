//! What catalogs are kept by.

use serde_json::{Value, json};

use super::*;
use crate::settings::{Format, ReadOptions, Template, read};

fn template(entry: &Value) -> Template {
    let text = json!({ "mcpServers": { "s": entry } }).to_string();
    let options = ReadOptions { format: Some(Format::Trunkline), ..ReadOptions::default() };
    let source = read(&text, "/srv/.mcp.json", &options).unwrap();
    source.servers[0].template.clone().unwrap()
}

/// SPEC 14.2: the hash of what is written is another for each thing that defines the connection,
/// and for nothing else.
#[test]
fn what_is_written_tells_configurations_apart() {
    let written = |value: Value| WrittenHash::literal(&spec(value));
    let plain = written(json!({ "command": "c" }));
    for other in [
        json!({ "command": "d" }),
        json!({ "command": "c", "args": [""] }),
        json!({ "command": "c", "env": { "A": "1" } }),
        json!({ "command": "c", "cwd": "/" }),
        json!({ "url": "https://c" }),
    ] {
        assert!(plain != written(other.clone()), "{other}");
    }
    let seen = json!({ "command": "c", "description": "d", "trust": true, "include": ["i"] });
    assert!(plain == written(seen));
    let file =
        |name: &str| WrittenHash::template(&template(&json!({ "command": "c", "env_file": name })));
    assert!(file("a") != file("b"));
    assert!(file("a") != WrittenHash::template(&template(&json!({ "command": "c" }))));
}

/// SPEC 14.2: a variable counts as what is written, and a value that looks like one is another
/// thing.
#[test]
fn what_a_variable_stands_for_is_no_part_of_it() {
    let entry = json!({ "command": "c", "env": { "TOKEN": "${TOKEN}" } });
    assert!(WrittenHash::template(&template(&entry)) == WrittenHash::template(&template(&entry)));
    assert!(WrittenHash::template(&template(&entry)) != WrittenHash::literal(&spec(entry.clone())));
    let renamed = json!({ "command": "c", "env": { "TOKEN": "${OTHER}" } });
    assert!(WrittenHash::template(&template(&entry)) != WrittenHash::template(&template(&renamed)));
}

/// SPEC 14.2, 12.11, 7.5, S-47: another name, configuration, author, workspace, context or offer is
/// another catalog.
#[test]
fn a_catalog_is_found_by_all_that_it_may_depend_on() {
    let written = WrittenHash::literal(&spec(json!({ "command": "c" })));
    let other = WrittenHash::literal(&spec(json!({ "command": "d" })));
    let key = CacheKey::new("s", &written, ASKER);
    assert_eq!(key, CacheKey::new("s", &written, ASKER));
    for changed in [
        CacheKey::new("t", &written, ASKER),
        CacheKey::new("s", &other, ASKER),
        CacheKey::new("s", &written.of_approved(), ASKER),
        CacheKey::new("s", &written, Asker { workspace: b"/v", ..ASKER }),
        CacheKey::new("s", &written, Asker { context: "session 1", ..ASKER }),
        CacheKey::new("s", &written, Asker { capabilities: &[], ..ASKER }),
        CacheKey::new("s", &written, Asker { workspace: b"/wp", context: "ool", ..ASKER }),
    ] {
        assert!(key != changed && key.digits() != changed.digits());
    }
}

/// S-12, S-48: a key is shown as its server's name, and is digits in a path, whatever the server is
/// called.
#[test]
fn nothing_of_a_configuration_is_in_a_key() {
    let secret = spec(json!({ "command": "c", "env": { "TOKEN": "hunter2" } }));
    let key = CacheKey::new("../../etc/\u{1b}[2J", &WrittenHash::literal(&secret), ASKER);
    assert!(key.digits().len() == 64 && key.digits().bytes().all(|it| it.is_ascii_hexdigit()));
    let shown = format!("{key:?} {:?}", WrittenHash::literal(&secret));
    assert!(!shown.contains("hunter2") && !shown.contains('\u{1b}'), "{shown}");
}
