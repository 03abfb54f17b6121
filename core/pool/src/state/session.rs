//! Sessions and what they hold (SPEC 3.5, 3.6, 3.8, 3.13).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::effects;
use super::protocol::Effect;
use super::{PoolState, Timer};
use crate::ids::{EntryId, LeaseId, Moment, SessionId, Ticket};

/// One session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Session {
    /// Closed, and what it holds is kept until then.
    pub(super) kept_until: Option<Moment>,
    /// Its leases, by the entry that they hold. No set is empty.
    pub(super) holds: BTreeMap<EntryId, BTreeSet<LeaseId>>,
    /// Its acquires under way.
    pub(super) tickets: BTreeSet<Ticket>,
}

/// Who holds what by one lease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lease {
    pub(super) session: SessionId,
    pub(super) entry: EntryId,
}

impl Session {
    pub(super) fn is_open(&self) -> bool {
        self.kept_until.is_none()
    }
}

impl PoolState {
    pub(super) fn open_session(&mut self, session: SessionId) {
        if !self.sessions.contains(session) {
            self.sessions.insert(session, Session::default());
        }
    }

    /// Opens a closed session again with what it holds; with nothing, when that was released
    /// meanwhile.
    pub(super) fn resume_session(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(id) else {
            self.open_session(id);
            return;
        };
        let kept = session.kept_until.take();
        self.rearm(Timer::Session(id), kept, None);
    }

    /// Answers the session's acquires, and releases what it holds, at once or in time.
    pub(super) fn close_session(
        &mut self,
        id: SessionId,
        keep_for: Duration,
        out: &mut Vec<Effect>,
    ) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        for ticket in std::mem::take(&mut session.tickets) {
            self.withdraw(ticket, effects::closed(), out);
        }
        if keep_for.is_zero() {
            self.end_session(id, out);
        } else if let Some(session) = self.sessions.get_mut(id) {
            let until = self.now.after(keep_for);
            let before = session.kept_until.replace(until);
            self.rearm(Timer::Session(id), before, Some(until));
        }
    }

    /// Releases everything that a session holds, and forgets it. Costs what it holds, not what
    /// there is.
    pub(super) fn end_session(&mut self, id: SessionId, out: &mut Vec<Effect>) {
        let Some(session) = self.sessions.remove(id) else {
            return;
        };
        self.rearm(Timer::Session(id), session.kept_until, None);
        for (entry, leases) in session.holds {
            for lease in leases {
                self.leases.remove(lease);
            }
            self.let_go(id, entry, out);
        }
    }

    /// Ends one lease; the session's hold ends with its last lease on the entry.
    pub(super) fn release(&mut self, id: LeaseId, out: &mut Vec<Effect>) {
        let Some(lease) = self.leases.remove(id) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(lease.session) else {
            debug_assert!(false, "a lease of a session that is gone");
            return;
        };
        let Some(leases) = session.holds.get_mut(&lease.entry) else {
            debug_assert!(false, "a lease without a hold");
            return;
        };
        leases.remove(&id);
        if leases.is_empty() {
            session.holds.remove(&lease.entry);
            self.let_go(lease.session, lease.entry, out);
        }
    }

    /// Makes a lease for a session on an entry.
    pub(super) fn hold(&mut self, session: SessionId, id: EntryId) -> LeaseId {
        let lease = LeaseId(self.next_lease);
        self.next_lease += 1;
        self.leases.insert(lease, Lease { session, entry: id });
        if let Some(record) = self.sessions.get_mut(session) {
            record.holds.entry(id).or_default().insert(lease);
        }
        if let Some(entry) = self.entries.get_mut(id) {
            if entry.holders.is_empty() {
                entry.idle.hold_begins(self.now);
            }
            entry.holders.insert(session);
        }
        lease
    }

    /// Takes an entry that ends away from all its holders: the pool is draining, or a gate refuses the server.
    pub(super) fn drop_holds(&mut self, id: EntryId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let now = self.now;
        if !entry.holders.is_empty() {
            entry.idle.hold_ends(now, Duration::ZERO);
        }
        for session in std::mem::take(&mut entry.holders) {
            let leases =
                self.sessions.get_mut(session).and_then(|session| session.holds.remove(&id));
            for lease in leases.into_iter().flatten() {
                self.leases.remove(lease);
            }
        }
    }

    /// A session no longer holds an entry.
    fn let_go(&mut self, session: SessionId, id: EntryId, out: &mut Vec<Effect>) {
        let (now, delay) = (self.now, self.options.drain_delay);
        let Some(entry) = self.entries.get_mut(id) else {
            debug_assert!(false, "a hold on an entry that is gone");
            return;
        };
        entry.holders.remove(&session);
        if entry.holders.is_empty() {
            entry.idle.hold_ends(now, delay);
            self.settle(id, out);
        }
    }
}
