//! Sessions and what they hold (SPEC 3.5, 3.6, 3.8, 3.13).

use std::time::Duration;

use super::records::{Lease, Session};
use crate::base::ids::{EntryId, LeaseId, SessionId};
use crate::state::effect::Effect;
use crate::state::report::messages;
use crate::state::{DueTimer, PoolState};

impl PoolState {
    /// Whether a closed session's holds are there for who resumes it.
    pub fn keeps(&self, session: SessionId) -> bool {
        self.sessions.get(session).is_some_and(|session| !session.is_open())
    }

    pub(in crate::state) fn open_session(&mut self, session: SessionId) {
        if !self.sessions.contains(session) {
            self.sessions.insert(session, Session::default());
        }
    }

    /// Opens a closed session again with what it holds; with nothing, when that was released
    /// meanwhile.
    pub(in crate::state) fn resume_session(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(id) else {
            self.open_session(id);
            return;
        };
        let kept = session.kept_until.take();
        self.rearm(DueTimer::Session(id), kept, None);
    }

    /// Answers the session's acquires, and releases what it holds, at once or in time.
    pub(in crate::state) fn close_session(
        &mut self,
        id: SessionId,
        keep_for: Duration,
        out: &mut Vec<Effect>,
    ) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        for ticket in std::mem::take(&mut session.tickets) {
            self.withdraw(ticket, messages::closed(), out);
        }
        if keep_for.is_zero() {
            self.end_session(id, out);
        } else if let Some(session) = self.sessions.get_mut(id) {
            let until = self.now.after(keep_for);
            let before = session.kept_until.replace(until);
            self.rearm(DueTimer::Session(id), before, Some(until));
        }
    }

    /// Releases everything that a session holds, and forgets it. Costs what it holds, not what
    /// there is.
    pub(in crate::state) fn end_session(&mut self, id: SessionId, out: &mut Vec<Effect>) {
        let Some(session) = self.sessions.remove(id) else {
            return;
        };
        self.rearm(DueTimer::Session(id), session.kept_until, None);
        let mut holds = session.holds.into_iter().peekable();
        while let Some((entry, lease)) = holds.next() {
            self.leases.remove(&lease);
            if holds.peek().is_none_or(|(next, _)| *next != entry) {
                self.let_go(id, entry, out);
            }
        }
    }

    /// Ends one lease; the session's hold ends with its last lease on the entry.
    pub(in crate::state) fn release(&mut self, id: LeaseId, out: &mut Vec<Effect>) {
        let Some(lease) = self.leases.remove(&id) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(lease.session) else {
            debug_assert!(false, "a lease of a session that is gone");
            return;
        };
        let was_held = session.holds.remove(&(lease.entry, id));
        debug_assert!(was_held, "a lease without a hold");
        if !session.holds_entry(lease.entry) {
            self.let_go(lease.session, lease.entry, out);
        }
    }

    /// Makes a lease for a session on an entry; the session, when it did not hold the entry before.
    pub(in crate::state) fn hold(
        &mut self,
        session: SessionId,
        id: EntryId,
    ) -> (LeaseId, Option<SessionId>) {
        let lease = LeaseId(self.next_lease);
        self.next_lease += 1;
        self.leases.insert(lease, Lease { session, entry: id });
        let held_before = self.sessions.get_mut(session).is_some_and(|record| {
            let held_before = record.holds_entry(id);
            record.holds.insert((id, lease));
            held_before
        });
        // Who holds it already is one of its holders.
        if held_before {
            return (lease, None);
        }
        if let Some(entry) = self.entries.get_mut(id) {
            if entry.holders.is_empty() {
                entry.idle.hold_begins(self.now);
            }
            entry.holders.insert(session);
        }
        (lease, Some(session))
    }

    /// Takes an entry that ends away from all its holders: the pool is draining, or a gate refuses
    /// the server.
    pub(in crate::state) fn drop_holds(&mut self, id: EntryId) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let now = self.now;
        if !entry.holders.is_empty() {
            entry.idle.hold_ends(now, Duration::ZERO);
        }
        for session in std::mem::take(&mut entry.holders) {
            let Some(session) = self.sessions.get_mut(session) else { continue };
            for lease in session.leases_on(id).collect::<Vec<_>>() {
                session.holds.remove(&(id, lease));
                self.leases.remove(&lease);
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
