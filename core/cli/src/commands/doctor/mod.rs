//! `doctor`: what is wrong on this machine, what a server would get of it, and what to do about it.

mod entries;
mod finding;
mod folders;
mod network;
mod runner;
mod shell;
mod variables;

use std::path::Path;

use clap::ArgMatches;
use serde_json::Value;
use trunkline::{ServerSelection, detect, own_folders};

use self::finding::{Finding, State, Topic, tell};
use crate::console::arguments::Common;
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format::text;
use crate::console::hints;
use crate::console::terminal::Terminal;

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    // Files that cannot be read are among what is found.
    let mut findings = Vec::new();
    with_pool(common, terminal, |opened, terminal| {
        let status = opened.pool.status();
        findings.push(library(&status));
        let files = entries::files(files(opened, &opened.workspace), &opened.workspace);
        findings.extend(files.iter().map(entries::of_file));
        findings.extend(entries::programs(&files, &opened.workspace));
        decisions(opened, &mut findings)?;
        let entries = entries::in_force(&files, &status, opened);
        network::look(&entries, &mut findings);
        runner::look(&entries, &mut findings);
        folders::look(&entries, &opened.workspace, &mut findings);
        variables::look(&entries, &mut findings);
        shell::look(given.get_flag("shell"), &entries, opened, &mut findings)?;
        let ready = match given.get_flag("start") {
            true => started(opened)?,
            false => Ok(()),
        };
        leftovers(&mut findings);
        servers(&opened.pool.status(), opened, &mut findings)?;
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
    Finding::new(
        state,
        Topic::Library,
        "trunkline",
        format!("{version}, servers ended by {supervision}"),
    )
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

/// Whether the decisions can be read.
fn decisions(opened: &Opened, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    let pool = opened.pool.clone();
    if let Err(error) = opened.wait(async move { pool.approvals().await })? {
        findings.push(Finding::of(Topic::Approvals, "approvals", &error));
    }
    Ok(())
}

/// Starts all; whether they have started or failed in time.
fn started(opened: &Opened) -> Result<trunkline::Result<()>, Failure> {
    let session = opened.session(ServerSelection::All)?;
    let timeout = opened.deadline.left();
    opened.wait(async move { session.ready(None, timeout).await })
}

/// What keeps servers out, and what those say that run.
fn servers(status: &Value, opened: &Opened, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    for (name, row) in status["servers"].as_object().into_iter().flatten() {
        let explained = opened.pool.explain(name)?;
        // What an error says of its own cause is nearer than what is said of all of its kind.
        let hint = row["last_error"]["hint"].as_str().or(explained["remedy"].as_str());
        let message = row["last_error"]["message"].as_str();
        let (state, message) = match text(row, "reason") {
            "" => (State::Good, connected(row)),
            "unused" | "asleep" => continue,
            reason @ ("failed" | "invalid_config" | "auth_required") => {
                (State::Wrong, message.unwrap_or(reason).to_owned())
            }
            reason => (State::Note, reason.to_owned()),
        };
        let is_told =
            |found: &Finding| found.topic == Topic::Program && found.is_about(name, &message);
        if findings.iter().any(is_told) {
            continue;
        }
        let hint = hint.filter(|_| state != State::Good);
        let hint = hint.map(|hint| hints::here(hint, Some(name)));
        findings.push(Finding { hint, ..Finding::new(state, Topic::Server, name, message) });
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
                let found = Finding::new(
                    State::Note,
                    Topic::Leftover,
                    path,
                    "a damaged file that was set aside",
                );
                findings.push(Finding { hint: Some("look at it, and remove it".into()), ..found });
            }
        }
    }
}
