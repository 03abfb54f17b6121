//! `call`.

use serde_json::{Value, json};

use crate::rig::{Home, Ran};

fn home() -> Home {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    home
}

fn call(home: &Home, words: &[&str]) -> Ran {
    let ran = home.run(&[&["call", "demo"], words].concat());
    home.has_no_process();
    ran
}

#[test]
fn arguments_are_words_or_an_object() {
    let home = home();
    for words in
        [&["message=hi there"][..], &[r#"{"message": "hi there"}"#], &[r#"message:="hi there""#]]
    {
        let ran = call(&home, &[&["echo"], words].concat());
        assert_eq!((&*ran.stdout, &*ran.stderr, ran.exit), ("hi there\n", "", 0), "{words:?}");
    }
    let read = home.run_with(&["call", "demo", "echo", "-"], r#"{"message": "read"}"#);
    assert_eq!((&*read.stdout, read.exit), ("read\n", 0));
    // The schema of the tool says that these are numbers.
    assert_eq!(call(&home, &["add", "a=20", "b=22"]).stdout, "42\n");
}

#[test]
fn wrong_arguments_start_no_call() {
    let home = home();
    for words in [&["echo", "hi"][..], &["add", "a=many", "b=1"], &["echo", "{"]] {
        let ran = call(&home, words);
        assert_eq!((&*ran.stdout, ran.exit), ("", 2), "{ran:?}");
    }
    assert_eq!(home.run_with(&["call", "demo", "echo", "-"], "[]").exit, 2);
}

#[test]
fn the_result_is_as_the_server_sent_it() {
    let ran = call(&home(), &["structured", "bytes:=1", "--json"]);
    assert!(ran.stdout.contains("9007199254740993"), "{ran:?}");
    let shown = call(&home(), &["structured", "bytes:=1"]);
    assert_eq!((&*shown.stdout, shown.exit), ("rows\n", 0));
}

#[test]
fn what_fails_says_how_by_its_exit() {
    let home = home();
    let cases: [(&[&str], i32); 5] = [
        (&["fail", "text=no luck"], 1),
        (&["error"], 1),
        (&["no-such-tool"], 8),
        (&["crash"], 5),
        (&["sleep", "ms:=600000", "--timeout", "2"], 7),
    ];
    for (words, exit) in cases {
        let ran = call(&home, words);
        assert_eq!(ran.exit, exit, "{words:?}: {ran:?}");
    }
    assert_eq!(call(&home, cases[0].0).stdout, "no luck\n");
    assert_eq!(home.run(&["call", "nobody", "echo"]).exit, 8);
}

#[test]
fn progress_goes_to_the_stream_for_errors() {
    let home = home();
    let ran = call(&home, &["progress", "steps:=2"]);
    assert_eq!((&*ran.stderr, ran.exit), ("progress 1/2 step 1\nprogress 2/2 step 2\n", 0));
    assert!(!ran.stdout.contains("progress 1"));
    let ran = call(&home, &["progress", "steps:=2", "--json"]);
    let events = ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap());
    let steps: Vec<Value> = events.map(|event: Value| event["progress"].clone()).collect();
    assert_eq!(json!(steps).to_string().replace(".0", ""), "[1,2]");
    assert_eq!(call(&home, &["progress", "steps:=2", "--quiet"]).stderr, "");
}

#[test]
fn json_holds_nothing_that_a_terminal_acts_on() {
    let home = home();
    let sent = "a\u{7f}b\u{9b}31mc\u{202e}d\u{e0041}e";
    let words = ["echo", &format!("message={sent}"), "--json"];
    let ran = call(&home, &words);
    assert!(ran.stdout.contains(r"a\u007fb\u009b31mc\u202ed\udb40\udc41e"), "{ran:?}");
    assert_eq!(ran.json()["content"][0]["text"], sent);
    let failed = call(&home, &[sent, "--json"]);
    assert!(failed.stderr.contains(r"\u009b") && !failed.stderr.contains('\u{9b}'), "{failed:?}");
    let plain = call(&home, &[sent]);
    assert!(!plain.stderr.contains('\u{9b}'), "{plain:?}");
}

/// The time that is given is the time of the whole call, also of one that tells no progress.
#[test]
fn a_call_may_take_the_time_that_it_is_given() {
    let home = home();
    let options = ["--options", r#"{"call_idle_timeout_ms": 500}"#];
    let own = call(&home, &[&["sleep", "ms:=600000"], &options[..]].concat());
    assert_eq!(own.exit, 7, "{own:?}");
    let given = ["sleep", "ms:=1500", "--timeout", "80"];
    let ran = call(&home, &[&given, &options[..]].concat());
    assert_eq!(ran.exit, 0, "{ran:?}");
}

/// What a server wrote before it ended is what says why.
#[test]
fn a_server_that_does_not_come_up_is_told_with_its_cause_and_its_last_words() {
    let home = Home::new();
    let servers = json!({ "dies": home.server(&["--die-before-list"]) });
    home.settings(".cursor/mcp.json", &servers);
    let ran = home.run(&["call", "dies", "echo"]);
    assert_eq!((ran.exit, &*ran.stdout), (5, ""), "{ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        lines[..2],
        ["trunkline: dies: the server exited with status 3", "  stderr  dying before the list"],
        "{ran:?}"
    );
    assert!(lines.len() == 3 && lines[2].contains("stderr"), "{ran:?}");
}

/// What the server took to start is no longer there for the call.
#[test]
fn the_time_is_one_for_the_start_and_the_call() {
    let home = Home::new();
    let server = home.server(&["--initialize-delay-ms", "1500"]);
    home.settings(".cursor/mcp.json", &json!({ "demo": server }));
    let ran = call(&home, &["sleep", "ms:=2300", "--timeout", "3"]);
    assert_eq!(ran.exit, 7, "{ran:?}");
}
