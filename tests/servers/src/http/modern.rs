//! Messages of the modern era over HTTP: no session, headers that must fit the body, and the end of
//! a response as a cancellation.

use std::io::{ErrorKind, Result};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use serde_json::{Value, json};

use super::authority::base64url;
use super::exchange::{Chunks, Request, respond};
use super::front::{Front, JSON, LOOK, stream};

/// The session that messages without one are under.
const NOBODY: &str = "";

/// Whether a message is one of the modern era.
pub fn is_modern(request: &Request, message: &Value) -> bool {
    let names_revision =
        message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
    // The handshake belongs to the other era, whatever headers come with it.
    names_revision || request.header("mcp-method").is_some() && message["method"] != "initialize"
}

/// Answers one.
pub fn answer(front: &Front, request: &Request, message: Value, out: &mut TcpStream) -> Result<()> {
    let method = message["method"].as_str().unwrap_or_default().to_string();
    if message.get("id").is_none() {
        return respond(out, "202 Accepted", &[], b"");
    }
    if let Some(refused) = refuse(front, request, &message, out) {
        return refused;
    }
    let (is_call, is_listen) = (method == "tools/call", method == "subscriptions/listen");
    if let Some(status) = front.faults.value("listen-status").filter(|_| is_listen) {
        let headers: &[String] = if status == "429" { &["retry-after: 3600".into()] } else { &[] };
        return respond(out, &format!("{status} As Told"), headers, b"");
    }
    let lists_own = method == "tools/list" && front.faults.has("own-tools");
    let (number, answers) = front.routes.ask_numbered(NOBODY, message);
    if is_call && front.faults.has("cut") {
        front.routes.recall(number);
        return Chunks::begin(out, "text/event-stream", &[])?.end();
    }
    // What is refused as a whole is refused by its status too, so the first answer has to be seen.
    let Some(mut first) = first(&answers, out) else {
        front.routes.recall(number);
        return Err(ErrorKind::ConnectionAborted.into());
    };
    let tools = first.pointer_mut("/result/tools").filter(|_| lists_own);
    if let Some(Value::Array(tools)) = tools {
        tools.push(json!({ "name": own_tool(request), "inputSchema": { "type": "object" } }));
    }
    let status = match first.pointer("/error/code").and_then(Value::as_i64) {
        Some(-32022..=-32020) => Some("400 Bad Request"),
        Some(-32601) => Some("404 Not Found"),
        _ => None,
    };
    let is_answer = first.get("id").is_some();
    if status.is_some() || is_answer && front.faults.has("json") {
        let (status, body) = (status.unwrap_or("200 OK"), first.to_string());
        return respond(out, status, &[JSON.into()], body.as_bytes());
    }
    let is_cut = || front.streams.fetch_add(1, Relaxed) < front.faults.number("listen-cut");
    let streamed = (|| {
        let mut chunks = Chunks::begin(out, "text/event-stream", &[])?;
        if is_listen && front.faults.has("listen-garbage") {
            ["what?", "[1,2]", "7", "null"].iter().try_for_each(|it| chunks.event(it))?;
        }
        chunks.event(&first.to_string())?;
        if is_listen && is_cut() {
            front.routes.recall(number);
        } else if !is_answer {
            stream(&answers, &mut chunks)?;
        }
        chunks.end()
    })();
    if streamed.is_err() {
        front.routes.recall(number);
    }
    streamed
}

/// What is answered where the headers and the body say no, or say different things.
fn refuse(
    front: &Front,
    request: &Request,
    message: &Value,
    out: &mut TcpStream,
) -> Option<Result<()>> {
    let is_strict = front.fixtures.is_some();
    let (code, what) = match unfit_meta(message).filter(|_| is_strict) {
        Some(what) => (-32602, what.to_string()),
        None => {
            let wrong = mismatch(request, message);
            let wrong = wrong.or_else(|| is_header_missing(front, request, message));
            (-32020, wrong.or_else(|| unmirrored(front, request, message))?)
        }
    };
    // Only the strict form names the request.
    let id = if is_strict { &message["id"] } else { &Value::Null };
    let error = json!({ "code": code, "message": what });
    let error = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    Some(respond(out, "400 Bad Request", &[JSON.into()], error.as_bytes()))
}

