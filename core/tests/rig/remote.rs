//! The reference server over HTTP, and what it saw.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, Error, Lease, Session};

use crate::{Rig, testserver};

/// A header value of the configurations here, which nobody may show.
pub const TOKEN: &str = "Bearer canary-0123456789";

/// A running server; it ends with the value.
pub struct Remote {
    child: Child,
    /// Its address, or its socket.
    pub url: String,
    kind: &'static str,
    log: PathBuf,
}

impl Remote {
    /// Starts one with these words of `--http-faults` and these further flags.
    pub fn start(rig: &Rig, faults: &str, flags: &[&str]) -> Remote {
        Remote::start_as(rig, ("http", "0"), faults, flags)
    }

    /// The same over HTTP+SSE.
    pub fn start_events(rig: &Rig, faults: &str, flags: &[&str]) -> Remote {
        Remote::start_as(rig, ("sse", "0"), faults, flags)
    }

    /// The same over a websocket.
    pub fn start_socket(rig: &Rig, faults: &str, flags: &[&str]) -> Remote {
        Remote::start_as(rig, ("ws", "0"), faults, flags)
    }

    /// One of Streamable HTTP over a Unix socket: at that path, or of a name of its own for `@`.
    pub fn start_unix(rig: &Rig, path: &str, flags: &[&str]) -> Remote {
        Remote::start_as(rig, ("http-unix", path), "", flags)
    }

    /// Ends it, and starts another one at the same address.
    pub fn replace(&mut self, rig: &Rig, faults: &str, flags: &[&str]) {
        self.kill();
        let place = self.port().to_string();
        *self = Remote::start_as(rig, (self.kind, &place), faults, flags);
    }

    fn start_as(
        rig: &Rig,
        (kind, place): (&'static str, &str),
        faults: &str,
        flags: &[&str],
    ) -> Remote {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let log = rig.path(&format!("http-{number}"));
        let mut command = Command::new(testserver());
        command.arg(format!("--{kind}")).args([place, "--http-faults", faults]).args(flags);
        command.arg("--http-log").arg(&log).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Remote { child, url: url.trim().to_owned(), kind, log }
    }

    /// Its configuration.
    pub fn config(&self) -> Value {
        if self.kind == "http-unix" {
            let url = "http://localhost/mcp";
            return json!({ "type": "http", "url": url, "socket_path": self.url, "headers": { "Authorization": TOKEN } });
        }
        json!({ "type": self.kind, "url": self.url, "headers": { "Authorization": TOKEN } })
    }

    /// The same, for sessions that share its connection.
    pub fn shared(&self) -> Value {
        let mut config = self.config();
        config["share"] = json!("pool");
        config
    }

    /// The HTTP requests so far.
    pub fn requests(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// How many of them were of this HTTP method and, for messages, this method of the protocol.
    pub fn count(&self, http: &str, method: &str) -> usize {
        let is_it = |request: &&Value| {
            request["http"] == http && request["method"].as_str().unwrap_or_default() == method
        };
        self.requests().iter().filter(is_it).count()
    }

    fn port(&self) -> u16 {
        let port = self.url.rsplit(':').next().unwrap().split('/').next().unwrap();
        port.parse().unwrap()
    }

    /// Its process, which serves and nothing else.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A pool with default options, its session `a`, and a lease on this server as `s`.
pub async fn connected(rig: &Rig, remote: &Remote) -> (Session, Lease) {
    rig.configure(json!({ "s": remote.config() })).await;
    let session = rig.session("a");
    let lease = crate::acquire(&session, "s").await;
    (session, lease)
}

/// Whether a session sees a tool of that name of the server's.
pub fn lists(session: &Session, tool: &str) -> bool {
    session.tools().unwrap().iter().any(|listed| &*listed.own_name == tool)
}

/// Closes the pool, and waits for it.
pub fn close(rig: &Rig) {
    let pool = rig.pool.clone();
    rig.pool.block_on(async move { pool.close().await }).unwrap();
}

/// Why this server cannot be connected to.
pub async fn refused(rig: &Rig, config: Value) -> Error {
    rig.configure(json!({ "s": config })).await;
    let session = rig.session("refused");
    let acquired = session.acquire("s", None, &AcquireOptions::default()).await;
    let error = acquired.err().expect("it has to fail");
    assert_shows_no_secret(rig, &error);
    error
}

/// Why this call fails.
pub async fn failed(lease: &Lease, tool: &str, arguments: Value) -> Error {
    let called = lease.call_tool(tool, &arguments.to_string(), &CallOptions::default()).await;
    called.expect_err("it has to fail")
}

/// SPEC 5.9: the progress of a call comes before its result.
pub async fn assert_has_progress(rig: &Rig, lease: &Lease) {
    let events = rig.pool.subscribe(trunkline::EventMask::ALL).unwrap();
    let options = CallOptions::from_json(r#"{"progress":true}"#).unwrap();
    lease.call_tool("progress", r#"{"steps":3}"#, &options).await.unwrap();
    let all: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
    let progress = all.iter().filter(|event| event.json().contains("\"progress\"")).count();
    assert!(progress >= 3, "{all:?}");
}

/// SPEC 5.4: a call that the server does not answer in time is given up.
pub async fn assert_times_out(lease: &Lease) {
    let options = CallOptions::from_json(r#"{"timeout_ms":100,"idle_timeout_ms":100}"#).unwrap();
    let error = lease.call_tool("sleep", r#"{"ms":60000}"#, &options).await.unwrap_err();
    assert_eq!(error.code(), trunkline::ErrorCode::Timeout);
}

/// S-48.
pub fn assert_shows_no_secret(rig: &Rig, error: &Error) {
    let shown = format!("{error} {error:?} {} {}", error.to_json(), rig.pool.status());
    for secret in ["canary", "session-"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// The sockets of this process that are connected to this server.
pub fn sockets_to(remote: &Remote) -> usize {
    let wanted = format!(":{:04X}", remote.port());
    let own: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[2].ends_with(&wanted) && own.contains(&format!("socket:[{}]", row[9])))
        .count()
}
