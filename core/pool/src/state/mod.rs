//! The reducer: the only writer of pool state.
//!
//! One [`PoolInput`] is one [`step`](PoolState::step), which runs to its end and appends what it
//! wants done. It reads no clock and does no IO; deadlines are data. A step costs the same however
//! many entries and sessions there are (but for the logarithm of ordered sets). Its news go to the
//! holders of the entry concerned only.
//!
//! ```text
//!              acquire                Connected               Disconnected
//!   (nothing) ────────▶ Connecting ─────────────▶ Connected ───────────────▶ Backoff
//!       ▲                │ ▲  ▲ ▲                  │     ▲ restart │            │
//!       │  ConnectFailed │ │  │ └──────────────────┼─────┴─────────┘            │ deadline
//!       ├────────────────┘ │  └───────────────────────────────────────────────┘
//!       │                  │ acquire, restart      │ nobody holds it, in time
//!       │                Failed ◀── attempts used up, breaker
//!       │                  │ last holder gone      ▼
//!       └──── Closed ──── Ended ◀──────────────────┘
//!                          ▲ idle cap, and nobody holds it
//!                     Unauthorized ◀── the server wants credentials (attempt or loss)
//!                          │ acquire or held, and there are other credentials; restart
//!                          ▼
//!                      Connecting
//! ```
//!
//! Beside this phase, which is what the pool wants, each entry has at most one *wire*: the
//! incarnation that exists outside. A new one begins only when `Closed` (or `ConnectFailed`) said
//! that nothing of the last one is left. An entry that is over is a tombstone until then; a new
//! entry of its key lives beside it.
//!
//! What always holds, and [`PoolState::invariants`] checks:
//!
//! 1. An entry has at most one wire; a key leads to at most one entry that is not over.
//! 2. Every open ticket waits in exactly one place, and nothing waits without one.
//! 3. Leases, sessions' holds and entries' holders agree.
//! 4. `Connected` and an established wire of the entry's own generation come together.
//! 5. A deadline that takes an entry away is set only while nobody holds it.
//! 6. Process slots in use are at most the limit, and equal those that the entries claim. Who waits
//!    for one is outnumbered by entries that are over and still hold one, so that every wait ends.
//! 7. The deadlines, the places of who waits and the counts equal those derived from the records.
//! 8. While the pool drains no entry is anything but over.
//! 9. Names with a place in the budget are at most its limit, where that is kept, and equal those
//!    that the entries claim. Nobody waits for room while there is some.
//! 10. No entry whose name or key is shut is anything but over, and nobody waits for one.
//! 11. An entry of an old configuration is restarted only while somebody holds or awaits it.
//! 12. A first attempt without a wire waits for what it replaces or for a process slot, and what it
//!     replaces is hurried; nothing else waits for that, and nobody waits for nothing.
//! 13. An attempt that nobody awaits was told to end if it has not begun.
//! 14. What is held and lacks credentials while there are some that it was not tried with is noted,
//!     and nothing else; there is no room for it.

mod effect;
mod entry;
mod input;
mod invariants;
mod limits;
mod report;
mod session;
mod terms;

use std::collections::{BTreeMap, BTreeSet};

pub use crate::acceptance::Configuration;
pub use crate::base::ids::{
    ConnectionId, EntryId, Generation, KeyId, LeaseId, ListingNumber, Moment, ServerId, SessionId,
    Ticket,
};
pub use crate::gates::{Gate, GateReason};
pub use crate::options::DrainMode;
pub use effect::Effect;
pub use input::PoolInput;
pub use limits::ledger::BudgetRefusal;
pub use limits::obstacle::Admitted;
pub use report::notice::{Audience, Notice};
pub use report::outcomes::{DrainReport, RestartRefusal, RestartReport};
pub use report::status::{EntryStatus, Situation};
pub use session::ask::Ask;
pub use terms::{CloseExit, CloseMode, EntryState, Family, LossReason, Slot, Usage};

use self::entry::Entry;
use self::entry::health::Jitter;
use self::limits::ledger::{BudgetBook, Places, Queue, Slots, Wishes};
use self::session::ask::{Acceptance, IfFull};
use self::session::records::{Closing, Lease, OpenTicket, Session};
use crate::acceptance::Accepted;
use crate::base::id_map::IdMap;
use crate::base::stable_table::StableTable;
use crate::error::Error;
use crate::options::PoolOptions;

/// Everything the pool knows and decides.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolState {
    options: PoolOptions,
    /// The latest moment seen: time never runs backwards, whatever order threads come in.
    now: Moment,
    entries: StableTable<EntryId, Entry>,
    /// The entry of each key that is not over.
    keys: IdMap<KeyId, EntryId>,
    /// The keys whose gate is shut, and why.
    shut_keys: StableTable<KeyId, GateReason>,
    names: StableTable<ServerId, Name>,
    /// How many of them have a last error.
    names_in_error: usize,
    sessions: StableTable<SessionId, Session>,
    leases: IdMap<LeaseId, Lease>,
    tickets: StableTable<Ticket, OpenTicket>,
    due: BTreeSet<(Moment, DueTimer)>,
    slots: Slots,
    /// The definitions of tools that are accepted.
    accepted: Accepted,
    budget: BudgetBook,
    /// The names that wait for room.
    queue: Queue,
    /// What is held and has credentials that it was not tried with, since there was no room.
    owed: BTreeSet<EntryId>,
    next_entry: u32,
    next_lease: u64,
    jitter: Jitter,
    closing: Option<Closing>,
}

