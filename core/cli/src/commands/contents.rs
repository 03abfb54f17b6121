//! `resources`, `read`, `prompts` and `complete`: what servers offer beside tools.

use clap::ArgMatches;
use serde_json::{Value, json};
use trunkline::{CallOptions, CallResult, Lease, List, ListedItem};
use trunkline_pool::json::plain;

use super::call::show_blocks;
use super::server_session::{acquired, failed, listed, tell_absent, to_json, what};
use super::values;
use crate::console::arguments::Common;
use crate::console::context::with_pool;
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format::{self, cell, named, table, toned};
use crate::console::terminal::{Terminal, Tone};
use crate::console::typed::addressed;

pub(super) fn resources(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    list(given, common, terminal, |session| {
        Ok(vec![("resources", session.resources()?), ("templates", session.resource_templates()?)])
    })
}

pub(super) fn prompts(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let names = ["server", "prompt", "arguments"];
    let (server, words) = addressed(given, common.typed.as_ref(), &names);
    let (Some(server), [prompt, words @ ..]) = (server, &words[..]) else {
        return list(given, common, terminal, |session| Ok(vec![("prompts", session.prompts()?)]));
    };
    // The protocol has texts alone there.
    let arguments = values::arguments(words, &Value::Null)?;
    let prompt = prompt.clone();
    asked(server, common, terminal, show_prompt, move |lease, options| async move {
        lease.get_prompt(&prompt, &arguments, &options).await
    })
}

pub(super) fn read(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (server, words) = addressed(given, common.typed.as_ref(), &["server", "uri"]);
    let [uri] = <[String; 1]>::try_from(words)
        .map_err(|_| Failure::usage("the command names no address of a resource"))?;
    let server = server.unwrap_or_default();
    asked(server, common, terminal, show_resource, move |lease, options| async move {
        lease.read_resource(&uri, &options).await
    })
}

pub(super) fn complete(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let names = ["server", "of", "argument", "arguments"];
    let (server, words) = addressed(given, common.typed.as_ref(), &names);
    let [of, argument, context @ ..] = &words[..] else {
        return Err(Failure::usage(
            "the command names no prompt or resource, or no argument of it",
        ));
    };
    let params = completion(of, argument, context)?;
    let server = server.unwrap_or_default();
    asked(server, common, terminal, show_completion, move |lease, options| async move {
        lease.complete(&params, &options).await
    })
}

/// The params of the request. An address stands for a resource, anything else for a prompt.
fn completion(of: &str, argument: &str, context: &[String]) -> Result<String, Failure> {
    let (name, begun) = argument.split_once('=').unwrap_or((argument, ""));
    let of = match of.contains("://") {
        true => json!({ "type": "ref/resource", "uri": of }),
        false => json!({ "type": "ref/prompt", "name": of }),
    };
    let mut params = json!({ "ref": of, "argument": { "name": name, "value": begun } });
    if !context.is_empty() {
        let given = values::arguments(context, &Value::Null)?;
        params["context"] = json!({ "arguments": plain(&given).unwrap_or_default() });
    }
    Ok(params.to_string())
}

/// Lists of all servers, or of one.
fn list(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
    lists: impl FnOnce(&trunkline::Session) -> trunkline::Result<Vec<(&'static str, List)>>,
) -> Result<Exit, Failure> {
    let (server, _) = addressed(given, common.typed.as_ref(), &["server"]);
    with_pool(common, terminal, |opened, terminal| {
        let (session, absent, late) = listed(opened, server.as_deref())?;
        let lists = lists(&session)?;
        if common.json {
            let mut whole = json!({ "v": 1, "absent": absent });
            for (name, list) in &lists {
                whole[*name] = list.iter().map(to_json).collect();
            }
            format::json(terminal, &whole);
        } else {
            let row = |item: &ListedItem| {
                vec![
                    cell(&item.name),
                    named(&item.server),
                    toned(&what(&item.definition), Tone::Faint),
                ]
            };
            let rows: Vec<_> = lists.iter().flat_map(|(_, list)| list.iter().map(row)).collect();
            table(terminal, &["NAME", "SERVER", "WHAT IT IS"], &rows);
            tell_absent(&absent, terminal);
        }
        if let Some(late) = late {
            return Err(late.into());
        }
        Ok(if failed(&absent) { Exit::Failed } else { Exit::Success })
    })
}

/// One request to one server, and its result.
fn asked<F: Future<Output = trunkline::Result<CallResult>> + Send + 'static>(
    server: String,
    common: &Common,
    terminal: &mut Terminal<'_>,
    show: fn(&Value, &mut Terminal<'_>),
    ask: impl FnOnce(Lease, CallOptions) -> F,
) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let lease = acquired(opened, server)?;
        let mut options = CallOptions::default();
        options.timeout = opened.deadline.left();
        options.idle_timeout = options.timeout;
        let result = opened.wait(ask(lease, options))??;
        match common.json {
            true => terminal.line(&format::visible_json(result.json())),
            false => show(&plain(result.json()).unwrap_or_default(), terminal),
        }
        Ok(Exit::Success)
    })
}

fn show_prompt(result: &Value, terminal: &mut Terminal<'_>) {
    for message in result["messages"].as_array().into_iter().flatten() {
        terminal.line(&format!("{}:", format::plain(format::text(message, "role"))));
        show_blocks(std::slice::from_ref(&message["content"]), terminal);
    }
}

fn show_resource(result: &Value, terminal: &mut Terminal<'_>) {
    let contents = result["contents"].as_array().into_iter().flatten();
    // As a block of a result has it, which a tool may send as well.
    let blocks: Vec<Value> = contents
        .map(|content| match content["text"].is_string() {
            true => json!({ "type": "text", "text": content["text"] }),
            false => json!({ "type": "resource", "resource": content }),
        })
        .collect();
    show_blocks(&blocks, terminal);
}

fn show_completion(result: &Value, terminal: &mut Terminal<'_>) {
    let completion = &result["completion"];
    for value in completion["values"].as_array().into_iter().flatten() {
        terminal.line(&format::plain(value.as_str().unwrap_or_default()));
    }
    if completion["hasMore"] == true {
        terminal.note("the server has more of them");
    }
}
