//! The state of a session, which the library shares; the host's handle is `session.rs`.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Notify;
use tokio::time::Instant;
use trunkline_pool::acceptance::QuarantinedTools as HeldBack;
use trunkline_pool::catalog::ListKind;
use trunkline_pool::options::{Handlers, Offered, SessionOptions};
use trunkline_pool::state::{Generation, SessionId};
use trunkline_pool::view::{UnknownServer, Unmatched};

use super::call::calls::Calls;
use super::call::log_level::Hears;
use super::demand::DemandSet;
use super::disabled_servers::Disabled;
use super::lease::LeaseTable;
use super::lease::lease_state::LeaseState;
use super::pinned_config::PinnedConfig;
use super::unsent_roots::Untold;
use super::view::SessionView;
use super::view::list::ListedItem;
use super::view::view_cache::ViewCache;
use crate::auth::Context;
use crate::config::Config;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::driver::{CloseFuture, Driver, EntryCell, LeaseGuard, ListChange, SessionPort};
use crate::events::{Recipient, Warned};
use crate::{Error, ErrorCode, Result};

/// The id of a live session, and its calls.
pub(crate) type SeenSession = (Arc<str>, Arc<Calls>);

/// The sessions of a pool, as one of them and the reports know them.
pub(crate) trait PoolSessions: Send + Sync {
    /// A session was closed; what it held is kept for a while, or dropped now.
    fn session_closed(
        self: Arc<Self>,
        session: &SessionCore,
        keep_for: Duration,
        holds: Vec<(LeaseGuard, ConfigOwner)>,
    );

    /// The servers that live sessions do without, each with the ids of those, sorted.
    fn disabled_by(&self) -> BTreeMap<Box<str>, Vec<Arc<str>>>;

    /// The ids of the live sessions with their calls, and how many wait to be resumed. No session
    /// is held meanwhile.
    fn sessions_seen(&self) -> (Vec<SeenSession>, usize);

    /// What the live sessions brought themselves. No session is held meanwhile.
    fn brought_by_sessions(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)>;
}

/// Closes the session when the host has no clone left.
pub(crate) struct SessionHandle {
    core: Arc<SessionCore>,
    /// The host has its pool as long as any session of it.
    _pool: Arc<dyn Any + Send + Sync>,
}

impl SessionHandle {
    /// That of a new session, which keeps its pool.
    pub(crate) fn new(core: Arc<SessionCore>, pool: Arc<dyn Any + Send + Sync>) -> Arc<Self> {
        Arc::new(SessionHandle { core, _pool: pool })
    }

    pub(crate) fn core(&self) -> &Arc<SessionCore> {
        &self.core
    }
}

impl Drop for SessionHandle {
    fn drop(&mut self) {
        self.core.close(None);
    }
}

/// Servers that a session brought itself.
pub(crate) type OwnServers = Mutex<BTreeMap<Box<str>, Arc<ResolvedServer>>>;

/// What a session was warned of.
#[derive(Default)]
pub(crate) struct SessionWarned {
    pub(crate) patterns: Warned<Unmatched>,
    pub(crate) servers: Warned<UnknownServer>,
}

/// What the session's handle, leases and calls share. The fields that a list change reads stand
/// first, side by side: it reads thousands of sessions, which are not in the processor's cache.
#[repr(C)]
pub(crate) struct SessionCore {
    /// What events have to know of it.
    pub recipient: Recipient,
    /// The pool at work.
    pub driver: Arc<Driver>,
    pub(crate) holds: LeaseTable,
    given: ViewCache,
    /// The servers that it wants without asking.
    pub(crate) wants: Mutex<DemandSet>,
    /// When it was opened: the start gate counts from here.
    pub(crate) opened: Instant,
    /// The sessions of the pool, itself among them.
    pub(crate) sessions: Arc<dyn PoolSessions>,
    /// What configures the pool.
    pub(crate) config: Arc<Config>,
    /// What it keeps of the pool's servers; absent when it follows them.
    pub(crate) kept: Option<PinnedConfig>,
    /// Its options as they are now.
    pub(crate) options: Mutex<Arc<SessionOptions>>,
    /// What answers the servers that it calls: its own handlers, else the pool's.
    pub(crate) handlers: Handlers,
    /// What servers are offered because of them.
    pub(crate) offered: Offered,
    /// Whose credentials its connections are made with.
    pub(crate) context: Arc<Context>,
    /// Folders that its own connections are told of, beside the pool's.
    pub(crate) roots: ArcSwap<Vec<PathBuf>>,
    /// The shared connections that are not told of them.
    pub(crate) untold: Untold<EntryCell>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) warned: SessionWarned,
    /// Something in `wants` was settled, or the session closed.
    pub(crate) settled: Notify,
    /// Servers that the session brought itself.
    own: Arc<OwnServers>,
    /// Servers that it does without (SPEC 6.5).
    pub(crate) disabled: Arc<Disabled>,
    /// How grave log messages have to be to be heard.
    pub(crate) hears: Hears,
}

