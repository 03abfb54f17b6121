//! Wrong use, help, completions, and the end of a run.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

use serde_json::json;

use crate::rig::{Home, ran};

#[test]
fn the_help_is_as_written_down() {
    let home = Home::new();
    let ran = home.run(&["--help"]);
    home.is_as_written("help.txt", &ran.stdout);
    assert_eq!((ran.exit, &*ran.stderr), (0, ""));
    assert!(home.run(&["call", "--help"]).stdout.contains("NAME:=JSON"));
}

#[test]
fn a_line_that_makes_no_sense_ends_with_2() {
    let home = Home::new();
    home.settings("ws/.cursor/mcp.json", &json!({}));
    let lines: [&[&str]; 11] = [
        &[],
        &["lst"],
        &["list", "--nothing"],
        &["call", "demo"],
        &["tools", "--shape", "cube"],
        &["list", "--timeout", "-1"],
        &["list", "--options", "{"],
        &["list", "--options", r#"{"drain_dellay_ms": 1}"#],
        &["list", "--options", r#"{"workers": 1, "workers": 2}"#],
        &["list", "--options", r#"{"limits": {"$serde_json::private::RawValue": "{}"}}"#],
        &["approve", "--hash", "v1:00"],
    ];
    for line in lines {
        let ran = home.run(line);
        assert_eq!((ran.exit, &*ran.stdout), (2, ""), "{line:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{line:?}");
    }
    assert!(home.run(lines[1]).stderr.contains("'list'"));
    assert!(home.run(lines[7]).stderr.contains("drain_delay_ms"));
}

#[test]
fn an_error_is_json_where_json_is_asked_for() {
    let home = Home::new();
    let ran = home.run(&["call", "nobody", "echo", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&error["v"], &error["error"]["code"]), (&1.into(), &"not_admitted".into()));
    assert_eq!((ran.exit, &*ran.stdout), (8, ""));
}

/// Everything on the stream for errors is one JSON object then, what was typed wrong and what was
/// to be decided included.
#[test]
fn a_program_reads_every_error() {
    let home = Home::new();
    home.settings("ws/.mcp.json", &json!({ "project": home.server(&[]) }));
    for (words, code) in [
        (&["--json", "no-such-command"][..], "command_line"),
        (&["tools", "--json", "--timeout", "never"], "command_line"),
        (&["approve", "project", "--json"], "command_line"),
        (&["reject", "nobody", "--hash", "v1:0", "--json"], "command_line"),
    ] {
        let ran = home.run(words);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).expect(&ran.stderr);
        assert_eq!((&error["v"], &error["error"]["code"]), (&1.into(), &code.into()), "{ran:?}");
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(home.run(&["reject", "nobody", "--hash", "v1:0"]).exit, 8);
}

#[test]
fn completions_complete() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = home.run(&["completions", shell]);
        assert!(ran.exit == 0 && ran.stdout.contains("explain"), "{shell}");
    }
    home.write("completions", &home.run(&["completions", "bash"]).stdout);
    assert_eq!(completed(&home, &["trunkline", "expl"]), "explain\n");
    assert_eq!(completed(&home, &["trunkline", "tools", "--sh"]), "--shape\n");
}

/// What bash completes the last word to.
fn completed(home: &Home, words: &[&str]) -> String {
    let last = words.len() - 1;
    let script = format!(
        ". ../completions; COMP_WORDS=({}); COMP_CWORD={last}; \
         _trunkline_names trunkline '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        words[last],
        words[last - 1],
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(home.path("ws")).env_clear().env("HOME", home.path(""));
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_trunkline")).parent().unwrap();
    bash.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    ran(bash.output().unwrap()).stdout
}

/// Names come from the settings; one that a shell would expand is not among them.
#[test]
fn bash_completes_the_names_of_servers_and_tools() {
    let home = Home::new();
    let demo = json!({ "command": env!("CARGO_BIN_EXE_trunkline"), "args": ["demo"] });
    let marked = home.path("marked");
    let hostile = format!("demo-$(touch {})", marked.display());
    home.settings(".cursor/mcp.json", &json!({ "demo-one": demo, "other": home.server(&[]) }));
    home.settings("ws/.mcp.json", &json!({ hostile: demo }));
    home.write("completions", &home.run(&["completions", "bash"]).stdout);
    assert_eq!(completed(&home, &["trunkline", "call", "dem"]), "demo-one\n");
    assert_eq!(completed(&home, &["trunkline", "-t", "5", "tools", "o"]), "other\n");
    assert!(home.starts().is_empty());
    for _ in 0..2 {
        assert_eq!(completed(&home, &["trunkline", "call", "demo-one", "me"]), "measure\n");
    }
    assert!(!marked.exists());
}

#[test]
fn a_reader_that_had_enough_is_no_failure() {
    let home = Home::new();
    let mut child = home.command(&["completions", "bash"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(ran(child.wait_with_output().unwrap()).exit, 0);
}

fn signalled(home: &Home, signal: &str) -> Child {
    let words = ["call", "demo", "progress", "steps:=10000", "interval_ms:=100"];
    let mut child = home.command(&words).spawn().unwrap();
    let mut progress = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut progress).unwrap();
    assert_eq!(progress, "progress 1/10000 step 1\n");
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    child
}

#[test]
fn a_signal_ends_a_call_and_leaves_no_process() {
    for (signal, exit) in [("INT", 130), ("TERM", 143)] {
        let home = Home::new();
        home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&["--fork-child"]) }));
        let mut child = signalled(&home, signal);
        assert_eq!(child.wait().unwrap().code(), Some(exit));
        // The server, and the child that outlives it where nobody ends that.
        assert_eq!(home.starts().len(), 2);
        home.has_no_process();
    }
}

/// SPEC 9.8: a server may end by itself when its input does.
#[test]
fn a_run_lets_its_servers_end_by_themselves() {
    let home = Home::new();
    let mut server = home.server(&[]);
    let ended = home.path("ended");
    let line = format!("\"$0\" \"$@\"; echo ended >> '{}'", ended.display());
    let mut args = vec![json!("-c"), json!(line), server["command"].take()];
    args.extend(server["args"].as_array().unwrap().iter().cloned());
    home.settings(".cursor/mcp.json", &json!({ "demo": { "command": "sh", "args": args } }));
    for (runs, words) in
        [&["tools"][..], &["status"], &["call", "demo", "echo", "message=hi"]].iter().enumerate()
    {
        let patient = [&["--options", r#"{"exit_grace_ms": 60000}"#], *words].concat();
        let ran = home.run(&patient);
        assert_eq!(ran.exit, 0, "{ran:?}");
        home.has_no_process();
        let text = std::fs::read_to_string(&ended).unwrap_or_default();
        assert_eq!(text, "ended\n".repeat(runs + 1), "{words:?}");
    }
}
