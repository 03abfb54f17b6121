//! `accept`: a tool whose definition changed after its server was approved.

use clap::ArgMatches;
use serde_json::{Value, json};

use super::server_session::begun;
use crate::console::arguments::{Common, text};
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::shell_words::quoted;
use crate::console::terminal::Terminal;

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let server = text(given, "server").unwrap_or_default();
    with_pool(common, terminal, |opened, terminal| {
        // What it lists now is what a person decides about.
        begun(opened, server)?;
        let kept_back = kept_back(&opened.pool.status(), server);
        let Some(tool) = text(given, "tool") else {
            show_all(server, &kept_back, common, terminal);
            return Ok(Exit::Success);
        };
        let found = kept_back.iter().find(|(name, _)| name == tool);
        let Some((_, difference)) = found else {
            let message = format!("`{server}` keeps no tool `{tool}` back");
            let hint = format!("`trunkline accept {}` shows those that it does", quoted(server));
            return Err(Failure::new(Exit::NotFound, message).with_hint(&hint));
        };
        let digest = match text(given, "digest") {
            Some(digest) => digest.to_owned(),
            None => confirmed(opened, (tool, difference), common, terminal)?,
        };
        let (pool, server, tool) = (opened.pool.clone(), server.to_owned(), tool.to_owned());
        let report = json!({ "v": 1, "server": server, "tool": tool, "accepted": digest });
        opened.wait(async move { pool.accept_tool(&server, &tool, &digest).await })??;
        match common.json {
            true => format::json(terminal, &report),
            false => terminal.line("accepted"),
        }
        Ok(Exit::Success)
    })
}

/// The tools of a server that are kept back, each with the difference, by what a status says.
pub(super) fn kept_back(status: &Value, server: &str) -> Vec<(String, Value)> {
    let rows = status["servers"][server]["quarantined"].as_array().into_iter().flatten();
    rows.map(|row| (format::text(row, "tool").to_owned(), row["difference"].clone())).collect()
}

fn show_all(
    server: &str,
    kept_back: &[(String, Value)],
    common: &Common,
    terminal: &mut Terminal<'_>,
) {
    if common.json {
        let row = |(tool, difference): &(String, Value)| json!({ "tool": tool, "difference": difference });
        let rows: Vec<Value> = kept_back.iter().map(row).collect();
        return format::json(terminal, &json!({ "v": 1, "server": server, "quarantined": rows }));
    }
    if kept_back.is_empty() {
        terminal.line("no tool is kept back");
    }
    for (tool, difference) in kept_back {
        described(tool, difference).iter().for_each(|line| terminal.line(line));
    }
}

/// The digest of what a person was shown and said yes to.
fn confirmed(
    opened: &Opened,
    (tool, difference): (&str, &Value),
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<String, Failure> {
    if terminal.asks || !common.json {
        described(tool, difference).iter().for_each(|line| terminal.note(line));
    }
    let digest = format::text(difference, "to").to_owned();
    if !terminal.asks {
        let failure = Failure::usage("nothing was decided: there is nobody to ask");
        return Err(failure.with_hint(&format!("--digest {digest} accepts what is shown")));
    }
    match opened.interrupt.asking(|| terminal.confirms("Accept this?")) {
        true => Ok(digest),
        false => Err(Failure::unconfirmed()),
    }
}

/// What is different, for a person, and the digest that accepts it.
fn described(tool: &str, difference: &Value) -> Vec<String> {
    let mut lines = vec![format!("{} changed", format::plain(tool))];
    let fields = difference["fields"].as_object();
    for (field, change) in fields.into_iter().flatten() {
        lines.push(format!("  {}", format::plain(field)));
        for (sign, side) in [('-', "from"), ('+', "to")] {
            let text = change[side].as_str().into_iter().flat_map(str::lines);
            lines.extend(text.map(|line| format!("    {sign} {}", format::plain(line))));
        }
    }
    if fields.is_none_or(|fields| fields.is_empty()) {
        lines.push("  an earlier run approved it: what it was then is not kept".to_owned());
    }
    lines.push(format!("  digest  {}", format::text(difference, "to")));
    lines
}
