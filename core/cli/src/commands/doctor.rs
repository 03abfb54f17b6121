//! `doctor`: what is wrong on this machine, and what to do about it.

use std::path::Path;

use clap::ArgMatches;
use serde_json::{Value, json};
use trunkline::bounded;
use trunkline::settings::{FILE_BYTES_MAX, ReadOptions, read};
use trunkline::{Error, Wanted, detect, find_program, own_folders};
use trunkline_pool::text::escaped;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::opened::{Opened, with_pool};
use crate::shown::{self, text};
use crate::terminal::{Terminal, Tone};

/// How something stands.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Good,
    Note,
    Wrong,
}

impl State {
    fn word(self) -> (&'static str, Tone) {
        match self {
            State::Good => ("ok", Tone::Good),
            State::Note => ("note", Tone::Waiting),
            State::Wrong => ("wrong", Tone::Wrong),
        }
    }
}

/// One thing that was looked at.
struct Finding {
    state: State,
    about: String,
    message: String,
    hint: Option<String>,
}

impl Finding {
    fn new(state: State, about: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding { state, about: about.into(), message: message.into(), hint: None }
    }

    fn of(about: impl Into<String>, error: &Error) -> Finding {
        let found = Finding::new(State::Wrong, about, error.message());
        Finding { hint: error.hint().map(str::to_owned), ..found }
    }

    fn to_json(&self) -> Value {
        let Finding { state, about, message, hint } = self;
        json!({ "state": state.word().0, "about": about, "message": message, "hint": hint })
    }
}

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    // Files that cannot be read are among what is found.
    let mut findings = Vec::new();
    with_pool(common, terminal, |opened, terminal| {
        findings.push(library(&opened.pool.status()));
        let mut programs = Vec::new();
        let workspace = &opened.workspace;
        for (path, title) in files(opened, workspace) {
            let (of_file, of_servers) = looked_into(&path, &title, workspace);
            findings.push(of_file);
            programs.extend(of_servers);
        }
        findings.append(&mut programs);
        decisions(opened, &mut findings)?;
        let ready = match given.get_flag("start") {
            true => started(opened, common)?,
            false => Ok(()),
        };
        servers(&opened.pool.status(), opened, &mut findings)?;
        leftovers(&mut findings);
        let is_wrong = findings.iter().any(|found| found.state == State::Wrong);
        tell(&findings, common, terminal);
        ready?;
        Ok(if is_wrong { Exit::Failed } else { Exit::Success })
    })
}

fn library(status: &Value) -> Finding {
    let supervision = text(status, "supervision");
    let state = if supervision == "group" { State::Note } else { State::Good };
    let version = env!("CARGO_PKG_VERSION");
    Finding::new(state, "trunkline", format!("{version}, servers ended by {supervision}"))
}

/// The files that configure the run, with what is known of each.
fn files(opened: &Opened, workspace: &Path) -> Vec<(String, String)> {
    let known = detect(workspace);
    let unread = opened.unread.iter().filter_map(|error| error.detail().get("source")?.as_str());
    let read = opened.files.iter().map(|path| path.display().to_string());
    let mut paths: Vec<String> = read.chain(unread.map(str::to_owned)).collect();
    paths.sort_by_key(|path| known.iter().position(|file| file.path == *path));
    let title = |path: &String| match known.iter().find(|file| file.path == *path) {
        Some(file) => format!("{}, {}", file.format.row().title, file.scope.as_str()),
        None => "named".to_owned(),
    };
    paths.iter().map(|path| (path.clone(), title(path))).collect()
}

