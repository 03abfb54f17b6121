//! `demo`, as a server of the program's own.

use serde_json::{Value, json};

use crate::rig::{Home, Ran};

/// A home whose one server is the demo, in each era.
fn home() -> Home {
    let home = Home::new();
    let server = |era: &str| json!({ "command": env!("CARGO_BIN_EXE_trunkline"), "args": ["demo"], "era": era });
    let servers = json!({ "legacy": server("legacy"), "modern": server("modern") });
    home.settings(".cursor/mcp.json", &servers);
    home
}

#[test]
fn each_tool_answers_in_both_eras() {
    let home = home();
    for server in ["legacy", "modern"] {
        let call = |words: &[&str]| -> Ran {
            let ran = home.run(&[&["call", server], words].concat());
            assert_eq!(ran.exit, 0, "{ran:?}");
            ran
        };
        assert_eq!(call(&["echo", "message=hi"]).stdout, "hi\n");
        assert_eq!(call(&["add", "a=2", "b=3"]).stdout, "5\n");
        let counted = call(&["count", "to=2", "interval_ms=0"]);
        assert_eq!(
            (&*counted.stdout, &*counted.stderr),
            ("2\n", "progress 1/2 1 of 2\nprogress 2/2 2 of 2\n")
        );
        let sizes = call(&["measure", "text=one two", "--json"]).json();
        assert_eq!(sizes["structuredContent"], json!({ "words": 2, "lines": 1, "characters": 7 }));
        assert!(call(&["pid"]).stdout.trim().parse::<u32>().is_ok());
    }
}

#[test]
fn a_count_that_takes_too_long_is_cancelled_and_the_server_ends() {
    let home = home();
    let ran = home.run(&["call", "modern", "count", "to=10000", "-t", "2"]);
    assert_eq!(ran.exit, 7, "{ran:?}");
}

#[test]
fn the_lists_are_whole() {
    let home = home();
    let tools = home.run(&["tools", "--json"]).json();
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names.len(), 10, "{names:?}");
    let status = home.run(&["status", "--json"]).json();
    for server in ["legacy", "modern"] {
        let catalog: &Value = &status["servers"][server];
        assert_eq!(catalog["state"], "connected", "{catalog}");
    }
}
