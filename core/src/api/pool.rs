//! The pool: one workspace's set of connections.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::{OnceCell, oneshot};
use trunkline_pool::config::{Fingerprint, ServerSpec, parse_servers};
use trunkline_pool::options::{AcquireOptions, DrainOptions, PoolOptions, SessionOptions, Wanted};
use trunkline_pool::state::{DrainMode, Input, SessionId};

use super::event::{EventMask, Subscription};
use super::lease::Lease;
use super::operation::{self, Operation};
use super::session::{Session, SessionCore, WeakSession};
use super::wanted::Applied;
use crate::driver::{Answered, Driver, LeaseHold};
use crate::{Error, ErrorCode, Result};

/// The connections of one workspace. Cheap to clone; all clones are one pool.
///
/// Usable from any thread, and from inside or outside any async runtime: it works on an internal runtime of its own. When the
/// last clone, session and lease are dropped, it drains in the background.
#[derive(Clone)]
pub struct Pool(Arc<PoolCore>);

/// What the pool's clones and its sessions share.
pub(crate) struct PoolCore {
    pub(crate) driver: Arc<Driver>,
    /// The run-time source.
    servers: Mutex<BTreeMap<Box<str>, Arc<Configured>>>,
    reconciling: Mutex<()>,
    sessions: Mutex<Sessions>,
    drained: OnceCell<Value>,
}

#[derive(Default)]
struct Sessions {
    live: BTreeMap<Arc<str>, (SessionId, Option<WeakSession>)>,
    /// What closed sessions left for who resumes them in time.
    kept: BTreeMap<Arc<str>, (SessionId, Vec<LeaseHold>)>,
}

/// A server's configuration with its fingerprint, which is computed once.
pub(crate) struct Configured {
    pub(super) spec: Arc<ServerSpec>,
    pub(super) fingerprint: Fingerprint,
}

impl Configured {
    pub(super) fn new(spec: Arc<ServerSpec>) -> Arc<Configured> {
        let fingerprint = spec.fingerprint(AUTHORIZATION_CONTEXT, CAPABILITIES);
        Arc::new(Configured { spec, fingerprint })
    }
}

/// One authorization context per pool: no session brings credentials of its own in this version.
const AUTHORIZATION_CONTEXT: &str = "pool";

