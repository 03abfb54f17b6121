//! `add`, `remove`, `enable` and `disable`.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::rig::{Home, testserver};

fn stdio() -> String {
    format!("'{}' --tools 1", testserver().display())
}

#[test]
fn a_server_is_added_switched_and_removed_in_a_products_file() {
    let home = Home::new();
    let add = home.run(&["add", "demo", "--in", "codex", "--stdio", &stdio(), "-e", "A=b"]);
    let file = home.path(".codex/config.toml");
    let said = format!("added demo in {}\n", file.display());
    assert_eq!((add.exit, &*add.stdout), (0, &*said), "{add:?}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(home.run(&["call", "demo", "echo", "message=hi"]).stdout, "hi\n");
    assert_eq!(home.run(&["disable", "demo", "--in", "codex"]).exit, 0);
    let off = home.run(&["call", "demo", "echo", "message=hi"]);
    assert!(off.exit == 4 && off.stderr.contains("`trunkline enable demo"), "{off:?}");
    assert_eq!(home.run(&["enable", "demo", "--in", "codex"]).exit, 0);
    assert_eq!(home.run(&["call", "demo", "echo", "message=hi"]).exit, 0);
    let twice = home.run(&["add", "demo", "--in", "codex", "--stdio", "x"]);
    assert_eq!(twice.exit, 2, "{twice:?}");
    let remove = home.run(&["remove", "demo", "--in", "codex", "--json"]).json();
    assert_eq!((&remove["server"], &remove["done"]), (&json!("demo"), &json!("removed")));
    assert_eq!(home.run(&["remove", "demo", "--in", "codex"]).exit, 8);
}

#[test]
fn every_product_with_a_file_takes_a_server() {
    let home = Home::new();
    for product in trunkline::settings::FORMATS.iter().map(|format| format.name()) {
        let added = home.run(&["add", "demo", "--in", product, "--stdio", "demo"]);
        if added.stderr.contains("no file of") {
            continue;
        }
        assert_eq!(added.exit, 0, "{product}: {added:?}");
        let off = home.run(&["disable", "demo", "--in", product]);
        let expected = if off.stderr.contains("has no field") { 2 } else { 0 };
        assert_eq!(off.exit, expected, "{product}: {off:?}");
        let removed = home.run(&["remove", "demo", "--in", product]);
        assert_eq!(removed.exit, 0, "{product}: {removed:?}");
    }
}

/// A project's file stays one of a project: what is put there waits for approval.
#[test]
fn a_server_of_the_project_waits_for_approval() {
    let home = Home::new();
    let add = ["add", "demo", "--project", "--in", "claude-code", "--stdio", &stdio()];
    assert_eq!(home.run(&add).exit, 0);
    let listed = home.run(&["list", "--json"]).json();
    assert_eq!(listed["servers"]["demo"]["reason"], "pending_approval");
    assert!(home.path("ws/.mcp.json").exists());
}

#[test]
fn a_file_keeps_what_it_had_its_permissions_and_its_link() {
    let home = Home::new();
    let text =
        "{\n  // Mine.\n  \"mcpServers\": {\n    \"one\": {\"command\": \"a\"}, // first\n  }\n}\n";
    let kept = home.write("dotfiles/mcp.json", text);
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::create_dir(home.path(".cursor")).unwrap();
    let link = home.path(".cursor/mcp.json");
    symlink(&kept, &link).unwrap();
    let added = home.run(&["add", "far", "https://far.example/mcp", "--in", "cursor"]);
    assert_eq!(added.exit, 0, "{added:?}");
    let target = kept.canonicalize().unwrap();
    let leads_to = format!(", which leads to {}\n", target.display());
    assert!(added.stdout.ends_with(&leads_to), "{added:?}");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    let after = std::fs::read_to_string(&kept).unwrap();
    assert!(after.contains("// Mine.") && after.contains("// first"), "{after}");
    let listed = home.run(&["list", "--json"]).json();
    assert_eq!(listed["servers"]["far"]["transport"], "http");
    assert_eq!(home.run(&["remove", "far", "--in", link.to_str().unwrap()]).exit, 0);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), text);
    assert_eq!(std::fs::read_dir(home.path("dotfiles")).unwrap().count(), 1);
}

/// A project cannot lead a command out of it by a link, nor a link of the user's into a project.
#[test]
fn no_link_leads_from_one_side_to_the_other() {
    let home = Home::new();
    let text = "{\"mcpServers\": {}}\n";
    let users = home.write(".cursor/mcp.json", text);
    symlink(&users, home.path("ws/.mcp.json")).unwrap();
    let add = ["add", "x", "--in", "claude-code", "--project", "--stdio", "x", "--json"];
    let refused = home.run(&add);
    assert!(refused.exit == 3 && refused.stderr.contains("invalid_config"), "{refused:?}");
    assert!(refused.stderr.contains("ws/.mcp.json"), "{refused:?}");
    symlink(home.path(".cursor"), home.path("ws/.vscode")).unwrap();
    let refused = home.run(&["add", "x", "--in", "vscode", "--project", "--stdio", "x"]);
    assert_eq!(refused.exit, 3, "{refused:?}");
    let projects = home.write("ws/own.json", text);
    std::fs::create_dir_all(home.path(".codeium/windsurf")).unwrap();
    symlink(&projects, home.path(".codeium/windsurf/mcp_config.json")).unwrap();
    let refused = home.run(&["add", "x", "--in", "windsurf", "--stdio", "x"]);
    assert!(refused.exit == 3 && refused.stderr.contains("into the project"), "{refused:?}");
    for file in [users, projects] {
        assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    }
    // The files of a home that is the workspace itself are the user's all the same.
    let at_home = home.run(&[
        "add",
        "x",
        "--in",
        "cursor",
        "--stdio",
        "x",
        "-w",
        home.path("").to_str().unwrap(),
    ]);
    assert_eq!(at_home.exit, 0, "{at_home:?}");
}

#[test]
fn what_cannot_be_done_is_told_and_writes_nothing() {
    let home = Home::new();
    let flow =
        home.write(".config/goose/config.yaml", "extensions: {one: {type: stdio, cmd: a}}\n");
    let refused = home.run(&["remove", "one", "--in", "goose"]);
    assert!(refused.exit == 3 && refused.stderr.contains("by hand"), "{refused:?}");
    assert!(std::fs::read_to_string(flow).unwrap().contains("one"));
    for (words, exit) in [
        (&["add", "demo", "--in", "cursor"][..], 2),
        (&["add", "demo", "--in", "nobody", "--stdio", "x"], 2),
        (&["disable", "demo", "--in", "cursor"], 2),
        (&["add", "far", "ws://far.example/", "--in", "claude-desktop"], 2),
        (&["enable", "nobody", "--in", "goose"], 8),
    ] {
        let ran = home.run(words);
        assert_eq!(ran.exit, exit, "{words:?}: {ran:?}");
    }
    assert!(!home.path(".cursor/mcp.json").exists());
}
