//! The pool: one workspace's set of connections.

mod accept;
mod approvals;
mod drain;
pub(crate) mod endpoints;
mod gates;
mod restart;
mod roots;
mod settled;
mod sign_in;
mod sources;
mod status_file;
#[cfg(feature = "otlp")]
mod telemetry;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::{
    AcquireOptions, DrainOptions, PoolOptions, ServerSelection, SessionOptions, StatusOptions,
};
use trunkline_pool::state::DrainMode;
use trunkline_pool::text::escaped;

use self::endpoints::Endpoints;
use super::lease::Lease;
use super::session::Session;
use crate::config::Config;
use crate::driver::server_config::Servers;
use crate::driver::{Driver, carries_out, folders};
use crate::events::{EventMask, Subscription};
use crate::otlp::Observer;
use crate::report::Parts;
use crate::report::status_file::StatusFile;
use crate::session::call::operation;
use crate::session::call::operation::Operation;
use crate::session::registry::SessionRegistry;
use crate::transport::write_held;
use crate::{Error, ErrorCode, Result};

/// The connections of one workspace. Cheap to clone; all clones are one pool.
///
/// Usable from any thread, and from inside or outside any async runtime: it works on an internal
/// runtime of its own. When the last clone, session and lease are dropped, it drains in the
/// background.
#[derive(Clone)]
pub struct Pool(pub(crate) Arc<PoolCore>, Arc<Handle>);

/// Ends the pool when the host has nothing left of it. The library's own work, which may wait for a
/// file system, has the configuration alone.
struct Handle(Arc<PoolCore>);

#[cfg(test)]
impl Pool {
    pub(crate) fn driver(&self) -> &Arc<Driver> {
        &self.0.driver
    }
}

/// How long is waited for what servers listed, and what is accepted of it, to be on the disk: by a
/// close, so that a host which exits then has it there, and by who asks whether all has settled. A
/// close that waits no longer loses it. A close waits as long for the file of the status to be
/// gone.
pub(super) const KEEPING_WAIT_MAX: Duration = Duration::from_secs(1);

/// What the pool's clones and its sessions share.
pub(crate) struct PoolCore {
    pub(crate) driver: Arc<Driver>,
    /// What configures it.
    pub(crate) config: Arc<Config>,
    pub(crate) sessions: Arc<SessionRegistry>,
    /// Where its status can be read from outside.
    pub(super) published: Option<Arc<StatusFile>>,
    /// What serves it to clients that do not embed it.
    pub(crate) endpoints: Endpoints,
}

impl Pool {
    /// A new pool with nothing in it. Returns at once, but for the file system: the caller's thread
    /// opens what is kept in files, and writes the first status to `status_file`. So what cannot be
    /// had is told.
    ///
    /// # Errors
    /// `invalid_argument` when `workers` is not that of the runtime that the process already has,
    /// the workspace is no folder, or `status_file` no whole path; `store` when that cannot be
    /// written, or another pool writes it; `internal` when no thread can be started.
    pub fn new(options: PoolOptions) -> Result<Pool> {
        Pool::observed(options, Observer::none())
    }

    /// A new pool, and its observer.
    pub(crate) fn observed(options: PoolOptions, observer: Observer) -> Result<Pool> {
        let published = options.status_file.as_deref().map(StatusFile::new).transpose()?;
        let published = published.map(Arc::new);
        let driver = Driver::new(options, observer)?;
        let config = Config::new(driver.clone())?;
        let sessions = SessionRegistry::new(driver.clone(), config.clone());
        let endpoints = Endpoints::default();
        let core = Arc::new(PoolCore { driver, config, sessions, published, endpoints });
        let pool = Pool(core.clone(), Arc::new(Handle(core)));
        pool.0.config.begin_sources();
        pool.0.publish()?;
        Ok(pool)
    }

