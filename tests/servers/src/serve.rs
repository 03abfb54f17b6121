//! The reading loop and the methods of the protocol.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::asks::Asks;
use crate::era::{self, Era, Opened};
use crate::fixtures::{self, Fixtures};
use crate::flags::Flags;
use crate::listens::{self, Change, Listens, announce};
use crate::lists::{Kind, Lists};
use crate::request::{Call, Message};
use crate::scan::member;
use crate::slow::{Cancel, SlowCalls, Waited, lock};
use crate::tools;
use crate::wire::{Batch, Output, quote};

/// What all threads of the server share.
pub struct Server {
    pub flags: Flags,
    /// With `--fixtures`.
    pub fixtures: Option<Fixtures>,
    pub output: Output,
    pub lists: Mutex<Lists>,
    pub slow: SlowCalls,
    pub asks: Asks,
    /// The params of the handshake, as they stood.
    pub client: Mutex<Vec<u8>>,
    pub subscribed: Mutex<BTreeSet<String>>,
    /// The least level of log messages that the client wants; empty before it said so.
    pub log_level: Mutex<String>,
    pub opened: Opened,
    pub listens: Listens,
    /// Messages seen, by method; calls are counted apart, since they are the quick path.
    pub seen: Mutex<HashMap<String, u64>>,
    pub calls_seen: AtomicU64,
    /// Lists that are to be answered with an error.
    pub failing_lists: AtomicU64,
    revision: AtomicU64,
}

impl Server {
    pub fn new(flags: Flags, starts: usize) -> Server {
        Server {
            lists: Mutex::new(Lists::new(&flags, starts)),
            fixtures: flags.fixtures.then(Fixtures::read),
            flags,
            output: Output::new(),
            slow: SlowCalls::default(),
            asks: Asks::default(),
            client: Mutex::default(),
            subscribed: Mutex::default(),
            log_level: Mutex::default(),
            opened: Opened::default(),
            listens: Listens::default(),
            seen: Mutex::default(),
            calls_seen: AtomicU64::new(0),
            failing_lists: AtomicU64::new(0),
            revision: AtomicU64::new(1),
        }
    }

    /// A number that no item's description has had before.
    pub fn next_revision(&self) -> u64 {
        self.revision.fetch_add(1, Ordering::Relaxed)
    }
}

/// One thread's turn at answering: the server and the replies gathered so far.
pub struct Turn {
    pub server: &'static Server,
    pub batch: Batch<'static>,
    /// Prepared ends of replies that are always the same, by tool and size.
    pub prepared: HashMap<(&'static str, u64), Vec<u8>>,
}

impl Turn {
    fn new(server: &'static Server) -> Turn {
        Turn { server, batch: Batch::new(&server.output), prepared: HashMap::new() }
    }

    /// Adds a notification to the batch; `params` is JSON text.
    pub fn notify(&mut self, method: &str, params: &str) {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        self.batch.line(line.as_bytes());
    }
}

/// Answers requests until the client closes the pipe.
pub fn serve(server: &'static Server) -> ! {
    std::thread::sleep(server.flags.start_delay);
    let Ok(input) = std::io::stdin().as_fd().try_clone_to_owned() else { std::process::exit(1) };
    let mut input = File::from(input);
    let mut turn = Turn::new(server);
    let mut buffer = vec![0; READ_BYTES];
    let (mut filled, mut scanned) = (0, 0);
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        }
        let mut start = 0;
        while let Some(length) = buffer[scanned..filled].iter().position(|byte| *byte == b'\n') {
            handle(&mut turn, &buffer[start..scanned + length]);
            scanned += length + 1;
            start = scanned;
        }
        turn.batch.flush();
        buffer.copy_within(start..filled, 0);
        filled -= start;
        scanned = filled;
    }
    if server.flags.ignore_eof {
        crate::family::hold();
    }
    std::process::exit(0);
}

fn handle(turn: &mut Turn, line: &[u8]) {
    let line = line.trim_ascii();
    if line.is_empty() || turn.server.flags.silent {
        return;
    }
    let Some(message) = Message::read(line) else {
        return turn.batch.error(b"null", -32700, "no JSON object", None);
    };
    let Some(method) = message.method else {
        *lock(&turn.server.seen).entry("a reply".to_string()).or_default() += 1;
        return turn.server.asks.answered(line);
    };
    if turn.server.flags.noise {
        turn.batch.line(b"a line of noise before the answer");
    }
    if let Some(id) = message.id
        && !era::admits(turn, id, method, message.params)
    {
        note(turn, method);
        return;
    }
    turn.batch.completes = turn.server.fixtures.is_some() && era::is_modern(message.params);
    match message.id {
        Some(id) if method == b"\"tools/call\"" => call(turn, id, message.params),
        Some(id) => request(turn, id, method, message.params),
        None => notification(turn, method, message.params),
    }
}

