//! Break before make: an entry of an old configuration without use ends before another of its name
//! begins (SPEC 13.1).
//!
//! An old entry is not taken away because it is old: it drains like any other, and its holders and
//! waiters keep it, so that the new one comes beside it. It is the first attempt of a new entry
//! that ends it, and that waits until nothing of it is left. What is over already is waited for as
//! well, whatever ended it. While that attempt waits for a process slot, what is old is ended
//! already.

use std::time::Duration;

use super::{Entry, Phase};
use crate::base::ids::{EntryId, Generation, ServerId};
use crate::state::PoolState;
use crate::state::effect::Effect;
use crate::state::report::messages::reason;
use crate::state::session::ask::{End, NOW};
use crate::state::terms::CloseMode;

/// What the calls of a replaced connection have to finish, so that an edit is not held up by them:
/// 5 s (SPEC 13.1, `replace_grace`).
const REPLACE_GRACE: Duration = Duration::from_secs(5);

impl PoolState {
    /// Ends everything of a name that is of an old configuration and that nobody holds or awaits;
    /// what is ending already has no more time for its calls than that.
    pub(in crate::state) fn end_replaced(&mut self, server: ServerId, out: &mut Vec<Effect>) {
        let Some(name) = self.names.get(server) else { return };
        let ending: Vec<EntryId> = name.replaced.iter().copied().collect();
        let is_replaced = |id: &EntryId| self.entries.get(*id).is_some_and(Entry::is_superseded);
        let replaced: Vec<EntryId> = name.entries.values().copied().filter(is_replaced).collect();
        let graceful = CloseMode::Graceful { until: self.now.after(REPLACE_GRACE) };
        for id in replaced {
            let Some(entry) = self.entries.get_mut(id) else { continue };
            entry.is_hurried = true;
            let how = if matches!(entry.phase, Phase::Connected { .. }) { graceful } else { NOW };
            self.end(id, End { reason: reason::SUPERSEDED, error: None, how }, out);
        }
        for id in ending {
            self.hurry(id, out);
        }
    }

    /// Leaves the calls of what is ending no more time than they have that are replaced; once.
    fn hurry(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let how = CloseMode::Graceful { until: self.now.after(REPLACE_GRACE) };
        let Some(entry) = self.entries.get_mut(id).filter(|entry| !entry.is_hurried) else {
            return;
        };
        entry.is_hurried = true;
        let connection = entry.connection(id);
        out.extend(connection.map(|connection| Effect::Close { connection, how }));
    }

    /// Whether a connecting entry has to wait for what it replaces.
    pub(in crate::state) fn must_wait_for_replaced(&self, server: ServerId) -> bool {
        self.names.get(server).is_some_and(|name| !name.replaced.is_empty())
    }

    /// What is over and still ending is of an old configuration, and stays so: whatever comes next
    /// waits for it, and what waits already hurries it.
    pub(in crate::state) fn note_replaced(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id).filter(|entry| entry.is_being_replaced()) else {
            return;
        };
        let server = entry.server;
        if let Some(name) = self.name_mut(server) {
            name.replaced.insert(id);
        }
        // In a drain what waits ends as well.
        if self.closing.is_none() && self.is_to_be_replaced(server) {
            self.hurry(id, out);
        }
    }

    /// Whether a first attempt of a name is still to begin: it waits for what it replaces, for a
    /// process slot or, as a wish, for room.
    pub(in crate::state) fn is_to_be_replaced(&self, server: ServerId) -> bool {
        let Some(name) = self.names.get(server) else { return false };
        let mut entries = name.entries.values().filter_map(|id| self.entries.get(*id));
        name.wishes.is_some()
            || entries.any(|entry| entry.waits_for_replaced() || entry.is_queued_first())
    }

    /// The entries of a name whose first attempt waits for what they replace.
    pub(in crate::state) fn waiting_for_replaced(&self, server: ServerId) -> Vec<EntryId> {
        let Some(name) = self.names.get(server) else { return Vec::new() };
        let waits = |id: &EntryId| self.entries.get(*id).is_some_and(Entry::waits_for_replaced);
        name.entries.values().copied().filter(waits).collect()
    }

    /// Nothing is left of an entry: who waited for its end begins, if it was the last.
    pub(in crate::state) fn begin_replacements(
        &mut self,
        server: ServerId,
        gone: EntryId,
        out: &mut Vec<Effect>,
    ) {
        let Some(name) = self.name_mut(server) else { return };
        if !name.replaced.remove(&gone) || !name.replaced.is_empty() {
            return;
        }
        for id in self.waiting_for_replaced(server) {
            self.open_wire(id, out);
        }
    }
}

impl Entry {
    /// Whether it is over, of an old configuration, and not gone yet.
    pub(in crate::state) fn is_being_replaced(&self) -> bool {
        self.is_outdated && self.is_over() && self.wire.is_some()
    }

    /// Whether its first attempt waits for the end of what it replaces.
    pub(in crate::state) fn waits_for_replaced(&self) -> bool {
        let is_first = self.generation == Generation(1);
        is_first && self.wire.is_none() && matches!(self.phase, Phase::Connecting { .. })
    }

    /// Whether its first attempt waits for a process slot.
    pub(in crate::state) fn is_queued_first(&self) -> bool {
        self.generation == Generation(1) && matches!(self.phase, Phase::Waiting { .. })
    }
}
