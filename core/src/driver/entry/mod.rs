//! What callers see of an entry: published whole, read without a lock.

pub(crate) mod elicitations;
pub(crate) mod last_kept;
pub(crate) mod list_change;
pub(crate) mod listing_end;
pub(crate) mod listings;
pub(crate) mod log_levels;
pub(crate) mod resource_demands;
pub(crate) mod resources;
#[cfg(all(test, feature = "schedules"))]
mod schedules;
pub(crate) mod session_port;
pub(crate) mod told_roots;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Weak};

use tokio::sync::mpsc;
use trunkline_pool::acceptance::QuarantinedTools;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::config::{Fingerprint, ServerSpec};
use trunkline_pool::options::{LogLevel, Offered};
use trunkline_pool::state::{
    CloseExit, CloseMode, EntryId, EntryState, EntryStatus, Generation, KeyId, LossReason,
    SessionId, Slot,
};

use self::elicitations::Elicitations;
use self::last_kept::LastKept;
use self::listings::Listings;
use self::log_levels::{LogLevels, TakenOver};
use self::resources::Resources;
use self::session_port::SessionPort;
use self::told_roots::ToldRoots;
use super::intern::ConnectionKey;
use crate::auth::{Author, Context, Credentials};
use crate::base::sync::atomic::{AtomicU64, Ordering};
use crate::base::sync::{ArcSwap, Guard, Mutex, MutexGuard, Notify};
use crate::base::usage::ServerUsage;
use crate::client::{Connection, Introduction, Kill, Provided};
use crate::events;
use crate::net::cookies::Jar;
use crate::runtime::blocking_pool::OneByOne;

/// The published state of an entry, and the way to its connection.
pub(crate) struct EntryCell {
    /// The entry.
    pub entry: EntryId,
    /// The pool key, which stays interned for as long as the cell is the driver's.
    pub key: KeyId,
    /// The server's name.
    pub server: Arc<str>,
    /// The index that hosts see.
    pub index: u32,
    /// Both, as events have them.
    pub named: Arc<str>,
    /// The configuration.
    pub spec: Arc<ServerSpec>,
    /// The identity of that.
    pub fingerprint: Fingerprint,
    /// The capabilities that the server is offered.
    pub offered: Offered,
    /// The session whose own the connection is.
    pub owner: Option<SessionId>,
    /// The server itself, when the host provides it.
    pub host: Option<Provided>,
    /// Whose credentials the connection is made with, and who wrote the configuration that they are
    /// for.
    pub context: Arc<Context>,
    pub author: Author,
    /// What a remote server set, over all connections.
    pub cookies: Arc<Jar>,
    /// One reader at a time of the files that its values come from.
    pub reads_values: OneByOne,
    published: ArcSwap<EntrySnapshot>,
    /// Wakes the calls that wait for another state.
    pub changed: Notify,
    incarnation: Mutex<Incarnation>,
    /// The sessions that hold it.
    holders: Mutex<BTreeMap<SessionId, Holder>>,
    /// The folders that the server was told of.
    pub(in crate::driver) roots: ToldRoots,
    /// The resources that sessions want updates of.
    pub resources: Resources,
    /// What sessions want to hear of its log.
    pub log_levels: LogLevels,
    /// What sessions were asked to have opened.
    pub elicitations: Elicitations,
    /// What it said of itself when it was connected to last.
    introduction: Mutex<Option<Introduction>>,
    /// Those after the first of each connection.
    pub(in crate::driver) listings: Listings,
    /// What it listed last.
    pub(in crate::driver) kept: LastKept,
    /// Calls started.
    pub calls: AtomicU64,
    /// Calls that ended with an error.
    pub errors: AtomicU64,
    /// What the calls of every entry of this server's name came to.
    pub usage: Arc<ServerUsage>,
}

/// A session that holds an entry.
struct Holder {
    session: Weak<dyn SessionPort>,
    /// How many leases it has.
    leases: usize,
}

