//! The answer of what is asked before something begins: the proof that it may, or what is in its
//! way.

use crate::gates::{Gate, GateReason};
use crate::state::report::messages::reason;

/// Proof that the gates admitted a server when its `Connect` was made.
///
/// Only the reducer makes one, of the gate that it asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted(());

impl Admitted {
    /// The proof that an open gate gives.
    ///
    /// # Errors
    /// Why the gate is shut.
    pub(in crate::state) fn by(gate: Gate) -> Result<Admitted, GateReason> {
        match gate {
            Gate::Open => Ok(Admitted(())),
            Gate::Shut(reason) => Err(reason),
        }
    }
}

/// Why something that does not run cannot begin now.
pub(in crate::state) enum Obstacle {
    Gate(GateReason),
    EntriesOfName,
    Budget,
    Processes,
    EntryIds,
}

impl Obstacle {
    /// Whether it goes when something else does.
    pub(in crate::state) fn is_lack_of_room(&self) -> bool {
        match self {
            Obstacle::EntriesOfName | Obstacle::Budget | Obstacle::Processes => true,
            Obstacle::Gate(_) | Obstacle::EntryIds => false,
        }
    }

    /// The word in `status`.
    pub(in crate::state) fn reason(&self) -> &'static str {
        match self {
            Obstacle::Gate(reason) => reason.as_str(),
            Obstacle::Budget => reason::BUDGET_EXHAUSTED,
            Obstacle::EntriesOfName | Obstacle::Processes | Obstacle::EntryIds => reason::LIMIT,
        }
    }
}
