//! What servers offer beside tools, and what one tool takes.

use serde_json::json;

use crate::rig::{Home, Ran};

/// A home whose one server is the demo.
fn home() -> Home {
    let home = Home::new();
    let demo = json!({ "command": env!("CARGO_BIN_EXE_trunkline"), "args": ["demo"] });
    home.settings(".cursor/mcp.json", &json!({ "demo": demo }));
    home
}

fn done(home: &Home, words: &[&str]) -> Ran {
    let ran = home.run(words);
    assert_eq!(ran.exit, 0, "{words:?}: {ran:?}");
    ran
}

#[test]
fn a_tool_says_what_it_takes_and_how_it_is_called() {
    let home = home();
    let shown = done(&home, &["tools", "demo", "add"]).stdout;
    let wanted = "add(a: integer, b: integer)\n  Adds two whole numbers.\n\n  a: integer, required\n    The first\n  \
                  b: integer, required\n    The second\n\n  trunkline call demo add a=1 b=1\n";
    assert_eq!(shown, wanted);
    // The example is a call.
    let example = shown.lines().last().unwrap().trim().strip_prefix("trunkline ").unwrap();
    assert_eq!(done(&home, &example.split(' ').collect::<Vec<_>>()).stdout, "2\n");
    let by_model = done(&home, &["tools", "demo", "mcp__demo__add", "--json"]).json();
    assert_eq!(by_model["signature"], "add(a: integer, b: integer)");
    assert_eq!(by_model["tool"]["own_name"], "add");
    let missing = home.run(&["tools", "demo", "ad"]);
    assert!(missing.exit == 8 && missing.stderr.contains("did you mean `add`?"), "{missing:?}");
    let far = home.run(&["tools", "demo", "nothing"]);
    assert!(far.exit == 8 && far.stderr.contains("`trunkline tools demo`"), "{far:?}");
}

#[test]
fn resources_are_listed_and_read() {
    let home = home();
    let listed = done(&home, &["resources"]).stdout;
    assert!(
        listed.contains("demo://readme") && listed.contains("demo://greeting/{name}"),
        "{listed}"
    );
    let listed = done(&home, &["resources", "demo", "--json"]).json();
    assert_eq!(listed["resources"][0]["name"], "demo://readme");
    assert_eq!(listed["templates"].as_array().unwrap().len(), 1);
    assert_eq!(done(&home, &["read", "demo", "demo://greeting/Ada"]).stdout, "Greet Ada.\n");
    let read = done(&home, &["read", "demo", "demo://readme", "--json"]).json();
    assert_eq!(read["contents"][0]["mimeType"], "text/plain");
    assert_eq!(home.run(&["read", "demo", "demo://nothing"]).exit, 1);
    assert_eq!(home.run(&["read", "demo"]).exit, 2);
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let home = home();
    let listed = done(&home, &["prompts"]).stdout;
    assert!(listed.contains("greet") && listed.contains("Asks the model"), "{listed}");
    let filled = done(&home, &["prompts", "demo", "greet", "name=Ada", "style=short"]).stdout;
    assert_eq!(filled, "user:\nGreet Ada in a short way.\n");
    let whole = done(&home, &["prompts", "demo", "greet", "name=Ada", "--json"]).json();
    assert_eq!(whole["messages"][0]["role"], "user");
    let missing = home.run(&["prompts", "demo", "greet"]);
    assert!(missing.exit == 1 && missing.stderr.contains("`name`"), "{missing:?}");
}

#[test]
fn arguments_are_completed() {
    let home = home();
    assert_eq!(done(&home, &["complete", "demo", "greet", "style=f"]).stdout, "formal\nfriendly\n");
    let of_resource = ["complete", "demo", "demo://greeting/{name}", "name=A", "other=x"];
    assert_eq!(done(&home, &of_resource).stdout, "Ada\nAlan\n");
    let json = done(&home, &["complete", "demo", "greet", "style", "--json"]).json();
    assert_eq!(json["completion"]["total"], 3);
    assert_eq!(home.run(&["complete", "demo", "greet"]).exit, 2);
}

/// What a server says is no code for a terminal, and no word of the shell.
#[test]
fn what_a_server_says_of_a_tool_is_shown_as_text() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    let shown = done(&home, &["tools", "demo", "echo"]).stdout;
    assert!(shown.ends_with("  trunkline call demo echo message=text\n"), "{shown}");
    let hidden = home.run(&["tools", "demo", "\u{1b}[31m"]);
    assert!(hidden.exit == 8 && !hidden.stderr.contains('\u{1b}'), "{hidden:?}");
    home.has_no_process();
}
