//! One request over a connection of its own, byte for byte, and its answer.

use std::io::{Read, Write};
use std::net::TcpStream;

use rig::HANG;
use serde_json::{Value, json};

/// The head and the body of a request.
#[derive(Clone, Debug)]
pub struct Sent {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// 0 for a connection that was closed without an answer.
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// A well-formed POST of a message.
pub fn post(port: u16, token: &str, path: &str, message: &Value) -> Sent {
    let headers = [
        ("Host", format!("127.0.0.1:{port}")),
        ("Authorization", format!("Bearer {token}")),
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
        ("Connection", "close".to_owned()),
    ];
    Sent {
        line: format!("POST {path}"),
        headers: headers.map(|(name, value)| (name.to_owned(), value)).into(),
        body: message.to_string().into_bytes(),
    }
}

impl Sent {
    /// The same with a header in the place of those of its name; an empty value takes it away.
    pub fn with(mut self, name: &str, value: &str) -> Sent {
        self.headers.retain(|(had, _)| !had.eq_ignore_ascii_case(name));
        if value.is_empty() { self } else { self.and(name, value) }
    }

    /// The same with a header more.
    pub fn and(mut self, name: &str, value: &str) -> Sent {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn line(self, line: &str) -> Sent {
        Sent { line: line.to_owned(), ..self }
    }

    pub fn body(self, body: impl Into<Vec<u8>>) -> Sent {
        Sent { body: body.into(), ..self }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{} HTTP/1.1\r\n", self.line);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let has_length = ["content-length", "transfer-encoding"]
            .iter()
            .any(|length| self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(length)));
        if !has_length && !self.body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        [text.into_bytes(), self.body.clone()].concat()
    }
}

/// Sends it, and reads until the other side closes.
pub fn exchange(port: u16, bytes: &[u8]) -> Answered {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    // An endpoint may answer before it has read everything, and close.
    let _ = stream.write_all(bytes);
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read);
    answered(&read)
}

pub fn ask(port: u16, sent: &Sent) -> Answered {
    exchange(port, &sent.bytes())
}

fn answered(read: &[u8]) -> Answered {
    let text = String::from_utf8_lossy(read).into_owned();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Answered::default() };
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answered { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

impl Answered {
    /// The JSON-RPC messages of the body, which is one, or an event stream.
    pub fn messages(&self) -> Vec<Value> {
        match serde_json::from_str(&self.body) {
            Ok(message) => vec![message],
            Err(_) => self
                .body
                .lines()
                .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
                .collect(),
        }
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(prefix.as_str()))
    }

    /// The code of the JSON-RPC error; 0 without one.
    pub fn code(&self) -> i64 {
        let messages = self.messages();
        let code = |message: &Value| message["error"]["code"].as_i64();
        messages.iter().find_map(code).unwrap_or(0)
    }
}

/// A request of the modern era, which says everything of itself.
pub fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A modern call of a tool, with its headers.
pub fn modern_call(port: u16, token: &str, tool: &str, arguments: &Value) -> Sent {
    let message = modern(1, "tools/call", json!({ "name": tool, "arguments": arguments }));
    post(port, token, "/mcp/s", &message)
        .and("MCP-Protocol-Version", "2026-07-28")
        .and("Mcp-Method", "tools/call")
        .and("Mcp-Name", tool)
}

/// The opening of a legacy session.
pub fn initialize(id: u64) -> Value {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params })
}
