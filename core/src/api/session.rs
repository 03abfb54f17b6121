//! A session: one conversation in a host.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Notify;
use tokio::time::Instant;
use trunkline_pool::acceptance::Held as HeldBack;
use trunkline_pool::catalog::ListKind;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::{AcquireOptions, Handlers, Offered, SessionOptions};
use trunkline_pool::shapes::Shape;
use trunkline_pool::state::{Generation, SessionId};

use super::calls::Calls;
use super::configure::Disabled;
use super::configured::Configured;
use super::filters::SessionWarned;
use super::held::Held;
use super::holds::Holds;
use super::kept::Kept;
use super::lease::Lease;
use super::list::{Given, List, ShapedTools};
use super::log_level::Hears;
use super::pool::{Pool, PoolCore};
use super::sources::Config;
use super::untold::Untold;
use super::view::{Listed, Lists};
use super::wanted::Wants;
use crate::auth::Context;
use crate::driver::{Closed, Driver, EntryCell, ListChange, SessionPort};
use crate::events::{EventMask, Recipient, Subscription};
use crate::{Error, ErrorCode, Result};

/// One conversation: its holds on servers, and its view of their tools. Cheap to clone; all clones are one session.
///
/// Usable from any thread. It closes when its last clone and its last lease are dropped.
#[derive(Clone)]
pub struct Session(Arc<Handle>);

/// Closes the session when the host has no clone left.
struct Handle {
    core: Arc<SessionCore>,
    /// The host has its pool as long as any session of it.
    _pool: Pool,
}

/// Servers that a session brought itself.
pub(super) type OwnServers = Mutex<BTreeMap<Box<str>, Arc<Configured>>>;

/// What the session's handle, leases and calls share. The fields that a list change reads stand
/// first, side by side: it reads thousands of sessions, none of which is in the processor's cache.
#[repr(C)]
pub(crate) struct SessionCore {
    /// What events have to know of it.
    pub recipient: Recipient,
    /// The pool at work.
    pub driver: Arc<Driver>,
    pub(crate) holds: Holds,
    given: Given,
    /// The servers that it wants without asking.
    pub(super) wants: Mutex<Wants>,
    /// When it was opened: the start gate counts from here.
    pub(super) opened: Instant,
    pub(super) pool: Arc<PoolCore>,
    /// What configures the pool.
    pub(super) config: Arc<Config>,
    /// What it keeps of the pool's servers; absent when it follows them.
    pub(super) kept: Option<Kept>,
    /// Its options as they are now.
    pub(super) options: Mutex<Arc<SessionOptions>>,
    /// What answers the servers that it calls: its own handlers, else the pool's.
    pub(crate) handlers: Handlers,
    /// What servers are offered because of them.
    pub(super) offered: Offered,
    /// Whose credentials its connections are made with.
    pub(super) context: Arc<Context>,
    /// Folders that its own connections are told of, beside the pool's.
    pub(crate) roots: ArcSwap<Vec<PathBuf>>,
    /// The shared connections that are not told of them.
    pub(super) untold: Untold<EntryCell>,
    pub(super) calls: Arc<Calls>,
    pub(super) warned: SessionWarned,
    /// Something in `wants` was settled, or the session closed.
    pub(super) settled: Notify,
    /// Servers that the session brought itself.
    own: Arc<OwnServers>,
    /// Servers that it does without (SPEC 6.5).
    pub(super) disabled: Arc<Disabled>,
    /// How grave log messages have to be to be heard.
    pub(super) hears: Hears,
}

impl Session {
    /// A new session that wants nothing yet, or one that is to take up what a closed one of the same id left (SPEC 3.13); whether
    /// that is there still.
    pub(super) fn open(
        pool: &Pool,
        (options, roots): (SessionOptions, Vec<PathBuf>),
        resumed: Option<(SessionId, Arc<Context>)>,
    ) -> (Session, bool) {
        let mut opened = None;
        let (resumed, left) = resumed.unzip();
        let is_kept = pool.0.driver.open_session(resumed, |number| {
            let core = SessionCore::new(&pool.0, (options, roots), number, left);
            Arc::<SessionCore>::downgrade(opened.insert(Arc::new(core)))
        });
        let core = opened.expect("open_session calls its argument");
        (Session(Arc::new(Handle { core, _pool: pool.clone() })), is_kept)
    }

    pub(super) fn core(&self) -> &Arc<SessionCore> {
        &self.0.core
    }

    /// Another handle of a live session; `None` when its last clone is gone.
    pub(super) fn downgrade(&self) -> WeakSession {
        WeakSession(Arc::downgrade(&self.0))
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.core().recipient.id
    }