/// What a caller sees at one moment.
pub(crate) struct EntrySnapshot {
    /// The reducer's part.
    pub slot: Slot,
    /// The connection of that generation, while it is connected.
    pub connection: Option<Connection>,
}

/// The task that owns the connection.
#[derive(Default)]
struct Incarnation {
    generation: Generation,
    connection: Option<Connection>,
    control: Option<mpsc::Sender<Control>>,
    /// From the start of its process until nothing of that is left.
    pid: Option<u32>,
    /// For tests in which it dies.
    #[cfg(test)]
    task: Option<tokio::task::AbortHandle>,
}

/// What the task of an incarnation is told.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    /// End it.
    Close(CloseMode),
    /// It was lost; clean up.
    Lost(LossReason),
    /// Nobody wants it: end it if nothing of it has begun.
    Forgo,
}

impl Control {
    /// How an attempt that is told this ends, if it does.
    pub(in crate::driver) fn patience(&self) -> Option<Kill> {
        match self {
            Control::Close(CloseMode::Kill) => Some(Kill::Now),
            Control::Close(CloseMode::Graceful { .. } | CloseMode::Now) | Control::Lost(_) => {
                Some(Kill::AfterGraces)
            }
            Control::Forgo => None,
        }
    }

    /// How an attempt that is told this before it has begun is over.
    pub(in crate::driver) fn exit_of_unbegun(&self) -> CloseExit {
        match self {
            Control::Forgo => CloseExit::Unbegun,
            Control::Close(_) | Control::Lost(_) => CloseExit::Clean,
        }
    }
}

impl EntryCell {
    pub(in crate::driver) fn new(status: &EntryStatus, keyed: ConnectionKey) -> Self {
        let slot = Slot {
            generation: Generation(1),
            state: EntryState::Spawning,
            catalog: Arc::new(Catalog::default()),
            held: QuarantinedTools::default(),
            error: None,
        };
        EntryCell {
            entry: status.entry,
            key: status.key,
            named: events::named(&keyed.name, Some(status.index)),
            server: keyed.name,
            index: status.index,
            spec: keyed.spec,
            fingerprint: keyed.fingerprint,
            offered: keyed.offered,
            owner: keyed.owner,
            host: keyed.host,
            author: keyed.authority.author(),
            context: keyed.context,
            cookies: Arc::default(),
            reads_values: OneByOne::default(),
            published: ArcSwap::from_pointee(EntrySnapshot { slot, connection: None }),
            changed: Notify::new(),
            incarnation: Mutex::default(),
            holders: Mutex::default(),
            roots: ToldRoots::default(),
            resources: Resources::default(),
            log_levels: LogLevels::default(),
            elicitations: Elicitations::default(),
            introduction: Mutex::default(),
            listings: Listings::default(),
            kept: LastKept::default(),
            calls: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            usage: keyed.usage,
        }
    }

    /// Whether its connections are made with these credentials.
    pub(crate) fn has(&self, credentials: &Arc<Credentials>) -> bool {
        self.context.has(credentials, &self.server, (&self.spec, self.author))
    }

    /// An entry that is connected and lists this.
    #[cfg(test)]
    pub(crate) fn listing(server: &str, catalog: Arc<Catalog>) -> Arc<EntryCell> {
        use super::Authority;
        let spec = serde_json::json!({ "command": server });
        let spec = ServerSpec::from_value(server, &spec).expect("a command is enough");
        let status = EntryStatus {
            entry: EntryId(0),
            index: 0,
            server: trunkline_pool::state::ServerId(0),
            key: KeyId(0),
            state: EntryState::Active,
            situation: trunkline_pool::state::Situation::Connected,
            generation: Generation(1),
            living: Some(Generation(1)),
            refs: 0,
            waiters: 0,
            connected_at: None,
            due_at: None,
            list_at: None,
            losses: 0,
            error: None,
        };
        let (name, offered) = (server.into(), Offered::default());
        let fingerprint = spec.fingerprint("pool", &[]);
        let (owner, host, spec) = (None, None, Arc::new(spec));
        let context = Context::default_of_tests();
        let (authority, written, turn) = (Authority::Host, None, super::StartPriority::default());
        let keyed = ConnectionKey {
            name,
            spec,
            host,
            fingerprint,
            offered,
            owner,
            context,
            authority,
            written,
            turn,
            usage: Arc::default(),
        };
        let cell = EntryCell::new(&status, keyed);
        cell.publish(Slot { state: EntryState::Active, catalog, ..cell.load().slot.clone() });
        Arc::new(cell)
    }

