//! The tools, as one table; the quick ones come first.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::asks::{ask, client, last_answer, need};
use crate::changes::{change_list, fail_lists, log, storm, touch_resource};
use crate::family::{Session, spawn_holder};
use crate::listens::{end_listens, listens};
use crate::lists::Kind;
use crate::request::Call;
use crate::scan::member;
use crate::serve::{Turn, later, on_thread};
use crate::slow::{Waited, lock};
use crate::wire::quote;

/// One tool: how it is listed and what it does.
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    /// Its input schema as JSON text.
    pub schema: &'static str,
    /// Members that follow the schema, as JSON text.
    pub annotations: &'static str,
    run: fn(&mut Turn, &Call),
}

/// Runs the tool that the call names.
pub fn run(turn: &mut Turn, call: &Call) {
    let name = call.tool.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\""));
    let name = name.unwrap_or_default();
    match TOOLS.iter().find(|tool| tool.name.as_bytes() == name) {
        Some(tool) => (tool.run)(turn, call),
        None => run_generated(turn, call, name),
    }
}

/// A generated or added tool answers with its own name; asked for the `pid`, with that of the
/// server before it. One whose schema allows nothing but its properties answers with the arguments
/// that it was given, and refuses others.
fn run_generated(turn: &mut Turn, call: &Call, name: &[u8]) {
    let name = String::from_utf8_lossy(name).into_owned();
    if let Some(schema) = lock(&turn.server.lists).closed_schema(&name) {
        return answer_with_arguments(turn, call, &schema);
    }
    if lock(&turn.server.lists).has(Kind::Tools, &name) {
        if call.built().flag("pid") {
            let told: String = serde_json::from_slice(call.tool).unwrap_or_default();
            return turn.batch.text(call.id, &format!("{} {told}", std::process::id()));
        }
        turn.batch.quoted_text(call.id, call.tool);
    } else {
        turn.batch.error(call.id, -32602, &format!("unknown tool {name}"), None);
    }
}

fn answer_with_arguments(turn: &mut Turn, call: &Call, schema: &serde_json::Value) {
    let text = String::from_utf8_lossy(call.arguments).into_owned();
    let given: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).unwrap_or_default();
    match given.keys().find(|name| schema["properties"].get(name.as_str()).is_none()) {
        Some(unknown) => {
            turn.batch.tool_error(call.id, &format!("no argument is called {unknown}"))
        }
        None => turn.batch.text(call.id, &text),
    }
}

fn echo(turn: &mut Turn, call: &Call) {
    match member(call.arguments, "message") {
        Some(text) if text.starts_with(b"\"") => turn.batch.quoted_text(call.id, text),
        _ => turn.batch.error(call.id, -32602, "message must be a string", None),
    }
}

fn big(turn: &mut Turn, call: &Call) {
    let bytes = call.built().number("bytes").unwrap_or(0);
    let tail = turn.prepared.entry(("big", bytes)).or_insert_with(|| {
        let text = "x".repeat(bytes as usize);
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        format!(",\"result\":{result}}}\n").into_bytes()
    });
    turn.batch.prepared(call.id, tail);
}

fn structured(turn: &mut Turn, call: &Call) {
    let bytes = call.built().number("bytes").unwrap_or(0);
    let tail = turn.prepared.entry(("structured", bytes)).or_insert_with(|| {
        let row = r#"{"id":9007199254740993,"name":"row","tags":["a","b"],"ratio":0.25,"ok":true}"#;
        let rows = vec![row; (bytes as usize / row.len()).max(1)].join(",");
        let result = format!(
            r#"{{"content":[{{"type":"text","text":"rows"}}],"structuredContent":{{"rows":[{rows}]}}}}"#
        );
        format!(",\"result\":{result}}}\n").into_bytes()
    });
    turn.batch.prepared(call.id, tail);
}

fn add(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    match (arguments.signed("a"), arguments.signed("b")) {
        (Some(a), Some(b)) => {
            turn.batch.text(call.id, &(i128::from(a) + i128::from(b)).to_string())
        }
        _ => turn.batch.error(call.id, -32602, "a and b must be whole numbers", None),
    }
}

fn sleep(turn: &mut Turn, call: &Call) {
    let time = Duration::from_millis(call.built().number("ms").unwrap_or(0));
    let id = call.id.to_vec();
    later(turn.server, call.id, time, move |turn| turn.batch.text(&id, "slept"));
}

fn fail(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    turn.batch.tool_error(call.id, arguments.text("text").unwrap_or("the tool failed"));
}

