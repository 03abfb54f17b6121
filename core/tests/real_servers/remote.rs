//! Servers that no one here wrote, reached by an address: a process of the test's own on a port of
//! the loopback.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline::{AcquireOptions, EventMask, Lease, Pool, PoolOptions, Servers, Session};

use super::{HANG_BOUND, call};

/// Where the file of configurations wants the port to be.
const PORT: &str = "{port}";

/// A server that listens; it ends with the value.
struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    /// Starts a server of the file, and waits until its port is open.
    fn start(server: &Value) -> Listening {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let filled = |value: &Value| value.as_str().unwrap().replace(PORT, &port.to_string());
        let mut command = Command::new(server["command"].as_str().unwrap());
        command.args(server["args"].as_array().unwrap().iter().map(filled));
        for (name, value) in server["env"].as_object().into_iter().flatten() {
            command.env(name, filled(value));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let listening = Listening { child: command.spawn().unwrap(), port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < HANG_BOUND, "it never listens");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        listening
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // SIGTERM lets a bridge end the server behind it.
        // SAFETY: kill has no memory to touch, and the child was not waited for yet.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(2) {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What is asked of each: the word for its transport, the era of its connection where that is
/// chosen, and whether two sessions share it.
#[derive(Clone, Copy)]
pub struct Expected {
    pub transport: &'static str,
    pub era: Option<&'static str>,
    pub entries: usize,
}

/// Two sessions on one server, and what `work` does with the first.
pub fn with_server<W: Future<Output = ()>>(
    servers: &BTreeMap<String, Value>,
    name: &str,
    kind: Option<&str>,
    expected: Expected,
    work: impl FnOnce(Session, Lease) -> W,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = super::descendants();
    let listening = Listening::start(&servers[name]);
    let remote = &servers[name]["remote"];
    let scheme = if remote["type"] == "websocket" { "ws" } else { "http" };
    let path = remote["path"].as_str().unwrap();
    let mut config = json!({ "url": format!("{scheme}://127.0.0.1:{}{path}", listening.port) });
    if let Some(kind) = kind {
        config["type"] = json!(kind);
    }
    if let Some(era) = expected.era {
        config["era"] = json!(era);
    }
    config["connect_timeout_ms"] = json!(60_000);
    let run = async {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let map = json!({ "s": config }).to_string();
        pool.reconcile(Servers::from_json(&map).unwrap()).await.unwrap();
        let (a, b) = (super::open(&pool, "a"), super::open(&pool, "b"));
        let options = AcquireOptions::default();
        let (first, second) =
            tokio::join!(a.acquire("s", None, &options), b.acquire("s", None, &options));
        let (first, second) = (first.unwrap(), second.unwrap());
        let row = pool.status()["servers"]["s"].clone();
        assert_eq!(row["transport"], expected.transport, "{row}");
        assert!(expected.era.is_none_or(|era| row["era"] == era), "{row}");
        assert_eq!(row["entry_count"], expected.entries, "{row}");
        work(a, first).await;
        assert!(second.state().is_connected());
        pool.close().await.unwrap();
    };
    runtime.block_on(async { tokio::time::timeout(HANG_BOUND, run).await.expect("no hang") });
    drop(listening);
    let begun = Instant::now();
    while super::descendants() != before {
        assert!(begun.elapsed() < Duration::from_secs(20), "processes are left");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Calls it, and makes it announce a resource.
async fn everything(session: Session, lease: Lease) {
    let events = session.subscribe(EventMask::ALL).unwrap();
    let result = call(&lease, "echo", json!({"message": "hi"})).await;
    assert_eq!(result["content"][0]["text"], "Echo: hi");
    assert!(session.tools().unwrap().len() >= 10 && !session.resources().unwrap().is_empty());
    let arguments = json!({ "name": "new.gz", "data": "data:text/plain;base64,aGVsbG8=" });
    let result = call(&lease, "gzip-file-as-resource", arguments).await;
    assert!(result["isError"].is_null(), "{result}");
    let is_news =
        |text: &str| text.contains("resources_changed") && text.contains("session/new.gz");
    while !is_news(events.next().await.unwrap().json()) {}
}

pub fn everything_http(servers: &BTreeMap<String, Value>) {
    let expected = || Expected { transport: "http", era: None, entries: 2 };
    with_server(servers, "everything_http", Some("http"), expected(), everything);
    with_server(servers, "everything_http", None, expected(), everything);
}

pub fn everything_events(servers: &BTreeMap<String, Value>) {
    let expected = || Expected { transport: "sse", era: None, entries: 2 };
    with_server(servers, "everything_sse", Some("sse"), expected(), everything);
    with_server(servers, "everything_sse", None, expected(), everything);
}

pub fn everything_socket(servers: &BTreeMap<String, Value>) {
    let expected = Expected { transport: "websocket", era: None, entries: 1 };
    with_server(servers, "everything_ws", Some("websocket"), expected, everything);
}

/// A server of the Python SDK, which speaks both eras and learns a tool while it runs.
pub fn python(servers: &BTreeMap<String, Value>) {
    for era in ["modern", "legacy"] {
        let expected = Expected { transport: "http", era: Some(era), entries: 2 };
        with_server(servers, "python_http", Some("http"), expected, learning);
    }
}

/// Calls it, and makes it announce a tool.
async fn learning(session: Session, lease: Lease) {
    let events = session.subscribe(EventMask::ALL).unwrap();
    let result = call(&lease, "add", json!({"a": 2, "b": 3})).await;
    assert_eq!(result["structuredContent"]["result"], 5, "{result}");
    call(&lease, "learn", json!({"name": "fresh"})).await;
    let is_news = |text: &str| text.contains("tools_changed") && text.contains("fresh");
    while !is_news(events.next().await.unwrap().json()) {}
    call(&lease, "fresh", json!({})).await;
}
