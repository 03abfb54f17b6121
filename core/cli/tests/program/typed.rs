//! A server that the command line itself describes.

use serde_json::json;

use crate::rig::{Home, Remote, testserver};

/// The reference server as a person types it.
fn typed(home: &Home) -> String {
    format!("'{}' --start-log '{}'", testserver().display(), home.path("starts").display())
}

#[test]
fn a_command_is_a_server_for_one_run() {
    let home = Home::new();
    let stdio = typed(&home);
    let called = home.run(&["call", "--stdio", &stdio, "echo", "message=hi there"]);
    assert_eq!((&*called.stdout, called.exit), ("hi there\n", 0), "{called:?}");
    let read = home.run_with(&["call", "--stdio", &stdio, "echo", "-"], r#"{"message": "read"}"#);
    assert_eq!((&*read.stdout, read.exit), ("read\n", 0));
    let tools = home.run(&["tools", "--stdio", &stdio, "--json"]).json();
    assert!(tools["tools"].as_array().unwrap().len() > 10);
    let one = home.run(&["tools", "--stdio", &stdio, "echo"]).stdout;
    assert!(
        one.contains("trunkline call --stdio '") && one.ends_with(" echo message=text\n"),
        "{one}"
    );
    let read = home.run(&["read", "--stdio", &stdio, "test://one"]);
    assert_eq!((&*read.stdout, read.exit), ("the text of test://one\n", 0));
    let with = ["call", "--stdio", &stdio, "-e", "MARK=a=b", "--env", "X=", "env", "name=MARK"];
    assert_eq!(home.run(&with).stdout, "a=b\n");
    home.has_no_process();
}

#[test]
fn an_address_is_a_server_for_one_run() {
    let home = Home::new();
    let remote = Remote::start(&[]);
    let called = home.run(&["call", &remote.url, "echo", "message=hi"]);
    assert_eq!((&*called.stdout, called.exit), ("hi\n", 0), "{called:?}");
    let one = home.run(&["tools", &remote.url, "add"]).stdout;
    assert!(one.ends_with(&format!("  trunkline call {} add a=1 b=1\n", remote.url)), "{one}");
    let nobody = home.run(&["call", "http://127.0.0.1:9/mcp", "echo"]);
    assert_eq!(nobody.exit, 5, "{nobody:?}");
}

/// The gates for files stay as they are: no file is read, and none is approved by it.
#[test]
fn files_have_no_part_in_it() {
    let home = Home::new();
    let marked = home.server(&["--stderr", "of the file"]);
    home.settings("ws/.mcp.json", &json!({ "server": marked, "http://a.example/": marked }));
    home.settings(".cursor/mcp.json", &json!({ "other": marked }));
    let stdio = format!("'{}'", testserver().display());
    assert_eq!(home.run(&["call", "--stdio", &stdio, "echo", "message=hi"]).exit, 0);
    assert!(home.starts().is_empty());
    assert_eq!(home.run(&["call", "server", "echo", "message=hi"]).exit, 4);
    let listed = home.run(&["list", "--json"]).json();
    assert_eq!(listed["servers"]["server"]["reason"], "pending_approval");
    let both = ["call", "--stdio", &stdio, "-c", "../.cursor/mcp.json", "echo", "message=hi"];
    assert_eq!(home.run(&both).exit, 2);
    let before = ["-c", "../.cursor/mcp.json", "call", "http://127.0.0.1:9/", "echo"];
    assert_eq!(home.run(&before).exit, 2);
}

#[test]
fn nothing_in_a_typed_command_is_expanded_and_no_shell_runs() {
    let home = Home::new();
    let script = home.write("show", "#!/bin/sh\nfor word; do echo \"<$word>\" >&2; done\n");
    let stdio = format!("sh '{}' '$HOME' ${{PATH}} ; `x`", script.display());
    let ran = home.run(&["call", "--stdio", &stdio, "args"]);
    let said: Vec<&str> = ran.stderr.lines().filter_map(|line| line.split('<').nth(1)).collect();
    assert_eq!(said, ["$HOME>", "${PATH}>", ";>", "`x`>"], "{ran:?}");
}

#[test]
fn a_typed_server_that_makes_no_sense_ends_with_2() {
    let home = Home::new();
    for words in [
        &["call", "--stdio", "a 'b", "echo"][..],
        &["call", "--stdio", "", "echo"],
        &["call", "--stdio", "a"],
        &["call", "http://127.0.0.1:9/"],
        &["call", "-e", "A=b", "demo", "echo"],
        &["call", "--stdio", "a", "-e", "A", "echo"],
        &["list", "--stdio", "a"],
    ] {
        let ran = home.run(words);
        assert_eq!((ran.exit, &*ran.stdout), (2, ""), "{words:?}: {ran:?}");
    }
    let gone = home.run(&["call", "--stdio", "no-such-program", "echo"]);
    assert!(gone.exit == 5 && gone.stderr.contains("no-such-program"), "{gone:?}");
}
