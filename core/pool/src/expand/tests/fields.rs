//! Which fields are expanded, and what is said of those that cannot be.

use serde_json::json;

use super::super::texts::undefined;
use super::*;
use crate::config::Transport;
use crate::error::Error;

fn expanded(entry: &Value) -> Result<ServerSpec> {
    expand(&template(entry), &Host, Commands::Refused, &Answers::default())
}

/// SPEC 10.5: numbers stay numbers, and what is for people, for layers or for nobody stays as it is
/// written.
#[test]
fn only_what_reaches_a_server_is_expanded() {
    let spec = expanded(&json!({
        "command": "$A/x",
        "args": ["$A", "-${A}"],
        "cwd": "/$A",
        "env": { "$A": "$A", "GONE": null },
        "inherit_env": ["$A"],
        "include": ["$A"],
        "always_load": ["$A"],
        "description": "$A",
        "oauth": { "client_id": "$A", "scopes": ["$A"], "nested": { "x": "$A" } },
        "timeout": 5000,
        "share": "pool",
        "somebodysOwn": "$A ${",
    }));
    let spec = spec.unwrap();
    let Transport::Stdio(stdio) = &spec.transport else { panic!("it has a command") };
    assert_eq!((&*stdio.command, stdio.cwd.as_deref()), ("1/x", Some("/1")));
    assert_eq!(stdio.args, ["1", "-1"]);
    assert_eq!(stdio.env["$A"], "1");
    assert!(stdio.unset_env.contains("GONE"));
    assert_eq!(stdio.inherit_env, ["$A"]);
    assert_eq!(spec.filter.include.as_deref(), Some(&["$A".to_owned()][..]));
    assert_eq!(spec.always_load, ["$A"]);
    assert_eq!(spec.description.as_deref(), Some("$A"));
    assert_eq!(spec.oauth["client_id"], "1");
    assert_eq!(spec.oauth["nested"]["x"], "1");
    assert_eq!(spec.call_timeout, Some(std::time::Duration::from_secs(5)));
    assert_eq!(spec.unknown["somebodysOwn"], "$A ${");
}

/// SPEC 10.5: so it is for remote servers, under each spelling of their address.
#[test]
fn addresses_and_headers_are_expanded() {
    for spelling in ["url", "serverUrl", "httpUrl"] {
        let entry = json!({
            spelling: "https://h$A/${A}",
            "headers": { "X-Key": "k-$A" },
            "socketPath": "/run/$A.sock",
        });
        let Transport::Remote(remote) = expanded(&entry).unwrap().transport else {
            panic!("it has an address")
        };
        assert_eq!(remote.url, "https://h1/1");
        assert_eq!(remote.headers["x-key"], "k-1");
        assert_eq!(remote.socket_path.as_deref(), Some("/run/1.sock"));
    }
    let entry = json!({ "tcp": "${NOPE:-ws://h}/x" });
    assert!(matches!(expanded(&entry).unwrap().transport, Transport::Remote(_)));
}

/// SPEC 10.7, 10.9: what expansion brings to light is told with file, line and the path of the
/// field.
#[test]
fn errors_are_in_the_terms_of_the_file() {
    let text =
        "extensions:\n  one:\n    type: stdio\n    cmd: x\n    args:\n      - a\n      - ${NOPE}\n";
    let options = ReadOptions { format: Some(Format::Goose), ..ReadOptions::default() };
    let source = read(text, "/etc/config.yaml", &options).unwrap();
    let template = source.servers[0].template.clone().unwrap();
    let error = look_up(&template, &Host, Commands::Refused).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UndefinedVariable);
    assert_eq!(error.server(), Some("one"));
    let detail = error.detail();
    assert_eq!(
        (&detail["source"], &detail["path"]),
        (&json!("/etc/config.yaml"), &json!("args[1]"))
    );
    assert_eq!((&detail["line"], &detail["column"]), (&json!(7), &json!(9)));
    assert_eq!(
        error.message(),
        "`args[1]` needs `${NOPE}`, which is not set: /etc/config.yaml, line 7, column 9"
    );

    let text = "extensions:\n  one:\n    type: stdio\n    cmd: $EMPTY\n    env_keys: [KEY]\n";
    let source = read(text, "/etc/config.yaml", &options).unwrap();
    let template = source.servers[0].template.clone().unwrap();
    let error = look_up(&template, &Host, Commands::Refused).unwrap_err();
    assert_eq!((error.code(), &error.detail()["path"]), (ErrorCode::InvalidConfig, &json!("cmd")));
    let error = undefined(&template, "command", "command", "which is not set", "");
    assert!(error.message().starts_with("`cmd` needs `${command}`,"), "{error}");
}

