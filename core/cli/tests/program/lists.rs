//! `list`, `tools`, `status` and `explain`.

use std::path::Path;

use serde_json::{Value, json};
use trunkline::ToolFormat;

use crate::rig::{Home, Ran};

/// What a terminal acts on, or shows otherwise than it is.
const HIDDEN: [char; 4] = ['\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}'];

/// Settings of three products, one in the project, with an entry that is wrong and a file that is.
fn mixed() -> Home {
    let home = Home::new();
    home.settings(
        ".cursor/mcp.json",
        &json!({
            "demo": home.server(&["--tools", "2", "--generated-only"]),
            "gone": { "command": "no-such-program" },
            "off": { "command": "demo", "disabled": true },
            "wrong": { "command": 7 },
        }),
    );
    home.write(".codex/config.toml", "[mcp_servers.remote]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    home.settings("ws/.mcp.json", &json!({ "project": home.server(&[]) }));
    home.write(".gemini/settings.json", "{");
    home
}

#[test]
fn the_list_names_every_server_and_starts_none() {
    let home = mixed();
    let ran = home.run(&["list"]);
    home.is_as_written("list.txt", &ran.stdout);
    assert_eq!(ran.exit, 0);
    assert!(ran.stderr.contains(".gemini/settings.json"), "{ran:?}");
    let listed = home.run(&["list", "--json"]).json();
    let project = &listed["servers"]["project"];
    assert_eq!((&listed["v"], &project["origin"]), (&1.into(), &"project".into()));
    assert_eq!(project["reason"], "pending_approval");
    assert_eq!(listed["files"].as_array().unwrap().len(), 3);
    assert_eq!(listed["errors"][0]["code"], "invalid_config");
    assert!(home.starts().is_empty());
}

#[test]
fn a_file_that_is_named_is_the_only_one_and_has_to_be_read() {
    let home = mixed();
    let named = home.settings("other.json", &json!({ "own": home.server(&[]) }));
    let named = named.to_str().unwrap();
    let listed = home.run(&["list", "--json", "--config", named]).json();
    assert_eq!(listed["servers"].as_object().unwrap().keys().collect::<Vec<_>>(), ["own"]);
    // It is outside of the workspace, however it is named.
    let beside = home.run(&["list", "--json", "--config", "../other.json"]).json();
    assert_eq!(beside["servers"]["own"]["origin"], "user");
    for missing in ["../.gemini/settings.json", "nothing.json"] {
        let ran = home.run(&["list", "--config", missing]);
        assert_eq!((ran.exit, &*ran.stdout), (3, ""), "{ran:?}");
    }
    assert_eq!(Home::new().run(&["list"]).stdout, "no servers are configured\n");
}

#[test]
fn files_are_named_before_the_command_and_behind_it() {
    let home = Home::new();
    home.settings("one.json", &json!({ "one": home.server(&[]) }));
    home.settings("two.json", &json!({ "two": home.server(&[]) }));
    let listed = home.run(&["-c", "../one.json", "list", "-c", "../two.json", "--json"]).json();
    let names = listed["servers"].as_object().unwrap().keys().collect::<Vec<_>>();
    assert_eq!(names, ["one", "two"]);
}

/// A server that never answers hides nothing of the others.
#[test]
fn tools_lists_what_is_there_when_the_time_is_over() {
    let home = Home::new();
    let demo = home.server(&["--tools", "1", "--generated-only"]);
    let hung = json!({ "command": "sleep", "args": ["600"] });
    let broken = json!({ "command": "false" });
    let servers = json!({ "demo": demo, "hung": hung, "broken": broken });
    home.settings(".cursor/mcp.json", &servers);
    let ran = home.run(&["tools", "-t", "10", "--json"]);
    let listed = ran.json();
    assert_eq!((ran.exit, listed["tools"].as_array().unwrap().len()), (7, 1));
    assert_eq!(listed["absent"]["hung"]["state"], "waiting");
    assert_eq!(listed["absent"]["broken"]["state"], "failed");
    assert_eq!(listed["absent"]["broken"]["error"]["code"], "exited");
    assert!(listed["absent"].get("demo").is_none());
    home.has_no_process();
}

/// SPEC 11.3: files are looked for in the workspace that the pool has.
#[test]
fn a_workspace_among_the_options_is_the_only_one() {
    let home = Home::new();
    let server = home.server(&[]);
    home.settings("ws/.mcp.json", &json!({ "here": server }));
    home.write("ws/.vscode/mcp.json", &json!({ "servers": { "here_too": server } }).to_string());
    home.settings("other/.mcp.json", &json!({ "there": server }));
    let options = json!({ "workspace": home.path("other") }).to_string();
    for words in [&["tools"][..], &["status"], &["doctor", "--start"], &["call", "here", "echo"]] {
        home.run(&[&["--options", &options][..], words].concat());
    }
    assert!(home.starts().is_empty());
    let reasons = |words: &[&str]| {
        let listed = home.run(&[&["list", "--json", "--options", &options][..], words].concat());
        let listed = listed.json();
        let rows = listed["servers"].as_object().unwrap().iter();
        rows.map(|(name, row)| format!("{name} {}", row["reason"])).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&[]), ["there \"pending_approval\""]);
    let both = ["here \"pending_approval\"", "here_too \"pending_approval\""];
    assert_eq!(reasons(&["--workspace", "."]), both);
}