/// The client capabilities that servers are offered: none without handlers.
const CAPABILITIES: &[&str] = &[];

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
    /// `invalid_argument` when `workers` is not that of the runtime that the process already has, or the workspace is no
    /// folder; `internal` when no thread can be started.
    pub fn new(options: PoolOptions) -> Result<Pool> {
        let core = PoolCore {
            driver: Driver::new(options)?,
            servers: Mutex::default(),
            reconciling: Mutex::default(),
            sessions: Mutex::default(),
            drained: OnceCell::new(),
        };
        Ok(Pool(Arc::new(core)))
    }

    /// Opens a session. Returns at once; the servers that it wants start in the background.
    ///
    /// # Errors
    /// `invalid_argument` when a live session has that id, `closing`, `closed`, `forked`.
    pub fn session(&self, options: SessionOptions) -> Result<Session> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        let id: Arc<str> = options.id.as_str().into();
        let mut sessions = self.0.sessions();
        if sessions.live.contains_key(&id) {
            let message = "a live session has that id";
            let error = Error::new(ErrorCode::InvalidArgument, message).with_session(&*id);
            return Err(error.with_detail("path", "id"));
        }
        let kept = sessions.kept.remove(&id);
        // A place for the id first: opening a session may call the host, and must not happen under the lock.
        sessions.live.insert(id.clone(), (SessionId(u64::MAX), None));
        drop(sessions);
        let session = Session::open(&self.0, options, kept);
        let place = (session.core().number, Some(session.downgrade()));
        self.0.sessions().live.insert(id, place);
        let _turn = self.0.turn();
        session.core().want_all();
        Ok(session)
    }

    /// A lease for a session by its id: sugar for opening the session if need be (it then wants nothing else, and lives
    /// as long as the lease) and [`Session::acquire`].
    ///
    /// # Errors
    /// Those of [`Session::acquire`].
    pub async fn acquire(
        &self,
        server: &str,
        spec: &ServerSpec,
        session: &str,
        options: &AcquireOptions,
    ) -> Result<Lease> {
        let live = {
            let sessions = self.0.sessions();
            sessions.live.get(session).and_then(|(_, weak)| weak.as_ref()?.upgrade())
        };
        let opened = match live {
            Some(session) => session,
            None => {
                let mut options = SessionOptions::new(session);
                options.servers = Wanted::Names(Vec::new());
                self.session(options)?
            }
        };
        opened.acquire(server, Some(spec), options).await
    }

    /// Makes these servers the pool's run-time source: what is new starts in the sessions that want it, what is gone is
    /// released, what is equal is not touched. Returns as soon as that is under way, with the report
    /// `{v, servers: {name: {action: added | removed | replaced | unchanged | invalid, error?}}}`.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`. A bad server is an entry of the report, and keeps what it had.
    pub async fn reconcile(&self, servers: Servers) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        Ok(self.0.reconcile(servers))
    }

    /// Replaces the connections of a server's entries, or of the one with that index. One report per entry (SPEC 9.1):
    /// `{v, entries: [{entry_index, restarted, duration_ms | reason, error?}]}`; none for an unknown name or index.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub async fn restart(&self, server: &str, index: Option<u32>) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.restart(server, index).await
    }

    /// The whole pool as JSON (SPEC 9.4). Always works, and never shows a secret.
    pub fn status(&self) -> Value {
        self.0.status()
    }

    /// Events of the whole pool, its sessions' included.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn subscribe(&self, kinds: EventMask) -> Result<Subscription> {
        self.0.driver.check_process()?;
        let driver = &self.0.driver;
        let subscriber = driver.hub.subscribe(kinds, None, || self.0.status())?;
        Ok(Subscription { driver: driver.clone(), subscriber })
    }

    /// Ends everything, one-way (SPEC 9.7): `{v, drained, forced, errors: [{server, entry_index, error}]}`. A second drain
    /// waits for the first and gives its report. Dropping the future stops nothing.
    ///
    /// # Errors
    /// `forked`.
    pub async fn drain_all(&self, options: &DrainOptions) -> Result<Value> {
        self.0.driver.check_process()?;
        Ok(self.0.drain(options).await)
    }

    /// Drains with the defaults, then ends every session and every subscription. A second close waits for the first.
    ///
    /// # Errors
    /// `forked`.
    pub async fn close(&self) -> Result<()> {
        self.drain_all(&DrainOptions::default()).await?;
        self.0.end();
        Ok(())
    }

    /// Runs a future of this library on the internal runtime; `done` gets its result exactly once, on a thread of the library:
    /// `cancelled` when the operation was cancelled, `internal` when it panicked.
    pub fn start<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Operation {
        operation::start(&self.0.driver, future, done)
    }

    /// Runs a future on the internal runtime and waits for it. Not for use inside of a callback of the library.
    ///
    /// # Errors
    /// `wrong_thread` on a thread of the library, and those of the future.
    pub fn block_on<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        if tokio::runtime::Handle::try_current().is_ok() {
            let message = "a blocking call on a thread that runs async tasks";
            return Err(Error::new(ErrorCode::WrongThread, message));
        }
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        self.start(future, move |result| {
            // The waiter is there until it has the result.
            let _ = send.send(result);
        });
        let lost = |_| Err(Error::new(ErrorCode::Internal, "the operation was lost"));
        receive.recv().unwrap_or_else(lost)
    }

    /// The capability tags of this version (SPEC 9.4).
    pub fn features() -> &'static [&'static str] {
        &["workspace_pool", "shared_stdio", "list_changed", "reconnect", "drain_all"]
    }
}

impl PoolCore {
    /// The run-time source.
    pub(super) fn servers(&self) -> Vec<(Box<str>, Arc<Configured>)> {
        let servers = self.source();
        servers.iter().map(|(name, configured)| (name.clone(), configured.clone())).collect()
    }

    /// One server of the run-time source.
    pub(super) fn spec(&self, name: &str) -> Option<Arc<Configured>> {
        self.source().get(name).cloned()
    }

    /// The ids of the live sessions, and how many wait to be resumed.
    pub(super) fn session_ids(&self) -> (Vec<Arc<str>>, usize) {
        let sessions = self.sessions();
        (sessions.live.keys().cloned().collect(), sessions.kept.len())
    }

    /// A session was closed; what it held is kept for a while, or dropped now.
    pub(super) fn session_closed(
        self: &Arc<Self>,
        session: &SessionCore,
        keep_for: Duration,
        holds: Vec<LeaseHold>,
    ) {
        let number = session.number;
        let mut sessions = self.sessions();
        if sessions.live.get(&session.id).is_some_and(|(live, _)| *live == number) {
            sessions.live.remove(&session.id);
        }
        if keep_for.is_zero() || holds.is_empty() {
            drop(sessions);
            drop(holds);
            return;
        }
        let replaced = sessions.kept.insert(session.id.clone(), (number, holds));
        drop(sessions);
        drop(replaced);
        let (pool, id) = (Arc::downgrade(self), session.id.clone());
        let until = tokio::time::Instant::now() + keep_for;
        self.driver.spawn(async move {
            tokio::time::sleep_until(until).await;
            if let Some(pool) = pool.upgrade() {
                pool.forget_kept(&id, number);
            }
        });
    }

