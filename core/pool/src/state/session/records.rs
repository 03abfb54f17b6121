//! What is kept of sessions, of their leases, and of each question until it is answered.

use std::collections::BTreeSet;

use crate::base::ids::{EntryId, KeyId, LeaseId, Moment, ServerId, SessionId, Ticket};
use crate::options::DrainMode;
use crate::state::report::outcomes::RestartReport;

/// One session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::state) struct Session {
    /// Closed, and what it holds is kept until then.
    pub(in crate::state) kept_until: Option<Moment>,
    /// Its leases, by the entry that they hold.
    pub(in crate::state) holds: BTreeSet<(EntryId, LeaseId)>,
    /// Its acquires under way.
    pub(in crate::state) tickets: BTreeSet<Ticket>,
}

/// Who holds what by one lease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::state) struct Lease {
    pub(in crate::state) session: SessionId,
    pub(in crate::state) entry: EntryId,
}

impl Session {
    pub(in crate::state) fn is_open(&self) -> bool {
        self.kept_until.is_none()
    }

    /// Whether it has a lease on the entry.
    pub(in crate::state) fn holds_entry(&self, entry: EntryId) -> bool {
        self.leases_on(entry).next().is_some()
    }

    pub(in crate::state) fn leases_on(&self, entry: EntryId) -> impl Iterator<Item = LeaseId> {
        let all = self.holds.range((entry, LeaseId(0))..=(entry, LeaseId(u64::MAX)));
        all.map(|(_, lease)| *lease)
    }
}

/// A ticket that is not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::state) enum OpenTicket {
    /// An acquire: who asked, and the entry that it waits for.
    Acquire { session: SessionId, entry: EntryId },
    /// A wish that waits for room: who has it, and for what.
    Wish { session: SessionId, server: ServerId, key: KeyId },
    /// A restart.
    Restart(RestartWait),
    /// A drain.
    Drain,
}

/// A restart that is not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::state) struct RestartWait {
    pub(in crate::state) since: Moment,
    /// The entries that have not reported.
    pub(in crate::state) left: u32,
    pub(in crate::state) reports: Vec<RestartReport>,
}

/// The drain that is under way, or over.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::state) struct Closing {
    pub(in crate::state) how: DrainMode,
    pub(in crate::state) stage: Patience,
    pub(in crate::state) tickets: Vec<Ticket>,
    pub(in crate::state) drained: u32,
    pub(in crate::state) forced: u32,
}

/// How long the drain still waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Patience {
    /// For everything to end, until the deadline.
    Waiting { deadline: Moment },
    /// For what was killed to be gone.
    Killing { until: Moment },
    /// No longer.
    Spent,
}

impl Patience {
    pub(in crate::state) fn due(self) -> Option<Moment> {
        match self {
            Patience::Waiting { deadline } => Some(deadline),
            Patience::Killing { until } => Some(until),
            Patience::Spent => None,
        }
    }
}
