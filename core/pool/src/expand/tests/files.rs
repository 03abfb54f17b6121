//! Texts that opencode takes from files (SPEC 18.9).

use serde_json::json;

use super::*;
use crate::config::Transport;

/// A host with a home folder.
struct Homed;

impl VariableLookup for Homed {
    fn env(&self, name: &str) -> Option<String> {
        Host.env(name)
    }

    fn workspace_folder(&self) -> Option<String> {
        Host.workspace_folder()
    }

    fn user_home(&self) -> Option<String> {
        Some("/h/me".to_owned())
    }
}

/// What a settings file of opencode at that path has of a server.
fn opencode(path: &str, entry: &Value) -> Result<Template> {
    let text = json!({ "mcp": { "one": entry } }).to_string();
    let options = ReadOptions { format: Some(Format::Opencode), ..ReadOptions::default() };
    read(&text, path, &options).unwrap().servers[0].template.clone()
}

const SETTINGS: &str = "/srv/.opencode/opencode.json";

fn with_header(text: &str) -> Result<Template> {
    opencode(SETTINGS, &json!({ "type": "remote", "url": "https://h", "headers": { "K": text } }))
}

/// SPEC 18.9: which file a path names: relative to the settings file, below the home folder, or
/// what it says.
#[test]
fn a_path_begins_at_the_settings_file_or_at_the_home_folder() {
    for (text, path) in [
        ("{file:key}", "/srv/.opencode/key"),
        ("Bearer {file:./key}", "/srv/.opencode/./key"),
        ("{file:../key}", "/srv/.opencode/../key"),
        ("{file:~/k}", "/h/me/k"),
        ("{file:~other/k}", "/srv/.opencode/~other/k"),
        ("{file:/etc/k$HOME}", "/etc/k$HOME"),
        ("{file:/a/{b}/c d}", "/a/{b}/c d"),
        ("${file:key}", "/srv/.opencode/key"),
        ("{env:A}{file:key}$$", "/srv/.opencode/key"),
    ] {
        let template = with_header(text).unwrap();
        let files = look_up(&template, &Homed, Commands::Refused).unwrap().files;
        assert_eq!(files, [path], "{text}");
        let taken = takes(&template);
        let taken = taken.iter().filter(|((kind, _), _)| *kind == TakenKind::File);
        let fields: Vec<_> = taken.flat_map(|(_, fields)| fields).collect();
        assert_eq!(fields, ["headers.K"], "{text}");
    }
    let bare = opencode(
        "opencode.json",
        &json!({ "type": "remote", "url": "https://h", "headers": { "K": "{file:k}" } }),
    );
    let files = value_files(&bare.unwrap(), &Homed).unwrap();
    assert_eq!(files, ["k"]);
}

/// SPEC 18.9: its text is put in place as it is, and stands nowhere before.
#[test]
fn the_text_of_a_file_is_taken_as_it_is() {
    let template = opencode(
        SETTINGS,
        &json!({
            "type": "local",
            "command": ["x"],
            "environment": { "A": "{file:k}", "B": "a-{file:k}-{env:A}" },
        }),
    );
    let template = template.unwrap();
    let mut spec = expand(&template, &Homed, Commands::Refused, &Answers::default()).unwrap();
    let mut read = Vec::new();
    for value in spec.value_files.clone() {
        let text = value.joined(|path, _| {
            read.push(path.to_owned());
            Ok::<_, ()>("${A} $A {file:x} !x".to_owned())
        });
        spec.put_value(&value.field, &text.unwrap());
    }
    assert_eq!(read, ["/srv/.opencode/k", "/srv/.opencode/k"]);
    assert!(!format!("{spec:?}").contains("!x"));
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    assert_eq!(stdio.env["A"], "${A} $A {file:x} !x");
    assert_eq!(stdio.env["B"], "a-${A} $A {file:x} !x-1");
    let taken: Vec<_> = takes(&template).into_iter().collect();
    let fields = ["env.A".to_owned(), "env.B".to_owned()].into();
    assert!(taken.contains(&((TakenKind::File, "/srv/.opencode/k".to_owned()), fields)));
}

/// SPEC 18.9: where a file may stand, and what is said of one elsewhere, before anybody is asked.
#[test]
fn a_file_stands_in_values_that_may_be_secret_and_nowhere_else() {
    let local = |members: Value| {
        let mut entry = json!({ "type": "local", "command": ["x"] });
        entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        entry
    };
    let remote = |oauth: Value| json!({ "type": "remote", "url": "https://h", "oauth": oauth });
    for (entry, path) in [
        (local(json!({ "environment": { "A": "{file:k}" } })), None),
        (remote(json!({ "clientSecret": "{file:k}" })), None),
        (remote(json!({ "client_secret": "{file:k}" })), None),
        (local(json!({ "command": ["{file:k}"] })), Some("command[0]")),
        (local(json!({ "command": ["x", "{file:k}"] })), Some("command[1]")),
        (local(json!({ "cwd": "{file:k}" })), Some("cwd")),
        (local(json!({ "environment": { "PATH": "{file:k}" } })), Some("environment.PATH")),
        (local(json!({ "description": "{file:k}" })), Some("description")),
        (json!({ "type": "remote", "url": "https://{file:k}" }), Some("url")),
        (remote(json!({ "clientId": "{file:k}" })), Some("oauth.clientId")),
        (remote(json!({ "scope": "{file:k}" })), Some("oauth.scope")),
        (remote(json!({ "other": { "a": ["{file:k}"] } })), Some("oauth.other.a[0]")),
    ] {
        let looked_up = opencode(SETTINGS, &entry)
            .and_then(|template| look_up(&template, &Homed, Commands::Refused));
        let told = looked_up.as_ref().err().map(|error| {
            assert_eq!(error.code(), ErrorCode::InvalidConfig, "{entry}");
            error.detail()["path"].as_str().unwrap_or_default()
        });
        assert_eq!(told, path, "{entry}: {looked_up:?}");
    }
}

