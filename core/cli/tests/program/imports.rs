//! `import`.

use serde_json::json;

use crate::rig::Home;

#[test]
fn a_file_is_written_once_and_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let servers = json!({ "demo": { "command": "demo", "env": { "TOKEN": "${TOKEN}", "KEY": "${KEY:-x}" } } });
    home.settings("ws/mcp.json", &servers);
    let words = ["import", "mcp.json", "--to", "opencode", "--output", "opencode.json"];
    let first = home.run(&words);
    assert_eq!((first.exit, &*first.stdout), (0, "wrote demo to opencode.json\n"));
    let told = "demo: kept as written; opencode does not expand it: ";
    assert!(first.stderr.contains(told), "{}", first.stderr);
    let written = home.path("ws/opencode.json");
    assert!(std::fs::read_to_string(&written).unwrap().contains("{env:TOKEN}"));
    assert_eq!(written.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(home.run(&words).exit, 2);
    let listed = home.run(&["list", "--json", "--config", "opencode.json"]).json();
    assert_eq!(listed["servers"]["demo"]["transport"], serde_json::Value::Null);
    assert_eq!(listed["servers"]["demo"]["reason"], "pending_approval");
}

#[test]
fn what_the_other_product_cannot_have_is_told() {
    let home = Home::new();
    let servers = json!({
        "far": { "type": "http", "url": "http://127.0.0.1:9/mcp" },
        "slow": { "command": "slow", "share": "session" },
        "wrong": { "command": 7 },
    });
    home.settings("ws/mcp.json", &servers);
    let ran = home.run(&["import", "mcp.json", "--to", "claude-desktop", "--json"]);
    let report = ran.json();
    assert_eq!((ran.exit, &report["servers"]), (1, &json!(["slow"])));
    assert_eq!(report["lost"], json!([{ "server": "slow", "what": "share" }]));
    assert_eq!(report["left_out"].as_array().unwrap().len(), 2);
    assert_eq!(home.run(&["import", "nothing.json", "--to", "codex"]).exit, 3);
    assert_eq!(home.run(&["import", "mcp.json", "--to", "nobody"]).exit, 2);
}