/// SPEC 10.1, 11.3: a project does not make the user's own file its own by a link to it.
#[test]
fn a_link_in_a_project_takes_no_file_from_the_user() {
    let home = Home::new();
    let own = home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    std::os::unix::fs::symlink(own, home.path("ws/.mcp.json")).unwrap();
    let listed = home.run(&["list", "--json"]).json();
    let demo = &listed["servers"]["demo"];
    assert_eq!((&demo["origin"], &demo["reason"]), (&json!("user"), &json!("unused")));
    assert_eq!(listed["files"].as_array().unwrap().len(), 1);
}

/// SPEC 10.1, 11.3: the user's own files need no approval where the workspace is the home folder.
#[test]
fn in_the_home_folder_the_files_of_the_user_are_theirs() {
    let home = Home::new();
    let server = home.server(&[]);
    home.settings(".cursor/mcp.json", &json!({ "demo": server }));
    home.write(".codex/config.toml", "[mcp_servers.remote]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    home.settings(".mcp.json", &json!({ "project": server }));
    home.write(".vscode/mcp.json", &json!({ "servers": { "editor": server } }).to_string());
    let home_folder = home.path("");
    let workspace = ["--workspace", home_folder.to_str().unwrap()];
    let listed = home.run(&[&["list", "--json"], &workspace[..]].concat()).json();
    for (name, origin, reason) in [
        ("demo", "user", "unused"),
        ("remote", "user", "unused"),
        ("project", "project", "pending_approval"),
        ("editor", "workspace", "pending_approval"),
    ] {
        let row = &listed["servers"][name];
        assert_eq!((&row["origin"], &row["reason"]), (&json!(origin), &json!(reason)), "{name}");
    }
    assert_eq!(listed["files"].as_array().unwrap().len(), 4, "{listed}");
    let called = home.run(&[&["call", "demo", "echo", "message=hi"], &workspace[..]].concat());
    assert_eq!((&*called.stdout, called.exit), ("hi\n", 0), "{called:?}");
    assert_eq!(home.run(&[&["call", "project", "echo"], &workspace[..]].concat()).exit, 4);
    home.has_no_process();
}

#[test]
fn the_tools_of_one_server() {
    let home = mixed();
    let ran = home.run(&["tools", "demo"]);
    home.is_as_written("tools.txt", &ran.stdout);
    assert_eq!(ran.exit, 0);
    let json = home.run(&["tools", "demo", "--json"]).json();
    assert_eq!(json["tools"][1]["name"], "mcp__demo__tool_2");
    assert!(json["tools"][1]["definition"]["inputSchema"].is_object());
    let shaped = home.run(&["tools", "demo", "--shape", "openai"]).json();
    assert_eq!(shaped[0]["type"], "function");
    home.has_no_process();
    for (server, exit) in [("gone", 5), ("wrong", 3), ("project", 4), ("remote", 5), ("nobody", 8)]
    {
        let ran = home.run(&["tools", server]);
        assert_eq!((ran.exit, &*ran.stdout), (exit, ""), "{server}: {ran:?}");
    }
}

#[test]
fn the_tools_of_all_servers_tell_which_failed() {
    let home = mixed();
    let ran = home.run(&["tools", "--json"]);
    let json = ran.json();
    assert_eq!((ran.exit, json["tools"].as_array().unwrap().len()), (1, 2));
    assert_eq!(json["absent"]["gone"]["state"], "failed");
    assert_eq!(json["absent"]["project"]["reason"], "pending_approval");
    let ran = home.run(&["tools"]);
    assert!(ran.stderr.contains("gone: the command no-such-program"), "{ran:?}");
    let shaped = home.run(&["tools", "--shape", "openai"]);
    assert!(shaped.stderr.contains("gone: the command no-such-program"), "{shaped:?}");
    assert_eq!((shaped.exit, shaped.json().as_array().unwrap().len()), (1, 2));
    home.has_no_process();
}

#[test]
fn the_status_tells_how_all_stand_and_leaves_nothing() {
    let home = mixed();
    let ran = home.run(&["status"]);
    for text in [
        "servers 6: 1 connected, 0 connecting, 3 failed, 2 kept out",
        "demo  connected  stdio, user; 2 tools",
        "  entry 0: active, sessions 1, calls 0, errors 0",
        "gone  failed  stdio, user",
        "project  pending_approval  project",
    ] {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    assert_eq!(ran.exit, 1);
    let of_one = home.run(&["status", "demo", "--json"]);
    assert_eq!(of_one.exit, 0);
    assert_eq!(of_one.json()["servers"]["demo"]["state"], "connected");
    assert_eq!(of_one.json()["servers"].as_object().unwrap().len(), 1, "the named one alone");
    assert!(!home.run(&["status", "demo"]).stdout.contains("gone"));
    let of_nobody = home.run(&["status", "nobody", "demo"]);
    assert_eq!(of_nobody.exit, 8);
    assert!(of_nobody.stderr.contains("no server is called `nobody`"), "{}", of_nobody.stderr);
    home.has_no_process();
}

#[test]
fn a_server_that_is_still_connecting_is_no_good_news() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "mute": home.server(&["--silent"]) }));
    for words in [&["status"][..], &["doctor", "--start"]] {
        let ran = home.run(&[words, &["--timeout", "0.2"]].concat());
        assert!(ran.exit == 7 && ran.stdout.contains("mute"), "{ran:?}");
        home.has_no_process();
    }
}

