//! The home folder at the start of a path, as shells write it (SPEC 18.9).

use serde_json::json;

use super::*;
use crate::config::Transport;
use crate::settings::{Container, FORMATS};

/// A host with that home folder.
struct At(Option<&'static str>);

impl VariableLookup for At {
    fn env(&self, name: &str) -> Option<String> {
        (name == "TILDE").then(|| "~/x".to_owned())
    }

    fn workspace_folder(&self) -> Option<String> {
        Some("/srv".to_owned())
    }

    fn user_home(&self) -> Option<String> {
        self.0.map(str::to_owned)
    }
}

const HOME: At = At(Some("/u/$A"));

/// What becomes of a path in each place that has one, which is the same for all of them: what is
/// looked up before the admission, what runs after it, and the file of variables.
fn places(path: &str) -> Result<[String; 5]> {
    let template = template(&json!({ "command": path, "cwd": path, "env_file": path }));
    let looked_up = look_up(&template, &HOME, Commands::Refused)?.spec;
    let spec = expand(&template, &HOME, Commands::Refused, &Answers::default())?;
    let file = env_file(&template, &HOME, Commands::Refused, &Answers::default())?;
    let [looked_up, spec] = [looked_up, spec].map(|spec| match spec.transport {
        Transport::Stdio(stdio) => (stdio.command, stdio.cwd.unwrap()),
        _ => panic!("it has a command"),
    });
    Ok([looked_up.0, looked_up.1, spec.0, spec.1, file.unwrap()])
}

/// SPEC 18.9.
#[test]
fn a_leading_tilde_is_the_home_folder_in_paths() {
    for (written, becomes) in [
        ("~", "/u/$A"),
        ("~/", "/u/$A/"),
        ("~/bin/s", "/u/$A/bin/s"),
        ("~/${TILDE}", "/u/$A/~/x"),
        // What a variable becomes is not read again, and nobody else's home folder is known.
        ("${TILDE}", "~/x"),
        ("~other/bin", "~other/bin"),
        ("~~/x", "~~/x"),
        ("./~/x", "./~/x"),
        ("/~/x", "/~/x"),
        ("a~b", "a~b"),
    ] {
        assert_eq!(places(written).unwrap(), [becomes; 5], "{written}");
    }
}

/// SPEC 18.9: nowhere else.
#[test]
fn a_tilde_is_itself_in_what_is_no_path_of_ours() {
    let entry = json!({
        "command": "x", "args": ["~", "~/data", "--x=~/y", "a~b"], "env": { "P": "~/z" },
    });
    let spec = expand(&template(&entry), &HOME, Commands::Refused, &Answers::default()).unwrap();
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    assert_eq!(stdio.args, ["~", "~/data", "--x=~/y", "a~b"]);
    assert_eq!((&*stdio.env["P"], stdio.cwd), ("~/z", None));
}

/// SPEC 18.9: it is so in the files of every product.
#[test]
fn every_product_has_it() {
    for format in FORMATS.iter().copied() {
        let row = format.row();
        let command = match format.name() {
            "opencode" => json!({ "type": "local", "command": ["~/s"] }),
            "goose" => json!({ "type": "stdio", "cmd": "~/s" }),
            _ => json!({ "name": "one", "command": "~/s" }),
        };
        let text = match row.containers[0] {
            Container::Map(way) => {
                let one = json!({ "one": command });
                way.iter().rev().fold(one, |inner, step| json!({ *step: inner }))
            }
            Container::List(way) => {
                let one = json!([command]);
                way.iter().rev().fold(one, |inner, step| json!({ *step: inner }))
            }
            Container::Bare => json!({ "one": command }),
        };
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        // The tree is the same in each syntax, and JSON has no name that their files have.
        let source = read(&text.to_string(), "settings.json", &options).unwrap();
        let template = source.servers[0].template.clone().unwrap();
        let spec = look_up(&template, &HOME, Commands::Refused).unwrap().spec;
        let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
        assert_eq!(stdio.command, "/u/$A/s", "{}", format.name());
    }
}

/// SPEC 18.9: without a home folder the error names the field, what it lacks and what to do.
#[test]
fn without_a_home_folder_it_is_an_error_that_names_it() {
    for (field, entry) in
        [("command", json!({ "command": "~/s" })), ("cwd", json!({ "command": "x", "cwd": "~" }))]
    {
        let error = look_up(&template(&entry), &At(None), Commands::Refused).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UndefinedVariable);
        assert_eq!(error.detail()["variable"], "HOME");
        let wanted = format!("`{field}` begins with `~`, and `HOME`, the home folder, is not set");
        assert!(error.message().starts_with(&wanted), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("whole path")));
    }
    let template = template(&json!({ "command": "x", "env_file": "~/.env" }));
    let error = env_file(&template, &At(None), Commands::Refused, &Answers::default());
    assert!(error.unwrap_err().message().starts_with("`env_file` begins with `~`"));
}
