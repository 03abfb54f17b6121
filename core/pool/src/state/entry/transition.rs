//! The pool's books: process slots, deadlines, and the one function that changes an entry's phase,
//! but for the progress of a listing.
//!
//! Everything here is derived from the entries and kept only to be found quickly; `invariants`
//! compares.

use super::{Claims, Entry, Phase, Stage, Wire};
use crate::base::ids::{ConnectionId, EntryId, Generation, Moment, ServerId, SessionId};
use crate::error::Error;
use crate::state::effect::Effect;
use crate::state::report::messages::reason;
use crate::state::report::notice::{Audience, Notice};
use crate::state::session::ask::{End, NOW};
use crate::state::terms::Family;
use crate::state::{DueTimer, Name, PoolState};

impl PoolState {
    /// Moves an entry to a phase, and the books with it.
    pub(in crate::state) fn place(&mut self, id: EntryId, phase: Phase, wire: Option<Wire>) {
        let Some(entry) = self.entries.get_mut(id) else {
            debug_assert!(false, "a phase for an entry that is gone");
            return;
        };
        let before = entry.claims();
        entry.phase = phase;
        entry.wire = wire;
        let (server, after) = (entry.server, entry.claims());
        self.book(id, server, before, after);
    }

    /// Drops the record of an entry.
    pub(in crate::state) fn forget(&mut self, id: EntryId) {
        if let Some(entry) = self.entries.remove(id) {
            self.accepted.leave(entry.configuration());
            self.book(id, entry.server, entry.claims(), Claims::default());
        }
    }

