//! `status`: how the servers stand.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::Value;
use trunkline::{Pool, ServerSelection, StatusOptions};
use trunkline_pool::text::escaped;

use super::host;
use crate::console::arguments::Common;
use crate::console::context::with_pool;
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format::{self, number, text};
use crate::console::hints;
use crate::console::state_label;
use crate::console::terminal::{Terminal, Tone};
use crate::live::{self, Look, Pace};

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let names = given.get_many::<String>("server").unwrap_or_default();
    let names: Vec<String> = names.cloned().collect();
    if let Some(file) = given.get_one::<PathBuf>("host") {
        return of_host(file, &names, given, common, terminal);
    }
    let watched = given.get_flag("watch");
    let wanted =
        if names.is_empty() { ServerSelection::All } else { ServerSelection::Names(names.clone()) };
    with_pool(common, terminal, |opened, terminal| {
        let session = opened.session(wanted)?;
        if watched && terminal.is_screen && !common.json {
            let look = || {
                let status = of_named(with_processes(&opened.pool), &names);
                Ok(Look { status, said: String::new() })
            };
            let status = live::watch(terminal, &opened.interrupt, pace(given), look)?;
            return Ok(judged(&status, &names, terminal));
        }
        let (waiting, timeout) = (session.clone(), opened.deadline.left());
        let ready = opened.wait(async move { waiting.ready(None, timeout).await })?;
        let Pace { mut views, interval } = pace(given);
        loop {
            let status = of_named(opened.pool.status(), &names);
            view(&status, watched, common, terminal);
            views -= 1;
            // A reader that goes away ends it.
            if views == 0 || !terminal.flush() {
                return match (judged(&status, &names, terminal), ready) {
                    // A message about the beginning need not hold after several views.
                    (exit, Err(error)) if exit != Exit::NotFound && !watched => Err(error.into()),
                    (exit, _) => Ok(exit),
                };
            }
            opened.pause(interval)?;
        }
    })
}

/// The same of the pool of a running host. Nothing is opened here, so that a signal ends it at
/// once.
fn of_host(
    file: &Path,
    names: &[String],
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let watched = given.get_flag("watch");
    if watched && terminal.is_screen && !common.json {
        // A signal has to find the terminal given back.
        let listening = terminal.interrupt.listen();
        let look = || {
            let host = host::read(file)?;
            Ok(Look { status: of_named(host.status, names), said: host.said })
        };
        let status = live::watch(terminal, &listening, pace(given), look)?;
        return Ok(judged(&status, names, terminal));
    }
    let Pace { mut views, interval } = pace(given);
    loop {
        let host = host::read(file)?;
        let status = of_named(host.status, names);
        view(&status, watched, common, terminal);
        if !common.json {
            terminal.line("");
            terminal.line(&host.said);
        }
        views -= 1;
        if views == 0 || !terminal.flush() {
            return Ok(judged(&status, names, terminal));
        }
        std::thread::sleep(interval);
    }
}

/// How many views are shown, and the time between two.
fn pace(given: &ArgMatches) -> Pace {
    let views = match given.get_flag("watch") {
        true => given.get_one::<u64>("count").copied().unwrap_or(u64::MAX),
        false => 1,
    };
    Pace { views, interval: given.get_one::<Duration>("interval").copied().unwrap_or_default() }
}

/// The status with what the servers use, which is looked up for people alone.
fn with_processes(pool: &Pool) -> Value {
    let mut options = StatusOptions::default();
    options.processes = true;
    pool.status_with(&options)
}

/// The status with the servers that are named alone, or with all.
fn of_named(mut status: Value, names: &[String]) -> Value {
    if let Some(servers) = status["servers"].as_object_mut().filter(|_| !names.is_empty()) {
        servers.retain(|server, _| names.contains(server));
    }
    status
}

/// One view. On a terminal one that is watched takes the place of the one before.
fn view(status: &Value, watched: bool, common: &Common, terminal: &mut Terminal<'_>) {
    if common.json {
        return format::json(terminal, status);
    }
    if watched && terminal.clears {
        terminal.write(CLEAR);
    }
    show(status, terminal);
    if watched && !terminal.clears {
        terminal.line("");
    }
}

