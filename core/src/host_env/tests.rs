//! Look-ups in a folder of the test's own, and commands that are really run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use trunkline_pool::config::{ServerSpec, StdioSpec, Transport};
use trunkline_pool::expand::{Commands, VariableLookup, expand, look_up, needs};
use trunkline_pool::settings::{Format, ReadOptions, Template, read};

use super::*;
use crate::folder::Folder;
use crate::transport::run_command;
use crate::{Error, ErrorCode, Result};

/// A folder that is gone with the test.
struct Place(Folder);

impl Place {
    fn new() -> Place {
        Place(Folder::new())
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn program(&self, name: &str) -> PathBuf {
        let path = self.write(name, "#!/bin/sh\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

fn template(entry: &Value) -> Template {
    let text = json!({ "servers": { "one": entry } }).to_string();
    let options = ReadOptions { format: Some(Format::VsCode), ..ReadOptions::default() };
    read(&text, "mcp.json", &options).unwrap().servers[0].template.clone().unwrap()
}

fn stdio_of(spec: ServerSpec) -> StdioSpec {
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    stdio
}

/// What the approval's look-up finds, which must be what the start would execute.
fn found(entry: &Value, workspace: &Path) -> Result<FoundProgram> {
    let variables = HostVariables::new(workspace);
    let template = template(entry);
    let looked_up = look_up(&template, &variables, Commands::Refused)?;
    let shown = looked_up_program("one", &looked_up, workspace, &[]);
    let shown = shown.map(|found| found.unwrap());
    let stdio = stdio_of(expand(&template, &variables, Commands::Refused, &Default::default())?);
    let environment = Environment::of_child(&stdio, &[]);
    let started = program("one", &stdio, workspace, &environment);
    match (&shown, &started) {
        (Ok(shown), Ok(started)) => assert_eq!(shown, started),
        (Err(shown), Err(started)) => assert_eq!(shown, started),
        _ => panic!("{shown:?} and {started:?}"),
    }
    shown
}

/// S-08, SPEC 10.5: one look-up for the approval and the start: absolute, in the path that the
/// entry sets, past relative entries.
#[test]
fn the_program_that_is_shown_is_the_one_that_would_start() {
    let folder = Place::new();
    let workspace = &*folder.0;
    let own = folder.program("own/sh");
    let planted = folder.program("sh");
    let path = |path: &str| json!({ "command": "sh", "env": { "PATH": path } });

    assert_eq!(found(&path("${workspaceFolder}/own:$PATH"), workspace).unwrap().program, own);
    assert_eq!(found(&path("own:.::/bin"), workspace).unwrap().program, Path::new("/bin/sh"));
    let missing = found(&path("own:."), workspace).unwrap_err();
    assert_eq!(
        (missing.code(), &missing.detail()["command"]),
        (ErrorCode::SpawnFailed, &json!("sh"))
    );
    let by_path = found(&json!({ "command": "./sh" }), workspace).unwrap();
    assert_eq!((by_path.program, by_path.cwd), (planted, workspace.to_owned()));
    let below = json!({ "command": "./sh", "cwd": "own" });
    assert_eq!(found(&below, workspace).unwrap().program, own);
}

/// S-08: a link keeps its name, and the file behind it can be told.
#[test]
fn links_are_followed_for_whoever_compares() {
    let folder = Place::new();
    let (first, second) = (folder.program("first"), folder.program("second"));
    let link = folder.0.join("link");
    symlink(&first, &link).unwrap();
    let entry = json!({ "command": "./link" });
    let before = found(&entry, &folder.0).unwrap();
    assert_eq!((&before.program, before.file().unwrap()), (&link, first));
    fs::remove_file(&link).unwrap();
    symlink(&second, &link).unwrap();
    let after = found(&entry, &folder.0).unwrap();
    assert_eq!((&after.program, after.file().unwrap()), (&link, second));
}

/// SPEC 10.5: a folder that is not known yet does not hide the program.
#[test]
fn a_program_is_found_while_its_folder_waits_for_an_answer() {
    let folder = Place::new();
    let template = template(&json!({ "command": "sh", "cwd": "${input:folder}" }));
    let looked_up = look_up(&template, &HostVariables::new(&folder.0), Commands::Refused).unwrap();
    let found = looked_up_program("one", &looked_up, &folder.0, &[]).unwrap().unwrap();
    assert!(found.program.is_absolute());
    assert_eq!(found.cwd, *folder.0);
}

/// SPEC 10.6: the working directory must be there, and the error names it.
#[test]
fn a_missing_working_directory_is_named() {
    let folder = Place::new();
    let file = folder.write("file", "");
    check_folder("one", &folder.0).unwrap();
    for missing in [folder.0.join("nothing"), file] {
        let error = check_folder("one", &missing).unwrap_err();
        assert_eq!(error.code(), ErrorCode::SpawnFailed);
        assert_eq!(error.server(), Some("one"));
        assert_eq!(error.detail()["cwd"], missing.to_str().unwrap());
        assert!(error.message().contains(missing.to_str().unwrap()), "{error}");
    }
}

/// SPEC 18.10: an interpreter that is missing is told as such, and a carriage return behind it.
#[test]
fn the_interpreter_of_a_script_is_named() {
    let folder = Place::new();
    let checked = |first: &[u8]| {
        let path = folder.write("script", [first, b"\nexit 0\n"].concat());
        check_interpreter("one", "./script", &path, &folder.0)
    };
    folder.write("plain", "");
    for (first, named, said) in [
        (&b"#!/no/such/python"[..], "/no/such/python", "which is not there"),
        (b"#! \t/no/such/python -u", "/no/such/python", "which is not there"),
        (b"#!none", "none", "which is not there"),
        (b"#!plain", "plain", "which may not be executed"),
        (b"#!/bin/sh\r", "/bin/sh", "and a carriage return, which is not a program"),
    ] {
        let error = checked(first).unwrap_err();
        assert_eq!((error.code(), error.server()), (ErrorCode::SpawnFailed, Some("one")));
        assert_eq!(error.detail()["interpreter"], named);
        assert_eq!(error.detail()["command"], "./script");
        assert!(error.detail()["errno"].is_number() && error.hint().is_some());
        let start = format!("the first line of the command ./script names {named}");
        assert!(error.message().starts_with(&start) && error.message().ends_with(said), "{error}");
    }
    for fine in [&b"#!/bin/sh"[..], b"#!/usr/bin/env none", b"#!", b"#!\xff", b"", b"\x7fELF"] {
        checked(fine).unwrap();
    }
    let endless = folder.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&endless).status().unwrap().success());
    check_interpreter("one", "pipe", &endless, &folder.0).unwrap();
}

/// SPEC 10.5: the variables of a settings file are those of this process.
#[test]
fn variables_are_those_of_the_process() {
    let variables = HostVariables::new(Path::new("/srv/project"));
    assert_eq!(variables.env("PATH"), std::env::var("PATH").ok());
    assert_eq!(variables.user_home(), std::env::var("HOME").ok());
    assert_eq!(variables.workspace_folder().as_deref(), Some("/srv/project"));
    for nothing in ["", "=", "PATH=", "\0", "TRUNKLINE_NOT_SET"] {
        assert_eq!(variables.env(nothing), None, "{nothing:?}");
    }
}

fn env_file_error(folder: &Place, path: &str) -> Error {
    let template = template(&json!({ "command": "x", "envFile": path }));
    read_env_file(&template, path, &folder.0).unwrap_err()
}

/// SPEC 10.6, 10.7: a file of variables that cannot be read is named, with the field that names it,
/// and nothing of it is shown.
#[test]
fn a_file_of_variables_is_read_or_named() {
    let folder = Place::new();
    folder.write("own/.env", "A=1\nB='x y'\n");
    let template = template(&json!({ "command": "x", "envFile": "own/.env" }));
    let read = read_env_file(&template, "own/.env", &folder.0).unwrap();
    assert_eq!(
        read.into_iter().collect::<Vec<_>>(),
        [("A", "1"), ("B", "x y")].map(|(a, b)| (a.into(), b.into()))
    );

    folder.write("bad", "A=1\ncanary");
    folder.write("bytes", b"A=\xff");
    folder.write("long", vec![b'#'; (1 << 20) + 1]);
    let pipe = std::process::Command::new("mkfifo").arg(folder.0.join("pipe")).status();
    assert!(pipe.unwrap().success());
    for (name, why) in [
        ("nothing", "no such file"),
        ("own", "regular file"),
        ("pipe", "regular file"),
        ("/dev/zero", "regular file"),
        ("bad", "line 2 has no `=`"),
        ("bytes", "UTF-8"),
        ("long", "1 MiB"),
    ] {
        let error = env_file_error(&folder, name);
        let path = folder.0.join(name);
        assert_eq!(error.code(), ErrorCode::InvalidConfig);
        assert_eq!(error.detail()["env_file"], path.to_str().unwrap());
        assert_eq!(
            (&error.detail()["path"], &error.detail()["source"]),
            (&json!("envFile"), &json!("mcp.json"))
        );
        assert!(error.message().contains(why), "{error}");
        assert!(!error.message().contains("canary"), "{error}");
    }
}

/// What a command prints.
async fn output_of(line: &str) -> Result<String> {
    let entry = json!({ "command": "x", "env": { "V": format!("!{line}") } });
    let commands = needs(&template(&entry), Commands::Asked).commands;
    let line = commands.first().unwrap();
    run_command(&Arc::from("one"), line, Path::new("/"), &[], &SearchCache::default()).await
}

/// SPEC 10.5: a command runs without a shell, in the workspace, and what it prints is the value
/// without the line break at its end.
#[tokio::test]
async fn what_a_command_prints_is_a_value() {
    for (line, expected) in [
        ("printf 'a b\\n\\n'", "a b\n"),
        ("printf 'a\\r\\n'", "a"),
        ("echo '$HOME' ; echo x > y | z *", "$HOME ; echo x > y | z *"),
        ("pwd", "/"),
        ("cat", ""),
        ("sh -c 'echo seen; head -c 300000 /dev/zero >&2'", "seen"),
        ("sh -c 'echo seen; exec >&-; head -c 300000 /dev/zero >&2'", "seen"),
    ] {
        assert_eq!(output_of(line).await.unwrap(), expected, "{line}");
    }
}

/// SPEC 10.5: what fails is no value, and neither its arguments nor what it printed are in the
/// error.
#[tokio::test]
async fn a_command_that_fails_gives_no_value() {
    for (line, why) in [
        ("sh -c 'echo canary; echo canary >&2; exit 3'", "failed"),
        ("sh -c 'kill -9 $$' canary", "failed"),
        ("trunkline-no-such-program canary", "cannot be started"),
        ("sh -c 'printf \"\\377\"' canary", "UTF-8"),
        ("sh -c 'yes canary'", "64 KiB"),
    ] {
        let error = output_of(line).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UndefinedVariable, "{line}");
        assert!(error.message().contains(why), "{error}");
        assert_eq!(error.server(), Some("one"));
        assert!(error.detail()["variable"].as_str().unwrap().starts_with("cmd:"));
        assert!(!error.to_json().to_string().contains("canary"), "{error:?}");
    }
}

/// I-01: what a command leaves running ends with it, also when it holds the output open.
#[tokio::test]
async fn nothing_of_a_command_is_left() {
    let left = output_of("sh -c 'sleep 1000 & echo $!'").await.unwrap();
    assert!(!is_alive(&left), "{left} still runs");
}

/// I-04, I-01: a command that nobody waits for any more ends.
#[tokio::test]
async fn a_dropped_command_leaves_no_process() {
    let folder = Place::new();
    let told = folder.0.join("pid");
    let line = format!("sh -c 'echo $$ > {0}.new; mv {0}.new {0}; sleep 1000'", told.display());
    let written = async {
        while !told.exists() {
            tokio::time::sleep(POLL).await;
        }
        fs::read_to_string(&told).unwrap().trim().to_owned()
    };
    let pid = tokio::select! {
        pid = written => pid,
        output = output_of(&line) => panic!("it ended: {output:?}"),
    };
    let gone = async {
        while is_alive(&pid) {
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
}

/// How often a test looks at what tells it nothing.
const POLL: Duration = Duration::from_millis(5);

/// After this long a test is taken to hang.
const PATIENCE: Duration = Duration::from_secs(90);

/// Whether a process runs; one that only waits to be reaped does not.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
