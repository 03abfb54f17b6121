//! A server of the loopback over each transport, which is ordinary but for what its row says at one
//! point.

use std::io::{BufRead, BufReader, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::tolerance::wire::{self, Head};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport {
    Stdio,
    Http,
    Sse,
    Websocket,
}

pub const TRANSPORTS: [(&str, Transport); 4] = [
    ("stdio", Transport::Stdio),
    ("http", Transport::Http),
    ("sse", Transport::Sse),
    ("websocket", Transport::Websocket),
];

/// A listener of this process; it ends with the value, after its client has gone.
pub struct Server {
    pub address: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    row: Value,
    transport: Transport,
    over: AtomicBool,
    /// The methods that were asked for, and in HTTP those of the requests that are no message.
    asked: Mutex<Vec<String>>,
    /// How often the point of the row was reached.
    met: Mutex<u64>,
    /// Where answers go in HTTP+SSE.
    stream: Mutex<Option<TcpStream>>,
}

impl Server {
    pub fn start(row: &Value, transport: Transport) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            row: row.clone(),
            transport,
            over: AtomicBool::new(false),
            asked: Mutex::default(),
            met: Mutex::default(),
            stream: Mutex::default(),
        });
        let serving = shared.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if serving.over.load(Ordering::Acquire) {
                    return;
                }
                let serving = serving.clone();
                // A client that goes is an end like any other.
                std::thread::spawn(move || drop(serving.serve(stream)));
            }
        });
        Server { address, shared, thread: Some(thread) }
    }

    /// How often a method was asked for.
    pub fn count(&self, method: &str) -> usize {
        self.shared.asked.lock().unwrap().iter().filter(|asked| *asked == method).count()
    }

    /// Whether what the row says was said.
    pub fn is_met(&self) -> bool {
        *self.shared.met.lock().unwrap() > 0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        let _ = TcpStream::connect(&self.address);
        let _ = self.thread.take().unwrap().join();
    }
}