    /// Opens a session. Returns at once; the servers that it wants start in the background.
    ///
    /// # Errors
    /// `invalid_argument` when a live session has that id, or none can have it, `closing`,
    /// `closed`, `forked`.
    pub fn session(&self, options: SessionOptions) -> Result<Session> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        options.check_id()?;
        let roots = folders(&self.0.driver.workspace, &options.roots)?;
        let session = self.open(options, roots).map_err(|live| {
            let message = format!("a live session has the id \"{}\"", escaped(live.id()));
            let error = Error::new(ErrorCode::InvalidArgument, message).with_session(live.id());
            error
                .with_detail("path", "id")
                .with_hint("close that session first, or take another id")
        })?;
        // After it can be found: a reconcile that comes between finds it, or is seen by it.
        session.core().follow();
        Ok(session)
    }

    /// A lease for a session by its id: sugar for opening the session if need be (it then wants
    /// nothing else, and lives as long as the lease) and [`Session::acquire`].
    ///
    /// # Errors
    /// Those of [`Session::acquire`], and `invalid_argument` for an id that no session can have.
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
        wanting_nothing.check_id()?;
        wanting_nothing.servers = ServerSelection::Names(Vec::new());
        let opened = self.open(wanting_nothing, Vec::new()).unwrap_or_else(|live| live);
        opened.acquire(server, Some(spec), options).await
    }

    /// Makes these servers the pool's run-time source: what is new starts in the sessions that want
    /// it, what is gone is released, what is equal is not touched. Returns as soon as that is under
    /// way, with the report
    /// `{v, servers: {name: {action: added | removed | replaced | reviewed | unchanged | invalid | refused, reason?, error?}}, findings?}`.
    /// Members that no rule knows are `findings: [{kind: "unknown", server, path, nearest?}]`, with
    /// the known member that was probably meant. Dropping the future does not take back a change
    /// that was begun.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`. A bad server is an entry of the report, and keeps what it
    /// had.
    pub async fn reconcile(&self, servers: Servers) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        self.0.config.reconcile(servers).await
    }

    /// Replaces the connections of a server's entries, or of the one with that index. One report
    /// per entry (SPEC 9.1):
    /// `{v, entries: [{entry_index, restarted, duration_ms | reason, error?}]}`; none for an
    /// unknown name or index. A server that failed to start for sessions that want it is started
    /// for them.
    ///
    /// The reason is `in_flight` (its first connect is still running, or begins with this),
    /// `disabled`, `auth_required`, `not_admitted`, `budget_would_exceed`, `superseded` (the server
    /// is configured otherwise now, or no more, and nobody holds the entry), `failed` or `closing`.
    /// A restart under way that is superseded ends at once.
    ///
    /// # Errors
    /// `closing`, `closed`, `forked`.
    pub async fn restart(&self, server: &str, index: Option<u32>) -> Result<Value> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        self.0.restart(server, index).await
    }

    /// The whole pool as JSON (SPEC 9.4). Always works, and never shows a secret. In a forked child
    /// `{v, error}`: nothing of the pool is there.
    pub fn status(&self) -> Value {
        self.status_with(&StatusOptions::default())
    }

    /// [`status`](Self::status) with what costs more than a look at the pool's own state.
    pub fn status_with(&self, options: &StatusOptions) -> Value {
        match self.0.driver.check_process() {
            Ok(()) => {
                let mut status = self.0.parts().status_with(options);
                let served = self.0.endpoints.status();
                if !served.is_empty() {
                    status["served"] = served.into();
                }
                status
            }
            Err(error) => json!({ "v": 1, "error": error.to_json() }),
        }
    }

    /// What [`status_with`](Self::status_with) counts, in the text format of Prometheus (0.0.4), to
    /// be served by the host at an address of its own.
    ///
    /// Its labels are names of servers, methods of the protocol and codes of errors: nothing that a
    /// model or a server writes.
    ///
    /// # Errors
    /// `forked`.
    pub fn metrics(&self, options: &StatusOptions) -> Result<String> {
        self.0.driver.check_process()?;
        Ok(self.0.parts().metrics(options))
    }

    /// Why a server, or a tool by its exposed name, is there or not:
    /// `{v, name, kind: server | tool, server?, available, reason?, message, from?: {source, file?, line?, list?}, remedy?, unmatched?, waiting?: [{source, file, line, reason, approval_state}], hides?}`.
    /// The reason is the first of SPEC 11.6 that applies; `from` is where it is said, with the list
    /// that decides. A server that could be used and is not connected has a reason as well, such as
    /// `unused`. For a tool that nobody lists, `server` is the one that its name would belong to. A
    /// name that is no server's and cannot be a tool's in the pool's `name_style` is a server that
    /// is `not_configured`. Of a server that runs by what its entry said before the message says
    /// what is wrong with that now.
    ///
    /// `unmatched` are the filters that do nothing:
    /// `[{option, server, by: server | session, pattern?, meant?}]`; those without a pattern name a
    /// server that is none.
    ///
    /// What sessions hide or switch off is not in it, nor what becomes of a tool in the shapes of
    /// model APIs: [`Session::explain`] says that.
    ///
    /// # Errors
    /// `forked`.
    pub fn explain(&self, name: &str) -> Result<Value> {
        self.0.driver.check_process()?;
        Ok(self.0.parts().explain(name))
    }

    /// Events of the whole pool, its sessions' included.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn subscribe(&self, kinds: EventMask) -> Result<Subscription> {
        self.0.driver.check_process()?;
        let driver = &self.0.driver;
        let subscriber = driver.hub.subscribe(kinds, None, || self.0.parts().status())?;
        let (hub, runtime) = (driver.hub.clone(), driver.runtime.clone());
        Ok(Subscription { hub, runtime, subscriber })
    }

    /// Ends everything, one-way (SPEC 9.7):
    /// `{v, drained, forced, errors: [{server, entry_index, error}]}`. A second drain joins the
    /// first and gives its report: of the two the earlier deadline and the lesser patience count.
    /// Dropping the future stops nothing.
    ///
    /// # Errors
    /// `forked`.
    pub async fn drain_all(&self, options: &DrainOptions) -> Result<Value> {
        self.0.driver.check_process()?;
        Ok(self.0.drain(options).await)
    }

    /// [`close_with`](Self::close_with) the defaults.
    ///
    /// # Errors
    /// `forked`.
    pub fn close(&self) -> impl Future<Output = Result<()>> + Send + use<> {
        self.close_with(DrainOptions::default())
    }

    /// What a close has that is not given a time of its own: the pool's option `close_timeout`.
    pub fn close_timeout(&self) -> Duration {
        self.0.driver.options.close_timeout
    }

    /// Drains, then ends every session and every subscription. A second close waits for the first,
    /// and hurries it: of the two the earlier deadline and the lesser patience count. It begins
    /// with this call, before its future is polled. Dropping the future stops nothing.
    ///
    /// # Errors
    /// `forked`.
    pub fn close_with(
        &self,
        options: DrainOptions,
    ) -> impl Future<Output = Result<()>> + Send + use<> {
        let pool = self.clone();
        let here = self.0.driver.check_process();
        let closing = here.map(|()| {
            self.0.driver.spawn(async move {
                // All of it, its handle too: a polite close is not made a hurried one by the drop
                // of the others.
                let pool = pool;
                pool.0.close(&options).await;
            })
        });
        async move {
            let lost = |_| Error::new(ErrorCode::Internal, "the close was lost");
            closing?.await.map_err(lost)
        }
    }

    /// Runs a future of this library on the internal runtime; `done` gets its result exactly once,
    /// on a thread of the library: `cancelled` when the operation was cancelled, `internal` when it
    /// panicked.
    pub fn start<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Operation {
        operation::start(&self.0.driver, future, done)
    }

    /// Runs a future on the internal runtime and waits for it. Not for use inside of a callback of
    /// the library.
    ///
    /// # Errors
    /// `wrong_thread` on a thread of the library, inside a wake function and inside any async
    /// runtime, and those of the future.
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

    /// Opens a session that wants nothing yet.
    ///
    /// # Errors
    /// The live session of that id, if there is one.
    fn open(
        &self,
        options: SessionOptions,
        roots: Vec<PathBuf>,
    ) -> std::result::Result<Session, Session> {
        let opened = self.0.sessions.open((options, roots), self.1.clone());
        opened.map(Session::of).map_err(Session::of)
    }

    /// Fails in a forked child, and once the pool drains or was closed.
    fn check(&self) -> Result<()> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()
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
    /// What a report is made of.
    pub(super) fn parts(&self) -> Parts<'_> {
        Parts { driver: &self.driver, config: &self.config, sessions: &*self.sessions }
    }

    async fn close(&self, options: &DrainOptions) {
        // First, while there are servers to finish with.
        let wait = options.timeout.unwrap_or(self.driver.options.close_timeout);
        let is_patient = options.mode != DrainMode::Force;
        self.endpoints.drain(if is_patient { wait } else { Duration::ZERO }).await;
        self.drain(options).await;
        self.end().await;
        self.config.accepted_is_kept(KEEPING_WAIT_MAX).await;
        self.driver.catalogs.settled(KEEPING_WAIT_MAX).await;
    }

    async fn end(&self) {
        for session in self.sessions.live_sessions() {
            session.core().close(Some(Duration::ZERO));
        }
        self.config.watch_nothing().await;
        self.sessions.forget_all_kept();
        // A renewal that is under way may outlive the connection that wanted it.
        self.driver.context.close();
        self.unpublish(KEEPING_WAIT_MAX).await;
        self.driver.hub.end();
    }
}

