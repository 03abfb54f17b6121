//! The gates: which servers may run at all (SPEC 11). They are decided from what is given alone;
//! nothing is asked or done here.
//!
//! `LaunchBound` is a type of its own that never changes. Patterns are never merged into new ones;
//! both are asked.

mod bound;
mod facts;
mod gate;
mod lists;
mod patterns;
mod shuts;
#[cfg(test)]
mod tests;

pub use self::bound::LaunchBound;
pub use self::facts::{ApprovalState, Facts, ServerPresence, ServerSwitch, Trust, Validity};
pub use self::gate::{Gate, GateReason};
pub use self::lists::{GateLists, JoinedLists};
use self::patterns::Patterns;
pub use self::shuts::{Shuts, WarrantId};

/// The lists in force, within the bound that the pool was made with.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    bound: LaunchBound,
    lists: JoinedLists,
    /// A server has to be on each of them.
    allowed: Vec<Patterns>,
    excluded: Patterns,
    pending: Patterns,
}

impl Gates {
    /// Gates that are never wider than `bound`.
    pub fn new(bound: LaunchBound, lists: impl Into<JoinedLists>) -> Gates {
        let mut gates = Gates { bound, ..Gates::default() };
        gates.replace(lists);
        gates
    }

    /// Other lists take the place of all; whether they are others.
    pub fn replace(&mut self, lists: impl Into<JoinedLists>) -> bool {
        let lists = lists.into();
        let is_other = lists != self.lists;
        if is_other {
            self.allowed = lists.allowed.iter().map(Patterns::new).collect();
            self.excluded = Patterns::new(&lists.excluded);
            self.pending = Patterns::new(&lists.pending);
            self.lists = lists;
        }
        is_other
    }

    /// Whether a server may run, with the first reason of SPEC 11.6 that applies when it may not.
    ///
    /// The one place that decides it. The reducer hears the result, and asks again before every
    /// connection.
    pub fn decide(&self, facts: &Facts<'_>) -> Gate {
        let is_on = |list: &Patterns| list.describe(facts.name);
        let reason = if facts.presence == ServerPresence::Removed {
            GateReason::Removed
        } else if facts.validity == Validity::Invalid {
            GateReason::InvalidConfig
        } else if facts.trust == Trust::Missing {
            GateReason::Untrusted
        } else if is_on(&self.excluded) {
            GateReason::Excluded
        } else if !self.bound.admits(facts.name) || !self.allowed.iter().all(is_on) {
            GateReason::NotAllowed
        } else if facts.switch == ServerSwitch::Off {
            GateReason::Disabled
        } else if facts.approval == ApprovalState::Rejected {
            GateReason::Rejected
        } else if facts.approval == ApprovalState::Pending || is_on(&self.pending) {
            GateReason::PendingApproval
        } else {
            return Gate::Open;
        };
        Gate::Shut(reason)
    }
}