    /// There are other credentials for an entry.
    pub(in crate::state) fn renew_credentials(&mut self, id: EntryId) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        let before = entry.claims();
        entry.credentials.renew();
        let (server, after) = (entry.server, entry.claims());
        self.book(id, server, before, after);
    }

    fn book(&mut self, id: EntryId, server: ServerId, before: Claims, after: Claims) {
        let slots = &mut self.slots;
        slots.used = slots.used + u32::from(after.slot) - u32::from(before.slot);
        slots.leaving = slots.leaving + u32::from(after.leaving) - u32::from(before.leaving);
        if before.turn != after.turn {
            if let Some(turn) = before.turn {
                slots.waiting.remove(&turn);
            }
            if let Some(turn) = after.turn {
                slots.waiting.insert(turn, id);
            }
        }
        if before.due != after.due {
            self.rearm(DueTimer::Entry(id), before.due, after.due);
        }
        if before.list_at != after.list_at {
            self.rearm(DueTimer::Listing(id), before.list_at, after.list_at);
        }
        match (before.owed, after.owed) {
            (false, true) => drop(self.owed.insert(id)),
            (true, false) => drop(self.owed.remove(&id)),
            (true, true) | (false, false) => {}
        }
        if before.budget != after.budget
            && let Some(name) = self.name_mut(server)
        {
            let was = name.places.together();
            name.places.change(before.budget, after.budget);
            let is = name.places.together();
            self.budget.names.change(was, is);
        }
    }

    /// Whether an entry with these claims can have a process slot, now or when one comes back.
    pub(in crate::state) fn has_room(&self, family: Family, claims: Claims) -> bool {
        let waiting = u32::try_from(self.slots.waiting.len()).unwrap_or(u32::MAX);
        match family {
            Family::Remote => true,
            Family::Local => {
                claims.slot
                    || self.slots.used < self.options.limits.processes
                    || waiting < self.slots.leaving
            }
        }
    }

    /// Lets those who wait for a process slot begin, as far as there are slots.
    pub(in crate::state) fn fill_slots(&mut self, out: &mut Vec<Effect>) {
        while self.slots.used < self.options.limits.processes {
            let Some((_, &id)) = self.slots.waiting.first_key_value() else {
                return;
            };
            let Some(Entry { phase: Phase::Waiting { why, .. }, .. }) = self.entries.get(id) else {
                debug_assert!(false, "an entry in the queue that does not wait");
                return;
            };
            let why = *why;
            self.place(id, Phase::Connecting { why }, None);
            self.open_wire(id, out);
        }
    }

    /// Begins the attempt that a connecting entry wants: the one place where a `Connect` is made
    /// (S-04).
    pub(in crate::state) fn open_wire(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some((server, key)) = self.entries.get(id).map(|entry| (entry.server, entry.key))
        else {
            return;
        };
        let admitted = match self.admit(server, key) {
            Ok(admitted) => admitted,
            Err(why) => {
                debug_assert!(false, "an attempt of a server that is not admitted");
                let error = Some(why.error());
                return self.end(id, End { reason: reason::GATE, error, how: NOW }, out);
            }
        };
        if self.entries.get(id).is_some_and(Entry::waits_for_replaced) {
            self.end_replaced(server, out);
            if self.must_wait_for_replaced(server) {
                return;
            }
        }
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.health.try_once();
        entry.credentials.try_newest();
        let (generation, phase) = (entry.generation, entry.phase.clone());
        self.place(
            id,
            phase,
            Some(Wire { generation, stage: Stage::Attempting, is_forgone: false }),
        );
        let connection = ConnectionId { entry: id, generation };
        out.push(Effect::Connect { connection, key, admitted });
    }

    /// The one place where events of an older incarnation are dropped (SPEC 3.11, I-15).
    pub(in crate::state) fn current(&self, connection: ConnectionId) -> Option<Stage> {
        let wire = self.entries.get(connection.entry)?.wire?;
        (wire.generation == connection.generation).then_some(wire.stage)
    }

    /// Raises the generation: a new incarnation is to come.
    pub(in crate::state) fn raise_generation(&mut self, id: EntryId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.generation = Generation(entry.generation.0.saturating_add(1));
        }
    }

    /// Replaces what callers of the entry see.
    pub(in crate::state) fn publish(&self, id: EntryId, out: &mut Vec<Effect>) {
        if let Some(entry) = self.entries.get(id) {
            out.push(Effect::Publish { entry: id, slot: entry.slot() });
        }
    }

    /// Tells the pool's subscribers of the entry's state, if it is another than they were told.
    pub(in crate::state) fn announce(
        &mut self,
        id: EntryId,
        reason: &'static str,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let to = entry.visible();
        let from = entry.shown.replace(to);
        if from != Some(to) {
            let generation = entry.generation;
            let notice = Notice::StatusChanged { entry: id, generation, from, to, reason };
            out.push(Effect::Notify { audience: Audience::Pool, notice });
        }
    }

    /// Tells every session that holds the entry. A closed session whose holds are kept hears
    /// nothing.
    pub(in crate::state) fn tell_holders(
        &self,
        id: EntryId,
        notice: Notice,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let is_open =
            |id: &SessionId| self.sessions.get(*id).is_some_and(|session| session.is_open());
        let holders: Box<[SessionId]> = entry.holders.iter().copied().filter(is_open).collect();
        if !holders.is_empty() {
            out.push(Effect::Notify { audience: Audience::Sessions(holders), notice });
        }
    }

    /// The record of a server's name.
    pub(in crate::state) fn name_mut(&mut self, server: ServerId) -> Option<&mut Name> {
        if !self.names.contains(server) {
            self.names.insert(server, Name::default());
        }
        self.names.get_mut(server)
    }

    /// Keeps the last error of a server's name for `status`.
    pub(in crate::state) fn remember_error(&mut self, server: ServerId, error: &Error) {
        let Some(name) = self.name_mut(server) else { return };
        if name.last_error.replace(error.clone()).is_none() {
            self.names_in_error += 1;
        }
    }

    /// A server is well again: what went wrong before is told no more (SPEC 9.4).
    pub(in crate::state) fn forget_error(&mut self, server: ServerId) {
        if self.names_in_error == 0 {
            return;
        }
        let name = self.names.get_mut(server);
        if name.is_some_and(|name| name.last_error.take().is_some()) {
            self.names_in_error -= 1;
        }
    }

    /// Sets, moves or clears a deadline.
    pub(in crate::state) fn rearm(
        &mut self,
        timer: DueTimer,
        before: Option<Moment>,
        after: Option<Moment>,
    ) {
        if let Some(at) = before {
            self.due.remove(&(at, timer));
        }
        if let Some(at) = after {
            self.due.insert((at, timer));
        }
    }
}