    /// An explicit lease on a server, waiting until it is connected. With `spec`, the server is first put into the
    /// session's own source, where it stays.
    ///
    /// With `origin` the configuration counts as one of `project` or `workspace`: it needs approval and trust as a file of those does.
    ///
    /// Dropping the future gives the hold up: a server that nobody else waits for goes straight to drain.
    ///
    /// # Errors
    /// `not_admitted` (`detail.reason`: `removed`, `not_configured`, `excluded`, `not_allowed`, `disabled`, `pending_approval`), `invalid_config`, `timeout` (`detail.which` is `connect`) at the end of this wait, the error of the
    /// attempt (`spawn_failed`, `exited`, `protocol`, `timeout`, …), `limit`, `closing`, `closed`, `forked`.
    pub async fn acquire(
        &self,
        server: &str,
        spec: Option<&ServerSpec>,
        options: &AcquireOptions,
    ) -> Result<Lease> {
        let leased = self.leased(server, spec, options).await;
        leased.map_err(|error| self.core().as_replaced(server, error))
    }

    /// Waits until every server that the session wants is ready or has failed; with `server`, for
    /// that one, whose failure is the error. Without `timeout` the servers' own connect time-outs
    /// bound it, each of which begins with the server's turn (`start_parallel`). A `server` that
    /// failed is tried once more, whatever is remembered of it; one that was lost and is on its way
    /// back is waited for, with a name and without. Without a name nothing is tried anew, and no
    /// failure is the error: what failed stands in the status, in [`started`](Self::started) and in
    /// the log.
    ///
    /// # Errors
    /// `timeout` with `detail.servers`, `not_admitted` or `invalid_config` for a server that cannot run, `invalid_argument` for one that
    /// the session does not want, `closed`, `forked`.
    pub async fn ready(&self, server: Option<&str>, timeout: Option<Duration>) -> Result<()> {
        self.core().check()?;
        if let Some(server) = server {
            self.core().learn_again(server);
        }
        let ready = self.core().ready(server, timeout).await;
        ready.map_err(|error| match server {
            Some(server) => self.core().as_replaced(server, error),
            None => error,
        })
    }

    /// The tools of its view, in an order that a host's prompt cache survives: a first list is by exposed name, and within the session
    /// tools that were listed keep their places, whatever goes or comes back, and new ones come after them.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn tools(&self) -> Result<List> {
        Ok(self.core().view()?.tools.clone())
    }

    /// The tools of its view in the shape in which a model API takes them, in the order and with the number of [`tools`](Self::tools).
    ///
    /// Schemas are as the servers sent them, but for what the API refuses ([`shapes`](crate::shapes)).
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn tools_for(&self, shape: Shape) -> Result<ShapedTools> {
        let view = self.core().view()?;
        Ok(view.shaped.tools(shape, &view.tools))
    }

    /// The prompts of its view.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn prompts(&self) -> Result<List> {
        Ok(self.core().view()?.prompts.clone())
    }

    /// The resources of its view.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn resources(&self) -> Result<List> {
        Ok(self.core().view()?.resources.clone())
    }

    /// The resource templates of its view.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn resource_templates(&self) -> Result<List> {
        Ok(self.core().view()?.resource_templates.clone())
    }

    /// Events of this session; they end with it.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub fn subscribe(&self, kinds: EventMask) -> Result<Subscription> {
        let core = self.core();
        core.check()?;
        let status = || core.pool.status();
        let subscriber = core.driver.hub.subscribe(kinds, Some(core.recipient.number), status)?;
        let (hub, runtime) = (core.driver.hub.clone(), core.driver.runtime.clone());
        let subscription = Subscription { hub, runtime, subscriber };
        // A close that came between did not see it, and would never end it.
        core.check()?;
        Ok(subscription)
    }

    /// Ends it: its calls are cancelled, its holds go now, or after `keep_for` (the session's option by default). Repeating
    /// it does nothing.
    pub fn close(&self, keep_for: Option<Duration>) {
        self.core().close(keep_for);
    }
}

/// A session that does not keep itself open.
pub(super) struct WeakSession(Weak<Handle>);

impl WeakSession {
    pub(super) fn upgrade(&self) -> Option<Session> {
        self.0.upgrade().map(Session).filter(|session| !session.core().is_closed())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.close(None);
    }
}

