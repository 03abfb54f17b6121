//! What is known of a server before anybody is asked.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::config::Transport;

fn look(entry: &Value) -> Result<LookedUp> {
    look_up(&template(entry), &Host, Commands::Asked)
}

/// SPEC 10.5, 12.2, S-07: resolved where it says what runs, as it is written in values and where it
/// must be asked for.
#[test]
fn what_would_run_is_in_place_and_values_are_as_they_are_written() {
    let looked_up = look(&json!({
        "command": "$A/x",
        "args": ["${TRAP}", "${input:i}-$A", "${secret:S}", "${cmd: x}", "$$A"],
        "cwd": "${workspaceFolder}",
        "env": { "V": "$A ${NOPE} ${input:j} $$", "W": "!x" },
    }));
    let LookedUp { spec, own_path, folder_waits, files } = looked_up.unwrap();
    let Transport::Stdio(stdio) = &spec.transport else { panic!("it has a command") };
    assert_eq!((&*stdio.command, stdio.cwd.as_deref()), ("1/x", Some("/srv/${A}")));
    let trap = Host.env("TRAP").unwrap();
    assert_eq!(stdio.args, [&trap, "${input:i}-1", "${secret:S}", "${cmd: x}", "$A"]);
    assert_eq!((&*stdio.env["V"], &*stdio.env["W"]), ("$A ${NOPE} ${input:j} $$", "!x"));
    assert!(own_path.is_empty() && !folder_waits && files.is_empty());

    let looked_up = look(&json!({ "url": "https://h$A/${input:i}", "headers": { "K": "$NOPE" } }));
    let spec = looked_up.unwrap().spec;
    let Transport::Remote(remote) = &spec.transport else { panic!("it has an address") };
    assert_eq!((&*remote.url, &*remote.headers["k"]), ("https://h1/${input:i}", "$NOPE"));
}

/// S-08: the path in which the program is found is that of the entry, and known.
#[test]
fn the_entrys_own_path_is_looked_up() {
    let looked_up =
        look(&json!({ "command": "x", "env": { "PATH": "/own:$PATH", "Path": null } })).unwrap();
    let own =
        [("PATH".to_owned(), Some("/own:/bin:/usr/bin".to_owned())), ("Path".to_owned(), None)];
    assert_eq!(looked_up.own_path, own.into());
}

/// S-08, SPEC 12.2: nobody can approve a program that is not known yet.
#[test]
fn the_program_waits_for_no_answer() {
    for (entry, path) in [
        (json!({ "command": "${input:i}" }), "command"),
        (json!({ "command": "x${cmd: y}" }), "command"),
        (json!({ "command": "${secret:S}" }), "command"),
        (json!({ "command": "x", "env": { "PATH": "${input:i}" } }), "env.PATH"),
        (json!({ "command": "x", "env": { "PATH": "!x" } }), "env.PATH"),
        (json!({ "command": "./x", "cwd": "/${input:i}" }), "cwd"),
    ] {
        let error = look(&entry).unwrap_err();
        assert_eq!(
            (error.code(), &error.detail()["path"]),
            (ErrorCode::InvalidConfig, &json!(path))
        );
    }
    let absolute = if cfg!(windows) { r"C:\x" } else { "/x" };
    assert!(look(&json!({ "command": absolute, "cwd": "/${input:i}" })).unwrap().folder_waits);
    assert!(look(&json!({ "command": "x", "cwd": "/${secret:S}" })).unwrap().folder_waits);
}

/// SPEC 10.5, 11.6: a malformed variable is an error before anybody is asked, wherever it stands;
/// one that is not defined is, where it says what runs.
#[test]
fn what_is_wrong_is_told_before_admission() {
    for (entry, code, path) in [
        (json!({ "command": "x", "env": { "V": "${" } }), ErrorCode::InvalidConfig, "env.V"),
        (
            json!({ "url": "http://h", "headers": { "V": "${}" } }),
            ErrorCode::InvalidConfig,
            "headers.V",
        ),
        (json!({ "command": "$NOPE" }), ErrorCode::UndefinedVariable, "command"),
        (json!({ "url": "http://$NOPE" }), ErrorCode::UndefinedVariable, "url"),
        (json!({ "url": "$SPACES" }), ErrorCode::InvalidConfig, "url"),
        (json!({ "command": "$EMPTY" }), ErrorCode::InvalidConfig, "command"),
        (
            json!({ "command": "x", "env": { "PATH": "$NOPE" } }),
            ErrorCode::UndefinedVariable,
            "env.PATH",
        ),
    ] {
        let error = look(&entry).unwrap_err();
        assert_eq!((error.code(), &error.detail()["path"]), (code, &json!(path)), "{entry}");
    }
    assert!(look(&json!({ "command": "x", "env": { "V": "$NOPE" } })).is_ok());
}

/// SPEC 10.5: everything that has to be asked for, once each.
#[test]
fn needs_are_what_has_to_be_asked_for() {
    let needed = needs(
        &template(&json!({
            "command": "x",
            "args": ["${input:a}", "${input:a} ${input:b c}", "$${input:no}", "${"],
            "env": { "V": "${secret:S} $A" },
            "description": "${input:no}",
            "unknown": "${input:no}",
        })),
        Commands::Asked,
    );
    let expected = Needs {
        inputs: ["a".to_owned(), "b c".to_owned()].into(),
        secrets: ["S".to_owned()].into(),
        commands: BTreeSet::new(),
    };
    assert_eq!(needed, expected);
}