fn call(turn: &mut Turn, id: &[u8], params: &[u8]) {
    turn.server.calls_seen.fetch_add(1, Ordering::Relaxed);
    if fixtures::answer(turn, id, "tools/call", params) {
        return;
    }
    let Some(call) = Call::read(id, params) else {
        return turn.batch.error(id, -32602, "the call names no tool", None);
    };
    let delay = turn.server.flags.reply_delay;
    if delay.is_zero() {
        return tools::run(turn, &call);
    }
    let (id, params) = (id.to_vec(), params.to_vec());
    later(turn.server, &id.clone(), delay, move |turn| {
        if let Some(call) = Call::read(&id, &params) {
            tools::run(turn, &call);
        }
    });
}

/// Runs `answer` on a thread of its own after `delay`, unless the request is cancelled before.
pub fn later(
    server: &'static Server,
    id: &[u8],
    delay: Duration,
    answer: impl FnOnce(&mut Turn) + Send + 'static,
) {
    on_thread(server, id, move |turn, cancel| {
        if cancel.wait(delay) == Waited::Whole {
            answer(turn);
        }
    });
}

/// Runs a slow request on a thread of its own; what it has gathered leaves at the end.
pub fn on_thread(
    server: &'static Server,
    id: &[u8],
    work: impl FnOnce(&mut Turn, &Cancel) + Send + 'static,
) {
    let cancel = server.slow.begin(id);
    let id = id.to_vec();
    std::thread::spawn(move || {
        let mut turn = Turn::new(server);
        work(&mut turn, &cancel);
        server.slow.end(&id, &cancel);
        turn.batch.flush();
    });
}

fn note(turn: &Turn, method: &[u8]) -> String {
    let method = String::from_utf8_lossy(method.trim_ascii()).trim_matches('"').to_string();
    *lock(&turn.server.seen).entry(method.clone()).or_default() += 1;
    crate::family::log_message(&turn.server.flags, &method);
    method
}

fn request(turn: &mut Turn, id: &[u8], method: &[u8], params: &[u8]) {
    let method = note(turn, method);
    let flags = &turn.server.flags;
    if flags.garbage {
        return turn.batch.line(b"{\"jsonrpc\": garbage");
    }
    let delay = match method.as_str() {
        "initialize" => flags.initialize_delay,
        name if name.ends_with("/list") => flags.list_delay,
        _ => Duration::ZERO,
    };
    if flags.die_before_list && method.ends_with("/list") {
        turn.batch.flush();
        eprintln!("dying before the list");
        std::process::exit(3);
    }
    if delay.is_zero() {
        return answer(turn, id, &method, params);
    }
    let (owned_id, params) = (id.to_vec(), params.to_vec());
    later(turn.server, id, delay, move |turn| answer(turn, &owned_id, &method, &params));
}