    /// What callers see now.
    pub(crate) fn load(&self) -> Guard<Arc<EntrySnapshot>> {
        self.published.load()
    }

    /// What callers see now, to keep.
    pub(crate) fn load_full(&self) -> Arc<EntrySnapshot> {
        self.published.load_full()
    }

    /// Replaces what callers see.
    pub(crate) fn publish(&self, slot: Slot) {
        let connected = slot.state.is_connected();
        let connection = self.incarnation().connection_of(slot.generation).filter(|_| connected);
        if let Some(connection) = &connection {
            connection.hide_in(&slot.held);
        }
        self.published.store(Arc::new(EntrySnapshot { slot, connection }));
        self.changed.notify_waiters();
    }

    /// Whether callers see a connection that is lost, since the pool has not heard of the loss.
    pub(crate) fn is_lost(&self) -> bool {
        self.load().connection.as_ref().is_some_and(Connection::is_lost)
    }

    /// Resolves when callers see no such connection. A dropped future changes nothing.
    pub(crate) async fn until_told_of_loss(&self) {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // Registered before the look, so that nothing is missed between the look and the wait.
            changed.as_mut().enable();
            if !self.is_lost() {
                return;
            }
            changed.await;
        }
    }

    /// A new incarnation begins; its task is reached through `control`.
    pub(crate) fn begin(&self, generation: Generation, control: mpsc::Sender<Control>) {
        let control = Some(control);
        *self.incarnation() = Incarnation { generation, control, ..Incarnation::default() };
    }

    /// The task of the incarnation that has begun.
    #[cfg(test)]
    pub(in crate::driver) fn note_task(&self, task: tokio::task::AbortHandle) {
        self.incarnation().task = Some(task);
    }

    /// Ends the task of the incarnation as a panic would.
    #[cfg(test)]
    pub(in crate::driver) fn kill_task(&self) {
        self.incarnation().task.take().expect("a task was begun").abort();
    }

    /// The process of the incarnation runs.
    pub(crate) fn started(&self, generation: Generation, pid: u32) {
        let mut incarnation = self.incarnation();
        if incarnation.generation == generation {
            incarnation.pid = Some(pid);
        }
    }

    /// The incarnation is connected.
    pub(crate) fn connected(&self, generation: Generation, connection: Connection) {
        let mut incarnation = self.incarnation();
        if incarnation.generation == generation {
            *lock(&self.introduction) = connection.server_facts().introduction;
            incarnation.connection = Some(connection);
        }
        drop(incarnation);
        self.tell_log_level();
    }

    /// The incarnation is gone.
    pub(crate) fn ended(&self, generation: Generation) {
        let mut incarnation = self.incarnation();
        if incarnation.generation == generation {
            incarnation.connection = None;
            incarnation.control = None;
            incarnation.pid = None;
        }
    }

    /// Tells the task of that incarnation; `false` when it is gone.
    pub(crate) fn control(&self, generation: Generation, control: Control) -> bool {
        let incarnation = self.incarnation();
        let sender = incarnation.control.as_ref().filter(|_| incarnation.generation == generation);
        sender.is_some_and(|sender| sender.try_send(control).is_ok())
    }

    /// The live connection of that generation.
    pub(crate) fn connection(&self, generation: Generation) -> Option<Connection> {
        self.incarnation().connection_of(generation)
    }

    /// The live connection, and which incarnation it is.
    pub(in crate::driver) fn live_connection(&self) -> Option<(Generation, Connection)> {
        let incarnation = self.incarnation();
        Some((incarnation.generation, incarnation.connection.clone()?))
    }

    /// What it said of itself when it was connected to last; nothing before that.
    pub(crate) fn introduction(&self) -> Option<Introduction> {
        lock(&self.introduction).clone()
    }

    /// Has the server told how much of its log its sessions want, unless it was.
    pub(crate) fn tell_log_level(&self) {
        if !self.log_levels.is_any() {
            return;
        }
        if let Some((generation, connection)) = self.live_connection() {
            let has_silent = |levels: &BTreeMap<_, _>| self.has_silent(levels);
            self.log_levels.tell(generation, has_silent, |level, answered| {
                connection.set_log_level(level, |answer| answered.tell(answer));
            });
        }
    }

    /// Whether a session holds it that is not among these levels.
    fn has_silent(&self, levels: &BTreeMap<SessionId, LogLevel>) -> bool {
        lock(&self.holders).keys().any(|holder| !levels.contains_key(holder))
    }

    /// A session tells the server of that connection its level by a request of its own.
    pub(crate) fn take_over_log_level(
        &self,
        named: (SessionId, LogLevel),
        generation: Generation,
    ) -> TakenOver {
        self.log_levels.take_over(named, generation, |levels| self.has_silent(levels))
    }

    /// The process of the incarnation, connecting and ending ones included.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.incarnation().pid
    }

    /// A session has one lease more.
    pub(in crate::driver) fn hold(&self, number: SessionId, session: &Weak<dyn SessionPort>) {
        match lock(&self.holders).entry(number) {
            Entry::Vacant(place) => {
                place.insert(Holder { session: session.clone(), leases: 1 });
            }
            Entry::Occupied(mut holder) => {
                let holder = holder.get_mut();
                // A session that was resumed has the number of the one before.
                if !holder.session.ptr_eq(session) {
                    holder.session = session.clone();
                }
                holder.leases += 1;
            }
        }
    }

    /// Whether anybody holds it.
    pub(in crate::driver) fn is_held(&self) -> bool {
        !lock(&self.holders).is_empty()
    }

    /// Whether a session holds it.
    pub(crate) fn is_held_by(&self, session: SessionId) -> bool {
        lock(&self.holders).contains_key(&session)
    }

    /// A session has one lease less; with the last one its subscriptions and its log level go. The
    /// resources that nobody wants then; nothing while it has another lease.
    pub(in crate::driver) fn unhold(&self, session: SessionId) -> Option<Vec<Box<str>>> {
        let mut holders = lock(&self.holders);
        let holder = holders.get_mut(&session)?;
        holder.leases -= 1;
        if holder.leases > 0 {
            return None;
        }
        holders.remove(&session);
        drop(holders);
        self.log_levels.forget(session);
        self.tell_log_level();
        Some(self.resources.unwant_all(session))
    }

    /// The session that holds it, if it is the only one.
    pub(crate) fn only_holder(&self) -> Option<Arc<dyn SessionPort>> {
        let holders = lock(&self.holders);
        let mut all = holders.values();
        all.next().filter(|_| all.next().is_none()).and_then(|holder| holder.session.upgrade())
    }

    /// The sessions that hold it.
    pub(in crate::driver) fn holding(&self) -> Vec<Arc<dyn SessionPort>> {
        lock(&self.holders).values().filter_map(|holder| holder.session.upgrade()).collect()
    }

    /// Counts the end of a call.
    pub(crate) fn count_error(&self) {
        self.errors.fetch_add(1, Ordering::Relaxed);
    }

    fn incarnation(&self) -> MutexGuard<'_, Incarnation> {
        lock(&self.incarnation)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Incarnation {
    fn connection_of(&self, generation: Generation) -> Option<Connection> {
        self.connection.clone().filter(|_| self.generation == generation)
    }
}