/// SPEC 18.9: what is no file's path is told with its field.
#[test]
fn what_names_no_file_is_an_error_of_its_entry() {
    for (text, words) in [
        ("{file:}", "without a path"),
        ("{file:k", "not closed"),
        ("{file:{env:HOME}/k}", "has a variable"),
        ("{file:${HOME}/k}", "has a variable"),
        ("{file:{file:k}}", "has a variable"),
    ] {
        let error = with_header(text).unwrap_err();
        assert_eq!(error.detail()["path"], "headers.K");
        assert!(error.message().contains(words), "{text}: {error}");
    }
    let entry = json!({ "type": "remote", "url": "https://h", "headers": { "K": "{file:k}" } });
    let error = opencode("/srv/a}b/opencode.json", &entry).unwrap_err();
    assert!(error.message().contains("brace"), "{error}");
    let homeless = look_up(&with_header("{file:~/k}").unwrap(), &Host, Commands::Refused);
    let homeless = homeless.unwrap_err();
    assert_eq!(
        (homeless.code(), &homeless.detail()["path"]),
        (ErrorCode::UndefinedVariable, &json!("headers.K"))
    );
}

/// SPEC 18.9: headers keep their place whatever the case of their names, and a secret is told apart
/// from them.
#[test]
fn each_value_of_files_has_its_place() {
    let entry = json!({
        "type": "remote",
        "url": "https://h",
        "headers": { "X-Key": "{file:k}", "Plain": "p" },
        "oauth": { "clientId": "c", "clientSecret": "{file:s}" },
    });
    let template = opencode(SETTINGS, &entry).unwrap();
    let mut spec = expand(&template, &Homed, Commands::Refused, &Answers::default()).unwrap();
    let same = expand(&template, &Homed, Commands::Refused, &Answers::default()).unwrap();
    assert!(spec == same);
    assert_eq!(spec.secret_of_files().unwrap().field, "oauth.clientSecret");
    for value in spec.value_files.clone() {
        spec.put_value(&value.field, "said");
    }
    let Transport::Remote(remote) = &spec.transport else { panic!("it has an address") };
    assert_eq!(remote.headers["x-key"], "said");
    assert_eq!(remote.headers["plain"], "p");
}

/// SPEC 18.9: it is opencode's; in the files of others it is a variable that nobody knows, as
/// before.
#[test]
fn other_products_read_no_file() {
    for format in [Format::Trunkline, Format::ClaudeCode, Format::FastMcp] {
        let template =
            template_of(format, &json!({ "command": "x", "env": { "K": "${file:/k}" } }));
        let error = look_up(&template, &Host, Commands::Refused).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UndefinedVariable, "{error}");
        assert_eq!(error.detail()["path"], "env.K");
        let text = json!({ "command": "x", "env": { "K": "{file:/k}" } });
        let spec =
            expand(&template_of(format, &text), &Host, Commands::Refused, &Answers::default());
        let Transport::Stdio(stdio) = spec.unwrap().transport else { panic!("it has a command") };
        assert_eq!(stdio.env["K"], "{file:/k}");
    }
    let original = with_header("{file:/k}").unwrap();
    let copy = json!({ "url": "https://h", "headers": { "K": "${file:/k}" } });
    let copy = template_of(Format::Trunkline, &copy).made_of(&original);
    assert_eq!(value_files(&copy, &Host).unwrap(), value_files(&original, &Host).unwrap());
    assert!(look_up(&copy, &Host, Commands::Refused).is_ok());
}

/// SPEC 18.9: one end of a line is cut, and no server is sent nothing.
#[test]
fn one_final_newline_is_cut() {
    for (text, value) in [
        ("abc", Ok("abc")),
        ("abc\n", Ok("abc")),
        ("abc\r\n", Ok("abc")),
        ("abc\n\n", Ok("abc\n")),
        ("abc\ndef\n", Ok("abc\ndef")),
        (" abc \n", Ok(" abc ")),
        ("abc\r", Ok("abc\r")),
        ("", Err("is empty")),
        ("\n", Err("is empty")),
        ("a\0b", Err("holds a NUL character")),
    ] {
        assert_eq!(value_of_file(text), value, "{text:?}");
    }
}
