//! The front: sessions, the two forms of an answer, streams, and faults as told.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Result, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::{Value, json};

use super::authority::Authority;
use super::events::STREAM_PATH;
use super::exchange::{Chunks, Request, bomb, refuse_with, respond};
use super::faults::Faults;
use super::modern;
use super::routes::Routes;
use super::socket::SOCKET_PATH;
use super::wall::Wall;
use crate::era::Era;
use crate::fixtures::Fixtures;
use crate::flags::Flags;
use crate::slow::lock;

pub const JSON: &str = "content-type: application/json";

/// How often a silent stream is looked after.
pub const LOOK: Duration = Duration::from_millis(100);

/// Which of the transports that begin with HTTP is spoken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speech {
    Streamable,
    /// HTTP+SSE.
    Events,
    Socket,
}

pub struct Front {
    pub routes: Routes,
    pub faults: Faults,
    /// Who issues the tokens that it wants, if it wants any.
    pub authority: Option<Authority>,
    /// With `--fixtures`, which is strict.
    pub fixtures: Option<Fixtures>,
    wall: Wall,
    speech: Speech,
    era: Era,
    log: Option<PathBuf>,
    pub sessions: Mutex<BTreeSet<String>>,
    /// Those whose opening notification was taken.
    initialized: Mutex<BTreeSet<String>>,
    /// Answers under way whose stream was cut, by the event to resume from.
    cut: Mutex<HashMap<String, Receiver<Value>>>,
    pub numbers: AtomicU64,
    posts: AtomicU64,
    pub calls: AtomicU64,
    lists: AtomicU64,
    pub streams: AtomicU64,
    /// A handshake has come.
    greeted: AtomicBool,
    /// A question what is spoken is about to be answered.
    discovered: AtomicBool,
}

impl Front {
    pub fn new(flags: &Flags, faults: Faults, to_server: File, speech: Speech) -> Front {
        let (era, log) = (flags.era, flags.http_log.clone());
        Front {
            era,
            routes: Routes::new(to_server),
            faults,
            authority: None,
            fixtures: (flags.fixtures && speech == Speech::Streamable).then(Fixtures::read),
            wall: Wall::default(),
            speech,
            log,
            sessions: Mutex::default(),
            initialized: Mutex::default(),
            cut: Mutex::default(),
            numbers: AtomicU64::new(1),
            posts: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            lists: AtomicU64::new(0),
            streams: AtomicU64::new(0),
            greeted: AtomicBool::new(false),
            discovered: AtomicBool::new(false),
        }
    }

    /// Serves one connection until its end.
    pub fn serve(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let Ok(mut out) = stream.try_clone() else { return };
        let mut input = BufReader::new(stream);
        while let Some(request) = Request::read(&mut input) {
            self.note(&request);
            let refused = self.wall.refuse(self, &request, &mut out);
            let asked = |out| self.authority.as_ref()?.answer(&request, out);
            if let Some(done) = refused.or_else(|| asked(&mut out)) {
                if done.is_err() {
                    return;
                }
                continue;
            }
            if self.speech == Speech::Socket {
                if let Some(refused) = self.refuse(&request, &mut out) {
                    match refused {
                        Ok(()) => continue,
                        Err(_) => return,
                    }
                }
                let _ = self.serve_socket(&request, &mut input, &mut out);
                return;
            }
            let done = match request.method.as_str() {
                _ if self.speech == Speech::Events => self.serve_events(&request, &mut out),
                "POST" => self.post(&request, &mut out),
                "GET" => self.get(&request, &mut out),
                "DELETE" => self.delete(&request, &mut out),
                _ => respond(&mut out, "405 Method Not Allowed", &[], b""),
            };
            if done.is_err() {
                return;
            }
        }
    }

    /// One line for each request: what a test wants to know of its headers.
    fn note(&self, request: &Request) {
        let Some(path) = &self.log else { return };
        let body = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let line = serde_json::json!({
            "http": request.method, "path": request.path, "method": body["method"], "headers": request.headers,
        });
        let opened = OpenOptions::new().create(true).append(true).open(path);
        let _ = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }

    /// What is answered before the message is read.
    pub fn refuse(&self, request: &Request, out: &mut TcpStream) -> Option<Result<()>> {
        let faults = &self.faults;
        let number = self.posts.fetch_add(1, Ordering::SeqCst);
        let challenge = "www-authenticate: Bearer resource_metadata=\"https://auth.invalid/\"";
        Some(if faults.has("auth") {
            respond(out, "401 Unauthorized", &[], b"")
        } else if faults.has("auth-challenge") {
            respond(out, "401 Unauthorized", &[challenge.into()], b"")
        } else if faults.has("forbidden") {
            respond(out, "403 Forbidden", &[], b"")
        } else if let Some(to) = faults.value("redirect") {
            self.redirect(to, out)
        } else if faults.has("redirect-here")
            && ["/mcp", STREAM_PATH, SOCKET_PATH].contains(&&*request.path)
        {
            respond(out, "307 Temporary Redirect", &["location: /real".into()], b"")
        } else if faults.has("html") {
            respond(out, "200 OK", &["content-type: text/html; charset=utf-8".into()], b"<html>")
        } else if faults.has("text") {
            respond(out, "200 OK", &["content-type: text/plain".into()], b"hello")
        } else if number < faults.number("busy") {
            let wait = faults.value("busy-wait").unwrap_or("1");
            respond(out, "503 Service Unavailable", &[format!("retry-after: {wait}")], b"")
        } else if number < faults.number("busy-date") {
            let headers = [
                "date: Sun, 06 Nov 1994 08:49:37 GMT".into(),
                "retry-after: Sun, 06 Nov 1994 08:49:38 GMT".into(),
            ];
            respond(out, "503 Service Unavailable", &headers, b"")
        } else {
            return None;
        })
    }

    /// What a call that was counted is answered before it reaches the server.
    pub fn refuse_call(&self, out: &mut TcpStream) -> Option<Result<()>> {
        let number = self.calls.load(Ordering::SeqCst);
        let early = 1..=self.faults.number("busy-call");
        let status = self.faults.value("busy-status").unwrap_or("503 Service Unavailable");
        let wait = self.faults.value("busy-wait").unwrap_or("1");
        let mut busy = |wait: &str| respond(out, status, &[format!("retry-after: {wait}")], b"");
        if self.faults.has("busy-calls") {
            Some(busy("3600"))
        } else if early.contains(&number) {
            Some(busy(wait))
        } else if let Some(status) = self.faults.value("first-call").filter(|_| number == 1) {
            Some(respond(out, &format!("{status} As Told"), &[], b""))
        } else {
            self.faults.has("auth-calls").then(|| respond(out, "401 Unauthorized", &[], b""))
        }
    }

    fn redirect(&self, to: &str, out: &mut TcpStream) -> Result<()> {
        let status = self.faults.value("redirect-status").unwrap_or("307");
        respond(out, &format!("{status} As Told"), &[format!("location: {to}")], b"")
    }

