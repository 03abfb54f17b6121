//! `adopt`: entries of products' files lead to the pool, and back.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::rig::Home;

/// Each product, its file, the servers that are adopted, and those that are left alone.
const FILES: [(&str, &str, &[&str], &[&str]); 10] = [
    ("claude-code", ".claude.json", &["github", "docs"], &[]),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", &["files"], &[]),
    ("codex", ".codex/config.toml", &["github", "last"], &["two words"]),
    ("cursor", ".cursor/mcp.json", &["one", "two"], &[]),
    ("vscode", ".config/Code/User/mcp.json", &["plain"], &["asks"]),
    ("gemini", ".gemini/settings.json", &["open"], &["shut"]),
    ("opencode", ".config/opencode/opencode.json", &["local"], &["off"]),
    ("zed", ".config/zed/settings.json", &["custom"], &[]),
    ("windsurf", ".codeium/windsurf/mcp_config.json", &["far"], &["a/b"]),
    (
        "cline",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        &["one"],
        &[],
    ),
];

fn before(product: &str) -> String {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/golden/adopt");
    std::fs::read_to_string(golden.join(format!("{product}.before"))).unwrap()
}

fn names(rows: &Value) -> Vec<&str> {
    let name = |row| Value::as_str(row).or_else(|| row["server"].as_str()).unwrap();
    rows.as_array().unwrap().iter().map(name).collect()
}

/// SPEC 19.9: one entry a server, nothing else of the file, and the very bytes again.
#[test]
fn every_products_file_is_adopted_and_comes_back_byte_for_byte() {
    for (product, file, adopted, left) in FILES {
        let home = Home::new();
        let text = before(product);
        let path = home.write(file, &text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let shown = home.run(&["adopt", product, "--dry-run", "--json"]).json();
        assert_eq!(shown["done"], "shown", "{product}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{product}");
        let report = home.run(&["adopt", product, "--yes", "--json"]).json();
        assert_eq!(report["done"], "written", "{product}: {report}");
        assert_eq!(names(&report["files"][0]["servers"]), adopted, "{product}: {report}");
        assert_eq!(names(&report["files"][0]["left"]), left, "{product}: {report}");
        let after = std::fs::read_to_string(&path).unwrap();
        home.is_as_written(&format!("adopt/{product}.after"), &after);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        let again = home.run(&["adopt", product, "--yes", "--json"]).json();
        assert_eq!(again["done"], "unchanged", "{product}: {again}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after, "{product}");
        let listed = home.run(&["list", "--json"]).json();
        for name in adopted {
            assert_eq!(listed["servers"][name]["origin"], "user", "{product}: {listed}");
        }
        let undone = home.run(&["adopt", product, "--undo", "--yes", "--json"]).json();
        assert_eq!(undone["done"], "undone", "{product}: {undone}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{product}");
        let nothing = home.run(&["adopt", product, "--undo", "--yes", "--json"]).json();
        assert_eq!(nothing["done"], "unchanged", "{product}: {nothing}");
    }
}

/// SPEC 19.9: what a person adds meanwhile stays, and so does an entry that they changed.
#[test]
fn what_changed_since_is_left_alone() {
    let home = Home::new();
    let path = home.write(".cursor/mcp.json", &before("cursor"));
    assert_eq!(home.run(&["adopt", "--yes"]).exit, 0);
    let after = std::fs::read_to_string(&path).unwrap();
    let mine = after.replace("\"two\": {", "\"mine\": {\"command\": \"m\"}, \"two\": {\"x\": 1, ");
    std::fs::write(&path, &mine).unwrap();
    let undone = home.run(&["adopt", "--undo", "--yes", "--json"]).json();
    assert_eq!(names(&undone["files"][0]["servers"]), ["one"]);
    assert_eq!(names(&undone["files"][0]["left"]), ["two"]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"mine\"") && text.contains("\"T\": \"secret\""), "{text}");
    let shown = home.run(&["adopt", "--undo", "--dry-run"]).stdout;
    assert!(shown.contains("two: left alone: it was changed since"), "{shown}");
}

/// SPEC 19.9: the difference is shown without what may be a secret, and nobody's yes writes nothing.
#[test]
fn nothing_is_written_unless_somebody_says_yes() {
    let home = Home::new();
    let path = home.write(".cursor/mcp.json", &before("cursor"));
    let asked = home.run(&["adopt"]);
    assert!(asked.exit == 2 && asked.stderr.contains("--yes"), "{asked:?}");
    assert!(asked.stdout.contains("+ {\"command\":\"trunkline\""), "{asked:?}");
    assert!(!asked.stdout.contains("secret"), "{asked:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before("cursor"));
}

/// SPEC 12, 19.9: an entry of a project waits for approval, adopted or not.
#[test]
fn an_entry_of_a_project_still_waits_for_approval() {
    let home = Home::new();
    home.settings("ws/.mcp.json", &json!({ "demo": home.server(&[]) }));
    let report = home.run(&["adopt", "--project", "--yes", "--json"]).json();
    assert_eq!(names(&report["files"][0]["servers"]), ["demo"], "{report}");
    let listed = home.run(&["list", "--json"]).json();
    assert_eq!(listed["servers"]["demo"]["reason"], "pending_approval", "{listed}");
    let elsewhere = home.run(&["list", "--json", "-w", home.path("").to_str().unwrap()]).json();
    assert_eq!(elsewhere["servers"]["demo"], Value::Null);
    assert!(home.starts().is_empty());
}

/// SPEC 19.9: an adopted server runs in a pool, which starts no `trunkline connect`.
#[test]
fn an_adopted_server_is_called() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&["--tools", "1"]) }));
    assert_eq!(home.run(&["adopt", "--yes"]).exit, 0);
    let called = home.run(&["call", "demo", "echo", "message=hi"]);
    assert_eq!((called.exit, &*called.stdout), (0, "hi\n"), "{called:?}");
    assert_eq!(home.starts().len(), 1);
}

#[test]
fn bad_input_writes_nothing() {
    let home = Home::new();
    let good = home.write(".cursor/mcp.json", &before("cursor"));
    home.write(".gemini/settings.json", "{ \"mcpServers\": ");
    let refused = home.run(&["adopt", "--yes"]);
    assert!(refused.exit == 3 && refused.stderr.contains(".gemini/settings.json"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&good).unwrap(), before("cursor"));
    let absent = home.run(&["adopt", "zed", "--yes"]);
    assert!(absent.exit == 8 && absent.stderr.contains("Zed"), "{absent:?}");
    assert_eq!(home.run(&["adopt", "goose", "--yes"]).exit, 2);
    // Of two servers of one name `connect` would find only one.
    home.write(".gemini/settings.json", r#"{ "mcpServers": { "one": { "command": "other" } } }"#);
    let report = home.run(&["adopt", "cursor", "--yes", "--json"]).json();
    assert_eq!(names(&report["files"][0]["left"]), ["one"], "{report}");
}
