//! The lists of names, as one source has them and as all of them say together.

use std::collections::BTreeSet;

use super::GateReason;
use crate::base::glob::matches_any;

/// The lists of one source, or of the host: patterns of server names, in which `*` stands for any
/// run of characters and `?` for one.
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

    /// Which of the lists keeps a server of that name out for that reason, if one of these does.
    pub fn list_of(&self, reason: GateReason, name: &str) -> Option<&'static str> {
        let is_on = |list: &BTreeSet<String>| matches_any(list, name);
        match reason {
            GateReason::Excluded => is_on(&self.excluded).then_some("excluded"),
            GateReason::NotAllowed => {
                self.allowed.as_ref().is_some_and(|list| !is_on(list)).then_some("allowed")
            }
            GateReason::PendingApproval => is_on(&self.pending).then_some("pending"),
            GateReason::Removed
            | GateReason::InvalidConfig
            | GateReason::Untrusted
            | GateReason::Disabled
            | GateReason::Rejected => None,
        }
    }
}

/// What the lists of the host and of all sources say together (SPEC 11.1): each list of those that
/// may run narrows, each of those that may not, or that wait, adds. So no source takes back what
/// another keeps out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedLists {
    /// Every list that there is of those that may run. A server has to be on all of them.
    pub(super) allowed: BTreeSet<BTreeSet<String>>,
    pub(super) excluded: BTreeSet<String>,
    pub(super) pending: BTreeSet<String>,
}

impl FromIterator<GateLists> for JoinedLists {
    fn from_iter<T: IntoIterator<Item = GateLists>>(sources: T) -> JoinedLists {
        let mut joined = JoinedLists::default();
        for GateLists { allowed, excluded, pending } in sources {
            joined.allowed.extend(allowed);
            joined.excluded.extend(excluded);
            joined.pending.extend(pending);
        }
        joined
    }
}

impl From<GateLists> for JoinedLists {
    fn from(lists: GateLists) -> JoinedLists {
        JoinedLists::from_iter([lists])
    }
}