/// What is kept of a server's name for as long as the pool lives.
#[derive(Clone, Debug, Default, PartialEq)]
struct Name {
    next_index: u32,
    /// The entries that are not over, by index.
    entries: BTreeMap<u32, EntryId>,
    last_error: Option<Error>,
    gate: Gate,
    /// How many of its entries have what of a place in the budget.
    places: Places,
    /// What waits for room.
    wishes: Option<Wishes>,
    /// What of an old configuration is over and not gone: nothing of the name begins before it is.
    replaced: BTreeSet<EntryId>,
}

/// What falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DueTimer {
    Drain,
    Session(SessionId),
    Entry(EntryId),
    Listing(EntryId),
}

impl PoolState {
    /// An empty pool. `seed` drives the jitter of retries.
    pub fn new(options: PoolOptions, seed: u64) -> Self {
        PoolState {
            options,
            now: Moment::default(),
            entries: StableTable::new(),
            keys: IdMap::default(),
            shut_keys: StableTable::new(),
            names: StableTable::new(),
            names_in_error: 0,
            sessions: StableTable::new(),
            leases: IdMap::default(),
            tickets: StableTable::new(),
            due: BTreeSet::new(),
            slots: Slots::default(),
            accepted: Accepted::default(),
            budget: BudgetBook::default(),
            queue: Queue::default(),
            owed: BTreeSet::new(),
            next_entry: 0,
            next_lease: 0,
            jitter: Jitter(seed),
            closing: None,
        }
    }

    /// Takes one input to its end; what it wants done is appended to `effects`.
    ///
    /// A `now` before that of an earlier step counts as that one. An event of an incarnation that
    /// is no longer the current one changes nothing (SPEC 3.11).
    pub fn step(&mut self, now: Moment, input: PoolInput, effects: &mut Vec<Effect>) {
        self.now = self.now.max(now);
        match input {
            PoolInput::OpenSession { session } => self.open_session(session),
            PoolInput::CloseSession { session, keep_for } => {
                self.close_session(session, keep_for, effects);
            }
            PoolInput::ResumeSession { session } => self.resume_session(session),
            PoolInput::Acquire(ask) => self.acquire(ask, IfFull::Refuse, effects),
            PoolInput::Want { asks } => self.want(asks, effects),
            PoolInput::SetGates { names, keys } => self.set_gates(names, keys, effects),
            PoolInput::ForgetKeys { keys } => self.forget_keys(&keys),
            PoolInput::CancelAcquire { ticket } => self.cancel_acquire(ticket, effects),
            PoolInput::Release { lease } => self.release(lease, effects),
            PoolInput::Restart { ticket, server, index } => {
                self.restart(ticket, server, index, effects);
            }
            PoolInput::Reconfigure { outdated, current } => {
                self.reconfigure(&outdated, &current, effects);
            }
            PoolInput::AcceptTool { ticket, server, tool, digest } => {
                self.accept_tool(Acceptance { ticket, server, tool, digest }, effects);
            }
            PoolInput::Recall { configuration, recalled } => {
                self.accepted.recall(configuration, &recalled);
            }
            PoolInput::Drain { ticket, how, deadline } => {
                self.drain(ticket, how, deadline, effects)
            }
            PoolInput::CredentialsChanged { entries } => {
                self.credentials_changed(&entries, effects)
            }
            PoolInput::Connected { connection, catalog } => {
                self.connected(connection, catalog, effects);
            }
            PoolInput::ConnectFailed { connection, error } => {
                self.connect_failed(connection, error, effects);
            }
            PoolInput::Disconnected { connection, reason, error } => {
                self.disconnected(connection, reason, error, effects);
            }
            PoolInput::CatalogStale { connection } => self.catalog_stale(connection, effects),
            PoolInput::CatalogListed { connection, number, result } => {
                self.catalog_listed(connection, number, result, effects);
            }
            PoolInput::Closed { connection, exit } => self.closed(connection, exit, effects),
        }
        self.fill(effects);
        self.tell_of_budget(effects);
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called; `None` when nothing waits.
    pub fn next_deadline(&self) -> Option<Moment> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Does what fell due by `now`. Calling it early or twice does no harm.
    pub fn handle_timeout(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.now = self.now.max(now);
        while let Some(&(at, timer)) = self.due.first() {
            if at > self.now {
                break;
            }
            match timer {
                DueTimer::Drain => self.drain_is_due(effects),
                DueTimer::Session(session) => self.end_session(session, effects),
                DueTimer::Entry(entry) => self.entry_is_due(entry, effects),
                DueTimer::Listing(entry) => self.listing_is_due(entry, effects),
            }
            self.fill(effects);
            // Whatever was done about it, a deadline is over once it was looked at.
            if self.due.remove(&(at, timer)) {
                debug_assert!(false, "a deadline was left behind by what it caused");
            }
        }
        self.tell_of_budget(effects);
    }

    /// Lets those begin who waited for what has become free.
    fn fill(&mut self, effects: &mut Vec<Effect>) {
        // Nearly always nobody waits, and each step passes here.
        let is_wished = !self.queue.names.is_empty();
        if is_wished {
            self.end_replaced_by_wishes(effects);
        }
        self.fill_slots(effects);
        if is_wished {
            self.fill_wishes(effects);
        }
        if !self.owed.is_empty() {
            self.fill_owed(effects);
        }
    }

    /// Tells what the whole step has made of the budget.
    fn tell_of_budget(&mut self, effects: &mut Vec<Effect>) {
        self.warn_of_budget(effects);
        self.tell_refused(effects);
    }
}
