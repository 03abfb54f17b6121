//! What a restart and a drain made of the entries.

use std::time::Duration;

use crate::base::ids::EntryId;
use crate::error::Error;

/// What became of one entry in a restart (SPEC 9.1).
#[derive(Clone, Debug, PartialEq)]
pub struct RestartReport {
    /// The entry.
    pub entry: EntryId,
    /// Its number among those of its server.
    pub index: u32,
    /// The time it took, or why not.
    pub result: Result<Duration, RestartRefusal>,
}

/// Why an entry was not restarted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RestartRefusal {
    /// Its first connect is still running.
    InFlight,
    /// Another configuration of the server took its place, or none, and nobody holds or awaits it.
    Superseded,
    /// It does not run, and the budget has no room for it.
    BudgetWouldExceed,
    /// A gate refuses it.
    NotAdmitted,
    /// The new attempt failed.
    Failed(Error),
    /// The pool is draining.
    Closing,
}

impl RestartRefusal {
    /// The word in a report (SPEC 9.1).
    pub fn as_str(&self) -> &'static str {
        match self {
            RestartRefusal::InFlight => "in_flight",
            RestartRefusal::Superseded => "superseded",
            RestartRefusal::BudgetWouldExceed => "budget_would_exceed",
            RestartRefusal::NotAdmitted => "not_admitted",
            RestartRefusal::Failed(_) => "failed",
            RestartRefusal::Closing => "closing",
        }
    }
}

/// What became of every entry in a drain (SPEC 9.7).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrainReport {
    /// How many ended by themselves.
    pub drained: u32,
    /// How many had to be killed.
    pub forced: u32,
    /// What went wrong, per entry.
    pub errors: Vec<(EntryId, Error)>,
}
