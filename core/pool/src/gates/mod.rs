//! The gates: which servers may run at all (SPEC 11.1, 11.2). They are decided from lists alone; nothing is asked or done here.

mod bound;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use self::bound::LaunchBound;
use crate::pattern::matches_any;
use crate::state::{Gate, GateReason};

/// The lists of a pool: patterns of server names, in which `*` stands for any run of characters and `?` for one.
///
/// They are sets: neither order nor repetition tells two apart (SPEC 13.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GateLists {
    /// Those that may run; `None` is all of them, an empty set none.
    pub allowed: Option<BTreeSet<String>>,
    /// Those that may not, whatever else admits them.
    pub excluded: BTreeSet<String>,
    /// Those that wait for approval.
    pub pending: BTreeSet<String>,
}

impl GateLists {
    /// The lists of these patterns.
    pub fn new(
        allowed: Option<Vec<String>>,
        excluded: Vec<String>,
        pending: Vec<String>,
    ) -> GateLists {
        GateLists {
            allowed: allowed.map(BTreeSet::from_iter),
            excluded: excluded.into_iter().collect(),
            pending: pending.into_iter().collect(),
        }
    }
}

/// The lists in force, within the bound that the pool was made with.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    bound: LaunchBound,
    lists: GateLists,
}

impl Gates {
    /// Gates that are never wider than `bound`.
    pub fn new(bound: LaunchBound, lists: GateLists) -> Gates {
        Gates { bound, lists }
    }

    /// Other lists take the place of all three; whether they are others.
    pub fn replace(&mut self, lists: GateLists) -> bool {
        let is_other = lists != self.lists;
        self.lists = lists;
        is_other
    }

    /// What they say of a server, with the first reason that applies (SPEC 11.6).
    pub fn decide(&self, name: &str) -> Gate {
        let GateLists { allowed, excluded, pending } = &self.lists;
        let names = |list: &BTreeSet<String>| matches_any(list, name);
        if names(excluded) {
            Gate::Shut(GateReason::Excluded)
        } else if !self.bound.admits(name) || !allowed.as_ref().is_none_or(names) {
            Gate::Shut(GateReason::NotAllowed)
        } else if names(pending) {
            Gate::Shut(GateReason::PendingApproval)
        } else {
            Gate::Open
        }
    }
}