impl SessionCore {
    pub(crate) fn new(
        (driver, config): (&Arc<Driver>, &Arc<Config>),
        sessions: Arc<dyn PoolSessions>,
        (options, roots): (SessionOptions, Vec<PathBuf>),
        (number, left): (SessionId, Option<Arc<Context>>),
    ) -> SessionCore {
        let own = &options.handlers;
        let patience = driver.options.handler_timeout;
        let handlers = own.or(&driver.options.handlers);
        let hears = Hears::new(options.log_level);
        SessionCore {
            context: driver.context.of_session((&options.id, left), own, patience),
            offered: handlers.offered(),
            handlers,
            roots: ArcSwap::from_pointee(roots),
            untold: Untold::default(),
            recipient: Recipient::new(number, &options.id),
            opened: Instant::now(),
            driver: driver.clone(),
            sessions,
            config: config.clone(),
            kept: PinnedConfig::of(config, options.follow),
            options: Mutex::new(Arc::new(options)),
            calls: Arc::default(),
            wants: Mutex::default(),
            warned: SessionWarned::default(),
            settled: Notify::new(),
            own: Arc::default(),
            disabled: Arc::default(),
            hears,
            holds: LeaseTable::default(),
            given: ViewCache::default(),
        }
    }

    /// Fails when the session cannot be used any more.
    pub(crate) fn check(&self) -> Result<()> {
        self.driver.check_process()?;
        if self.is_closed() { Err(self.closed()) } else { Ok(()) }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.recipient.is_closed()
    }

    /// Waits until it is closed.
    pub(crate) async fn until_closed(&self) {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            settled.as_mut().enable();
            if self.is_closed() {
                return;
            }
            settled.await;
        }
    }

    /// The error of a closed session.
    pub(crate) fn closed(&self) -> Error {
        Error::new(ErrorCode::Closed, "the session is closed").with_session(&*self.recipient.id)
    }

    pub(crate) fn close(&self, keep_for: Option<Duration>) {
        // In a forked child servers and locks are the parent's.
        if self.driver.runtime.is_forked() || self.recipient.close() {
            return;
        }
        self.calls.close();
        if !self.context.is_of_pool() {
            self.context.close();
        }
        // What the host provided may refer to the session.
        let own = std::mem::take(&mut *self.own());
        drop((own, self.given.end()));
        let keep_for = keep_for.unwrap_or(self.options().keep_for);
        self.unwant_all();
        // The reducer gives the holds up: here they only lose their meaning.
        let kept = self.holds.close();
        self.driver.close_session(self.recipient.number, keep_for);
        // Before its id is free: a session that resumes it has the same number, and its own events.
        self.driver.hub.end_session(self.recipient.number);
        self.sessions.clone().session_closed(self, keep_for, kept);
        self.settled.notify_waiters();
    }

    /// An error about one server in this session.
    pub(crate) fn named(&self, server: &str, error: Error) -> Error {
        error.with_server(server).with_session(&*self.recipient.id)
    }

    /// The number of a change of one of its lists that is told, see [`List::revision`].
    pub(crate) fn number_of_change(&self, list: ListKind) -> u64 {
        self.given.number_of_change(list)
    }

    /// The view as it is now; made anew only when a catalog or a state in it changed.
    pub(crate) fn view(&self) -> Result<Arc<SessionView>> {
        self.check()?;
        Ok(self.given.lists(&self.holds, &self.driver.naming))
    }

    /// The tools of one hold, as the view has them.
    pub(crate) fn tools_of(&self, held: &Arc<LeaseState>) -> Arc<[ListedItem]> {
        self.given.tools_of((&self.holds, &self.driver.naming), held)
    }

    /// Its own source, for who must not hold the session.
    pub(crate) fn own_servers(&self) -> &Arc<OwnServers> {
        &self.own
    }

    /// Puts a server into the session's own source.
    pub(crate) fn put_own(&self, server: &str, configured: Arc<ResolvedServer>) {
        let before = self.own().insert(server.into(), configured);
        // A server of the host's own ends with it, and its code may call back here.
        drop(before);
    }

    /// A server that the session brought itself.
    pub(crate) fn own_server(&self, server: &str) -> Option<Arc<ResolvedServer>> {
        self.own().get(server).cloned()
    }

    /// The names of those.
    pub(crate) fn own_names(&self) -> Vec<Box<str>> {
        self.own().keys().cloned().collect()
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Arc<ResolvedServer>>> {
        lock(&self.own)
    }
}

impl SessionPort for SessionCore {
    fn recipient(&self) -> &Recipient {
        &self.recipient
    }

    fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    fn roots(&self) -> Arc<Vec<PathBuf>> {
        self.roots.load_full()
    }

    fn closed(&self) -> CloseFuture<'_> {
        Box::pin(self.until_closed())
    }

    fn on_list_change(&self, change: &Arc<ListChange>) {
        self.tell_of_lists(change);
    }

    fn on_quarantine(&self, entry: (&Arc<EntryCell>, Generation), tools: &HeldBack) {
        self.tell_of_held_back(entry, tools);
    }

    fn on_failure(&self) {
        self.settled.notify_waiters();
    }

    fn on_roots_not_shared(&self, cell: &Arc<EntryCell>) {
        self.leaves_out(cell);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