    fn forget_kept(&self, id: &str, number: SessionId) {
        let mut sessions = self.sessions();
        let is_it = sessions.kept.get(id).is_some_and(|(kept, _)| *kept == number);
        let gone = is_it.then(|| sessions.kept.remove(id));
        drop(sessions);
        drop(gone);
    }

    fn reconcile(&self, servers: Servers) -> Value {
        let _turn = self.turn();
        let mut report = Map::new();
        let mut changed: BTreeMap<Box<str>, (Option<Arc<Configured>>, Applied)> = BTreeMap::new();
        {
            let mut source = self.source();
            let mut gone = std::mem::take(&mut *source);
            for (name, spec) in servers.0 {
                let name: Box<str> = name.into();
                let old = gone.remove(&name);
                let new = match spec {
                    Ok(spec) => Configured::new(Arc::new(spec)),
                    Err(error) => {
                        let entry = json!({ "action": "invalid", "error": error.to_json() });
                        report.insert(name.to_string(), entry);
                        source.extend(old.map(|old| (name, old)));
                        continue;
                    }
                };
                let applied = match &old {
                    None => Applied::Added,
                    Some(old) if old.fingerprint == new.fingerprint => Applied::Unchanged,
                    Some(_) => Applied::Replaced,
                };
                source.insert(name.clone(), new.clone());
                changed.insert(name, (Some(new), applied));
            }
            changed.extend(gone.into_keys().map(|name| (name, (None, Applied::Removed))));
        }
        for session in self.live_sessions() {
            for (name, (configured, _)) in &changed {
                session.core().want(name, configured.as_ref());
            }
        }
        for (name, (_, applied)) in changed {
            report.insert(name.into(), json!({ "action": applied.as_str() }));
        }
        json!({ "v": 1, "servers": report })
    }

    /// One change of what sessions want at a time, so that none is left with an older state than the newest.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.reconciling.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn live_sessions(&self) -> Vec<Session> {
        let sessions = self.sessions();
        sessions.live.values().filter_map(|(_, weak)| weak.as_ref()?.upgrade()).collect()
    }

    async fn restart(&self, server: &str, index: Option<u32>) -> Result<Value> {
        let Some(server) = self.driver.known_server(server) else {
            return Ok(json!({ "v": 1, "entries": [] }));
        };
        let (send, receive) = oneshot::channel();
        let answer = move |answered| drop(send.send(answered));
        self.driver.ask(|ticket, _| Input::Restart { ticket, server, index }, Box::new(answer));
        match receive.await {
            Ok(Answered::Restarted(reports)) => {
                let entries: Vec<_> = reports.iter().map(super::status::restart_report).collect();
                Ok(json!({ "v": 1, "entries": entries }))
            }
            Ok(Answered::Refused(error)) => Err(error),
            Ok(_) | Err(_) => Err(Error::new(ErrorCode::Internal, "the pool gave no answer")),
        }
    }

    async fn drain(&self, options: &DrainOptions) -> Value {
        let drain = || async {
            let (send, receive) = oneshot::channel();
            self.ask_drain(options.mode, options.timeout, move |answered| {
                drop(send.send(answered))
            });
            match receive.await {
                Ok(Answered::Drained(report)) => super::status::drain_report(&self.driver, &report),
                _ => json!({ "v": 1, "drained": 0, "forced": 0, "errors": [] }),
            }
        };
        self.drained.get_or_init(drain).await.clone()
    }

    fn ask_drain(
        &self,
        how: DrainMode,
        timeout: Duration,
        answer: impl FnOnce(Answered) + Send + 'static,
    ) {
        let deadline = self.driver.moment_after(timeout);
        self.driver.ask(|ticket, _| Input::Drain { ticket, how, deadline }, Box::new(answer));
    }

    fn end(&self) {
        for session in self.live_sessions() {
            session.close(Some(Duration::ZERO));
        }
        self.driver.hub.end();
    }

    fn source(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Arc<Configured>>> {
        self.servers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for PoolCore {
    /// The fallback for a pool that nobody closed: everything ends in the background.
    fn drop(&mut self) {
        if self.driver.runtime.is_forked() {
            return;
        }
        if self.drained.get().is_none() {
            self.ask_drain(DrainMode::Force, DrainOptions::default().timeout, drop);
        }
        self.driver.hub.end();
    }
}