/// One file, and the programs of its servers.
fn looked_into(path: &str, title: &str, workspace: &Path) -> (Finding, Vec<Finding>) {
    let read = bounded::text(path.as_ref(), FILE_BYTES_MAX).map_err(|error| error.to_string());
    let source = read.map_err(|error| Finding::new(State::Wrong, path, error)).and_then(|text| {
        read_as(&text, path, workspace).map_err(|error| Finding::of(path, &error))
    });
    let source = match source {
        Ok(source) => source,
        Err(finding) => return (finding, Vec::new()),
    };
    let without_effect = match source.findings.len() {
        0 => String::new(),
        count => format!(", {count} fields without effect"),
    };
    let message = format!("{title}: {} servers{without_effect}", source.servers.len());
    let programs = source.servers.iter().filter_map(|server| {
        let template = server.template.as_ref().ok()?;
        match find_program(&server.name, template, workspace) {
            Ok(program) => {
                let program = program?.display().to_string();
                Some(Finding::new(State::Good, &*server.name, program))
            }
            Err(_) if template.unexpanded().disabled => None,
            Err(error) => Some(Finding::of(&*server.name, &error)),
        }
    });
    (Finding::new(State::Good, path, message), programs.collect())
}

fn read_as(
    text: &str,
    path: &str,
    workspace: &Path,
) -> trunkline::Result<trunkline::settings::Source> {
    let workspace = workspace.to_str().filter(|path| !path.is_empty()).map(str::to_owned);
    read(text, path, &ReadOptions { workspace, ..ReadOptions::default() })
}

/// Whether the decisions can be read.
fn decisions(opened: &Opened, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    let pool = opened.pool.clone();
    if let Err(error) = opened.wait(async move { pool.approvals().await })? {
        findings.push(Finding::of("approvals", &error));
    }
    Ok(())
}

/// Starts all; whether they have started or failed in time.
fn started(opened: &Opened, common: &Common) -> Result<trunkline::Result<()>, Failure> {
    let session = opened.session(Wanted::All)?;
    let timeout = common.timeout;
    opened.wait(async move { session.ready(None, timeout).await })
}

/// What keeps servers out, and what those say that run.
fn servers(status: &Value, opened: &Opened, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    for (name, row) in status["servers"].as_object().into_iter().flatten() {
        let explained = opened.pool.explain(name)?;
        let hint = explained["remedy"].as_str().map(str::to_owned);
        let message = row["last_error"]["message"].as_str();
        let (state, message) = match text(row, "reason") {
            "" => (State::Good, connected(row)),
            "unused" | "asleep" => continue,
            reason @ ("failed" | "invalid_config" | "auth_required") => {
                (State::Wrong, message.unwrap_or(reason).to_owned())
            }
            reason => (State::Note, reason.to_owned()),
        };
        let hint = hint.filter(|_| state != State::Good);
        findings.push(Finding { hint, ..Finding::new(state, name, message) });
    }
    Ok(())
}

fn connected(row: &Value) -> String {
    let entry = &row["entries"][0];
    let [name, version, protocol] =
        ["server_name", "server_version", "protocol_version"].map(|member| text(entry, member));
    format!("{name} {version}, protocol {protocol}, {} tools", row["counts"]["tools"])
}

/// Files that were set aside because they were damaged.
fn leftovers(findings: &mut Vec<Finding>) {
    for folder in own_folders() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains(".damaged-") {
                let path = entry.path().display().to_string();
                let found = Finding::new(State::Note, path, "a damaged file that was set aside");
                findings.push(Finding { hint: Some("look at it, and remove it".into()), ..found });
            }
        }
    }
}

fn tell(findings: &[Finding], common: &Common, terminal: &mut Terminal<'_>) {
    if common.json {
        let findings: Vec<Value> = findings.iter().map(Finding::to_json).collect();
        return shown::json(terminal, &json!({ "v": 1, "findings": findings }));
    }
    for found in findings {
        let (word, tone) = found.state.word();
        let word = terminal.toned(&format!("{word:<5}"), tone);
        let (about, message) = (escaped(&found.about), shown::lines(&found.message));
        terminal.line(&format!("{word}  {about}: {message}"));
        if let Some(hint) = &found.hint {
            terminal.line(&format!("       {}", shown::lines(hint)));
        }
    }
}
