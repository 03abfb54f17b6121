//! Connections to real processes: the reference server with its flags, and small shell scripts.

mod bad_input;
mod calls;
mod children;
mod dropped;
mod ends;
mod eras;
mod host;
mod keepalive;
mod lent;
mod listens;
mod odd_frames;
mod odd_servers;
mod panics;
mod replaced;
mod secrets;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot, watch};
use trunkline_pool::catalog::{Catalog, ListKind};
use trunkline_pool::config::{Era, ServerSpec};
use trunkline_pool::options::{HandlerFuture, NothingListed, Offered, Refusal};
use trunkline_pool::reader_role::Lending;
use trunkline_pool::state::{LossReason, SessionId};

use super::types::*;
use super::*;
use crate::folder::Folder;
use crate::{Error, ErrorCode};

/// Far longer than anything here takes: what waits so long hangs.
const HANG: Duration = Duration::from_secs(100);

/// What a connection told its driver, in order.
#[derive(Default)]
struct Recorder {
    told: Mutex<Vec<String>>,
    /// Only the last event is kept.
    forgets: bool,
    news: Notify,
    pid: AtomicU32,
}

impl Recorder {
    fn tell(&self, event: String) {
        let mut told = self.told.lock().unwrap();
        if self.forgets {
            told.clear();
        }
        told.push(event);
        drop(told);
        self.news.notify_waiters();
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }

    /// Waits until one of the events contains the text.
    async fn wait_for(&self, text: &str) -> String {
        let found = async {
            loop {
                let news = self.news.notified();
                tokio::pin!(news);
                news.as_mut().enable();
                if let Some(event) = self.told().iter().find(|event| event.contains(text)) {
                    return event.clone();
                }
                news.await;
            }
        };
        let found = tokio::time::timeout(HANG, found).await;
        found.unwrap_or_else(|_| panic!("no event {text:?} in {:?}", self.told()))
    }
}

impl ConnectionEvents for Recorder {
    fn started(&self, pid: u32) {
        self.pid.store(pid, Ordering::SeqCst);
    }
    fn lost(&self, reason: LossReason, error: Error) {
        self.tell(format!("lost {reason:?} {} {error}", error.code().name()));
    }
    fn exited_late(&self, how: &str) {
        self.tell(format!("late {how}"));
    }
    fn list_changed(&self, list: ListKind) {
        self.tell(format!("list_changed {list:?}"));
    }
    fn resource_updated(&self, uri: &str) {
        self.tell(format!("updated {uri}"));
    }
    fn elicitation_completed(&self, id: &str, _shown: &str) {
        self.tell(format!("elicitation {id}"));
    }
    fn resources_missed(&self) {
        self.tell("missed".into());
    }
    fn log(&self, params: &str, _callers: Callers) {
        self.tell(format!("log {params}"));
    }
    fn roots(&self) -> String {
        r#"{"roots":[]}"#.into()
    }
    fn ask(&self, question: ServerQuestion<'_>) -> std::result::Result<HandlerFuture, Refusal> {
        self.tell(format!("ask {:?} {:?}", question.kind, question.callers));
        Err(Refusal::new(-1, "nobody"))
    }
    fn stderr(&self, line: &str) {
        self.tell(format!("stderr {line}"));
    }
}

/// A server to connect to, and the options of the connection.
struct Server {
    value: Value,
    options: ConnectOptions,
    /// Whether the recorder keeps the last event alone.
    forgets: bool,
}

/// The reference server with these flags.
fn test_server(args: &[&str]) -> Server {
    Server::new(json!({ "command": test_server_path(), "args": args }))
}

/// A shell script in the server's place.
fn script(text: &str) -> Server {
    Server::new(json!({ "command": "/bin/sh", "args": ["-c", text] }))
}

impl Server {
    fn new(value: Value) -> Self {
        let options = ConnectOptions {
            server: "s".into(),
            opening: Opening::Probe,
            workspace: "/".into(),
            timeout: Duration::from_secs(10),
            spent: Duration::ZERO,
            exit_grace: Duration::from_millis(300),
            kill_grace: Duration::from_millis(300),
            frame_bytes: 8 << 20,
            stderr_bytes: 64 << 10,
            lending: Lending::default(),
            in_flight: 2000,
            client_info: None,
            nothing_listed: NothingListed::Warn,
            quiet_waits: Vec::new(),
            keepalive: Duration::ZERO,
            keepalive_misses: 3,
            call_idle_timeout: HANG,
            offered: Offered::default(),
            handler_timeout: HANG,
            inherit_env: Vec::new(),
            credentials: None,
            cookies: Arc::default(),
            host: None,
            program_check: None,
            lookups: Arc::default(),
        };
        Server { value, options, forgets: false }
    }