/// What becomes of a request.
enum Answer {
    Nothing,
    Messages(Vec<String>),
    /// What the row says for this transport, and the ordinary answer.
    Raw(Value, String),
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut input = BufReader::new(stream.try_clone()?);
        match self.transport {
            Transport::Stdio => self.serve_lines(&mut input, stream),
            Transport::Websocket => self.serve_frames(&mut input, stream),
            Transport::Http | Transport::Sse => self.serve_requests(&mut input, stream),
        }
    }

    fn serve_lines(&self, input: &mut BufReader<TcpStream>, mut out: TcpStream) -> Result<()> {
        let mut line = String::new();
        while input.read_line(&mut line)? > 0 {
            let text = match self.answer(&line) {
                Answer::Nothing => String::new(),
                Answer::Messages(messages) => messages.iter().map(|it| format!("{it}\n")).collect(),
                Answer::Raw(raw, _) => raw.as_str().unwrap_or_default().to_owned(),
            };
            out.write_all(&wire::bytes(&text))?;
            if self.is_last() {
                return out.shutdown(Shutdown::Both);
            }
            line.clear();
        }
        Ok(())
    }

    fn serve_frames(&self, input: &mut BufReader<TcpStream>, mut out: TcpStream) -> Result<()> {
        let Some(head) = Head::read(input) else { return Ok(()) };
        match self.at("upgrade", "") {
            Some(raw) if raw.get("status").is_some() => return wire::respond(&mut out, &raw),
            more => wire::upgrade(&mut out, &head, &more.unwrap_or_default())?,
        }
        while let Some(message) = wire::next_message(input, &mut out)? {
            match self.answer(&message) {
                Answer::Nothing => {}
                Answer::Messages(messages) => {
                    for message in messages {
                        wire::frame(&mut out, wire::LAST | wire::TEXT, &wire::bytes(&message))?;
                    }
                }
                Answer::Raw(raw, _) => wire::frames(&mut out, &raw)?,
            }
            if self.is_last() {
                return out.shutdown(Shutdown::Both);
            }
        }
        Ok(())
    }

    fn serve_requests(&self, input: &mut BufReader<TcpStream>, mut out: TcpStream) -> Result<()> {
        while let Some(head) = Head::read(input) {
            let body = head.body(input)?;
            match (&*head.method, self.transport) {
                ("POST", Transport::Http) => self.post(&body, &mut out)?,
                ("POST", _) => self.post_beside(&body, &mut out)?,
                ("GET", Transport::Sse) => self.open(&mut out)?,
                (method, _) => {
                    let usual = json!({ "status": "405 Method Not Allowed", "headers": [] });
                    wire::respond(&mut out, &self.at(method, "").unwrap_or(usual))?;
                }
            }
            if self.is_last() {
                return out.shutdown(Shutdown::Both);
            }
        }
        Ok(())
    }

    /// One message of Streamable HTTP.
    fn post(&self, body: &str, out: &mut TcpStream) -> Result<()> {
        let accepted = json!({ "status": "202 Accepted", "headers": [] });
        let answer = match self.answer(body) {
            Answer::Nothing => accepted,
            Answer::Messages(messages) => match &messages[..] {
                [message] => json!({ "headers": self.usual_headers(body), "body": message }),
                _ => json!({
                    "headers": ["content-type: text/event-stream"],
                    "body": messages.iter().map(|it| event(it)).collect::<String>(),
                }),
            },
            Answer::Raw(raw, _) => raw,
        };
        wire::respond(out, &answer)
    }

    /// The handshake of a row with a session begins one.
    fn usual_headers(&self, body: &str) -> Value {
        match self.row["session"] == true && body.contains("\"initialize\"") {
            true => json!(["content-type: application/json", "mcp-session-id: one"]),
            false => json!(["content-type: application/json"]),
        }
    }

    /// One message of HTTP+SSE: its answer goes the other way.
    fn post_beside(&self, body: &str, out: &mut TcpStream) -> Result<()> {
        let answer = self.answer(body);
        let accepted = json!({ "status": "202 Accepted", "headers": [] });
        let (said, text) = match answer {
            Answer::Nothing => (accepted, String::new()),
            Answer::Messages(messages) => (accepted, messages.iter().map(|it| event(it)).collect()),
            Answer::Raw(Value::String(text), _) => (accepted, text),
            Answer::Raw(raw, usual) => {
                let text = raw["stream"].as_str().map(str::to_owned);
                (raw["post"].clone(), text.unwrap_or_else(|| event(&usual)))
            }
        };
        wire::respond(out, &said)?;
        match &mut *self.stream.lock().unwrap() {
            Some(stream) => stream.write_all(&wire::bytes(&text)),
            None => Ok(()),
        }
    }

    /// The stream of HTTP+SSE.
    fn open(&self, out: &mut TcpStream) -> Result<()> {
        if let Some(refusal) = self.at("GET", "") {
            return wire::respond(out, &refusal);
        }
        let usual = "event: endpoint\ndata: /messages?session=1\n\n".to_owned();
        let named = self.at("endpoint", &usual);
        let named = named.and_then(|raw| raw.as_str().map(str::to_owned)).unwrap_or(usual);
        // A client that reads the address may post before this returns.
        let mut stream = self.stream.lock().unwrap();
        *stream = Some(out.try_clone()?);
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")?;
        out.write_all(&wire::bytes(&named))?;
        Ok(())
    }

    /// Whether the row says that the connection ends now.
    fn is_last(&self) -> bool {
        self.row["then"] == "close" && *self.met.lock().unwrap() == 1 && {
            if let Some(stream) = self.stream.lock().unwrap().take() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            // The next one is ordinary.
            *self.met.lock().unwrap() += 1;
            true
        }
    }

    /// What the row has for this point of the transport, with what it leaves open.
    fn at(&self, point: &str, usual: &str) -> Option<Value> {
        let name = TRANSPORTS.iter().find(|(_, it)| *it == self.transport).unwrap().0;
        self.asked.lock().unwrap().push(point.to_owned());
        let raw = self.row["raw"].get(name).filter(|_| self.row["at"] == point)?;
        self.meets().then(|| filled(raw, &Value::Null, usual, &Value::Null))
    }

    /// Whether what is there now is one of those that the row means.
    fn meets(&self) -> bool {
        let mut met = self.met.lock().unwrap();
        let is_one = self.row["times"].as_u64().is_none_or(|times| *met < times);
        *met += u64::from(is_one);
        is_one
    }

    fn answer(&self, text: &str) -> Answer {
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        self.asked.lock().unwrap().push(method.to_owned());
        let id = &message["id"];
        let is_modern = self.row["era"] == "modern";
        let mut result = usual(method, &message["params"]);
        if let Some(result) = result.as_mut().filter(|_| is_modern) {
            result["resultType"] = json!("complete");
        }
        let mut usual = json!({ "jsonrpc": "2.0", "id": id });
        match &result {
            Some(result) => usual["result"] = result.clone(),
            None => usual["error"] = json!({ "code": -32601, "message": "no such method" }),
        }
        let is_any = method != "tools/call" || message["params"]["name"] == "any";
        if self.row["at"] != method || !is_any || !self.meets() {
            return match id.is_null() {
                true => Answer::Nothing,
                false => Answer::Messages(vec![usual.to_string()]),
            };
        }
        self.odd(usual, result.unwrap_or_default())
    }

    /// The answer of the row.
    fn odd(&self, mut usual: Value, mut result: Value) -> Answer {
        let id = usual["id"].clone();
        let text = usual.to_string();
        let name = TRANSPORTS.iter().find(|(_, it)| *it == self.transport).unwrap().0;
        if let Some(raw) = self.row["raw"].get(name) {
            return Answer::Raw(filled(raw, &id, &text, &result), text);
        }
        if let Some(says) = self.row["says"].as_array() {
            let said = says.iter().map(|said| {
                let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
                replaced(&said, &id, &text, &result)
            });
            return Answer::Messages(said.collect());
        }
        for (name, member) in self.row["with"].as_object().into_iter().flatten() {
            result[name] = member.clone();
        }
        usual["result"] = self.row.get("result").cloned().unwrap_or(result);
        for (name, member) in self.row["beside"].as_object().into_iter().flatten() {
            usual[name] = member.clone();
        }
        if let Some(error) = self.row.get("error") {
            usual.as_object_mut().unwrap().remove("result");
            usual["error"] = error.clone();
        }
        Answer::Messages(vec![usual.to_string()])
    }
}

fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

fn replaced(text: &str, id: &Value, usual: &str, result: &Value) -> String {
    let text = text.replace("$ANSWER", usual).replace("$RESULT", &result.to_string());
    text.replace("$ID", &id.to_string())
}

fn filled(value: &Value, id: &Value, usual: &str, result: &Value) -> Value {
    match value {
        Value::String(text) => replaced(text, id, usual, result).into(),
        Value::Array(items) => items.iter().map(|item| filled(item, id, usual, result)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(members.map(|(k, v)| (k.clone(), filled(v, id, usual, result))).collect())
        }
        other => other.clone(),
    }
}

/// What a server answers that has one of each kind, and two tools.
fn usual(method: &str, params: &Value) -> Option<Value> {
    let schema = json!({ "type": "object" });
    Some(match method {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "serverInfo": { "name": "small", "version": "1" },
            "capabilities": { "tools": {}, "prompts": {}, "resources": {}, "completions": {} },
        }),
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"], "serverInfo": { "name": "small", "version": "1" },
            "capabilities": { "tools": {}, "prompts": {}, "resources": {}, "completions": {} },
        }),
        "tools/list" => json!({
            "tools": [{ "name": "any", "inputSchema": schema }, { "name": "plain", "inputSchema": schema }],
        }),
        "prompts/list" => json!({ "prompts": [{ "name": "greet" }] }),
        "resources/list" => json!({ "resources": [{ "uri": "file:///a", "name": "a" }] }),
        "resources/templates/list" => {
            json!({ "resourceTemplates": [{ "uriTemplate": "file:///{b}", "name": "b" }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": params["name"] }] }),
        "prompts/get" => json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "hello" } }],
        }),
        "resources/read" => json!({ "contents": [{ "uri": "file:///a", "text": "a" }] }),
        "completion/complete" => json!({ "completion": { "values": ["x"] } }),
        "ping" => json!({}),
        _ => return None,
    })
}
