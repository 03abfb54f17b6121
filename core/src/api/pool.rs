//! The pool: one workspace's set of connections.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use trunkline_pool::cached::Written;
use trunkline_pool::config::{Fingerprint, ServerSpec, Share, parse_servers};
use trunkline_pool::options::{
    AcquireOptions, DrainOptions, Offered, PoolOptions, Reconnect, SessionOptions, StatusOptions,
    Wanted,
};
use trunkline_pool::plan::Connection;
use trunkline_pool::state::{DrainMode, Input};
use trunkline_pool::text::escaped;

use super::event::{EventMask, Subscription};
use super::held::DISABLED;
use super::lease::Lease;
use super::operation::{self, Operation};
use super::published::Published;
use super::registry::Registry;
use super::reports;
use super::session::Session;
use super::sources::{Running, Sources};
use crate::auth::{Context, context};
use crate::client::Provided;
use crate::driver::{Answered, Authority, Candidate, Driver, Keyed, carries_out, folders};
use crate::otlp::Observer;
use crate::transport::write_held;
use crate::{Error, ErrorCode, Result};

/// The connections of one workspace. Cheap to clone; all clones are one pool.
///
/// Usable from any thread, and from inside or outside any async runtime: it works on an internal runtime of its own. When the
/// last clone, session and lease are dropped, it drains in the background.
#[derive(Clone)]
pub struct Pool(pub(super) Arc<PoolCore>);

#[cfg(test)]
impl Pool {
    pub(crate) fn driver(&self) -> &Arc<Driver> {
        &self.0.driver
    }
}

/// How long is waited for what servers listed, and what is accepted of it, to be on the disk: by a close, so that a host which exits then has it
/// there, and by who asks whether all has settled. A close that waits no longer loses it.
pub(super) const KEEPING_WAIT_MAX: Duration = Duration::from_secs(1);

/// What the pool's clones and its sessions share.
pub(crate) struct PoolCore {
    pub(crate) driver: Arc<Driver>,
    /// What configures it.
    pub(super) sources: Sources,
    /// What the last pass made of that.
    running: Mutex<Running>,
    pub(super) registry: Registry,
    /// Where its status can be read from outside.
    pub(super) published: Option<Arc<Published>>,
}

/// A server's configuration with its fingerprints, each computed once.
pub(crate) struct Configured {
    pub(super) spec: Arc<ServerSpec>,
    /// In the pool's own context, by what the server is offered.
    fingerprints: [OnceLock<Fingerprint>; Offered::COUNT],
    /// Whether the connection is the pool's or the session's own.
    pub(super) share: Share,
    /// How a lost connection comes back, where that is not the pool's way.
    pub(super) reconnect: Option<Arc<Reconnect>>,
    /// The server itself, when the host provides it.
    pub(super) host: Option<Provided>,
    /// On whose word it is connected to.
    pub(super) authority: Authority,
    /// The identity of what was written, where its values are not what was written.
    written: OnceLock<Written>,
}

impl Configured {
    pub(super) fn new(spec: Arc<ServerSpec>, options: &PoolOptions) -> Arc<Configured> {
        Configured::by(Authority::Host, spec, None, options)
    }

    /// The configuration of a server that is connected to on that word, and the server itself when the host provides it.
    pub(super) fn by(
        authority: Authority,
        spec: Arc<ServerSpec>,
        host: Option<Provided>,
        options: &PoolOptions,
    ) -> Arc<Configured> {
        let share = spec.share(&options.shared_transports);
        let reconnect = spec.reconnect.as_ref().map(|own| own.over(&options.reconnect).into());
        let (fingerprints, written) = ([const { OnceLock::new() }; _], OnceLock::new());
        Arc::new(Configured { spec, fingerprints, share, reconnect, host, authority, written })
    }

    /// The identity of what was written; nothing of a server that the host provides.
    pub(super) fn written(&self) -> Option<Written> {
        match self.host {
            None => Some(*self.written.get_or_init(|| Written::literal(&self.spec))),
            Some(_) => None,
        }
    }

