//! Commands whose output is a value.

use serde_json::json;

use super::*;
use crate::config::Transport;
use crate::expand::words::split;

/// SPEC 10.5: commands in values are off, and a file of a project cannot switch them on.
#[test]
fn no_command_is_asked_for_where_none_may_run() {
    let literal = template(&json!({ "command": "x", "env": { "V": "!pass show x" } }));
    assert_eq!(needs(&literal, Commands::Refused), Needs::default());
    let spec = expand(&literal, &Host, Commands::Refused, &Answers::default()).unwrap();
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    assert_eq!(stdio.env["V"], "!pass show x");

    let entry = json!({ "command": "x", "env": { "V": "${cmd: pass show x}" } });
    let template = template(&entry);
    for error in [
        look_up(&template, &Host, Commands::Refused).unwrap_err(),
        expand(&template, &Host, Commands::Refused, &Answers::default()).unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::InvalidConfig);
        assert_eq!(error.detail()["path"], "env.V");
        assert!(!error.message().contains("pass"), "{error}");
    }
}

/// SPEC 10.5: where the host chose so, a command is a question, in values alone where it begins
/// with `!`.
#[test]
fn a_command_is_a_question_to_the_host() {
    let entry = json!({
        "command": "x",
        "args": ["!not", "a${cmd: printf '%s' \"{}\"}b"],
        "env": { "A": "!pass show 'a b'", "B": "x!y" },
    });
    let template = template(&entry);
    let needed = needs(&template, Commands::Asked);
    let asked: Vec<(&str, &[String])> =
        needed.commands.iter().map(|line| (line.program(), line.args())).collect();
    let show = ["show".to_owned(), "a b".to_owned()];
    let print = ["%s".to_owned(), "{}".to_owned()];
    assert_eq!(asked, [("pass", &show[..]), ("printf", &print[..])]);

    let missing = expand(&template, &Host, Commands::Asked, &Answers::default()).unwrap_err();
    assert_eq!(missing.code(), ErrorCode::UndefinedVariable);
    assert_eq!(missing.detail()["variable"], "cmd:printf");
    let commands = needed.commands.into_iter().map(|line| (line, "!$A".to_owned())).collect();
    let answers = Answers { commands, ..Answers::default() };
    let spec = expand(&template, &Host, Commands::Asked, &answers).unwrap();
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    assert_eq!(stdio.args, ["!not", "a!$Ab"]);
    assert_eq!((&*stdio.env["A"], &*stdio.env["B"]), ("!$A", "x!y"));
}

/// SPEC 10.5: no shell is there, so that nothing but quotes and backslashes means anything.
#[test]
fn words_are_split_as_they_are_written() {
    let table: &[(&str, &[&str])] = &[
        ("a", &["a"]),
        (" a  b\tc\nd ", &["a", "b", "c", "d"]),
        ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
        ("a b'c'\"d\"e", &["a", "bcde"]),
        ("a '' \"\"", &["a", "", ""]),
        ("a '\\n\"'", &["a", "\\n\""]),
        ("a \"\\\"\\\\\\$\\`\\n\"", &["a", "\"\\$`\\n"]),
        ("a b\\ c \\'", &["a", "b c", "'"]),
        (
            "a $HOME `x` $(x) > f; y | z & #c *",
            &["a", "$HOME", "`x`", "$(x)", ">", "f;", "y", "|", "z", "&", "#c", "*"],
        ),
        ("a ü\u{a0}b", &["a", "ü\u{a0}b"]),
    ];
    for (text, words) in table {
        let line = split(text).unwrap();
        let split: Vec<&str> =
            std::iter::once(line.program()).chain(line.args().iter().map(String::as_str)).collect();
        assert_eq!(split, *words, "{text}");
    }
    for text in ["", "  ", "''", "'' a", "a 'b", "a \"b", "a \"b\\", "a b\\"] {
        assert!(split(text).is_err(), "{text}");
    }
}

/// S-48: what a command is given is not for logs.
#[test]
fn debug_prints_no_argument() {
    let line = split("pass show canary").unwrap();
    let answers = Answers {
        inputs: [("i".to_owned(), "canary".to_owned())].into(),
        commands: [(line.clone(), "canary".to_owned())].into(),
        ..Answers::default()
    };
    let shown = format!("{line:?} {answers:?}");
    assert!(shown.contains("pass") && !shown.contains("canary"), "{shown}");
}
