//! What is known of one entry, and what follows from it.

mod auth;
mod connection;
mod failure;
pub(in crate::state) mod health;
pub(in crate::state) mod idle;
mod quarantine;
mod refresh;
mod replace;
mod restart;
mod transition;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::health::Health;
use self::idle::{IdleClock, Planned};
use super::terms::{EntryState, Family, Slot};
use crate::acceptance::{Configuration, QuarantinedTools};
use crate::base::ids::{
    ConnectionId, EntryId, Generation, KeyId, ListingNumber, Moment, ServerId, SessionId, Ticket,
};
use crate::catalog::Catalog;
use crate::config::Fingerprint;
use crate::config::Share;
use crate::error::Error;
use crate::options::{OnToolChange, Reconnect};

/// One entry of the pool.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::state) struct Entry {
    pub(in crate::state) index: u32,
    pub(in crate::state) server: ServerId,
    pub(in crate::state) key: KeyId,
    pub(in crate::state) family: Family,
    pub(in crate::state) share: Share,
    /// How a lost connection comes back, where that is not the pool's way.
    pub(in crate::state) reconnect: Option<Arc<Reconnect>>,
    /// The newest incarnation, or the one that is coming.
    pub(in crate::state) generation: Generation,
    pub(in crate::state) phase: Phase,
    /// The one incarnation that exists outside, which may be older than `generation`.
    pub(in crate::state) wire: Option<Wire>,
    /// The state that was last announced; `None` before the first.
    pub(in crate::state) shown: Option<EntryState>,
    pub(in crate::state) fingerprint: Fingerprint,
    /// What becomes of its changed tools.
    pub(in crate::state) on_tool_change: OnToolChange,
    /// What holders see.
    pub(in crate::state) catalog: Arc<Catalog>,
    /// The tools that are held back from them.
    pub(in crate::state) held: QuarantinedTools,
    /// Why it is not connected.
    pub(in crate::state) error: Option<Error>,
    pub(in crate::state) holders: BTreeSet<SessionId>,
    /// Who waits for it, and whether as a wish: a wish waits on when it has failed.
    pub(in crate::state) waiters: BTreeMap<Ticket, bool>,
    pub(in crate::state) restarts: Vec<Ticket>,
    /// The pool's configuration of the server is another now.
    pub(in crate::state) is_outdated: bool,
    /// Its end has no more time than what is to take its place leaves it, or none from the first.
    pub(in crate::state) is_hurried: bool,
    pub(in crate::state) idle: IdleClock,
    pub(in crate::state) health: Health,
    /// Those that there are, and those that the last attempt began with.
    pub(in crate::state) credentials: Credentials,
}

/// What the pool wants of an entry. What exists outside is [`Wire`].
#[derive(Clone, Debug, PartialEq)]
pub(in crate::state) enum Phase {
    /// Its attempt begins when a process slot is free.
    Waiting { why: Why, turn: u64 },
    /// Its attempt is under way, or begins when the last incarnation is gone.
    Connecting { why: Why },
    /// Connected since then.
    Connected { since: Moment, planned: Option<Planned>, listing: ListingProgress },
    /// Lost; the next attempt begins then.
    Backoff { until: Moment },
    /// Given up until somebody asks, or until that moment, when it is tried quietly.
    Failed { until: Option<Moment> },
    /// It wants other credentials than it was tried with. While nobody holds it, it ends at that
    /// moment.
    Unauthorized { until: Option<Moment> },
    /// Over. The record stays while something of it lives outside.
    Ended { reason: &'static str },
}

/// Why an attempt is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Why {
    /// Somebody asked for a new entry.
    First,
    /// It was lost, and the schedule says so.
    Retry,
    /// Somebody asked for a failed entry.
    Fresh,
    /// It failed a while ago and is still wanted: nobody is told before it succeeds.
    Revive,
    /// Somebody asked for a restart.
    Restart,
}

/// The one incarnation that exists outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) struct Wire {
    pub(in crate::state) generation: Generation,
    pub(in crate::state) stage: Stage,
    /// It was told to end if it has not begun, since nobody wants it.
    pub(in crate::state) is_forgone: bool,
}