/// S-48: the error shows the name of the variable and nothing of the value around it.
#[test]
fn errors_show_no_value() {
    for text in
        ["canary ${NOPE} canary", "canary ${", "canary ${canary canary}", "${NOPE}canary`\n"]
    {
        let error = expanded(&json!({ "command": "x", "env": { "V": text } })).unwrap_err();
        let shown = format!("{error} {:?} {}", error, error.to_json());
        assert!(!shown.contains("canary"), "{shown}");
    }
    let long = format!("${{input:{}`\u{202e}}}", "x".repeat(1000));
    let error = expanded(&json!({ "command": "x", "env": { "V": long } })).unwrap_err();
    assert!(error.message().len() < 300 && !error.message().contains('\u{202e}'), "{error}");
}

/// CONFIG-FORMATS: secrets that Goose and Continue keep elsewhere are the host's, then the
/// environment's.
#[test]
fn secrets_of_products_are_asked_from_the_host() {
    let text = "extensions:\n  one: { type: stdio, cmd: x, env_keys: [A, KEY] }\n";
    let options = ReadOptions { format: Some(Format::Goose), ..ReadOptions::default() };
    let source = read(text, "/etc/config.yaml", &options).unwrap();
    let template = source.servers[0].template.clone().unwrap();
    let needed = needs(&template, Commands::Refused);
    assert_eq!(needed.secrets, ["A".to_owned(), "KEY".to_owned()].into());
    let env = |secrets: &[(&str, &str)]| {
        let secrets = secrets.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let answers = Answers { secrets: secrets.collect(), ..Answers::default() };
        let spec = expand(&template, &Host, Commands::Refused, &answers)?;
        let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
        Ok::<_, Error>((stdio.env["A"].clone(), stdio.env["KEY"].clone()))
    };
    assert_eq!(env(&[("KEY", "$A")]).unwrap(), ("1".to_owned(), "$A".to_owned()));
    assert_eq!(env(&[("KEY", "k"), ("A", "a")]).unwrap(), ("a".to_owned(), "k".to_owned()));
    let missing = env(&[]).unwrap_err();
    assert_eq!(missing.detail()["variable"], "secret:KEY");
    assert_eq!(missing.detail()["path"], "env_keys[1]");
    let answers = Answers { refused_secrets: ["A".to_owned()].into(), ..Answers::default() };
    let refused = expand(&template, &Host, Commands::Refused, &answers).unwrap_err();
    assert_eq!(refused.detail()["variable"], "secret:A");
    assert!(refused.message().contains("refused"), "{refused}");
}

/// SPEC 10.5: a product without variables has them here.
#[test]
fn every_products_texts_have_the_same_variables() {
    let entry = json!({ "command": "x", "env": { "V": "$A" } });
    let template = template_of(Format::ClaudeDesktop, &entry);
    let spec = expand(&template, &Host, Commands::Refused, &Answers::default()).unwrap();
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    assert_eq!(stdio.env["V"], "1");
}

/// SPEC 10.6: the file of variables is below what the entry sets or unsets, and does not choose the
/// program.
#[test]
fn a_file_of_variables_is_below_the_entry() {
    let entry = json!({ "command": "x", "envFile": "${workspaceFolder}/.env", "env": { "A": "own", "B": null } });
    let text = json!({ "servers": { "one": entry } }).to_string();
    let options = ReadOptions { format: Some(Format::VsCode), ..ReadOptions::default() };
    let source = read(&text, "mcp.json", &options).unwrap();
    let template = source.servers[0].template.clone().unwrap();
    let path = env_file(&template, &Host, Commands::Refused, &Answers::default());
    assert_eq!(path.unwrap().as_deref(), Some("/srv/${A}/.env"));

    let of = |names: &[&str]| {
        let env_file = names.iter().map(|name| (name.to_string(), "$A file".to_owned())).collect();
        let answers = Answers { env_file, ..Answers::default() };
        expand(&template, &Host, Commands::Refused, &answers)
    };
    let Transport::Stdio(stdio) = of(&["A", "B", "C"]).unwrap().transport else {
        panic!("it has a command")
    };
    assert_eq!((&*stdio.env["A"], &*stdio.env["C"]), ("own", "$A file"));
    assert!(!stdio.env.contains_key("B") && stdio.unset_env.contains("B"));
    for name in ["PATH", "Path"] {
        let error = of(&[name]).unwrap_err();
        assert_eq!(error.detail()["path"], "envFile");
        assert!(error.message().contains("`envFile`"), "{error}");
    }
}

/// A variable that is named often enough must not become all of the memory.
#[test]
fn what_texts_become_is_bounded() {
    struct Large;
    impl VariableLookup for Large {
        fn env(&self, _: &str) -> Option<String> {
            Some("x".repeat(1 << 20))
        }
        fn workspace_folder(&self) -> Option<String> {
            None
        }
        fn user_home(&self) -> Option<String> {
            None
        }
    }
    let of = |count: usize| {
        let template = template(&json!({ "command": "x", "args": vec!["$L"; count] }));
        expand(&template, &Large, Commands::Refused, &Answers::default())
    };
    assert!(of(16).is_ok());
    let error = of(17).unwrap_err();
    assert_eq!(
        (error.code(), &error.detail()["path"]),
        (ErrorCode::InvalidConfig, &json!("args[16]"))
    );
}