/// The first message of an answer; nothing when the client goes before it has come.
fn first(answers: &Receiver<Value>, client: &TcpStream) -> Option<Value> {
    loop {
        match answers.recv_timeout(LOOK) {
            Ok(first) => return Some(first),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        client.set_nonblocking(true).ok()?;
        let peeked = client.peek(&mut [0]);
        client.set_nonblocking(false).ok()?;
        match peeked {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(1..) => {}
            Ok(0) | Err(_) => return None,
        }
    }
}

/// The tool of this sender.
fn own_tool(request: &Request) -> String {
    let credentials = request.header("authorization").unwrap_or_default();
    format!("of_{}", credentials.rsplit(' ').next().unwrap_or_default())
}

/// What the call of a tool whose argument is wanted in a header does not have.
fn is_header_missing(front: &Front, request: &Request, message: &Value) -> Option<String> {
    let (tool, argument) = front.faults.value("wants-header")?.split_once(':')?;
    let is_it = message["method"] == "tools/call" && message["params"]["name"] == tool;
    let name = format!("mcp-param-{}", argument.to_lowercase());
    let is_missing = is_it && request.header(&name).is_none();
    is_missing.then(|| format!("Header mismatch: Mcp-Param-{argument} is missing"))
}

/// The argument of a fixture that its header does not repeat.
fn unmirrored(front: &Front, request: &Request, message: &Value) -> Option<String> {
    let params = &message["params"];
    let (argument, header) = front.fixtures.as_ref()?.mirrored(params["name"].as_str()?)?;
    let (value, said) = (params["arguments"][&argument].as_str(), request.header(&header));
    let is_same = match (value, said) {
        (Some(value), Some(said)) => {
            said == value || said == format!("=?base64?{}?=", base64(value))
        }
        (value, said) => value.is_none() && said.is_none(),
    };
    (!is_same).then(|| format!("Header mismatch: {header}"))
}

fn base64(text: &str) -> String {
    let mut text = base64url(text.as_bytes()).replace('-', "+").replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// What `_meta` lacks that every request has.
fn unfit_meta(message: &Value) -> Option<&'static str> {
    let meta = &message["params"]["_meta"];
    if !meta["io.modelcontextprotocol/protocolVersion"].is_string() {
        return Some("_meta has no protocolVersion");
    }
    let declared = &meta["io.modelcontextprotocol/clientCapabilities"];
    (!declared.is_object()).then_some("_meta has no clientCapabilities")
}

/// What of the headers does not fit the body.
fn mismatch(request: &Request, message: &Value) -> Option<String> {
    let body = |path: &str| message.pointer(path).and_then(Value::as_str);
    let name = match message["method"].as_str() {
        Some("tools/call" | "prompts/get") => body("/params/name"),
        Some("resources/read") => body("/params/uri"),
        _ => None,
    };
    let revision = body("/params/_meta/io.modelcontextprotocol~1protocolVersion");
    let header = |name: &str| request.header(name);
    // Names of the tests that need it are compared by the unit tests of the library.
    let is_encoded = header("mcp-name").is_some_and(|name| name.starts_with("=?base64?"));
    if header("mcp-protocol-version") != revision {
        Some("Header mismatch: MCP-Protocol-Version".to_string())
    } else if header("mcp-method") != message["method"].as_str() {
        Some("Header mismatch: Mcp-Method".to_string())
    } else if header("mcp-name") != name && !is_encoded {
        Some("Header mismatch: Mcp-Name".to_string())
    } else if request.header("mcp-session-id").is_some() {
        Some("a session in an era without".to_string())
    } else {
        None
    }
}