/// How far an incarnation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Stage {
    /// `Connect` is not answered yet.
    Attempting,
    /// `Connected` came.
    Established,
    /// It was closed or lost; `Closed` is awaited.
    Ending,
}

/// How far the lists of an incarnation have been read again (SPEC 7.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct ListingProgress {
    pub(in crate::state) reading: ListReading,
    /// The last listing that began.
    pub(in crate::state) number: ListingNumber,
    /// The next one begins at this moment at the earliest.
    pub(in crate::state) next_at: Moment,
}

impl ListingProgress {
    /// When the lists are read again.
    pub(in crate::state) fn due_at(self) -> Option<Moment> {
        (self.reading == ListReading::Due).then_some(self.next_at)
    }
}

/// Whether lists are being read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) enum ListReading {
    /// Nothing is under way, and nothing has changed.
    #[default]
    Quiet,
    /// A listing begins as soon as it may.
    Due,
    /// One is under way, and nothing has changed since it began.
    Running,
    /// One is under way, and another must follow it.
    Outdated,
}

/// What an entry takes up in the pool's books; derived from the entry alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct Claims {
    /// It has one of the process slots.
    pub(in crate::state) slot: bool,
    /// Its process slot comes back for certain when it is gone.
    pub(in crate::state) leaving: bool,
    /// Its turn among those who wait for a process slot.
    pub(in crate::state) turn: Option<u64>,
    /// Its deadline.
    pub(in crate::state) due: Option<Moment>,
    /// When its lists are read again.
    pub(in crate::state) list_at: Option<Moment>,
    /// What it takes of the budget.
    pub(in crate::state) budget: BudgetPlace,
    /// An attempt with other credentials is owed to those who hold it.
    pub(in crate::state) owed: bool,
}

/// What an entry takes of the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct BudgetPlace {
    /// It has a place.
    pub(in crate::state) held: bool,
    /// Something of it runs that is no attempt.
    pub(in crate::state) live: bool,
    /// It is to run, and not only about to be gone.
    pub(in crate::state) staying: bool,
}

impl BudgetPlace {
    pub(in crate::state) fn of(entry: &Entry) -> BudgetPlace {
        let staying = match entry.phase {
            Phase::Waiting { .. }
            | Phase::Connecting { .. }
            | Phase::Connected { .. }
            | Phase::Backoff { .. } => true,
            Phase::Failed { .. } | Phase::Unauthorized { .. } | Phase::Ended { .. } => false,
        };
        let live = entry.wire.is_some_and(|wire| wire.stage != Stage::Attempting);
        BudgetPlace { held: staying || entry.wire.is_some(), live, staying }
    }
}

/// The credentials of an entry: how often there were others, and those that the last attempt began
/// with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::state) struct Credentials {
    newest: u64,
    tried: u64,
}

impl Credentials {
    /// There are others.
    pub(in crate::state) fn renew(&mut self) {
        self.newest = self.newest.saturating_add(1);
    }

    /// Whether there are some that it was not tried with.
    pub(in crate::state) fn has_others(self) -> bool {
        self.tried != self.newest
    }

    /// An attempt begins, with the newest.
    pub(in crate::state) fn try_newest(&mut self) {
        self.tried = self.newest;
    }

    /// Whether no attempt had what was not there yet.
    pub(in crate::state) fn is_sound(self) -> bool {
        self.tried <= self.newest
    }
}

