//! `tools`: what servers offer.

use clap::ArgMatches;
use serde_json::{Value, json};
use trunkline::{Error, ErrorCode, ListedItem, Session, ToolFormat};
use trunkline_pool::json::plain;

use super::accept::kept_back;
use super::server_session::{begun, failed, listed, tell_absent, to_json, what};
use super::signature::{Parameter, example, parameters, signature};
use crate::console::arguments::{Common, text};
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format::{self, cell, table, toned};
use crate::console::shell_words::quoted;
use crate::console::terminal::{Terminal, Tone};
use crate::console::typed::{addressed, shown};

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (server, rest) = addressed(given, common.typed.as_ref(), &["server", "tool"]);
    if let (Some(server), [tool, ..]) = (&server, &rest[..]) {
        return one(server, tool, common, terminal);
    }
    with_pool(common, terminal, |opened, terminal| {
        let (session, absent, late) = listed(opened, server.as_deref())?;
        let tools = session.tools()?;
        if let Some(shape) = text(given, "shape") {
            let tools = session.tools_for(ToolFormat::from_word(shape)?)?;
            match common.json {
                true => {
                    let tools = tools.json();
                    let whole =
                        format!(r#"{{"v":1,"shape":"{shape}","tools":{tools},"absent":{absent}}}"#);
                    terminal.line(&format::visible_json(&whole));
                }
                false => {
                    terminal.line(&format::visible_json(tools.json()));
                    tell_absent(&absent, terminal);
                }
            }
        } else if common.json {
            let tools: Vec<Value> = tools.iter().map(to_json).collect();
            format::json(terminal, &json!({ "v": 1, "tools": tools, "absent": absent }));
        } else {
            let row = |tool: &ListedItem| {
                vec![cell(&tool.name), toned(&what(&tool.definition), Tone::Faint)]
            };
            table(terminal, &["TOOL", "WHAT IT DOES"], &tools.iter().map(row).collect::<Vec<_>>());
            tell_absent(&absent, terminal);
        }
        // What is there was written first: one slow server does not hide the others.
        if let Some(late) = late {
            return Err(late.into());
        }
        Ok(if failed(&absent) { Exit::Failed } else { Exit::Success })
    })
}

/// What one tool of a server takes.
fn one(
    server: &str,
    tool: &str,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let session = begun(opened, server)?;
        let tools = session.tools()?;
        let found = tools.iter().find(|listed| [&*listed.own_name, &*listed.name].contains(&tool));
        let typed = shown(common.typed.as_ref(), server);
        let Some(listed) = found else {
            return Err(no_tool(opened, &session, (server, &typed), tool));
        };
        let definition = plain(&listed.definition).unwrap_or_default();
        let parameters = parameters(&definition["inputSchema"]);
        let signature = signature(&listed.own_name, &parameters);
        let example = example(&typed, &listed.own_name, &parameters);
        if common.json {
            let whole = json!({ "v": 1, "tool": to_json(listed), "signature": signature, "example": example });
            format::json(terminal, &whole);
            return Ok(Exit::Success);
        }
        terminal.line(&terminal.toned(&format::plain(&signature), Tone::Bold));
        for line in format::text(&definition, "description").trim().lines() {
            terminal.line(&format!("  {}", format::plain(line)));
        }
        if !parameters.is_empty() {
            terminal.line("");
        }
        for Parameter { name, kind, is_required, description, .. } in &parameters {
            let needed = if *is_required { ", required" } else { "" };
            let head = format!("  {}: {}{needed}", format::plain(name), format::plain(kind));
            terminal.line(&head);
            for line in description.trim().lines() {
                terminal
                    .line(&format!("    {}", terminal.toned(&format::plain(line), Tone::Faint)));
            }
        }
        terminal.line("");
        terminal.line(&format!("  {}", format::plain(&example)));
        Ok(Exit::Success)
    })
}

/// Why a server, which is typed so, has no such tool.
fn no_tool(
    opened: &Opened,
    session: &Session,
    (server, typed): (&str, &str),
    tool: &str,
) -> Failure {
    let kept_back = kept_back(&opened.pool.status(), server);
    if kept_back.iter().any(|(name, _)| name == tool) {
        let message = format!("`{tool}` of `{server}` changed, and was not accepted");
        let hint = format!("`trunkline accept {typed} {}` shows what changed", quoted(tool));
        return Failure::new(Exit::NotFound, message).with_hint(&hint);
    }
    let hint = format!("`trunkline tools {typed}` lists those that it has");
    let error = Error::new(ErrorCode::ToolNotFound, format!("`{server}` lists no tool `{tool}`"));
    let tools = session.tools().map(|tools| tools.iter().map(|one| one.own_name.clone()).collect());
    let names: Vec<std::sync::Arc<str>> = tools.unwrap_or_default();
    error.with_hint(hint).with_nearest(tool, names.iter().map(|name| &**name)).into()
}
