//! `doctor`, and `status --watch`.

use std::io::{BufRead, BufReader};
use std::process::Command;

use serde_json::{Value, json};

use crate::rig::{Home, Ran};

/// The findings about something, as their states.
fn states(ran: &Ran, about: &str) -> Vec<String> {
    let json = ran.json();
    let findings = json["findings"].as_array().unwrap().iter();
    let of_it = findings.filter(|found| found["about"].as_str().unwrap().ends_with(about));
    of_it.map(|found| found["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_doctor_finds_what_is_wrong_and_starts_nothing() {
    let home = Home::new();
    let servers = json!({
        "demo": home.server(&[]),
        "gone": { "command": "no-such-program" },
        "off": { "command": "no-such-program", "disabled": true },
        "wrong": { "command": 7 },
        "unset": { "command": "${NO_SUCH_VARIABLE}/server" },
        "far": { "url": "http://127.0.0.1:9/mcp" },
    });
    home.settings(".cursor/mcp.json", &servers);
    home.write(".gemini/settings.json", "{");
    home.write(".local/state/trunkline/approvals.json.damaged-1", "");
    let ran = home.run(&["doctor", "--json"]);
    for (about, wanted) in [
        (".cursor/mcp.json", &["ok"][..]),
        (".gemini/settings.json", &["wrong"]),
        ("demo", &["ok"]),
        ("gone", &["wrong"]),
        ("off", &["note"]),
        ("far", &[]),
        ("approvals.json.damaged-1", &["note"]),
    ] {
        assert_eq!(states(&ran, about), wanted, "{about}: {ran:?}");
    }
    for about in ["wrong", "unset"] {
        assert!(states(&ran, about).contains(&"wrong".into()), "{about}: {ran:?}");
    }
    assert_eq!((ran.exit, home.starts().len()), (1, 0));
}

#[test]
fn the_doctor_is_content_where_all_is_well() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&["--tools", "3"]) }));
    let ran = home.run(&["doctor", "--start"]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    let connected = ran.stdout.lines().last().unwrap();
    assert!(connected.starts_with("ok") && connected.contains("trunkline-testserver"), "{ran:?}");
    home.has_no_process();
}

#[test]
fn a_server_that_does_not_stay_is_wrong() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "brief": home.server(&["--exit-at-start", "3"]) }));
    let ran = home.run(&["doctor", "--start", "--json"]);
    assert_eq!(states(&ran, "brief"), ["ok", "wrong"], "{ran:?}");
    assert_eq!(ran.exit, 1);
}

#[test]
fn a_watched_status_is_told_again_until_it_is_enough() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    let words = ["status", "--watch", "--interval", "0.01", "--count", "3"];
    let ran = home.run(&[&words[..], &["--json"]].concat());
    let views: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((views.len(), ran.exit), (3, 0));
    assert!(views.iter().all(|view| view["servers"]["demo"]["state"] == "connected"));
    let plain = home.run(&words);
    assert_eq!(plain.stdout.matches("demo  connected").count(), 3, "{plain:?}");
    assert!(!plain.stdout.contains('\u{1b}'));
    assert_eq!(home.run(&["status", "--count", "3"]).exit, 2);
    home.has_no_process();
}

#[test]
fn a_signal_ends_a_watch() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    let mut child = home.command(&["status", "--watch", "--json"]).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("connected"), "{first}");
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    home.has_no_process();
}

/// S-49: the name of a server is one word, whatever it holds.
#[test]
fn a_name_forges_no_line_of_the_doctor() {
    let home = Home::new();
    let name = "x: a\nok     payroll: all is well\nok     y";
    home.settings("ws/.mcp.json", &json!({ name: { "command": "a" } }));
    let ran = home.run(&["doctor"]);
    assert!(ran.stdout.contains("payroll"), "{}", ran.stdout);
    let forged = |line: &str| line.starts_with("ok     payroll");
    assert!(!ran.stdout.lines().any(forged), "{}", ran.stdout);
}
