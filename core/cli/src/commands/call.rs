//! `call`: one call of one tool.

use std::sync::mpsc::channel;

use clap::ArgMatches;
use serde_json::Value;
use trunkline::{CallOptions, CallResult, Lease, Progress, ProgressReceiver};
use trunkline_pool::json::plain;
use trunkline_pool::text::escaped;

use super::server_session::acquired;
use super::values;
use crate::console::arguments::Common;
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;
use crate::console::typed::{addressed, shown};

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (server, mut words) =
        addressed(given, common.typed.as_ref(), &["server", "tool", "arguments"]);
    let server = server.unwrap_or_default();
    if words.is_empty() {
        let hint =
            format!("`trunkline tools {}` lists them", shown(common.typed.as_ref(), &server));
        return Err(Failure::usage("the call names no tool").with_hint(&hint));
    }
    let tool = words.remove(0);
    let read = match &words[..] {
        [dash] if dash == "-" => {
            let read = terminal.read_all().map_err(|error| {
                Failure::usage(format!("the arguments cannot be read: {error}"))
            })?;
            Some(values::whole(&read)?)
        }
        _ => None,
    };
    with_pool(common, terminal, |opened, terminal| {
        let lease = acquired(opened, server)?;
        let arguments = match read {
            Some(read) => read,
            None => values::arguments(&words, &schema(&lease, &tool)?)?,
        };
        let shows = !given.get_flag("quiet");
        let result = called(opened, lease, (tool, arguments), (shows, common), terminal)?;
        if common.json {
            terminal.line(&format::visible_json(result.json()));
        } else {
            show(&result, terminal);
        }
        Ok(if result.is_error() { Exit::Failed } else { Exit::Success })
    })
}

/// What the tool says that it takes.
fn schema(lease: &Lease, tool: &str) -> Result<Value, Failure> {
    let tools = lease.tools()?;
    let found = tools.iter().find(|listed| &*listed.own_name == tool);
    let definition = match found {
        Some(listed) => plain(&listed.definition).unwrap_or_default(),
        // The call says why there is none.
        None => Value::Null,
    };
    Ok(definition["inputSchema"].clone())
}

fn called(
    opened: &Opened,
    lease: Lease,
    (tool, arguments): (String, String),
    (shows, common): (bool, &Common),
    terminal: &mut Terminal<'_>,
) -> Result<CallResult, Failure> {
    let (send, receive) = channel();
    let mut options = CallOptions::default();
    options.timeout = opened.deadline.left();
    // The one time is that of the whole call, also where it tells no progress.
    options.idle_timeout = options.timeout;
    if shows {
        let receiver = move |event: &str| drop(send.send(event.to_owned()));
        options.progress = Progress::To(ProgressReceiver::new(receiver));
    }
    let call = async move { lease.call_tool(&tool, &arguments, &options).await };
    let called = opened.wait_and(call, || {
        while let Ok(event) = receive.try_recv() {
            if common.json {
                terminal.note(&format::visible_json(&event));
            } else {
                terminal.note(&step(&event));
            }
        }
    })?;
    Ok(called?)
}

/// One word of progress.
fn step(event: &str) -> String {
    let event = plain(event).unwrap_or_default();
    let of = event["total"].as_f64().map(|total| format!("/{total}")).unwrap_or_default();
    let done = event["progress"].as_f64().unwrap_or_default();
    let message = event["message"].as_str().map(|text| format!(" {}", escaped(text)));
    format!("progress {done}{of}{}", message.unwrap_or_default())
}

/// The content, as far as it is text; the rest by what it is.
fn show(result: &CallResult, terminal: &mut Terminal<'_>) {
    let result = plain(result.json()).unwrap_or_default();
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    show_blocks(&blocks, terminal);
    if blocks.is_empty() && !result["structuredContent"].is_null() {
        format::json(terminal, &result["structuredContent"]);
    }
}

/// Blocks of content: texts as they are, anything else by its kind.
pub(super) fn show_blocks(blocks: &[Value], terminal: &mut Terminal<'_>) {
    for block in blocks {
        match block["text"].as_str().filter(|_| block["type"] == "text") {
            // A program gets what the server sent.
            Some(text) if !terminal.is_read => terminal.line(text),
            Some(text) => terminal.line(&format::lines(text)),
            None => terminal.line(&format!("[{}]", escaped(&what(block)))),
        }
    }
}

fn what(block: &Value) -> String {
    let kind = block["type"].as_str().unwrap_or("content");
    let name = |value: &Value| value.as_str().map(|text| format!(" {text}")).unwrap_or_default();
    let of_resource = &block["resource"];
    let parts = [&block["mimeType"], &block["uri"], &of_resource["mimeType"], &of_resource["uri"]];
    format!("{kind}{}", parts.map(name).concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What serde_json keeps for itself is a member like any other in what a server says.
    #[test]
    fn no_member_hides_the_progress_beside_it() {
        let event = r#"{"progress":1,"total":2,"message":{"$serde_json::private::RawValue":1}}"#;
        assert_eq!(step(event), "progress 1/2");
    }
}
