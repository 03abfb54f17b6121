//! What may begin: the gates, the budget and the limits, asked in one place (SPEC 4.1, 11.5).
//!
//! Two questions are asked. [`obstacle`](PoolState::obstacle) is asked before something that does not run takes a place,
//! so that whoever asked gets a typed answer. [`admit`](PoolState::admit) is asked at the very moment of a `Connect`,
//! whatever led there (a first connect, a retry, a restart, a fresh attempt, a wait that is over), and its answer is the
//! only thing that a `Connect` can be made of.

use super::PoolState;
use super::acquire::{End, NOW};
use super::effects::{self, reason};
use super::entry::{Claims, Entry};
use super::ids::{EntryId, ServerId};
use super::protocol::{Effect, Family};
use crate::error::Error;
use crate::interface::words::gate;

/// Whether the gates let a server connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gate {
    /// They do; so it is for a server that no gate was set for.
    #[default]
    Open,
    /// They do not.
    Shut(GateReason),
}

impl Gate {
    /// # Errors
    /// `not_admitted` with `detail.reason`.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Gate::Open => Ok(()),
            Gate::Shut(reason) => Err(effects::not_admitted(reason)),
        }
    }
}

/// Why the gates refuse a server: the reasons of SPEC 11.6 that are known before it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum GateReason {
    /// It was configured, and no source names it any more.
    Removed,
    /// Its configuration is wrong.
    InvalidConfig,
    /// The workspace is not trusted.
    Untrusted,
    /// It is on the list of those that may not run.
    Excluded,
    /// It is not on the list of those that may run.
    NotAllowed,
    /// Its configuration switches it off.
    Disabled,
    /// Its approval was refused.
    Rejected,
    /// It waits for approval.
    PendingApproval,
}

impl GateReason {
    /// The word in errors and in `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            GateReason::Removed => gate::REMOVED,
            GateReason::InvalidConfig => gate::INVALID_CONFIG,
            GateReason::Untrusted => gate::UNTRUSTED,
            GateReason::Excluded => gate::EXCLUDED,
            GateReason::NotAllowed => gate::NOT_ALLOWED,
            GateReason::Disabled => gate::DISABLED,
            GateReason::Rejected => gate::REJECTED,
            GateReason::PendingApproval => gate::PENDING_APPROVAL,
        }
    }
}

/// Proof that the gates admitted a server when its `Connect` was made.
///
/// Only the reducer makes one, and only where it asks the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted(());

/// Why something that does not run cannot begin now.
pub(super) enum Obstacle {
    Gate(GateReason),
    EntriesOfName,
    Budget,
    Processes,
    EntryIds,
}

impl Obstacle {
    /// The word in `status`.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Obstacle::Gate(reason) => reason.as_str(),
            Obstacle::Budget => reason::BUDGET_EXHAUSTED,
            Obstacle::EntriesOfName | Obstacle::Processes | Obstacle::EntryIds => reason::LIMIT,
        }
    }
}

impl PoolState {
    /// The one place where the gates are asked.
    ///
    /// # Errors
    /// Why they refuse.
    pub(super) fn admit(&self, server: ServerId) -> Result<Admitted, GateReason> {
        match self.gate(server) {
            Gate::Open => Ok(Admitted(())),
            Gate::Shut(reason) => Err(reason),
        }
    }

    /// What the gates say of a server.
    pub fn gate(&self, server: ServerId) -> Gate {
        self.names.get(server).map_or(Gate::Open, |name| name.gate)
    }

    /// What keeps a new entry of a server, or with `entry` one that has failed, from its next attempt.
    pub(super) fn obstacle(
        &self,
        server: ServerId,
        family: Family,
        entry: Option<&Entry>,
    ) -> Option<Obstacle> {
        if let Err(reason) = self.admit(server) {
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

    /// The obstacle as whoever asked is told of it.
    pub(super) fn refusal(&self, obstacle: &Obstacle) -> Error {
        let limits = &self.options.limits;
        match obstacle {
            Obstacle::Gate(reason) => effects::not_admitted(*reason),
            Obstacle::EntriesOfName => effects::limit_of_entries_per_name(limits.entries_per_name),
            Obstacle::Budget => effects::budget_exhausted(self.budget_limit(), self.budget_usage()),
            Obstacle::Processes => effects::limit_of_processes(limits.processes),
            Obstacle::EntryIds => effects::limit_of_entries(),
        }
    }

    /// Sets gates. What is no longer admitted ends at once, and nobody waits for it any more.
    pub(super) fn set_gates(&mut self, gates: Vec<(ServerId, Gate)>, out: &mut Vec<Effect>) {
        for (server, gate) in gates {
            let Some(name) = self.name_mut(server) else { continue };
            name.gate = gate;
            let Gate::Shut(why) = gate else { continue };
            let entries: Vec<EntryId> = name.entries.values().copied().collect();
            let error = effects::not_admitted(why);
            for id in entries {
                let error = Some(error.clone());
                self.end(id, End { reason: reason::GATE, error, how: NOW }, out);
            }
            self.refuse_wishes(server, &error, out);
        }
    }
}
