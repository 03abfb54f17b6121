//! `list`: the configured servers.

use serde_json::{Map, Value, json};

use crate::console::arguments::Common;
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format::{self, Cell, cell, named, table, text, toned};
use crate::console::terminal::{Terminal, Tone};

pub(super) fn run(common: &Common, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let status = opened.pool.status();
        let servers = status["servers"].as_object().cloned().unwrap_or_default();
        if common.json {
            format::json(terminal, &to_json(opened, &servers));
        } else if servers.is_empty() {
            terminal.line("no servers are configured");
        } else {
            let rows: Vec<Vec<Cell>> =
                servers.iter().flat_map(|(name, row)| cells(name, row)).collect();
            table(terminal, &["SERVER", "TRANSPORT", "SCOPE", "STATE", "FROM"], &rows);
        }
        Ok(Exit::Success)
    })
}

/// The row of a server, and one for each entry that would take its place.
fn cells(name: &str, row: &Value) -> Vec<Vec<Cell>> {
    let waiting = row["waiting"].as_array().into_iter().flatten().map(|entry| {
        let scope = text(entry, "source").split(':').next().unwrap_or_default();
        vec![
            named(name),
            cell(""),
            cell(scope),
            toned(text(entry, "reason"), Tone::Waiting),
            toned(&format!("{}, takes the place of the above", format::place(entry)), Tone::Faint),
        ]
    });
    let hides = match row["hides"].is_object() {
        true => {
            format!("{}, takes the place of {}", format::place(row), format::place(&row["hides"]))
        }
        false => format::place(row),
    };
    std::iter::once(in_force(name, row, &hides)).chain(waiting).collect()
}

fn in_force(name: &str, row: &Value, place: &str) -> Vec<Cell> {
    let (state, tone) = match row["admitted"].as_bool() {
        Some(true) => ("may run", Tone::Good),
        _ if row["error_code"].is_string() => (text(row, "reason"), Tone::Wrong),
        _ => (text(row, "reason"), Tone::Waiting),
    };
    vec![
        named(name),
        cell(text(row, "transport")),
        cell(text(row, "origin")),
        toned(state, tone),
        toned(place, Tone::Faint),
    ]
}

fn to_json(opened: &Opened, servers: &Map<String, Value>) -> Value {
    const MEMBERS: [&str; 11] = [
        "transport",
        "origin",
        "source",
        "file",
        "line",
        "admitted",
        "reason",
        "approval_state",
        "waiting",
        "hides",
        "last_error",
    ];
    let row = |row: &Value| -> Map<String, Value> {
        MEMBERS.iter().map(|member| ((*member).to_owned(), row[*member].clone())).collect()
    };
    let servers: Map<String, Value> =
        servers.iter().map(|(name, server)| (name.clone(), row(server).into())).collect();
    let files: Vec<_> = opened.files.iter().map(|file| file.display().to_string()).collect();
    json!({ "v": 1, "files": files, "servers": servers, "errors": opened.unread_to_json() })
}