#[test]
fn an_explanation_says_why_and_where() {
    let home = mixed();
    for (name, exit, text) in [
        ("demo", 0, "`demo`"),
        ("mcp__demo__tool_1", 0, "the tool is there"),
        ("mcp__demo__tool_9", 8, "remedy"),
        ("gone", 1, "no-such-program"),
        ("off", 1, "is switched off"),
        ("wrong", 1, ".cursor/mcp.json:1"),
        ("project", 1, "waits for approval"),
        ("nobody", 8, "is named by no source"),
    ] {
        let ran = home.run(&["explain", name]);
        assert!(ran.exit == exit && ran.stdout.contains(text), "{name}: {ran:?}");
    }
    home.has_no_process();
    let before = home.starts().len();
    let unused = home.run(&["explain", "demo", "--no-start", "--json"]);
    assert_eq!((unused.exit, &unused.json()["reason"]), (1, &"unused".into()));
    assert_eq!(home.starts().len(), before);
}

#[test]
fn no_secret_and_no_escape_code_is_shown() {
    let home = Home::new();
    let secret = "canary-4711";
    let mut server = home.server(&["--stderr", "\u{1b}[31m\u{7f}\u{9b}31m\u{202e}red"]);
    server["env"] = json!({ "TOKEN": secret });
    let remote = json!({ "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": secret } });
    let servers = json!({ "\u{1b}[2J\u{7f}\u{9b}2J\u{202e}name": server, "remote": remote });
    home.settings(".cursor/mcp.json", &servers);
    home.settings("ws/.mcp.json", &json!({ "project": server, "far": remote }));
    for words in [&["list"][..], &["tools"], &["status"], &["explain", "remote"], &["approve"]] {
        for json in [&[][..], &["--json"]] {
            let ran = home.run(&[words, json].concat());
            for text in [&ran.stdout, &ran.stderr] {
                assert!(!text.contains(secret) && !text.contains(HIDDEN), "{words:?}: {ran:?}");
            }
        }
    }
    home.has_no_process();
}

