//! The gates: which servers may run at all (SPEC 11.1, 11.2). They are decided from lists alone; nothing is asked or done here.

mod bound;
mod patterns;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use self::bound::LaunchBound;
use self::patterns::Patterns;
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
    allowed: Option<Patterns>,
    excluded: Patterns,
    pending: Patterns,
}

impl Gates {
    /// Gates that are never wider than `bound`.
    pub fn new(bound: LaunchBound, lists: GateLists) -> Gates {
        let mut gates = Gates { bound, ..Gates::default() };
        gates.replace(lists);
        gates
    }

    /// Other lists take the place of all three; whether they are others.
    pub fn replace(&mut self, lists: GateLists) -> bool {
        let is_other = lists != self.lists;
        if is_other {
            self.allowed = lists.allowed.as_ref().map(Patterns::new);
            self.excluded = Patterns::new(&lists.excluded);
            self.pending = Patterns::new(&lists.pending);
            self.lists = lists;
        }
        is_other
    }

    /// What they say of a server, with the first reason that applies (SPEC 11.6).
    pub fn decide(&self, name: &str) -> Gate {
        let names = |list: &Patterns| list.describe(name);
        if names(&self.excluded) {
            Gate::Shut(GateReason::Excluded)
        } else if !self.bound.admits(name) || !self.allowed.as_ref().is_none_or(names) {
            Gate::Shut(GateReason::NotAllowed)
        } else if names(&self.pending) {
            Gate::Shut(GateReason::PendingApproval)
        } else {
            Gate::Open
        }
    }
}