    /// Its values are not what was written; before anybody asks.
    pub(super) fn was_written(&self, written: Written) {
        // Of several the first stays.
        let _ = self.written.set(written);
    }

    /// What its gates are asked with.
    pub(super) fn candidate<'a>(&'a self, name: &'a str) -> Candidate<'a> {
        Candidate { name, authority: &self.authority }
    }

    /// The configuration.
    pub(super) fn spec(&self) -> &Arc<ServerSpec> {
        &self.spec
    }

    /// The identity of the connection for a session that offers so much, with the credentials of that context.
    pub(super) fn fingerprint(&self, offered: Offered, context: &Context) -> Fingerprint {
        match context.id_for(&self.spec) {
            context::POOL => self.fingerprint_in_pool(offered),
            id => self.spec.fingerprint(id, &offered.names()),
        }
    }

    fn fingerprint_in_pool(&self, offered: Offered) -> Fingerprint {
        let computed = || self.spec.fingerprint(context::POOL, &offered.names());
        *self.fingerprints[offered.number()].get_or_init(computed)
    }

    /// Whether the two lead a session to the same connection.
    pub(super) fn is_same_connection(&self, other: &Configured) -> bool {
        std::ptr::eq(self, other) || self.connection() == other.connection()
    }

    /// What tells its connection from others of one session.
    pub(super) fn connection(&self) -> Connection {
        // What a session offers, and whose credentials it uses, is the same for all that it has.
        let fingerprint = self.fingerprint_in_pool(Offered::default());
        Connection { fingerprint, share: self.share, warrant: self.authority.id() }
    }