impl Entry {
    pub(in crate::state) fn claims(&self) -> Claims {
        let process = self.family == Family::Local;
        let (slot, turn, due) = match &self.phase {
            Phase::Waiting { turn, .. } => (false, Some(*turn), None),
            Phase::Connecting { .. } => (true, None, None),
            Phase::Connected { planned, .. } => (true, None, planned.map(|planned| planned.at)),
            Phase::Backoff { until } => (true, None, Some(*until)),
            Phase::Failed { until } | Phase::Unauthorized { until } => {
                (self.wire.is_some(), None, *until)
            }
            Phase::Ended { .. } => (self.wire.is_some(), None, None),
        };
        let leaving = process && slot && matches!(self.phase, Phase::Ended { .. });
        let list_at = match &self.phase {
            Phase::Connected { listing, .. } => listing.due_at(),
            _ => None,
        };
        let is_held = matches!(self.phase, Phase::Unauthorized { until: None });
        let (owed, budget) = (is_held && self.credentials.has_others(), BudgetPlace::of(self));
        Claims { slot: process && slot, leaving, turn, due, list_at, budget, owed }
    }

    /// The state that hosts are to see (SPEC 3.1).
    pub(in crate::state) fn visible(&self) -> EntryState {
        match &self.phase {
            Phase::Waiting { why: Why::First, .. } | Phase::Connecting { why: Why::First } => {
                EntryState::Spawning
            }
            Phase::Waiting { why: Why::Revive, .. } | Phase::Connecting { why: Why::Revive } => {
                EntryState::Failed
            }
            Phase::Waiting { .. } | Phase::Connecting { .. } | Phase::Backoff { .. } => {
                EntryState::Reconnecting
            }
            Phase::Connected { .. } if self.holders.is_empty() => EntryState::Draining,
            Phase::Connected { .. } => EntryState::Active,
            Phase::Unauthorized { .. } => EntryState::AuthRequired,
            Phase::Failed { .. } => EntryState::Failed,
            Phase::Ended { .. } if self.wire.is_none() => EntryState::Closed,
            // What is still dying is not closed, and nobody holds it.
            Phase::Ended { .. } => match self.shown {
                Some(EntryState::Active) => EntryState::Draining,
                Some(shown) => shown,
                None => EntryState::Closed,
            },
        }
    }

    /// What its accepted definitions belong to.
    pub(in crate::state) fn configuration(&self) -> Configuration {
        let Entry { server, fingerprint, on_tool_change, .. } = *self;
        Configuration { server, fingerprint, on_tool_change }
    }

    /// What callers see. An entry that is over takes no calls, though it may still be dying.
    pub(in crate::state) fn slot(&self) -> Slot {
        let state = match self.phase {
            Phase::Ended { .. } => EntryState::Closed,
            _ => self.visible(),
        };
        Slot {
            generation: self.generation,
            state,
            catalog: self.catalog.clone(),
            held: self.held.clone(),
            error: self.error.clone(),
        }
    }

    /// Whether anybody waits for it or holds it.
    pub(in crate::state) fn is_wanted(&self) -> bool {
        !self.holders.is_empty() || !self.waiters.is_empty()
    }

    /// Whether anybody waits for it, holds it or asked for its restart.
    pub(in crate::state) fn is_awaited(&self) -> bool {
        self.is_wanted() || !self.restarts.is_empty()
    }

    /// Whether a wish waits for it.
    pub(in crate::state) fn is_wished(&self) -> bool {
        self.waiters.values().any(|is_wish| *is_wish)
    }

    /// Whether something newer took its place: it is of an old configuration, and of use to nobody.
    pub(in crate::state) fn is_superseded(&self) -> bool {
        self.is_outdated && !self.is_wanted()
    }

    pub(in crate::state) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }

    /// The incarnation outside, with its stage changed to `Ending`.
    pub(in crate::state) fn ending_wire(&self) -> Option<Wire> {
        self.wire.map(|wire| Wire { stage: Stage::Ending, ..wire })
    }

    /// The incarnation outside, whether or not it is ending.
    pub(in crate::state) fn connection(&self, entry: EntryId) -> Option<ConnectionId> {
        self.wire.map(|wire| ConnectionId { entry, generation: wire.generation })
    }

    /// The incarnation outside that has not been told to end and has not ended by itself.
    pub(in crate::state) fn live_connection(&self, entry: EntryId) -> Option<ConnectionId> {
        self.connection(entry).filter(|_| self.wire.is_some_and(|wire| wire.stage != Stage::Ending))
    }
}
