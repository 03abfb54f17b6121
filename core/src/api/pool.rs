//! The pool: one workspace's set of connections.

use std::collections::BTreeMap;
use std::future::Future;

use serde_json::Value;
use trunkline_pool::config::{ServerSpec, parse_servers};
use trunkline_pool::options::{AcquireOptions, DrainOptions, PoolOptions, SessionOptions};

use super::event::{EventMask, Subscription};
use super::lease::Lease;
use super::operation::Operation;
use super::session::Session;
use crate::{Error, ErrorCode, Result};

/// The connections of one workspace. Cheap to clone; all clones are one pool.
///
/// Usable from any thread, and from inside or outside any async runtime: it works on an internal runtime of its own. When the
/// last clone, session and lease are dropped, it closes in the background.
#[derive(Clone)]
pub struct Pool(());

/// A map of servers by name; a bad entry spoils itself alone.
pub struct Servers(pub BTreeMap<String, Result<ServerSpec>>);

impl Servers {
    /// Parses a map of servers, with or without a `mcpServers` around it.
    ///
    /// # Errors
    /// `invalid_config` when the text is no JSON object of servers.
    pub fn from_json(text: &str) -> Result<Servers> {
        parse_servers(text).map(Servers)
    }
}

impl Pool {
    /// A new pool with nothing in it. Returns at once.
    ///
    /// # Errors
    /// `invalid_argument` when `workers` conflicts with the running runtime.
    pub fn new(options: PoolOptions) -> Result<Pool> {
        let _ = options;
        Err(unwritten())
    }

    /// Opens a session. Returns at once; the servers that it wants start in the background.
    ///
    /// # Errors
    /// `invalid_argument` when a live session has that id, `closing`, `closed`, `forked`.
    pub fn session(&self, options: SessionOptions) -> Result<Session> {
        let _ = options;
        Err(unwritten())
    }

    /// A lease for a session by its id: sugar for opening the session if need be and [`Session::acquire`].
    pub async fn acquire(
        &self,
        server: &str,
        spec: &ServerSpec,
        session: &str,
        options: &AcquireOptions,
    ) -> Result<Lease> {
        let _ = (server, spec, session, options);
        Err(unwritten())
    }

    /// Makes these servers the pool's run-time source: what is new starts in the sessions that want it, what is gone is
    /// released, what is equal is not touched. The report: `{v, servers: {name: {action, error?}}}`.
    pub async fn reconcile(&self, servers: Servers) -> Result<Value> {
        let _ = servers;
        Err(unwritten())
    }

    /// Replaces the connections of a server's entries, or of the one with that index. One report per entry (SPEC 9.1).
    pub async fn restart(&self, server: &str, index: Option<u32>) -> Result<Value> {
        let _ = (server, index);
        Err(unwritten())
    }

    /// The whole pool as JSON (SPEC 9.4). Always works, and never shows a secret.
    pub fn status(&self) -> Value {
        Value::Null
    }

    /// Events of the whole pool, its sessions' included.
    pub fn subscribe(&self, kinds: EventMask) -> Result<Subscription> {
        let _ = kinds;
        Err(unwritten())
    }

    /// Ends everything, one-way (SPEC 9.7): `{v, drained, forced, errors: [{server, entry_index, error}]}`.
    pub async fn drain_all(&self, options: &DrainOptions) -> Result<Value> {
        let _ = options;
        Err(unwritten())
    }

    /// Drains with the defaults, then ends every subscription. A second close waits for the first.
    pub async fn close(&self) -> Result<()> {
        Err(unwritten())
    }

    /// Runs a future of this library on the internal runtime; `done` gets its result exactly once, on a thread of the library:
    /// `cancelled` when the operation was cancelled, `internal` when it panicked.
    pub fn start<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Operation {
        let _ = (future, done);
        unimplemented!()
    }

    /// The capability tags of this version.
    pub fn features() -> &'static [&'static str] {
        &[]
    }
}

pub(super) fn unwritten() -> Error {
    Error::new(ErrorCode::Internal, "not written")
}