/// A file that cannot be read is told whatever is asked, and everything on the stream for errors is
/// JSON where that is asked for.
#[test]
fn a_file_that_cannot_be_read_is_told_by_every_command() {
    let home = mixed();
    for command in [
        &["tools"][..],
        &["tools", "--shape", "openai"],
        &["status"],
        &["explain", "gone"],
        &["approve"],
    ] {
        let told = |ran: &Ran| ran.stderr.contains(".gemini/settings.json");
        let plain = home.run(command);
        assert!(told(&plain), "{command:?}: {}", plain.stderr);
        let json = home.run(&[command, &["--json"][..]].concat());
        assert!(told(&json), "{command:?}: {}", json.stderr);
        for line in json.stderr.lines() {
            let row: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            assert!(row["error"]["code"].is_string(), "{line}");
        }
    }
}

/// SPEC 6.6: every shape of a model's API, and with `--json` one object beside what is absent.
#[test]
fn tools_are_shown_in_every_shape() {
    let home = mixed();
    for shape in ToolFormat::ALL.map(ToolFormat::as_str) {
        let ran = home.run(&["tools", "--shape", shape, "--json"]).json();
        assert_eq!((&ran["v"], &ran["shape"]), (&json!(1), &json!(shape)));
        assert!(ran["tools"].is_array() || ran["tools"].is_object(), "{ran}");
        assert_eq!(ran["absent"]["gone"]["state"], "failed");
    }
}

/// SPEC 18.9: what a repository links to the name of its settings neither grows in memory nor holds
/// a command up.
#[test]
fn what_is_no_file_with_settings_is_told_in_words() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    let settings = home.path("ws/.mcp.json");
    let pipe = home.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (target, words) in [
        (Path::new("/proc/self/pagemap"), "it is longer than 16 MiB"),
        (&pipe, "it is a pipe, and no regular file"),
        (Path::new("/dev/zero"), "it is a device, and no regular file"),
        (Path::new("/"), "it is a folder, and no regular file"),
    ] {
        let _ = std::fs::remove_file(&settings);
        std::os::unix::fs::symlink(target, &settings).unwrap();
        let ran = home.run(&["list"]);
        assert!(ran.stderr.contains(words) && ran.stdout.contains("demo"), "{ran:?}");
        let ran = home.run(&["doctor", "--json"]);
        let told = ran.json()["findings"].to_string();
        assert!(told.contains(words), "{told}");
        let ran = home.run(&["import", ".mcp.json", "--to", "codex"]);
        assert!(ran.exit == 3 && ran.stderr.contains(words), "{ran:?}");
        let ran = home.run(&["status", "--host", ".mcp.json"]);
        assert!(ran.exit == 3 && ran.stderr.contains("cannot be read"), "{ran:?}");
    }
}
