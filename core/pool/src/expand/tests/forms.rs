//! The grammar, form by form.

use serde_json::json;

use super::*;
use crate::config::Transport;

/// What a text of `env` becomes, or the code and the variable of its error.
fn becomes(text: &str) -> std::result::Result<String, (ErrorCode, String)> {
    becomes_with(text, Commands::Refused, &Answers::default())
}

fn becomes_with(
    text: &str,
    commands: Commands,
    answers: &Answers,
) -> std::result::Result<String, (ErrorCode, String)> {
    let template = template(&json!({ "command": "x", "env": { "V": text } }));
    let expanded = expand(&template, &Host, commands, answers);
    let spec = expanded.map_err(|error| {
        let variable = error.detail().get("variable").and_then(Value::as_str).unwrap_or_default();
        (error.code(), variable.to_owned())
    })?;
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    Ok(stdio.env["V"].clone())
}

/// SPEC 10.5: every form, and what only looks like one.
#[test]
fn each_form_of_a_variable_has_its_meaning() {
    let table = [
        ("", ""),
        ("plain {A} %A% `A` $(A) #{A} \\n", "plain {A} %A% `A` $(A) #{A} \\n"),
        ("$A", "1"),
        ("${A}", "1"),
        ("<$A-${A}$A.$A>", "<1-11.1>"),
        ("${env:A}", "1"),
        ("${env:ProgramFiles(x86)}", "programs"),
        ("${env:ÜMLAUT}", "ü"),
        ("${A:-other}", "1"),
        ("${NOPE:-other}", "other"),
        ("${NOPE:-}", ""),
        ("${env:NOPE:-a:-b}", "a:-b"),
        ("${EMPTY:-other}", "other"),
        ("[$EMPTY]", "[]"),
        ("${NOPE:-{\"a\": {}}}", "{\"a\": {}}"),
        ("${NOPE:-$5 and $}", "$5 and $"),
        ("${env:-x}", "x"),
        ("${input:-x}", "x"),
        ("${cmd:-x}", "x"),
        ("${workspaceFolder}/x", "/srv/${A}/x"),
        ("${workspaceFolder:-x}", "/srv/${A}"),
        ("${userHome:-/root}", "/root"),
        ("<${workspaceFolderBasename}>", "<${A}>"),
        ("a${/}b${pathSeparator}c", "a/b/c"),
        ("$$A", "$A"),
        ("$${A}", "${A}"),
        ("$$$A", "$1"),
        ("$$$$", "$$"),
        ("$", "$"),
        ("a$", "a$"),
        ("$1 $9x $ $- $ü $(", "$1 $9x $ $- $ü $("),
        ("$Aü", "1ü"),
        ("!x", "!x"),
        ("a!x", "a!x"),
    ];
    for (text, expected) in table {
        assert_eq!(becomes(text).as_deref(), Ok(expected), "{text}");
    }
}

/// SPEC 10.5, S-07: a value is taken as it is, whatever it holds: neither read again nor split.
#[test]
fn values_are_literal() {
    let trap = Host.env("TRAP").unwrap();
    for commands in [Commands::Refused, Commands::Asked] {
        let answers = Answers {
            inputs: [("i".to_owned(), trap.clone())].into(),
            secrets: [("S".to_owned(), trap.clone())].into(),
            ..Answers::default()
        };
        for text in ["$TRAP", "${TRAP}", "${env:TRAP}", "${TRAP:-$}", "${input:i}", "${secret:S}"] {
            assert_eq!(becomes_with(text, commands, &answers), Ok(trap.clone()), "{text}");
        }
    }
    let entry = json!({ "command": "x", "args": ["$SPACES", "${TRAP}", "$EMPTY"] });
    let spec = expand(&template(&entry), &Host, Commands::Refused, &Answers::default()).unwrap();
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    assert_eq!(stdio.args, [Host.env("SPACES").unwrap(), trap, String::new()]);
}

/// SPEC 10.5: an undefined variable is an error that names it.
#[test]
fn what_is_not_defined_is_named() {
    let table = [
        ("$NOPE", "NOPE"),
        ("a ${NOPE} b", "NOPE"),
        ("${env:NOPE}", "NOPE"),
        ("${env:no name}", "no…"),
        ("${userHome}", "userHome"),
        ("$workspaceFolder", "workspaceFolder"),
        ("${input:i}", "input:i"),
        ("${input:the key:-x}", "input:the key…"),
        ("${input:the-key}", "input:the-key"),
        ("${secret:S}", "secret:S"),
        ("${config:python.path}", "config…"),
        ("${ENV:A}", "ENV…"),
        ("${1}", "1"),
        ("${A-x}", "A…"),
        ("${env:no(x86)}", "no…"),
        ("${:x}", "…"),
    ];
    for (text, variable) in table {
        let expected = Err((ErrorCode::UndefinedVariable, variable.to_owned()));
        assert_eq!(becomes(text), expected, "{text}");
    }
}

/// SPEC 10.5: what begins like a variable and is none is an error, not a value that reaches the
/// server half read.
#[test]
fn what_is_malformed_is_refused() {
    for text in [
        "${",
        "${A",
        "${A:-{}",
        "a ${A:-x",
        "${}",
        "${:-x}",
        "${env:}",
        "${input:}",
        "${secret:}",
        "${ A }",
        "${{ secrets.A }}",
        "${A + 1}",
        "${a[@]}",
        "${A:-${B}}",
        "${A:-$B}",
        "${cmd:}",
        "${cmd: pass 'x}",
        "${cmd: pass x}",
    ] {
        assert_eq!(becomes(text), Err((ErrorCode::InvalidConfig, String::new())), "{text}");
    }
}

/// S-48: who writes a value where a default would stand, or to a command, does not find it in an
/// error.
#[test]
fn no_error_shows_what_follows_a_name() {
    let header = |text: &str| json!({ "url": "https://h.example", "headers": { "H": text } });
    for (entry, shown) in [
        (header("Bearer ${TOKEN:canary}"), "${TOKEN…}"),
        (header("Bearer ${TOKEN-canary}"), "${TOKEN…}"),
        (header("Bearer ${env:TOKEN:canary}"), "${TOKEN…}"),
        (header("Bearer ${env:TOKEN-canary}"), "${TOKEN…}"),
        (header("Bearer ${env:TOKEN=canary}"), "${TOKEN…}"),
        (header("Bearer ${env:TOKEN canary}"), "${TOKEN…}"),
        (header("Bearer ${env:TOKEN–canary}"), "${TOKEN…}"),
        (header("Bearer ${secret:TOKEN:canary}"), "${secret:TOKEN…}"),
        (header("Bearer ${secret:TOKEN canary}"), "${secret:TOKEN…}"),
        (header("Bearer ${input:token:canary}"), "${input:token…}"),
        (header("!TOKEN=canary vault"), "begins with an assignment"),
        (json!({ "command": "${cmd: vault read --token canary}" }), "${cmd:vault}"),
        (json!({ "command": "${cmd: TOKEN=canary vault}" }), "begins with an assignment"),
        (json!({ "command": "${input:tool:canary}" }), "${input:tool…}"),
        (json!({ "command": "${secret:TOOL:canary}" }), "${secret:TOOL…}"),
    ] {
        let template = template(&entry);
        let expanded = expand(&template, &Host, Commands::Asked, &Answers::default());
        let error = expanded.map(|_| ()).unwrap_err();
        let told = format!("{error} {error:?} {:?}", error.detail());
        assert!(told.contains(shown) && !told.contains("canary"), "{entry}: {told}");
    }
}
