//! `tools`: what servers offer.

use clap::ArgMatches;
use serde_json::{Value, json};
use trunkline::{AcquireOptions, Listed, Session, Shape, Wanted};

use super::text;
use crate::arguments::Common;
use crate::failure::{Exit, Failure};
use crate::opened::{Opened, with_pool};
use crate::shown::{self, cell, table, toned};
use crate::terminal::{Terminal, Tone};

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let (session, absent) = begun(opened, text(given, "server"), common)?;
        let tools = session.tools()?;
        if let Some(shape) = text(given, "shape") {
            let shape = Shape::from_word(shape)?;
            terminal.line(&shown::visible_json(session.tools_for(shape)?.json()));
            tell_absent(&absent, terminal);
        } else if common.json {
            let tools: Vec<Value> = tools.iter().map(to_json).collect();
            shown::json(terminal, &json!({ "v": 1, "tools": tools, "absent": absent }));
        } else {
            let row = |tool: &Listed| {
                vec![cell(&tool.name), toned(&description(&tool.definition), Tone::Faint)]
            };
            table(terminal, &["TOOL", "WHAT IT DOES"], &tools.iter().map(row).collect::<Vec<_>>());
            tell_absent(&absent, terminal);
        }
        let failed = absent
            .as_object()
            .is_some_and(|absent| absent.values().any(|standing| standing["state"] == "failed"));
        Ok(if failed { Exit::Failed } else { Exit::Success })
    })
}

/// A session whose servers have started or failed, and those that are not there. One server that is named has to be there.
pub(super) fn begun(
    opened: &Opened,
    server: Option<&str>,
    common: &Common,
) -> Result<(Session, Value), Failure> {
    let Some(server) = server else {
        let session = opened.session(Wanted::All)?;
        let (waiting, timeout) = (session.clone(), common.timeout);
        opened.wait(async move { waiting.ready(None, timeout).await })??;
        return Ok((session, absent(opened)?));
    };
    let session = opened.session(Wanted::Names(vec![server.to_owned()]))?;
    let (waiting, server) = (session.clone(), server.to_owned());
    let mut options = AcquireOptions::default();
    options.timeout = common.timeout;
    // The session holds it from then on by what it wants.
    opened.wait(async move {
        let lease = waiting.acquire(&server, None, &options).await?;
        waiting.ready(Some(lease.server()), options.timeout).await
    })??;
    Ok((session, json!({})))
}

/// How the servers stand that are not ready.
fn absent(opened: &Opened) -> Result<Value, Failure> {
    let pool = opened.pool.clone();
    let settled = opened.wait(async move { pool.settled(None).await })??;
    let servers = settled["servers"].as_object().cloned().unwrap_or_default();
    Ok(servers.into_iter().filter(|(_, standing)| standing["state"] != "ready").collect())
}

fn tell_absent(absent: &Value, terminal: &mut Terminal<'_>) {
    for (server, standing) in absent.as_object().into_iter().flatten() {
        let server = trunkline_pool::text::escaped(server);
        let why = match standing["error"]["message"].as_str() {
            Some(message) => message,
            None => standing["reason"].as_str().unwrap_or("not there"),
        };
        terminal.note(&format!("{server}: {}", shown::lines(why)));
    }
}

/// A tool as [`Listed::to_json`] has it, as a value.
fn to_json(tool: &Listed) -> Value {
    serde_json::from_str(&tool.to_json()).unwrap_or_default()
}

/// The first line of what a tool says of itself.
fn description(definition: &str) -> String {
    let definition: Value = serde_json::from_str(definition).unwrap_or_default();
    let text = definition["description"].as_str().unwrap_or_default().trim_start();
    text.lines().next().unwrap_or_default().to_owned()
}
