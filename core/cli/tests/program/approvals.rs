//! `approve`, `reject` and `forget`.

#[cfg(target_os = "linux")]
use std::io::{Read as _, Write as _};
#[cfg(target_os = "linux")]
use std::process::Stdio;

use serde_json::{Value, json};

use crate::rig::Home;

fn home() -> Home {
    let home = Home::new();
    let mut server = home.server(&["--label", "a \"quoted\"\u{202e} word"]);
    server["env"] = json!({ "LD_PRELOAD": "canary-4711" });
    home.settings("ws/.mcp.json", &json!({ "demo": server }));
    home
}

fn reason(home: &Home) -> Value {
    home.run(&["list", "--json"]).json()["servers"]["demo"]["reason"].clone()
}

fn hash(home: &Home) -> String {
    let shown = home.run(&["approve", "--json"]).json();
    shown["requests"][0]["hash"].as_str().unwrap().to_owned()
}

#[test]
fn what_waits_is_shown_whole_and_escaped() {
    let home = home();
    let ran = home.run(&["approve"]);
    let shown = ran.stdout.replace(&hash(&home), "HASH");
    home.is_as_written("approve.txt", &shown);
    assert_eq!((ran.exit, home.starts().len()), (0, 0));
}

#[test]
fn without_a_person_a_decision_needs_the_hash() {
    let home = home();
    let ran = home.run(&["approve", "demo"]);
    assert!(ran.exit == 2 && ran.stderr.contains(&hash(&home)), "{ran:?}");
    assert_eq!(reason(&home), "pending_approval");
    let other = format!("v1:{}", "0".repeat(64));
    assert_eq!(home.run(&["approve", "demo", "--hash", &other]).exit, 4);
    assert_eq!(home.run(&["approve", "demo", "--hash", "yes"]).exit, 2);
    assert_eq!(reason(&home), "pending_approval");
}

#[test]
fn a_decision_holds_for_the_next_run() {
    let home = home();
    let hash = hash(&home);
    let ran = home.run(&["call", "demo", "echo", "message=hi"]);
    assert!(ran.exit == 4 && ran.stderr.contains("`trunkline approve demo` shows"), "{ran:?}");
    let ran = home.run(&["approve", "demo", "--hash", &hash]);
    assert_eq!((&*ran.stdout, ran.exit), ("approved\n", 0), "{ran:?}");
    assert_eq!(home.run(&["approve"]).stdout, "nothing waits for approval\n");
    assert_eq!(home.run(&["call", "demo", "echo", "message=hi"]).stdout, "hi\n");
    assert_eq!(home.run(&["reject", "demo", "--hash", &hash]).exit, 0);
    assert_eq!(home.run(&["call", "demo", "echo", "message=hi"]).exit, 4);
    assert_eq!(reason(&home), "rejected");
    // It is shown again before it is approved.
    let ran = home.run(&["approve", "demo", "--hash", &hash]);
    assert!(ran.exit == 2 && ran.stderr.contains("was rejected"), "{ran:?}");
    assert_eq!(reason(&home), "rejected");
    for verdict in ["approve", "reject"] {
        assert_eq!(home.run(&[verdict, "nobody", "--hash", &hash]).exit, 8);
    }
    assert_eq!(home.run(&["forget", "demo"]).exit, 0);
    assert_eq!(reason(&home), "pending_approval");
    assert_eq!(home.run(&["forget", "demo"]).exit, 8);
    home.has_no_process();
}

/// SPEC 12.9: a person sees every address of a sign-in before a secret goes to one.
#[test]
fn where_a_sign_in_leads_is_shown() {
    let home = Home::new();
    let oauth = json!({
        "grant_type": "client_credentials", "client_id": "docs", "client_secret": "${DEPLOY_TOKEN}",
        "token_url": "http://127.0.0.1:7802/token",
    });
    let server = json!({ "type": "http", "url": "http://127.0.0.1:7801/mcp", "oauth": oauth });
    home.settings("ws/.mcp.json", &json!({ "docs": server }));
    let shown = home.run(&["approve"]).stdout;
    for line in [
        "takes    env DEPLOY_TOKEN, in oauth.client_secret",
        "oauth    oauth.token_url http://127.0.0.1:7802/token, another origin",
        "oauth    grant client_credentials",
        "risk     other_origin oauth.token_url http://127.0.0.1:7802/token",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

/// SPEC 12.10: a runner of packages works in a folder of the user's, and what the workspace has of
/// its arguments is named.
#[cfg(unix)]
#[test]
fn a_package_runner_works_outside_of_the_workspace() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    let testserver = home.server(&[])["command"].as_str().unwrap().to_owned();
    let script = format!("#!/bin/sh\npwd > \"$HOME/ran\"\nexec {testserver}\n");
    let npx = home.write("bin/npx", &script);
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o700)).unwrap();
    home.write("ws/docs/x", "");
    let server = json!({ "command": npx, "args": ["-y", "pkg@1.2.3", "docs", "--dir=./docs"] });
    let mut kept = server.clone();
    kept["cwd"] = json!("${workspaceFolder}");
    home.settings("ws/.mcp.json", &json!({ "kept": kept, "one": server }));
    let asked = home.run(&["approve", "--json"]).json();
    let [kept, one] = [&asked["requests"][0], &asked["requests"][1]];
    let folder = home.path(".local/state/trunkline/runners");
    assert_eq!(one["exact"]["cwd"], json!(folder));
    let named = json!([
        { "argument": 3, "path": "docs" },
        { "argument": 4, "path": "--dir=./docs" },
    ]);
    assert_eq!(one["escaped"]["in_workspace"], named);
    assert_eq!(kept["exact"]["cwd"], json!(home.path("ws")));
    let kinds = one["risks"].as_array().unwrap().iter().map(|risk| &risk["kind"]);
    assert!(kinds.into_iter().any(|kind| kind == "workspace_code"), "{one}");
    for (name, request, folder) in [("one", one, folder), ("kept", kept, home.path("ws"))] {
        let hash = request["hash"].as_str().unwrap();
        assert_eq!(home.run(&["approve", name, "--hash", hash]).exit, 0);
        assert_eq!(home.run(&["call", name, "echo", "message=hi"]).stdout, "hi\n");
        let ran = std::fs::read_to_string(home.path("ran")).unwrap();
        assert_eq!(ran.trim_end(), folder.to_str().unwrap());
    }
}

