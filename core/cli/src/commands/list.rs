//! `list`: the configured servers.

use serde_json::{Map, Value, json};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::opened::{Opened, with_pool};
use crate::shown::{self, Cell, cell, table, text, toned};
use crate::terminal::{Terminal, Tone};

pub(super) fn run(common: &Common, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let status = opened.pool.status();
        let servers = status["servers"].as_object().cloned().unwrap_or_default();
        if common.json {
            shown::json(terminal, &to_json(opened, &servers));
        } else if servers.is_empty() {
            terminal.line("no servers are configured");
        } else {
            let rows: Vec<Vec<Cell>> = servers.iter().map(|(name, row)| cells(name, row)).collect();
            table(terminal, &["SERVER", "TRANSPORT", "SCOPE", "STATE", "FROM"], &rows);
        }
        Ok(Exit::Success)
    })
}

fn cells(name: &str, row: &Value) -> Vec<Cell> {
    let (state, tone) = match row["admitted"].as_bool() {
        Some(true) => ("may run", Tone::Good),
        _ if row["error_code"].is_string() => (text(row, "reason"), Tone::Wrong),
        _ => (text(row, "reason"), Tone::Waiting),
    };
    vec![
        cell(name),
        cell(text(row, "transport")),
        cell(text(row, "origin")),
        toned(state, tone),
        toned(&shown::place(row), Tone::Faint),
    ]
}

fn to_json(opened: &Opened, servers: &Map<String, Value>) -> Value {
    const MEMBERS: [&str; 9] = [
        "transport",
        "origin",
        "source",
        "file",
        "line",
        "admitted",
        "reason",
        "approval_state",
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