    fn post(&self, request: &Request, out: &mut TcpStream) -> Result<()> {
        if let Some(done) = self.refuse(request, out) {
            return done;
        }
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return respond(out, "400 Bad Request", &[JSON.into()], b"{}");
        };
        if let Some(which) = self.faults.value("late-discover") {
            self.wait_for_the_other(&message["method"], which);
        }
        if let Some(status) = self.faults.value("no-handshake")
            && message["method"] == "initialize"
        {
            let error = json!({ "code": -32601, "message": "?" });
            let error = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
            let status = if status.is_empty() { "404" } else { status };
            let status = format!("{status} As Told");
            return respond(out, &status, &[JSON.into()], error.to_string().as_bytes());
        }
        if self.era != Era::Legacy && modern::is_modern(request, &message) {
            return modern::answer(self, request, message, out);
        }
        if self.era == Era::Modern {
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"Header mismatch: Mcp-Method is missing"}}"#;
            return respond(out, "400 Bad Request", &[JSON.into()], error.as_bytes());
        }
        let method = message["method"].as_str().unwrap_or_default().to_string();
        let mut headers = Vec::new();
        let session = if self.faults.has("stateless") {
            String::new()
        } else if method == "initialize" {
            let number = self.numbers.fetch_add(1, Ordering::SeqCst);
            let session = format!("session-{}-{number}", std::process::id());
            lock(&self.sessions).insert(session.clone());
            headers.push(format!("mcp-session-id: {session}"));
            session
        } else {
            match self.session(request, &method) {
                Ok(session) => session,
                Err((status, body)) => {
                    return respond(out, status, &[JSON.into()], body.as_bytes());
                }
            }
        };
        if message.get("id").is_none() || method.is_empty() {
            if self.faults.has("late-accept") && method == "notifications/initialized" {
                std::thread::sleep(3 * LOOK);
            }
            if self.faults.has("hung-notices") && method != "notifications/initialized" {
                match self.faults.number("hung-notices") {
                    0 => std::thread::park(),
                    wait => std::thread::sleep(Duration::from_millis(wait)),
                }
            }
            if method == "notifications/initialized" {
                lock(&self.initialized).insert(session.clone());
            }
            self.routes.tell(&session, message);
            return respond(out, "202 Accepted", &[], b"");
        }
        headers.extend(self.wall.cookies(&self.faults, request, &method));
        self.answer(&session, &method, message, &headers, out)
    }

    /// Holds the answer to the question what is spoken, or to the handshake, back behind the other.
    fn wait_for_the_other(&self, method: &Value, which: &str) {
        let wait_for = |other: &AtomicBool| {
            while !other.load(Ordering::SeqCst) {
                std::thread::sleep(LOOK);
            }
        };
        if method == "initialize" {
            self.greeted.store(true, Ordering::SeqCst);
            if which == "first" {
                wait_for(&self.discovered);
                std::thread::sleep(3 * LOOK);
            }
        } else if method == "server/discover" {
            if which == "never" {
                loop {
                    std::thread::park();
                }
            }
            wait_for(&self.greeted);
            if which == "last" {
                std::thread::sleep(3 * LOOK);
            }
            self.discovered.store(true, Ordering::SeqCst);
        }
    }

    /// The session that a message belongs to.
    fn session(
        &self,
        request: &Request,
        method: &str,
    ) -> std::result::Result<String, (&'static str, String)> {
        let words = |words: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","error":{{"code":-32000,"message":"{words}"}},"id":null}}"#
            )
        };
        let gone = ("404 Not Found", words("Session not found"));
        let missing = ("400 Bad Request", words("Bad Request: No valid session ID provided"));
        let Some(session) = request.header("mcp-session-id") else { return Err(missing) };
        if method == "tools/call" {
            let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
            for (fault, refusal) in [("forget-404", &gone), ("forget-400", &missing)] {
                if number == self.faults.number(fault) {
                    lock(&self.sessions).remove(session);
                    self.routes.forget(session);
                    return Err(refusal.clone());
                }
            }
        }
        let opens = method == "notifications/initialized";
        if !opens
            && !lock(&self.initialized).contains(session)
            && lock(&self.sessions).contains(session)
        {
            return Err(("400 Bad Request", words("Bad Request: too early")));
        }
        match lock(&self.sessions).contains(session) {
            true => Ok(session.to_string()),
            false => Err(gone),
        }
    }

    fn answer(
        &self,
        session: &str,
        method: &str,
        message: Value,
        headers: &[String],
        out: &mut TcpStream,
    ) -> Result<()> {
        let is_call = method == "tools/call";
        let faulty = |fault: &str| is_call && self.faults.has(fault);
        let is_list = method == "tools/list";
        if is_list && self.lists.fetch_add(1, Ordering::SeqCst) < self.faults.number("unavailable")
        {
            let asked = self.faults.value("unavailable-wait");
            let headers: Vec<_> =
                asked.map(|wait| format!("retry-after: {wait}")).into_iter().collect();
            return respond(out, "502 Bad Gateway", &headers, b"");
        }
        let spoiled = if is_list { "list-status" } else { "ping-status" };
        let status = self.faults.value(spoiled).filter(|_| is_list || method == "ping");
        if let Some(status) = status {
            return refuse_with(status, out);
        }
        if is_call && let Some(refused) = self.refuse_call(out) {
            return refused;
        }
        if let Some(status) = self.faults.value("call-status").filter(|_| is_call) {
            return respond(out, &format!("{status} As Told"), &[], b"<html>");
        }
        if faulty("gzip-calls") {
            let headers = [JSON.into(), "content-encoding: gzip".into()];
            return respond(out, "200 OK", &headers, &bomb());
        }
        if faulty("cut-body") {
            write!(out, "HTTP/1.1 200 OK\r\n{JSON}\r\ncontent-length: 100\r\n\r\n{{\"id\"")?;
            return Err(std::io::ErrorKind::ConnectionAborted.into());
        }
        if faulty("endless-body") || faulty("endless-event") {
            let media_type =
                if faulty("endless-body") { "application/json" } else { "text/event-stream" };
            let mut chunks = Chunks::begin(out, media_type, headers)?;
            chunks.write(if faulty("endless-body") { b"{\"a\":\"" } else { b"data: {\"a\":\"" })?;
            loop {
                chunks.write(&[b'x'; 16 << 10])?;
            }
        }
        let answers = self.routes.ask(session, message);
        if self.faults.has("json") {
            let answer = answers.iter().find(|message| message.get("id").is_some());
            let body = answer.unwrap_or_default().to_string();
            return respond(out, "200 OK", &[headers, &[JSON.into()]].concat(), body.as_bytes());
        }
        let mut chunks = Chunks::begin(out, "text/event-stream", headers)?;
        if faulty("cut") {
            return chunks.end();
        }
        if faulty("cut-ids") {
            return self.cut_again(chunks);
        }
        if faulty("cut-after-id") {
            let number = self.numbers.fetch_add(1, Ordering::SeqCst);
            let kind = self.faults.value("cut-after-id").unwrap_or_default();
            let event = format!("event{kind}-{number}");
            chunks.write(format!("id: {event}\nretry: 200\ndata:\n\n").as_bytes())?;
            lock(&self.cut).insert(event, answers);
            return chunks.end();
        }
        stream(&answers, &mut chunks)?;
        chunks.end()
    }

    /// Ends a stream after an event that it can be resumed from, at once.
    fn cut_again(&self, mut chunks: Chunks<'_>) -> Result<()> {
        let number = self.numbers.fetch_add(1, Ordering::SeqCst);
        chunks.write(format!("id: event-{number}\nretry: 0\ndata:\n\n").as_bytes())?;
        chunks.end()
    }

    /// What is answered to the wish for a stream before it is looked at.
    fn refuse_stream(&self, request: &Request, out: &mut TcpStream) -> Option<Result<()>> {
        let number = self.streams.fetch_add(1, Ordering::SeqCst);
        let is_resumed = request.header("last-event-id").is_some();
        let leads_away = self.faults.value("redirect-get");
        let leads_away = leads_away.or(self.faults.value("redirect-resume").filter(|_| is_resumed));
        if let Some(to) = leads_away {
            return Some(self.redirect(to, out));
        }
        if is_resumed && self.faults.has("busy-resume") {
            let headers = ["retry-after: 3600".into()];
            return Some(respond(out, "503 Service Unavailable", &headers, b""));
        }
        if number < self.faults.number("busy-get") {
            return Some(respond(out, "429 Too Many Requests", &["retry-after: 3".into()], b""));
        }
        let status = self.faults.value("one-get").filter(|_| number > 0);
        let status = status.or(self.faults.value("second-get").filter(|_| number == 1))?;
        Some(respond(out, &format!("{status} As Told"), &[], b""))
    }

    fn get(&self, request: &Request, out: &mut TcpStream) -> Result<()> {
        if let Some(done) = self.refuse_stream(request, out) {
            return done;
        }
        if self.faults.has("cut-ids") && request.header("last-event-id").is_some() {
            return self.cut_again(Chunks::begin(out, "text/event-stream", &[])?);
        }
        if let Some(answers) =
            request.header("last-event-id").and_then(|id| lock(&self.cut).remove(id))
        {
            let mut chunks = Chunks::begin(out, "text/event-stream", &[])?;
            stream(&answers, &mut chunks)?;
            return chunks.end();
        }
        if self.faults.has("no-get") || self.era == Era::Modern {
            return respond(out, "405 Method Not Allowed", &[], b"");
        }
        let session = request.header("mcp-session-id").unwrap_or_default();
        let known = self.faults.has("stateless") || lock(&self.sessions).contains(session);
        if !known {
            return respond(out, "404 Not Found", &[], b"");
        }
        let mut chunks = Chunks::begin(out, "text/event-stream", &[])?;
        if self.faults.has("retry-0") {
            chunks.write(b"retry: 0\n\n")?;
            return chunks.end();
        }
        if self.faults.has("deaf-get") {
            std::thread::sleep(Duration::from_millis(self.faults.number("deaf-get")));
            return chunks.end();
        }
        if self.faults.has("one-get") || self.faults.has("second-get") {
            if let Ok(message) = self.routes.listen(session).recv() {
                if self.faults.has("event-ids") {
                    chunks.write(b"id: event\n")?;
                }
                chunks.event(&message.to_string())?;
            }
            return chunks.end();
        }
        stream(&self.routes.listen(session), &mut chunks)?;
        chunks.end()
    }

    fn delete(&self, request: &Request, out: &mut TcpStream) -> Result<()> {
        if self.faults.has("no-delete") {
            return respond(out, "405 Method Not Allowed", &[], b"");
        }
        if self.faults.has("stuck-delete") {
            std::thread::park();
        }
        let session = request.header("mcp-session-id").unwrap_or_default();
        lock(&self.sessions).remove(session);
        self.routes.forget(session);
        respond(out, "200 OK", &[], b"")
    }
}

/// Streams what comes until an answer has come, the source ends or the client goes.
pub fn stream(from: &Receiver<Value>, chunks: &mut Chunks<'_>) -> Result<()> {
    loop {
        match from.recv_timeout(LOOK) {
            Ok(message) => {
                chunks.event(&message.to_string())?;
                if message.get("id").is_some() && message.get("method").is_none() {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Timeout) => chunks.write(b": still here\n\n")?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
