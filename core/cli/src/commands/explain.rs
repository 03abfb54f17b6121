//! `explain`: why something is there or not.

use clap::ArgMatches;
use serde_json::Value;
use trunkline::ServerSelection;
use trunkline_pool::text::escaped;

use crate::console::arguments::{Common, text};
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::hints;
use crate::console::terminal::{Terminal, Tone};

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let name = text(given, "name").unwrap_or_default();
    with_pool(common, terminal, |opened, terminal| {
        let mut explained = opened.pool.explain(name)?;
        if !given.get_flag("no-start") && is_open(&explained) {
            explained = looked_at(opened, name, &explained)?;
        }
        if common.json {
            format::json(terminal, &explained);
        } else {
            show(&explained, terminal);
        }
        Ok(match (explained["available"].as_bool(), format::text(&explained, "reason")) {
            (Some(true), _) => Exit::Success,
            (_, "not_configured" | "unknown") => Exit::NotFound,
            _ => Exit::Failed,
        })
    })
}

/// Whether nothing speaks against it but that nobody asked for it.
fn is_open(explained: &Value) -> bool {
    explained["reason"] == "unused" || explained["reason"] == "asleep"
}

/// The same with its server started.
fn looked_at(opened: &Opened, name: &str, explained: &Value) -> Result<Value, Failure> {
    let server = match explained["server"].as_str() {
        Some(server) => server.to_owned(),
        None => name.to_owned(),
    };
    let session = opened.session(ServerSelection::Names(vec![server.clone()]))?;
    let (waiting, timeout) = (session.clone(), opened.deadline.left());
    // Why it cannot be had is what the explanation says.
    let _ = opened.wait(async move { waiting.ready(Some(&server), timeout).await })?;
    Ok(session.explain(name)?)
}

fn show(explained: &Value, terminal: &mut Terminal<'_>) {
    let tone = if explained["available"] == true { Tone::Good } else { Tone::Wrong };
    let message = format::lines(format::text(explained, "message"));
    terminal.line(&terminal.toned(&message, tone));
    let from = &explained["from"];
    if from.is_object() {
        let list = from["list"].as_str().map(|list| format!(", list `{list}`"));
        let place = format!("{}{}", format::place(from), list.unwrap_or_default());
        terminal.line(&format!("  from    {}", escaped(&place)));
    }
    if explained["hides"].is_object() {
        terminal.line(&format!("  hides   {}", escaped(&format::place(&explained["hides"]))));
    }
    for entry in explained["waiting"].as_array().into_iter().flatten() {
        let (place, reason) = (format::place(entry), format::text(entry, "reason"));
        terminal.line(&format!("  waiting {}, {reason}: it would take its place", escaped(&place)));
    }
    if let Some(remedy) = explained["remedy"].as_str() {
        let remedy = hints::here(remedy, explained["server"].as_str());
        terminal.line(&format!("  remedy  {}", format::plain(&remedy)));
    }
}
