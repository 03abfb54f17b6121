//! HTTP+SSE, the transport before Streamable HTTP: one stream carries everything to the client,
//! POSTs carry the rest.

use std::io::Result;
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;

use serde_json::Value;

use super::exchange::{Chunks, Request, respond};
use super::front::{Front, LOOK};
use crate::slow::lock;

/// Where the stream is, and where messages are posted.
pub const STREAM_PATH: &str = "/sse";
const MESSAGE_PATH: &str = "/message?sessionId=";

impl Front {
    /// Serves one request of a client of HTTP+SSE.
    pub fn serve_events(&self, request: &Request, out: &mut TcpStream) -> Result<()> {
        if let Some(done) = self.refuse(request, out) {
            return done;
        }
        match (request.method.as_str(), request.path.strip_prefix(MESSAGE_PATH)) {
            ("GET", _) if [STREAM_PATH, "/real"].contains(&&*request.path) => self.open_stream(out),
            ("POST", Some(session)) => self.take_message(session, request, out),
            _ => respond(out, "404 Not Found", &[], b"nothing is here"),
        }
    }

    /// Streams what comes for a session, until the client goes.
    fn open_stream(&self, out: &mut TcpStream) -> Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::SeqCst);
        let session = format!("session-{}-{number}", std::process::id());
        lock(&self.sessions).insert(session.clone());
        let from = self.routes.listen(&session);
        let mut chunks = Chunks::begin(out, "text/event-stream", &[])?;
        if self.faults.has("early-end") {
            return chunks.end();
        }
        let endpoint = match self.faults.value("endpoint") {
            Some(elsewhere) => elsewhere.to_string(),
            None => format!("{MESSAGE_PATH}{session}"),
        };
        if !self.faults.has("no-endpoint") {
            chunks.write(format!("event: endpoint\r\ndata: {endpoint}\r\n\r\n").as_bytes())?;
        }
        let ended = loop {
            let written = match from.recv_timeout(LOOK) {
                Ok(Value::Null) => break chunks.end(),
                Ok(message) if self.is_endless(&message) => self.never_end(&mut chunks),
                Ok(message) => chunks.event(&message.to_string()),
                Err(RecvTimeoutError::Timeout) => chunks.write(b": still here\n\n"),
                Err(RecvTimeoutError::Disconnected) => break chunks.end(),
            };
            if written.is_err() {
                break written;
            }
        };
        lock(&self.sessions).remove(&session);
        self.routes.forget(&session);
        ended
    }

    fn take_message(&self, session: &str, request: &Request, out: &mut TcpStream) -> Result<()> {
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return respond(out, "400 Bad Request", &[], b"no message");
        };
        if message["method"] == "tools/call" {
            let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
            if number == self.faults.number("forget-404") {
                lock(&self.sessions).remove(session);
            }
            if let Some(refused) = self.refuse_call(out) {
                return refused;
            }
        }
        if !lock(&self.sessions).contains(session) {
            return respond(out, "404 Not Found", &[], b"Session not found");
        }
        let Some(to) = self.routes.listener(session) else {
            return respond(out, "404 Not Found", &[], b"Session not found");
        };
        if message["method"] == "tools/call" && self.faults.has("cut") {
            let _ = to.send(Value::Null);
            return respond(out, "202 Accepted", &[], b"Accepted");
        }
        let is_open = message["method"] == "tools/call" && self.faults.has("open-accept");
        match message.get("id").is_some() && message.get("method").is_some() {
            true => drop(self.routes.pass_request(session, message, to)),
            false => self.routes.tell(session, message),
        }
        match is_open {
            true => Chunks::begin(out, "text/plain", &[])?.write(b"Accepted"),
            false => respond(out, "202 Accepted", &[], b"Accepted"),
        }
    }

    /// Whether this is the answer to a call, and calls have answers without an end.
    fn is_endless(&self, message: &Value) -> bool {
        self.faults.has("endless-event") && message.pointer("/result/content").is_some()
    }

    fn never_end(&self, chunks: &mut Chunks<'_>) -> Result<()> {
        chunks.write(b"data: {\"a\":\"")?;
        loop {
            chunks.write(&[b'x'; 16 << 10])?;
        }
    }
}