    fn options(mut self, change: impl FnOnce(&mut ConnectOptions)) -> Self {
        change(&mut self.options);
        self
    }

    fn member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.value[name] = value.into();
        self
    }

    async fn try_connect(&self) -> (Result<(Connection, ServerListing)>, Arc<Recorder>) {
        let recorder = Arc::new(Recorder { forgets: self.forgets, ..Recorder::default() });
        let spec = ServerSpec::from_value("s", &self.value).unwrap();
        let (_wanted, cancel) = watch::channel(None);
        let attempt = Connection::connect(&spec, self.options.clone(), recorder.clone(), cancel);
        let result = tokio::time::timeout(HANG, attempt).await.expect("the attempt ends");
        (result.map_err(|failed| failed.error), recorder)
    }

    async fn connect(&self) -> Open {
        let (result, recorder) = self.try_connect().await;
        let (connection, listed) = result.unwrap();
        let pid = recorder.pid.load(Ordering::SeqCst);
        Open { connection, catalog: listed.catalog, recorder, pid }
    }

    /// Why its lists failed, where no list could be had.
    async fn without_lists(self) -> Error {
        self.options(|options| options.nothing_listed = NothingListed::Error).refused().await
    }

    async fn refused(&self) -> Error {
        match self.try_connect().await.0 {
            Ok(_) => panic!("it connected"),
            Err(error) => error,
        }
    }
}

/// An established connection.
struct Open {
    connection: Connection,
    catalog: Catalog,
    recorder: Arc<Recorder>,
    pid: u32,
}

type Answer = oneshot::Receiver<Result<Reply>>;

impl Open {
    fn request(&self, request: OutgoingRequest<'_>) -> (RequestId, Answer) {
        let (answer, receiver) = oneshot::channel();
        let id = self.connection.start(
            request,
            Box::new(move |result| {
                let _ = answer.send(result);
            }),
        );
        (id, receiver)
    }

    fn start(&self, tool: &str, arguments: Value) -> (RequestId, Answer) {
        let params = json!({ "name": tool, "arguments": arguments }).to_string();
        self.request(OutgoingRequest { params: &params, ..request() })
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<String> {
        let (_, answer) = self.start(tool, arguments);
        ended(answer).await.map(|reply| reply.json.to_string())
    }

    async fn close(&self) -> CloseExit {
        let close = self.connection.close(Kill::AfterGraces);
        tokio::time::timeout(HANG, close).await.expect("the close ends")
    }
}

fn request() -> OutgoingRequest<'static> {
    OutgoingRequest {
        method: "tools/call",
        params: "{}",
        has_own_meta: true,
        caller: None,
        attempts: None,
        timeout: HANG,
        idle_timeout: HANG,
        progress: None,
        reads_here: false,
        relayed: None,
    }
}

async fn ended(answer: Answer) -> Result<Reply> {
    tokio::time::timeout(HANG, answer).await.expect("the request ends").expect("it is answered")
}

/// Whether a process runs; a dead one that nobody reaped does not.
fn lives(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']),
        Err(_) => false,
    }
}

/// How many descriptors this process has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The reference server: the one that the environment names, else built here.
fn test_server_path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        // Cargo builds one thing at a time: a test that asks it waits for other builds.
        if let Some(path) = std::env::var_os("TRUNKLINE_TESTSERVER") {
            return path.into();
        }
        let exe = std::env::current_exe().unwrap();
        let profile = exe.ancestors().nth(2).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "trunkline-testserver", "--target-dir"]);
        build.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success());
        profile.join("trunkline-testserver")
    })
}

/// A server in shell: it shakes hands, lists one tool, and answers every call by running `on_call`,
/// in which `$id` is the call's id, `$calls` counts the calls, and `reply JSON` answers.
fn scripted(on_call: &str) -> String {
    const SERVER: &str = r#"
        reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
        calls=0
        while read -r line; do
            id=${line#*\"id\":}; id=${id%%[,\}]*}
            case $line in
                *'"method":"initialize"'*) reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"0"}}';;
                *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"?"}}\n' "$id";;
                *'"method":"tools/list"'*) reply '{"tools":[{"name":"any","inputSchema":{"type":"object"}}]}';;
                *'"method":"tools/call"'*) calls=$((calls+1)); ON_CALL;;
            esac
        done"#;
    SERVER.replace("ON_CALL", on_call)
}