fn error(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let code = arguments.signed("code").unwrap_or(-32000);
    let message = arguments.text("message").unwrap_or("an error as asked");
    let more = arguments.value("data").map(ToString::to_string);
    turn.batch.error(call.id, code, message, more.as_deref());
}

fn crash(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    if arguments.flag("partial") {
        turn.batch.line(b"{\"jsonrpc\":\"2.0\",\"id\":");
    }
    turn.batch.flush();
    std::process::exit(arguments.signed("code").unwrap_or(1) as i32);
}

fn pid(turn: &mut Turn, call: &Call) {
    turn.batch.text(call.id, &std::process::id().to_string());
}

fn progress(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let steps = arguments.number("steps").unwrap_or(3);
    let interval = Duration::from_millis(arguments.number("interval_ms").unwrap_or(0));
    let Some(token) = call.token().map(|token| String::from_utf8_lossy(token).into_owned()) else {
        return turn.batch.text(call.id, "no progress token");
    };
    let canary = arguments.text("canary").map(quote);
    let message = canary.clone();
    let step_params = move |step: u64| {
        let message = message.clone().unwrap_or_else(|| format!(r#""step {step}""#));
        format!(
            r#"{{"progressToken":{token},"progress":{step},"total":{steps},"message":{message}}}"#
        )
    };
    let done = canary.unwrap_or_else(|| r#""done""#.into());
    let (server, id) = (turn.server, call.id.to_vec());
    if interval.is_zero() {
        (1..=steps).for_each(|step| turn.notify("notifications/progress", &step_params(step)));
        return turn.batch.quoted_text(call.id, done.as_bytes());
    }
    on_thread(server, call.id, move |turn, cancel| {
        for step in 1..=steps {
            if cancel.wait(interval) == Waited::Cancelled {
                return;
            }
            turn.notify("notifications/progress", &step_params(step));
            turn.batch.flush();
        }
        turn.batch.quoted_text(&id, done.as_bytes());
    });
}

fn env(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    match std::env::var(arguments.text("name").unwrap_or_default()) {
        Ok(value) => turn.batch.text(call.id, &value),
        Err(_) => turn.batch.tool_error(call.id, "not set"),
    }
}

fn cwd(turn: &mut Turn, call: &Call) {
    let folder = std::env::current_dir().unwrap_or_default();
    turn.batch.text(call.id, &folder.to_string_lossy());
}

fn args(turn: &mut Turn, call: &Call) {
    let args: Vec<String> = std::env::args().skip(1).collect();
    turn.batch.text(call.id, &serde_json::Value::from(args).to_string());
}

fn meta(turn: &mut Turn, call: &Call) {
    turn.batch.text(call.id, &String::from_utf8_lossy(call.meta.unwrap_or(b"none")));
}

fn seen(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let method = arguments.text("method").unwrap_or_default();
    let count = lock(&turn.server.seen).get(method).copied().unwrap_or(0);
    match arguments.number("at_most") {
        Some(most) if count <= most => turn.batch.text(call.id, "few"),
        _ => turn.batch.text(call.id, &count.to_string()),
    }
}

fn cancelled(turn: &mut Turn, call: &Call) {
    let count = lock(&turn.server.seen).get("notifications/cancelled").copied().unwrap_or(0);
    turn.batch.text(call.id, &count.to_string());
}

fn count(turn: &mut Turn, call: &Call) {
    let count = turn.server.calls_seen.load(Ordering::Relaxed);
    turn.batch.text(call.id, &count.to_string());
}

fn under_way(turn: &mut Turn, call: &Call) {
    let count = turn.server.slow.count();
    turn.batch.text(call.id, &count.to_string());
}

fn stderr(turn: &mut Turn, call: &Call) {
    eprintln!("{}", call.built().text("text").unwrap_or_default());
    turn.batch.text(call.id, "written");
}

fn spawn_child(turn: &mut Turn, call: &Call) {
    let session = if call.built().flag("setsid") { Session::Own } else { Session::Same };
    match spawn_holder(&turn.server.flags, session) {
        Some(pid) => turn.batch.text(call.id, &pid.to_string()),
        None => turn.batch.tool_error(call.id, "no child could be started"),
    }
}

fn verbatim(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    match (arguments.text("result"), arguments.value("result")) {
        (Some(text), _) => turn.batch.result(call.id, text.as_bytes()),
        (None, Some(value)) => turn.batch.result(call.id, value.to_string().as_bytes()),
        (None, None) => turn.batch.result(call.id, b"{}"),
    }
}

fn write(turn: &mut Turn, call: &Call) {
    turn.batch.line(call.built().text("line").unwrap_or_default().as_bytes());
    turn.batch.text(call.id, "written");
}

fn reply_twice(turn: &mut Turn, call: &Call) {
    turn.batch.text(call.id, "first");
    turn.batch.text(call.id, "second");
}

fn stop_reading(turn: &mut Turn, call: &Call) {
    turn.batch.text(call.id, "not reading");
    turn.batch.flush();
    let arguments = call.built();
    std::thread::sleep(Duration::from_millis(arguments.number("ms").unwrap_or(0)));
    if let Some(code) = arguments.signed("exit") {
        std::process::exit(code as i32);
    }
}

fn block(turn: &mut Turn, call: &Call) {
    std::thread::sleep(Duration::from_millis(call.built().number("ms").unwrap_or(0)));
    turn.batch.text(call.id, "unblocked");
}

const fn tool(
    name: &'static str,
    description: &'static str,
    schema: &'static str,
    run: fn(&mut Turn, &Call),
) -> Tool {
    Tool { name, description, schema, annotations: "", run }
}

/// Any object.
const ANY: &str = r#"{"type":"object"}"#;

/// Every fixed tool. The order is that of the list, and the first two are the quick ones.
pub const TOOLS: &[Tool] = &[
    Tool {
        annotations: r#","annotations":{"readOnlyHint":true}"#,
        ..tool(
            "echo",
            "Answers with message.",
            r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#,
            echo,
        )
    },
    tool("big", "Answers with a text of bytes bytes.", ANY, big),
    tool("structured", "Answers with structured content of about bytes bytes.", ANY, structured),
    Tool {
        annotations: r#","annotations":{"idempotentHint":true}"#,
        ..tool(
            "add",
            "Adds a and b.",
            r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#,
            add,
        )
    },
    tool("sleep", "Answers after ms milliseconds.", ANY, sleep),
    tool("fail", "Reports text as its own failure.", ANY, fail),
    tool("error", "Answers with the JSON-RPC error code, message, data.", ANY, error),
    tool("crash", "Ends the process with code; partial leaves half a message.", ANY, crash),
    tool("pid", "Answers with the process id.", ANY, pid),
    tool("progress", "Reports progress (of canary) in steps, interval_ms apart.", ANY, progress),
    tool(
        "change_list",
        "Changes a list: add, change, define, remove, notify, list.",
        ANY,
        change_list,
    ),
    tool(
        "storm",
        "Changes the tool version notifications times, per_second times a second.",
        ANY,
        storm,
    ),
    tool("fail_lists", "Answers the next count lists with an error.", ANY, fail_lists),
    tool("env", "Answers with the environment variable name.", ANY, env),
    tool("cwd", "Answers with the current folder.", ANY, cwd),
    tool("args", "Answers with the arguments as JSON text.", ANY, args),
    tool("meta", "Answers with the call's _meta as it stood.", ANY, meta),
    tool("seen", "Counts the messages seen of a method; up to at_most it says few.", ANY, seen),
    tool("cancelled", "Counts the cancellations seen.", ANY, cancelled),
    tool("under_way", "Counts the slow calls under way.", ANY, under_way),
    tool("count", "Counts the calls seen, this one included.", ANY, count),
    tool("touch_resource", "Announces a change of the resource uri.", ANY, touch_resource),
    tool("listens", "Answers with what the open streams of changes are about.", ANY, listens),
    tool(
        "end_listens",
        "Ends those streams: how is result, error, cancelled or silence.",
        ANY,
        end_listens,
    ),
    tool("log", "Sends a log message of level and text.", ANY, log),
    tool("ask", "Sends the client the request method with params.", ANY, ask),
    tool("last_answer", "The client's answer that no call waited for.", ANY, last_answer),
    tool("need", "Asks for input: requests, state, rounds.", ANY, need),
    tool("client", "Answers with what the client said of itself.", ANY, client),
    tool("stderr", "Writes text to standard error.", ANY, stderr),
    tool("spawn_child", "Starts a helper (setsid: in its own session).", ANY, spawn_child),
    tool("verbatim", "Answers with result: JSON, or a text of JSON as it stands.", ANY, verbatim),
    tool("write", "Writes line to the client as it stands, then answers.", ANY, write),
    tool("reply_twice", "Answers two times.", ANY, reply_twice),
    tool(
        "stop_reading",
        "Answers, then reads nothing for ms milliseconds; then it may exit.",
        ANY,
        stop_reading,
    ),
    tool("block", "Does nothing else for ms milliseconds, then answers.", ANY, block),
];