    /// Whether it is what that key stands for.
    pub(super) fn leads_to(&self, key: &Keyed) -> bool {
        let share = if key.owner.is_some() { Share::Session } else { Share::Pool };
        self.share == share
            && self.authority.id() == key.authority.id()
            && self.fingerprint(key.offered, &key.context) == key.fingerprint
    }
}

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
    /// A new pool with nothing in it. Returns at once, but for the file system: what is kept in files is opened in the caller's thread, and the
    /// first status is written to `status_file` there, so that what cannot be had is told.
    ///
    /// # Errors
    /// `invalid_argument` when `workers` is not that of the runtime that the process already has, the workspace is no
    /// folder, or `status_file` no whole path; `store` when that cannot be written, or another pool writes it; `internal` when no
    /// thread can be started.
    pub fn new(options: PoolOptions) -> Result<Pool> {
        Pool::observed(options, Observer::none())
    }

    /// A new pool, and who is told of it.
    pub(crate) fn observed(options: PoolOptions, observer: Observer) -> Result<Pool> {
        let published = options.status_file.as_deref().map(Published::new).transpose()?;
        let published = published.map(Arc::new);
        let driver = Driver::new(options, observer)?;
        let sources = Sources::new(&driver)?;
        let (running, registry) = (Mutex::default(), Registry::default());
        let core = Arc::new(PoolCore { driver, sources, running, registry, published });
        core.begin_sources();
        core.publish()?;
        Ok(Pool(core))
    }

    /// Opens a session. Returns at once; the servers that it wants start in the background.
    ///
    /// # Errors
    /// `invalid_argument` when a live session has that id, `closing`, `closed`, `forked`.
    pub fn session(&self, options: SessionOptions) -> Result<Session> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        let roots = folders(&self.0.driver.workspace, &options.roots)?;
        let session = self.0.open(options, roots).map_err(|live| {
            let message = format!("a live session has the id `{}`", escaped(live.id()));
            let error = Error::new(ErrorCode::InvalidArgument, message).with_session(live.id());
            error
                .with_detail("path", "id")
                .with_hint("close that session first, or take another id")
        })?;
        // After it can be found: a reconcile that comes between finds it, or is seen by it.
        session.core().follow();
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
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        let mut wanting_nothing = SessionOptions::new(session);
        wanting_nothing.servers = Wanted::Names(Vec::new());
        let opened = self.0.open(wanting_nothing, Vec::new()).unwrap_or_else(|live| live);
        opened.acquire(server, Some(spec), options).await
    }

    /// Makes these servers the pool's run-time source: what is new starts in the sessions that want it, what is gone is
    /// released, what is equal is not touched. Returns as soon as that is under way, with the report
    /// `{v, servers: {name: {action: added | removed | replaced | reviewed | unchanged | invalid, error?}}}`.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`. A bad server is an entry of the report, and keeps what it had.
    pub async fn reconcile(&self, servers: Servers) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        self.0.reconcile(servers).await
    }

    /// Replaces the connections of a server's entries, or of the one with that index. One report per entry (SPEC 9.1):
    /// `{v, entries: [{entry_index, restarted, duration_ms | reason, error?}]}`; none for an unknown name or index.
    ///
    /// The reason is `in_flight` (its first connect is still running), `disabled`, `auth_required`, `not_admitted`,
    /// `budget_would_exceed`, `superseded` (the server is configured otherwise now, or no more, and nobody holds the entry),
    /// `failed` or `closing`. A restart under way that is superseded ends at once.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub async fn restart(&self, server: &str, index: Option<u32>) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        self.0.restart(server, index).await
    }

    /// The whole pool as JSON (SPEC 9.4). Always works, and never shows a secret. In a forked child `{v, error}`: nothing of
    /// the pool is there.
    pub fn status(&self) -> Value {
        self.status_with(&StatusOptions::default())
    }

    /// Its status, for as long as it is there.
    #[cfg(feature = "otlp")]
    pub(crate) fn status_while_there(&self) -> impl Fn() -> Option<Value> + Send + use<> {
        let core = Arc::downgrade(&self.0);
        move || core.upgrade().map(|core| Pool(core).status())
    }

    /// [`status`](Self::status) with what costs more than a look at the pool's own state.
    pub fn status_with(&self, options: &StatusOptions) -> Value {
        match self.0.driver.check_process() {
            Ok(()) => self.0.status_with(options),
            Err(error) => json!({ "v": 1, "error": error.to_json() }),
        }
    }

    /// What [`status_with`](Self::status_with) counts, in the text format of Prometheus (0.0.4), to be served by the host at an address of its own.
    ///
    /// Its labels are names of servers, methods of the protocol and codes of errors: nothing that a model or a server writes.
    ///
    /// # Errors
    /// `forked`.
    pub fn metrics(&self, options: &StatusOptions) -> Result<String> {
        self.0.driver.check_process()?;
        Ok(self.0.metrics(options))
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
    /// joins the first and gives its report: of the two the earlier deadline and the lesser patience count. Dropping the
    /// future stops nothing.
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
        self.0.end().await;
        self.0.accepted_is_kept(KEEPING_WAIT_MAX).await;
        self.0.driver.catalogs.settled(KEEPING_WAIT_MAX).await;
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
    /// `wrong_thread` on a thread of the library, inside a wake function and inside any async runtime, and those of the future.
    pub fn block_on<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        if tokio::runtime::Handle::try_current().is_ok() || carries_out() {
            let message = "a blocking call in a callback, or on a thread that runs async tasks";
            return Err(Error::new(ErrorCode::WrongThread, message));
        }
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        self.start(future, move |result| {
            // The waiter is there until it has the result.
            let _ = send.send(result);
        });
        write_held();
        let lost = |_| Err(Error::new(ErrorCode::Internal, "the operation was lost"));
        receive.recv().unwrap_or_else(lost)
    }

    /// The capability tags of this version (SPEC 9.4).
    pub fn features() -> &'static [&'static str] {
        &[
            "workspace_pool",
            "shared_stdio",
            "list_changed",
            "server_requests",
            "reconnect",
            "pool_restart",
            "pool_status",
            "drain_all",
        ]
    }
}

impl PoolCore {
    /// Every server that may run by its configuration.
    pub(super) fn servers(&self) -> Vec<(Box<str>, Arc<Configured>)> {
        self.running().servers()
    }

    /// One of them.
    ///
    /// # Errors
    /// Those of [`Running::server`].
    pub(super) fn configured(&self, name: &str) -> Result<Arc<Configured>> {
        self.running().server(name)
    }