/// SPEC 12.11: a project that takes over a name takes nothing away, and a person sees whose name it
/// is.
#[test]
fn a_name_of_the_users_stays_in_force_until_the_other_is_approved() {
    let home = Home::new();
    home.settings(
        ".cursor/mcp.json",
        &json!({ "github": home.server(&[]), "gitlab": home.server(&[]) }),
    );
    let other = home.server(&["--tools", "1"]);
    home.settings("ws/.mcp.json", &json!({ "github": other, "gitl\u{430}b": other }));
    assert_eq!(home.run(&["call", "github", "echo", "message=hi"]).stdout, "hi\n");
    let listed = home.run(&["list"]).stdout;
    for line in ["may run", "pending_approval", "takes the place of the above", "gitl\\u{430}b"] {
        assert!(listed.contains(line), "{line}: {listed}");
    }
    let explained = home.run(&["explain", "github", "--no-start"]).stdout;
    assert!(explained.contains("pending_approval: it would take its place"), "{explained}");
    let asked = home.run(&["approve"]).stdout;
    let hidden = format!("{}:1", home.path(".cursor/mcp.json").display());
    for line in ["risk     hides_user_server user:", &hidden, "gitl\\u{430}b, like gitlab"] {
        assert!(asked.contains(line), "{line}: {asked}");
    }
    let requests = home.run(&["approve", "--json"]).json()["requests"].clone();
    let github = requests.as_array().unwrap().iter().find(|one| one["server"] == "github");
    let hash = github.unwrap()["hash"].as_str().unwrap().to_owned();
    assert_eq!(home.run(&["approve", "github", "--hash", &hash]).exit, 0);
    let listed = home.run(&["list"]).stdout;
    assert!(listed.contains(&format!("takes the place of {hidden}")), "{listed}");
    assert_eq!(home.run(&["reject", "github", "--hash", &hash]).exit, 0);
    assert_eq!(home.run(&["call", "github", "echo", "message=hi"]).stdout, "hi\n");
    assert_eq!(home.run(&["approve", "github", "--hash", &hash]).exit, 2);
    home.has_no_process();
}

/// SPEC 7.6, 12.2: a tool that is not what it was when its server was approved.
#[test]
fn a_changed_tool_is_shown_and_accepted() {
    let home = Home::new();
    let flags = ["--tools", "1", "--generated-only", "--drift-once"];
    home.settings("ws/.mcp.json", &json!({ "demo": home.server(&flags) }));
    let hash = home.run(&["approve", "--json"]).json()["requests"][0]["hash"].clone();
    assert_eq!(home.run(&["approve", "demo", "--hash", hash.as_str().unwrap()]).exit, 0);
    assert_eq!(home.run(&["call", "demo", "tool_1"]).exit, 0);
    let refused = home.run(&["call", "demo", "tool_1"]);
    assert_eq!(refused.exit, 8, "{refused:?}");
    assert!(refused.stderr.contains("`trunkline accept demo`"), "{refused:?}");
    let signature = home.run(&["tools", "demo", "tool_1"]);
    assert!(signature.stderr.contains("`trunkline accept demo tool_1`"), "{signature:?}");
    let shown = home.run(&["accept", "demo"]);
    assert!(shown.exit == 0 && shown.stdout.contains("tool_1 changed"), "{shown:?}");
    let digest = home.run(&["accept", "demo", "--json"]).json();
    let digest = digest["quarantined"][0]["difference"]["to"].as_str().unwrap().to_owned();
    assert!(shown.stdout.contains(&digest));
    let unasked = home.run(&["accept", "demo", "tool_1"]);
    assert!(unasked.exit == 2 && unasked.stderr.contains(&digest), "{unasked:?}");
    assert_eq!(home.run(&["accept", "demo", "tool_2"]).exit, 8);
    let other = "0".repeat(64);
    assert_eq!(home.run(&["accept", "demo", "tool_1", "--digest", &other]).exit, 4);
    assert_eq!(home.run(&["accept", "demo", "tool_1", "--digest", &digest]).stdout, "accepted\n");
    assert_eq!(home.run(&["call", "demo", "tool_1"]).stdout, "tool_1\n");
    assert_eq!(home.run(&["accept", "demo"]).stdout, "no tool is kept back\n");
    home.has_no_process();
}

/// On a terminal of its own, which `script` makes.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_question() {
    let home = home();
    let line = format!("'{}' approve demo", env!("CARGO_BIN_EXE_trunkline"));
    let mut script = std::process::Command::new("script");
    script.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(home.path("ws"));
    script.env_clear().env("HOME", home.path("")).env("PATH", "/usr/bin:/bin");
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = script.spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    while !shown.ends_with(b"[y/n] ") {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&shown));
        shown.push(byte[0]);
    }
    // What the key sends, and a line that would be a yes.
    stdin.write_all(b"\x03yes\n").unwrap();
    stdout.read_to_end(&mut shown).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    assert_eq!(reason(&home), "pending_approval");
}