fn answer(turn: &mut Turn, id: &[u8], method: &str, params: &[u8]) {
    if fixtures::answer(turn, id, method, params) {
        return;
    }
    let only_tools = turn.server.flags.tools_only;
    match method {
        "initialize" => initialize(turn, id, params),
        "server/discover" if turn.server.flags.era != Era::Legacy => era::discover(turn, id),
        "subscriptions/listen" if turn.server.flags.era != Era::Legacy => {
            listens::listen(turn, id, params);
        }
        "ping" => turn.batch.result(id, b"{}"),
        "logging/setLevel" => {
            *lock(&turn.server.log_level) = text_param(params, "level");
            turn.batch.result(id, b"{}");
        }
        "tools/list" => list(turn, id, Kind::Tools, params),
        "prompts/list" if !only_tools => list(turn, id, Kind::Prompts, params),
        "resources/list" if !only_tools => list(turn, id, Kind::Resources, params),
        "resources/templates/list" if !only_tools => list(turn, id, Kind::Templates, params),
        "resources/read" => read_resource(turn, id, params),
        "resources/subscribe" => {
            lock(&turn.server.subscribed).insert(text_param(params, "uri"));
            turn.batch.result(id, b"{}");
        }
        "resources/unsubscribe" => {
            lock(&turn.server.subscribed).remove(&text_param(params, "uri"));
            turn.batch.result(id, b"{}");
        }
        "prompts/get" => prompt(turn, id, params),
        "completion/complete" => {
            turn.batch.result(id, br#"{"completion":{"values":["one","two"],"total":2}}"#);
        }
        _ => turn.batch.error(id, -32601, &format!("no method {method}"), None),
    }
}

fn initialize(turn: &mut Turn, id: &[u8], params: &[u8]) {
    *lock(&turn.server.client) = params.to_vec();
    let asked = text_param(params, "protocolVersion");
    let flags = &turn.server.flags;
    let known = VERSIONS.iter().find(|version| **version == asked);
    let version = flags.protocol_version.as_deref().or(known.copied()).unwrap_or(VERSIONS[0]);
    let result = format!(
        r#"{{"protocolVersion":{},"capabilities":{},"serverInfo":{{"name":"trunkline-testserver","version":"{}"}},"instructions":"for tests"}}"#,
        quote(version),
        capabilities(flags),
        env!("CARGO_PKG_VERSION"),
    );
    turn.batch.result(id, result.as_bytes());
}

/// What the server says that it can do, as JSON text.
pub fn capabilities(flags: &Flags) -> String {
    let changes = flags.list_changes;
    let more = format!(
        r#","prompts":{{"listChanged":{changes}}},"resources":{{"subscribe":true,"listChanged":{changes}}},"logging":{{}},"completions":{{}}"#
    );
    let more = if flags.tools_only { "" } else { more.as_str() };
    let tasks = if flags.tasks { r#","tasks":{"requests":{"tools":{"call":{}}}}"# } else { "" };
    format!(r#"{{"tools":{{"listChanged":{changes}}}{more}{tasks}}}"#)
}

fn list(turn: &mut Turn, id: &[u8], kind: Kind, params: &[u8]) {
    let failing = &turn.server.failing_lists;
    if failing
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
        .is_ok()
    {
        return turn.batch.error(id, -32603, "no lists now", None);
    }
    let cursor = member(params, "cursor").map(|_| text_param(params, "cursor"));
    let is_later_tools = kind == Kind::Tools && cursor.is_some();
    if is_later_tools && lock(&turn.server.lists).change_between_pages() {
        announce(turn, Change::List(kind));
    }
    let page = lock(&turn.server.lists).page(kind, cursor.as_deref());
    match page {
        Some(page) => turn.batch.result(id, page.as_bytes()),
        None => return turn.batch.error(id, -32602, "unknown cursor", None),
    }
    if kind == Kind::Tools {
        listens::tools_were_listed(turn);
        if turn.server.flags.list_log.is_some() {
            turn.batch.flush();
            crate::family::log_list(&turn.server.flags);
        }
    }
}

fn read_resource(turn: &mut Turn, id: &[u8], params: &[u8]) {
    let uri = text_param(params, "uri");
    let known = lock(&turn.server.lists).has(Kind::Resources, &uri);
    if !known && !uri.starts_with("test://item/") {
        return turn.batch.error(id, -32002, "resource not found", Some(&quote(&uri)));
    }
    let text = quote(&format!("the text of {uri}"));
    let uri = quote(&uri);
    let result =
        format!(r#"{{"contents":[{{"uri":{uri},"mimeType":"text/plain","text":{text}}}]}}"#);
    turn.batch.result(id, result.as_bytes());
}

fn prompt(turn: &mut Turn, id: &[u8], params: &[u8]) {
    let name = text_param(params, "name");
    if !lock(&turn.server.lists).has(Kind::Prompts, &name) {
        return turn.batch.error(id, -32602, &format!("no prompt {name}"), None);
    }
    let who = member(params, "arguments").map(|arguments| text_param(arguments, "who"));
    let text =
        quote(&format!("{name} {}", who.filter(|who| !who.is_empty()).as_deref().unwrap_or("you")));
    let result =
        format!(r#"{{"messages":[{{"role":"user","content":{{"type":"text","text":{text}}}}}]}}"#);
    turn.batch.result(id, result.as_bytes());
}

fn notification(turn: &mut Turn, method: &[u8], params: &[u8]) {
    let method = note(turn, method);
    if method == "notifications/cancelled"
        && let Some(id) = member(params, "requestId")
    {
        turn.server.slow.cancel(id);
        turn.server.listens.cancel(id);
    }
}

/// The text of a member, or nothing at all when it is no string.
pub fn text_param(params: &[u8], key: &str) -> String {
    member(params, key)
        .and_then(|value| serde_json::from_slice::<String>(value).ok())
        .unwrap_or_default()
}

/// The revisions of the legacy era, newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Room for many small requests, or one long one, in one read.
const READ_BYTES: usize = 256 * 1024;