impl SessionCore {
    fn new(
        pool: &Arc<PoolCore>,
        (options, roots): (SessionOptions, Vec<PathBuf>),
        number: SessionId,
        left: Option<Arc<Context>>,
    ) -> SessionCore {
        let (driver, own) = (&pool.driver, &options.handlers);
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
            driver: pool.driver.clone(),
            pool: pool.clone(),
            config: pool.config.clone(),
            kept: Kept::of(&pool.config, options.follow),
            options: Mutex::new(Arc::new(options)),
            calls: Arc::default(),
            wants: Mutex::default(),
            warned: SessionWarned::default(),
            settled: Notify::new(),
            own: Arc::default(),
            disabled: Arc::default(),
            hears,
            holds: Holds::default(),
            given: Given::default(),
        }
    }

    /// Fails when the session cannot be used any more.
    pub(super) fn check(&self) -> Result<()> {
        self.driver.check_process()?;
        if self.is_closed() { Err(self.closed()) } else { Ok(()) }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.recipient.is_closed()
    }

    /// Waits until it is closed.
    pub(super) async fn until_closed(&self) {
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
    pub(super) fn closed(&self) -> Error {
        Error::new(ErrorCode::Closed, "the session is closed").with_session(&*self.recipient.id)
    }

    fn close(&self, keep_for: Option<Duration>) {
        // In a forked child the servers, and whoever holds a lock, are the parent's.
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
        // Before its id is free: whoever resumes it has the number, and events of its own.
        self.driver.hub.end_session(self.recipient.number);
        self.pool.session_closed(self, keep_for, kept);
        self.settled.notify_waiters();
    }

    /// An error about one server in this session.
    pub(super) fn named(&self, server: &str, error: Error) -> Error {
        error.with_server(server).with_session(&*self.recipient.id)
    }

    /// The number of a change of one of its lists that is told, see [`List::revision`].
    pub(super) fn number_of_change(&self, list: ListKind) -> u64 {
        self.given.number_of_change(list)
    }

    /// The view as it is now; made anew only when a catalog or a state in it changed.
    pub(super) fn view(&self) -> Result<Arc<Lists>> {
        self.check()?;
        Ok(self.given.lists(self))
    }

    /// The tools of one hold, as the view has them.
    pub(super) fn tools_of(&self, held: &Arc<Held>) -> Arc<[Listed]> {
        self.given.tools_of(self, held)
    }

    /// Its own source, for who must not hold the session.
    pub(super) fn own_servers(&self) -> &Arc<OwnServers> {
        &self.own
    }

    /// Puts a server into the session's own source.
    pub(super) fn put_own(&self, server: &str, configured: Arc<Configured>) {
        let before = self.own().insert(server.into(), configured);
        // A server of the host's own ends with it, and its code may call back here.
        drop(before);
    }

    /// A server that the session brought itself.
    pub(super) fn own_server(&self, server: &str) -> Option<Arc<Configured>> {
        self.own().get(server).cloned()
    }

    /// The names of those.
    pub(super) fn own_names(&self) -> Vec<Box<str>> {
        self.own().keys().cloned().collect()
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Arc<Configured>>> {
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

    fn closed(&self) -> Closed<'_> {
        Box::pin(self.until_closed())
    }

    fn on_list_change(&self, change: &Arc<ListChange>) {
        self.holds.listed(self, change);
    }

    fn on_quarantine(&self, entry: (&Arc<EntryCell>, Generation), tools: &HeldBack) {
        self.holds.held_back(self, entry, tools);
    }

    fn on_failure(&self) {
        self.settled.notify_waiters();
    }

    fn roots_left_out(&self, cell: &Arc<EntryCell>) {
        self.leaves_out(cell);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trunkline_pool::options::PoolOptions;

    use super::*;
    use crate::api::configured::Origin;

    /// SPEC 3.5.
    #[tokio::test]
    async fn what_a_closed_session_brought_is_closed_and_not_unknown() {
        let pool = Pool::new(PoolOptions::from_json(r#"{"cache":"off"}"#).unwrap()).unwrap();
        let session = pool.session(SessionOptions::new("a")).unwrap();
        let spec = ServerSpec::from_value("s", &json!({ "command": "true" })).unwrap();
        let configured = Configured::new(Arc::new(spec), &pool.driver().options);
        session.core().put_own("s", configured);
        assert!(session.core().spec("s", Origin::Session).is_ok());
        let unknown = session.core().either_spec("t").err().unwrap();
        assert_eq!(unknown.code(), ErrorCode::NotAdmitted);
        session.close(None);
        let error = session.core().spec("s", Origin::Session).err().unwrap();
        assert_eq!((error.code(), error.session()), (ErrorCode::Closed, Some("a")));
    }
}
