//! Servers that want credentials: they are tried once with each that there are (SPEC 3.2, 8.4,
//! 15.3).
//!
//! The reducer knows nothing of credentials but that an entry has others than before. An entry that
//! lacks them stays, so that nobody who asks again causes another attempt; while nobody holds it,
//! for the idle cap at most.

use super::{Phase, Stage, Why};
use crate::base::ids::{EntryId, ServerId};
use crate::error::Error;
use crate::state::effect::Effect;
use crate::state::report::messages::reason;
use crate::state::report::notice::{Audience, Notice};
use crate::state::session::ask::{End, NOW};
use crate::state::{ConnectionId, PoolState};

impl PoolState {
    /// There are others now for these entries: a holder of one that lacked them gets it back by one
    /// attempt, as soon as there is room; what has none is refused until then. What stands is
    /// listed again, since lists may depend on who asks.
    pub(in crate::state) fn credentials_changed(
        &mut self,
        entries: &[EntryId],
        out: &mut Vec<Effect>,
    ) {
        if self.closing.is_some() {
            return;
        }
        for &id in entries {
            self.renew_credentials(id);
            let Some(entry) = self.entries.get(id) else { continue };
            match entry.phase {
                Phase::Connected { .. } => {
                    let generation = entry.generation;
                    self.catalog_stale(ConnectionId { entry: id, generation }, out);
                }
                Phase::Unauthorized { .. }
                | Phase::Waiting { .. }
                | Phase::Connecting { .. }
                | Phase::Backoff { .. }
                | Phase::Failed { .. }
                | Phase::Ended { .. } => {}
            }
        }
        self.fill_owed(out);
        // The first may have taken the room that there was.
        for id in entries.iter().filter(|id| self.owed.contains(*id)).copied().collect::<Vec<_>>() {
            let Some(entry) = self.entries.get(id) else { continue };
            let (server, obstacle) = (entry.server, self.obstacle_of(entry));
            if let Some(obstacle) = obstacle {
                self.note_refusal(server, obstacle.reason());
            }
        }
    }

    /// Makes the attempts that are owed to those who hold something, as far as there is room. There
    /// are as many as there were sign-ins without room.
    pub(in crate::state) fn fill_owed(&mut self, out: &mut Vec<Effect>) {
        while let Some(id) = self.next_owed() {
            self.attempt(id, Why::Fresh, out);
            self.announce(id, reason::CREDENTIALS, out);
        }
    }

    fn next_owed(&self) -> Option<EntryId> {
        let has_room = |id: &EntryId| {
            self.entries.get(*id).is_some_and(|entry| self.obstacle_of(entry).is_none())
        };
        self.owed.iter().copied().find(has_room)
    }

    /// An attempt ended for lack of credentials, and nothing of it is left. With others that came
    /// meanwhile it is made again.
    pub(in crate::state) fn lacked_credentials(
        &mut self,
        id: EntryId,
        why: Why,
        error: Error,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        debug_assert!(entry.wire.is_none_or(|wire| wire.stage == Stage::Ending), "an attempt left");
        if entry.credentials.has_others() {
            self.attempt(id, why, out);
        } else {
            self.unauthorize(id, error, None, out);
        }
    }

    /// Leaves an entry waiting for credentials. `first` is what the holders are told before
    /// anything that follows from it.
    pub(in crate::state) fn unauthorize(
        &mut self,
        id: EntryId,
        error: Error,
        first: Option<Notice>,
        out: &mut Vec<Effect>,
    ) {
        let cap = self.options.idle_cap;
        let Some(entry) = self.entries.get(id) else {
            return;
        };
        let held = !entry.holders.is_empty();
        if !held && cap.is_zero() {
            let server = entry.server;
            self.remember_error(server, &error);
            let reason = reason::AUTH_REQUIRED;
            return self.end(id, End { reason, error: Some(error), how: NOW }, out);
        }
        let until = (!held).then(|| self.now.after(cap));
        let generation = entry.generation;
        let phase = Phase::Unauthorized { until };
        self.give_up(id, phase, (error.clone(), reason::AUTH_REQUIRED), first, out);
        let notice = Notice::AuthRequired { entry: id, generation, error };
        out.push(Effect::Notify { audience: Audience::Pool, notice });
    }

    /// The last holder of an entry without credentials is gone: it stays for a while, to answer the
    /// next caller.
    pub(in crate::state) fn keep_unauthorized(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let cap = self.options.idle_cap;
        if cap.is_zero() {
            return self.end(id, End { reason: reason::UNWANTED, error: None, how: NOW }, out);
        }
        let Some(wire) = self.entries.get(id).map(|entry| entry.wire) else { return };
        self.place(id, Phase::Unauthorized { until: Some(self.now.after(cap)) }, wire);
    }

    /// An entry of the name that nobody holds and that lacks credentials: it never keeps another
    /// from its place.
    pub(in crate::state) fn may_make_way(&self, server: ServerId) -> Option<EntryId> {
        let entries = self.names.get(server)?.entries.values().copied();
        let idles = |id: &EntryId| {
            let phase = self.entries.get(*id).map(|entry| &entry.phase);
            matches!(phase, Some(Phase::Unauthorized { until: Some(_) }))
        };
        entries.into_iter().find(idles)
    }

    /// Ends the oldest such entry when the name has as many as it may.
    pub(in crate::state) fn make_way(&mut self, server: ServerId, out: &mut Vec<Effect>) {
        let of_name = self.names.get(server).map_or(0, |name| name.entries.len());
        let limit = usize::try_from(self.options.limits.entries_per_name).unwrap_or(usize::MAX);
        if of_name >= limit
            && let Some(id) = self.may_make_way(server)
        {
            self.end(id, End { reason: reason::LIMIT, error: None, how: NOW }, out);
        }
    }
}