    pub(super) async fn restart(&self, server: &str, index: Option<u32>) -> Result<Value> {
        if let Some(rows) = self.restart_of_disabled(server, index) {
            return Ok(json!({ "v": 1, "entries": rows }));
        }
        let gate = if index.is_none() { self.restart_gate(server) } else { None };
        let Some(server) = self.driver.known_server(server) else {
            return Ok(json!({ "v": 1, "entries": gate.as_slice() }));
        };
        // Taken first: an entry may be gone when the last of the others has restarted.
        let entries = self.driver.entries().into_iter();
        let indices: HashMap<_, _> = entries.map(|(row, _)| (row.entry, row.index)).collect();
        let (send, receive) = oneshot::channel();
        let answer = move |answered| drop(send.send(answered));
        self.driver.ask(|ticket, _| Input::Restart { ticket, server, index }, Box::new(answer));
        match receive.await {
            Ok(Answered::Restarted(reports)) => {
                let row = |report| reports::restart_report(&indices, report);
                let mut rows: Vec<Value> = reports.iter().map(row).collect();
                if rows.is_empty() {
                    rows.extend(gate);
                }
                Ok(json!({ "v": 1, "entries": rows }))
            }
            Ok(Answered::Refused(error)) => Err(error),
            Ok(_) | Err(_) => Err(Error::new(ErrorCode::Internal, "the pool gave no answer")),
        }
    }

    /// The rows of a server that nobody holds because it is switched off, or because sessions do without it; nothing of any
    /// other.
    fn restart_of_disabled(&self, server: &str, index: Option<u32>) -> Option<Vec<Value>> {
        let is_off = self.is_switched_off(server);
        if !is_off && !self.disabled_by().contains_key(server) {
            return None;
        }
        let entries = self.driver.entries().into_iter();
        let (rows, _): (Vec<_>, Vec<_>) =
            entries.filter(|(_, cell)| &*cell.server == server).unzip();
        if rows.iter().any(|row| row.refs > 0 || row.waiters > 0) {
            return None;
        }
        let asked = rows.iter().filter(|row| index.is_none_or(|index| index == row.index));
        let row = |entry_index| reports::restart_refused(entry_index, DISABLED, None);
        let mut answer: Vec<Value> = asked.map(|entry| row(Some(entry.index))).collect();
        if rows.is_empty() && index.is_none() {
            answer.push(row(None));
        }
        Some(answer)
    }

    /// Why a server has no entry that could be restarted, as a row of the answer.
    fn restart_gate(&self, server: &str) -> Option<Value> {
        let error = match self.configured(server) {
            Ok(_) => self.check_admitted(server).err()?,
            Err(error) if self.running().named(server).is_some() => error,
            Err(_) => return None,
        };
        Some(reports::restart_refused(None, "not_admitted", Some(&error)))
    }

    async fn drain(&self, options: &DrainOptions) -> Value {
        let (send, receive) = oneshot::channel();
        self.ask_drain(options.mode, options.timeout, move |answered| drop(send.send(answered)));
        match receive.await {
            Ok(Answered::Drained(report)) => reports::drain_report(&self.driver, &report),
            _ => json!({ "v": 1, "drained": 0, "forced": 0, "errors": [] }),
        }
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

    async fn end(&self) {
        for session in self.live_sessions() {
            session.close(Some(Duration::ZERO));
        }
        self.watch_nothing().await;
        self.forget_all_kept();
        // A renewal that is under way may outlive the connection that wanted it.
        self.driver.context.close();
        self.unpublish().await;
        self.driver.hub.end();
    }

    pub(super) fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for PoolCore {
    /// The fallback for a pool that nobody closed: everything ends in the background.
    fn drop(&mut self) {
        if self.driver.runtime.is_forked() {
            return;
        }
        self.ask_drain(DrainMode::Force, DrainOptions::default().timeout, drop);
        // Whoever drops the last handle waits for no file system.
        drop(self.drop_watcher());
        self.unpublish_in_background();
        self.driver.context.close();
        self.driver.hub.end();
    }
}
