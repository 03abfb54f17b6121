//! What the tests of the public API share: the reference server, its start log, and waiting for
//! what must come.
//!
//! `folder.rs`, `score.rs` and `testserver.rs` are modules of other crates as well, and
//! `schedules.rs` of others alone: crates that this one is built with, or that have nothing to do
//! with the library.

pub mod apart;
pub mod edited;
pub mod expect;
mod folder;
pub mod peak;
pub mod person;
pub mod remote;
pub mod score;
mod testserver;
pub mod traces;
pub mod values;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, CatalogCache, Lease, Pool, PoolOptions, Servers, Session,
    SessionOptions,
};

pub use folder::Folder;
pub use testserver::testserver;

/// No wait of a test comes near it; a test that reaches it hangs.
pub const HANG: Duration = Duration::from_secs(90);

/// Runs what a host does, on a runtime of its own, which has nothing to do with the library's.
pub fn host<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// These options, without what other tests listed unless they say where that is.
fn alone(mut options: PoolOptions) -> PoolOptions {
    if options.cache == CatalogCache::On {
        options.cache = CatalogCache::Off;
    }
    options
}

/// A pool with its own start log, and nothing of it left when it goes.
pub struct Rig {
    /// The pool, which is closed with the rig.
    pub pool: Pool,
    folder: Folder,
}

impl Rig {
    /// A pool with these options, as JSON, in an empty folder.
    pub fn new(options: Value) -> Rig {
        Rig::with(PoolOptions::from_json(&options.to_string()).unwrap())
    }

    /// The same with options that are no JSON.
    pub fn with(options: PoolOptions) -> Rig {
        let folder = Folder::new();
        let pool = Pool::new(alone(options)).unwrap();
        Rig { pool, folder }
    }

    /// A pool with these options, as JSON, whose workspace is the folder `ws` of the test.
    pub fn in_workspace(mut options: Value) -> Rig {
        Rig::in_workspace_with(|workspace| {
            options["workspace"] = json!(workspace);
            PoolOptions::from_json(&options.to_string()).unwrap()
        })
    }

    /// The same with options that are made of the workspace.
    pub fn in_workspace_with(options: impl FnOnce(&Path) -> PoolOptions) -> Rig {
        let folder = Folder::new();
        let workspace = folder.join("ws");
        std::fs::create_dir(&workspace).unwrap();
        let pool = Pool::new(alone(options(&workspace))).unwrap();
        Rig { pool, folder }
    }

    /// The configuration of the reference server with these flags.
    pub fn server(&self, flags: &[&str]) -> Value {
        let log = self.path("starts");
        let args = flags.iter().map(|flag| json!(flag));
        let args: Vec<Value> = args.chain([json!("--start-log"), json!(log)]).collect();
        json!({ "command": testserver(), "args": args })
    }

    /// A file of the test, which goes with the rig.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes these servers the pool's.
    pub async fn configure(&self, servers: Value) -> Value {
        let servers = Servers::from_json(&servers.to_string()).unwrap();
        self.pool.reconcile(servers).await.unwrap()
    }

    /// A session that wants nothing unasked.
    pub fn session(&self, id: &str) -> Session {
        self.session_with(json!({ "id": id, "servers": [] }))
    }

    /// A session with these options.
    pub fn session_with(&self, options: Value) -> Session {
        self.pool.session(SessionOptions::from_json(&options.to_string()).unwrap()).unwrap()
    }

    /// The servers started so far, helpers included.
    pub fn starts(&self) -> Vec<u32> {
        let log = std::fs::read_to_string(self.path("starts")).unwrap_or_default();
        log.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
    }

    /// Those of them that still run. After thousands of starts one of ours has the number of an
    /// earlier one.
    pub fn running(&self) -> Vec<u32> {
        let started: BTreeSet<u32> = self.starts().into_iter().collect();
        started.into_iter().filter(|pid| runs(*pid) && self.is_ours(*pid)).collect()
    }

    /// Whether a process has this rig's start log among its arguments: after thousands of starts
    /// another has a number of ours.
    fn is_ours(&self, pid: u32) -> bool {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let log = self.path("starts");
        let log = log.as_os_str().as_encoded_bytes();
        arguments.split(|byte| *byte == 0).any(|argument| argument == log)
    }

    /// Waits until none runs.
    pub fn wait_for_no_process(&self) {
        until(|| self.running().is_empty());
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let pool = self.pool.clone();
        let closed = self.pool.block_on(async move { pool.close().await });
        if !std::thread::panicking() {
            closed.unwrap();
            self.wait_for_no_process();
        }
    }
}

/// Waits for something that has no signal of its own, in short steps.
pub fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "it never came");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// What there is, once there is something.
pub fn until_some<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    until(|| {
        found = look();
        found.is_some()
    });
    found.unwrap()
}

/// The same in a task, beside which others go on.
pub async fn until_it_holds(mut holds: impl FnMut() -> bool) {
    let steps = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANG, steps).await.unwrap();
}

/// Whether a process is there and no zombie.
pub fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

/// A lease on a configured server.
pub async fn acquire(session: &Session, server: &str) -> Lease {
    session.acquire(server, None, &AcquireOptions::default()).await.unwrap()
}

/// The text of the first content block of a tool's result.
pub async fn text(lease: &Lease, tool: &str, arguments: Value) -> String {
    let result =
        lease.call_tool(tool, &arguments.to_string(), &CallOptions::default()).await.unwrap();
    let result: Value = serde_json::from_str(result.json()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
