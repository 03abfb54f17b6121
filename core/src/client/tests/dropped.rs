//! Connects that are dropped at each of their await points, over every transport (SECURITY row 8,
//! I-04).

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::task::Poll;

use super::*;
use crate::{HostConnection, HostServer, score};

/// When a connect is dropped, after so many polls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// As soon as it waits.
    Waiting,
    /// When it is woken.
    Woken,
}

/// Drops a connect ever later, until it is there before that, at each moment. After each nothing
/// may be left.
async fn dropped_at_every_poll(server: &Server, is_left: impl Fn() -> bool) {
    let mut cuts = 0;
    for moment in [Moment::Waiting, Moment::Woken] {
        let mut most = 0;
        // What it waits for may be there before it looks, but not every time.
        for _ in 0..TIMES {
            most = most.max(until_connected(server, moment, &is_left).await);
            if most >= WAITS {
                break;
            }
        }
        println!("{most} cuts, {moment:?}");
        assert!(most >= WAITS, "it waits {most} times alone, {moment:?}");
        cuts += most;
    }
    score::done("cancel/transports", 1);
    score::done("cancel/cuts", cuts as u64);
}

/// Drops it ever later, until it is there; how often that was where it waits.
async fn until_connected(server: &Server, moment: Moment, is_left: impl Fn() -> bool) -> usize {
    let mut polls = 0;
    while !connects_before(server, polls, moment, &is_left).await {
        polls += 1;
        assert!(polls < 1_000, "it never connects");
    }
    polls.saturating_sub(1)
}

/// Whether a connect is there before it is dropped after so many polls.
async fn connects_before(
    server: &Server,
    polls: usize,
    moment: Moment,
    is_left: impl Fn() -> bool,
) -> bool {
    let spec = match server.options.host {
        Some(_) => ServerSpec::of_host(1),
        None => ServerSpec::from_value("s", &server.value).unwrap(),
    };
    let (_wanted, cancel) = watch::channel(None);
    let events = Arc::<Recorder>::default();
    let attempt = Connection::connect(&spec, server.options.clone(), events, cancel);
    let mut attempt = Box::pin(attempt);
    let mut left = polls;
    let connected = std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match attempt.as_mut().poll(context) {
            Poll::Ready(connected) => Poll::Ready(Some(connected)),
            Poll::Pending if left == 0 && moment == Moment::Waiting => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await;
    drop(attempt);
    let is_done = connected.is_some();
    if let Some(connected) = connected {
        let (connection, _) = connected.unwrap_or_else(|failed| panic!("{}", failed.error));
        connection.close(Kill::AfterGraces).await;
    }
    let begun = Instant::now();
    while is_left() {
        assert!(begun.elapsed() < HANG, "dropped at poll {polls}, {moment:?}, it left something");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    is_done
}

/// I-04: what was started is ended by the runtime.
#[tokio::test]
async fn a_connect_may_be_dropped_at_every_poll() {
    for era in ["legacy", "modern"] {
        let folder = Folder::new();
        let log = folder.join("starts");
        let server = test_server(&["--era", era, "--start-log", log.to_str().unwrap()]);
        let is_left = || {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            log.lines().any(|line| lives(line.split(' ').next().unwrap().parse().unwrap()))
        };
        dropped_at_every_poll(&server, is_left).await;
    }
}

/// The reference server at an address, which ends with the value.
struct Remote {
    child: Child,
    url: String,
}

impl Remote {
    fn start(args: &[&str]) -> Remote {
        let mut command = Command::new(test_server_path());
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Remote { child, url: url.trim().to_owned() }
    }

    /// Whether a socket of this process leads there.
    fn is_connected(&self) -> bool {
        let port = self.url.rsplit(':').next().unwrap().split('/').next().unwrap();
        let there = format!(":{:04X}", port.parse::<u16>().unwrap());
        let own = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let own: Vec<PathBuf> =
            own.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect();
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        table.lines().skip(1).any(|line| {
            let row: Vec<&str> = line.split_whitespace().collect();
            row[2].ends_with(&there) && own.contains(&format!("socket:[{}]", row[9]).into())
        })
    }
}

/// The sockets that a process has open.
fn sockets_of(pid: u32) -> usize {
    let all = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let targets = all.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// I-04: its sockets are closed, also those of streams that would never end by themselves.
#[tokio::test]
async fn a_connect_to_an_address_may_be_dropped_at_every_poll() {
    let kinds = [
        ("http", &["--http", "0"][..]),
        ("http", &["--http", "0", "--era", "modern", "--list-changes"]),
        ("sse", &["--sse", "0"]),
        ("ws", &["--ws", "0"]),
    ];
    for (kind, flags) in kinds {
        let remote = Remote::start(flags);
        let server = Server::new(json!({ "type": kind, "url": remote.url }));
        dropped_at_every_poll(&server, || remote.is_connected()).await;
    }
}

/// I-04: the server sees that its connections are closed.
#[tokio::test]
async fn a_connect_to_a_socket_of_the_system_may_be_dropped_at_every_poll() {
    let remote = Remote::start(&["--http-unix", "@"]);
    let (pid, before) = (remote.child.id(), sockets_of(remote.child.id()));
    let url = "http://localhost/mcp";
    let server = json!({ "type": "http", "url": url, "socket_path": remote.url });
    dropped_at_every_poll(&Server::new(server), || sockets_of(pid) > before).await;
}

/// A server of the host's own, which counts its connections until each is over.
#[derive(Default)]
struct Provides {
    /// Connections that were begun and are not over, by their ids. One that is dropped early may be
    /// over without having begun.
    open: Mutex<BTreeSet<u64>>,
}

impl HostServer for Provides {
    fn receive(&self, connection: &HostConnection, frame: &str) {
        let frame: Value = serde_json::from_str(frame).unwrap();
        let result = match frame["method"].as_str().unwrap() {
            "initialize" => {
                self.open.lock().unwrap().insert(connection.id());
                let capabilities = json!({ "tools": {} });
                let server = json!({ "name": "provided", "version": "1" });
                json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": server })
            }
            "tools/list" => {
                json!({ "tools": [{ "name": "any", "inputSchema": { "type": "object" } }] })
            }
            _ => return,
        };
        let answer = json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result });
        // A connection that was dropped meanwhile takes nothing more.
        let _ = connection.send(&answer.to_string());
    }

    fn closed(&self, connection: &HostConnection) {
        self.open.lock().unwrap().remove(&connection.id());
    }
}

/// I-04: each connection is said to be over, and the thread that served it has let go of the host's
/// code.
#[tokio::test]
async fn a_connect_to_a_server_of_the_host_may_be_dropped_at_every_poll() {
    let host = Arc::<Provides>::default();
    let server = Server::new(Value::Null).options(|options| {
        options.opening = Opening::Only(Era::Legacy);
        options.host = Some(Provided(host.clone()));
    });
    let held = Arc::strong_count(&host);
    let is_left = || Arc::strong_count(&host) > held || !host.open.lock().unwrap().is_empty();
    dropped_at_every_poll(&server, is_left).await;
}

/// Whatever the transport, a connect waits for the answer to the handshake, and then for what it
/// lists.
const WAITS: usize = 2;

/// How often it is dropped from its beginning to its end until it was seen to wait so often.
const TIMES: usize = 50;
