//! `approve`, `reject` and `forget`.

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
    let ran = home.run(&["approve", "demo", "--hash", &hash]);
    assert_eq!((&*ran.stdout, ran.exit), ("approved\n", 0), "{ran:?}");
    assert_eq!(home.run(&["approve"]).stdout, "nothing waits for approval\n");
    assert_eq!(home.run(&["call", "demo", "echo", "message=hi"]).stdout, "hi\n");
    assert_eq!(home.run(&["reject", "demo", "--hash", &hash]).exit, 0);
    assert_eq!(home.run(&["call", "demo", "echo", "message=hi"]).exit, 4);
    assert_eq!(reason(&home), "rejected");
    assert_eq!(home.run(&["forget", "demo"]).exit, 0);
    assert_eq!(reason(&home), "pending_approval");
    assert_eq!(home.run(&["forget", "demo"]).exit, 8);
    home.has_no_process();
}