/// Moves to the upper left corner, and clears what is below.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Whether all is well with the servers that are named, or with all. A name that is no server's is
/// told.
fn judged(status: &Value, names: &[String], terminal: &mut Terminal<'_>) -> Exit {
    let servers = &status["servers"];
    let unknown: Vec<&String> = names.iter().filter(|name| servers[*name].is_null()).collect();
    for name in &unknown {
        terminal.note(&format!("no server is called `{}`", escaped(name)));
    }
    if !unknown.is_empty() {
        return Exit::NotFound;
    }
    let failed = |row: &Value| {
        matches!(text(row, "reason"), "failed" | "invalid_config" | "auth_required")
            || text(row, "state") == "connecting"
    };
    let of_names = names.iter().map(|name| &servers[name]);
    let of_all = servers.as_object().into_iter().flatten().map(|(_, row)| row);
    let any_failed = match names.is_empty() {
        true => of_all.into_iter().any(failed),
        false => of_names.into_iter().any(|row| row["state"] != "connected"),
    };
    if any_failed { Exit::Failed } else { Exit::Success }
}

/// The whole status, for people.
pub(super) fn show(status: &Value, terminal: &mut Terminal<'_>) {
    let totals = &status["totals"];
    let [servers, connected, connecting, failed, skipped] =
        ["servers", "connected", "connecting", "failed", "skipped"]
            .map(|name| number(&totals[name]));
    terminal.line(&format!(
        "servers {servers}: {connected} connected, {connecting} connecting, {failed} failed, {skipped} kept out"
    ));
    let sessions = status["sessions"].as_array().map_or(0, Vec::len);
    terminal.line(&format!(
        "entries {}, sessions {sessions}, processes {}, ended by {}",
        number(&totals["entries"]),
        number(&status["processes"]),
        escaped(text(status, "supervision"))
    ));
    for (name, row) in status["servers"].as_object().into_iter().flatten() {
        terminal.line("");
        server(name, row, terminal);
    }
}

fn server(server: &str, row: &Value, terminal: &mut Terminal<'_>) {
    let (word, tone) = state_label::of(row);
    let counts = &row["counts"];
    let [tools, prompts, resources] =
        ["tools", "prompts", "resources"].map(|list| counts[list].as_u64().unwrap_or(0));
    let name = terminal.toned(&escaped(server), Tone::Bold);
    let word = terminal.toned(&escaped(word), tone);
    let kind = match text(row, "transport") {
        "" => escaped(text(row, "origin")),
        transport => format!("{}, {}", escaped(transport), escaped(text(row, "origin"))),
    };
    terminal.line(&format!(
        "{name}  {word}  {kind}; {tools} tools, {prompts} prompts, {resources} resources"
    ));
    if let Some(message) = row["last_error"]["message"].as_str() {
        terminal.line(&format!("  {}", terminal.toned(&format::lines(message), Tone::Wrong)));
    }
    if let Some(hint) = row["hint"].as_str() {
        terminal.line(&format!("  {}", format::plain(&hints::here(hint, Some(server)))));
    }
    for row in row["entries"].as_array().into_iter().flatten() {
        entry(row, terminal);
    }
}

fn entry(row: &Value, terminal: &mut Terminal<'_>) {
    let uptime = row["uptime_ms"].as_u64().map(|time| format!(", up {} s", time / 1000));
    let pid = row["pid"].as_u64().map(|pid| format!(", pid {pid}"));
    let server = match (row["server_name"].as_str(), row["server_version"].as_str()) {
        (Some(name), Some(version)) => format!(", {} {}", escaped(name), escaped(version)),
        _ => String::new(),
    };
    terminal.line(&format!(
        "  entry {}: {}, sessions {}, calls {}, errors {}, in flight {}, lost {}{}{}{server}",
        number(&row["entry_index"]),
        escaped(text(row, "state")),
        number(&row["refs"]),
        number(&row["calls"]),
        number(&row["errors"]),
        number(&row["in_flight"]),
        number(&row["losses"]),
        pid.unwrap_or_default(),
        uptime.unwrap_or_default(),
    ));
    // Lines are escaped already.
    let tail = row["stderr"].as_array().into_iter().flatten();
    let tail: Vec<&str> = tail.filter_map(Value::as_str).collect();
    for line in tail.iter().skip(tail.len().saturating_sub(STDERR_LINES)) {
        let line = terminal.toned(&format::lines(line), Tone::Faint);
        terminal.line(&format!("    stderr  {line}"));
    }
}

/// Lines of each server's stderr that are shown.
const STDERR_LINES: usize = 3;
