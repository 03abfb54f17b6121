//! What may begin: the gates, the budget and the limits, asked in one place (SPEC 4.1, 11.5).
//!
//! Two questions are asked. [`obstacle`](PoolState::obstacle) is asked before something that does
//! not run takes a place, so that the caller gets a typed answer. [`admit`](PoolState::admit) is
//! asked at the very moment of a `Connect`, whatever led there: a first connect, a retry, a
//! restart, a fresh attempt, a wait that is over. Its answer is the only thing that a `Connect` can
//! be made of.
//!
//! A name has a gate, and so has a key: a name is shut by lists, a key because of the configuration
//! that it stands for. Both have to be open. A gate that is set to what it was changes nothing, and
//! what no gate was set for is open.

use super::obstacle::{Admitted, Obstacle};
use crate::base::ids::{KeyId, ServerId};
use crate::error::Error;
use crate::gates::{Gate, GateReason};
use crate::state::PoolState;
use crate::state::entry::{Claims, Entry, Phase};
use crate::state::report::messages;
use crate::state::session::ask::Ask;
use crate::state::terms::Family;

impl PoolState {
    /// The one place where the gates are asked.
    ///
    /// # Errors
    /// Why they refuse.
    pub(in crate::state) fn admit(
        &self,
        server: ServerId,
        key: KeyId,
    ) -> Result<Admitted, GateReason> {
        Admitted::by(self.gate(server).and(self.key_gate(key)))
    }

    /// Whether a gate keeps out a configuration of a server.
    pub fn is_shut(&self, server: ServerId, key: KeyId) -> bool {
        self.admit(server, key).is_err()
    }

    /// The gate of a server's name.
    pub fn gate(&self, server: ServerId) -> Gate {
        self.names.get(server).map_or(Gate::Open, |name| name.gate)
    }

    /// The gate of a key.
    pub fn key_gate(&self, key: KeyId) -> Gate {
        self.shut_keys.get(key).map_or(Gate::Open, |why| Gate::Shut(*why))
    }

    /// What keeps a new entry of a server, or with `entry` one that has failed, from its next
    /// attempt.
    pub(in crate::state) fn obstacle(
        &self,
        (server, key): (ServerId, KeyId),
        family: Family,
        entry: Option<&Entry>,
    ) -> Option<Obstacle> {
        if let Err(reason) = self.admit(server, key) {
            return Some(Obstacle::Gate(reason));
        }
        let limits = &self.options.limits;
        let of_name = self.names.get(server).map_or(0, |name| name.entries.len());
        let per_name = usize::try_from(limits.entries_per_name).unwrap_or(usize::MAX);
        let claims = entry.map_or(Claims::default(), Entry::claims);
        if entry.is_none() && of_name >= per_name && self.may_make_way(server).is_none() {
            Some(Obstacle::EntriesOfName)
        } else if !self.has_budget(server) {
            Some(Obstacle::Budget)
        } else if !self.has_room(family, claims) {
            Some(Obstacle::Processes)
        } else if entry.is_none() && self.next_entry == u32::MAX {
            Some(Obstacle::EntryIds)
        } else {
            None
        }
    }

    /// What keeps an acquire or a wish from what it asks for. What there is already, or is refused
    /// for other reasons, has no obstacle.
    pub(in crate::state) fn obstacle_of_ask(&self, ask: &Ask) -> Option<Obstacle> {
        let entry = self.keys.get(&ask.key).and_then(|id| self.entries.get(*id));
        let Some(entry) = entry else {
            return self.obstacle((ask.server, ask.key), ask.family, None);
        };
        match entry.phase {
            Phase::Failed { .. } => self.obstacle_of(entry),
            Phase::Unauthorized { .. } if entry.credentials.has_others() => self.obstacle_of(entry),
            Phase::Unauthorized { .. }
            | Phase::Waiting { .. }
            | Phase::Connecting { .. }
            | Phase::Connected { .. }
            | Phase::Backoff { .. }
            | Phase::Ended { .. } => None,
        }
    }

    /// The same of an entry that there is.
    pub(in crate::state) fn obstacle_of(&self, entry: &Entry) -> Option<Obstacle> {
        self.obstacle((entry.server, entry.key), entry.family, Some(entry))
    }

    /// The obstacle as an error for the caller.
    pub(in crate::state) fn refusal(&self, obstacle: &Obstacle) -> Error {
        let limits = &self.options.limits;
        match obstacle {
            Obstacle::Gate(reason) => reason.error(),
            Obstacle::EntriesOfName => messages::limit_of_entries_per_name(limits.entries_per_name),
            Obstacle::Budget => {
                messages::budget_exhausted(self.budget_limit(), self.budget_usage())
            }
            Obstacle::Processes => messages::limit_of_processes(limits.processes),
            Obstacle::EntryIds => messages::limit_of_entries(),
        }
    }
}
