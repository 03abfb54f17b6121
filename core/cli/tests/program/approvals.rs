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
    assert!(ran.exit == 4 && ran.stderr.contains("`trunkline approve` shows"), "{ran:?}");
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
    while !shown.ends_with(b"[yes/no] ") {
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