impl Drop for Handle {
    /// The fallback for a pool that nobody closed: everything ends in the background.
    fn drop(&mut self) {
        let pool = &self.0;
        if pool.driver.runtime.is_forked() {
            return;
        }
        pool.ask_drain(DrainMode::Force, pool.driver.options.close_timeout, drop);
        // The drop of the last handle waits for no file system.
        drop(pool.config.drop_watcher());
        pool.sessions.forget_all_kept();
        pool.unpublish_in_background();
        pool.driver.context.close();
        pool.driver.hub.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 9.7, 16.6: what a stream begins with is the status, which says of each server why it is
    /// not there.
    #[tokio::test]
    async fn the_streams_of_a_pool_that_was_drained_begin_as_others() {
        let pool = Pool::new(PoolOptions::from_json(r#"{"cache":"off"}"#).unwrap()).unwrap();
        let servers = Servers::from_json(r#"{"s":{"command":"true"}}"#).unwrap();
        pool.reconcile(servers).await.unwrap();
        pool.drain_all(&DrainOptions::default()).await.unwrap();
        let (send, begun) = std::sync::mpsc::channel();
        let events = pool.clone();
        std::thread::spawn(move || send.send(events.subscribe(EventMask::ALL).map(drop)));
        begun.recv_timeout(std::time::Duration::from_secs(60)).unwrap().unwrap();
        pool.close().await.unwrap();
    }

    /// SPEC 9.7.
    #[tokio::test]
    async fn a_pool_that_was_drained_is_draining_until_it_was_closed() {
        let pool = Pool::new(PoolOptions::from_json(r#"{"cache":"off"}"#).unwrap()).unwrap();
        let refusal = || pool.session(SessionOptions::new("a")).err().map(|error| error.code());
        pool.drain_all(&DrainOptions::default()).await.unwrap();
        assert_eq!(refusal(), Some(ErrorCode::Closing));
        pool.close().await.unwrap();
        assert_eq!(refusal(), Some(ErrorCode::Closed));
    }
}
