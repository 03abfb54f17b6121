//! What hosts are told, and who of them.

use std::sync::Arc;
use std::time::Duration;

use crate::acceptance::QuarantinedTools;
use crate::base::ids::{EntryId, Generation, ServerId, SessionId};
use crate::catalog::{Catalog, CatalogDifference};
use crate::error::Error;
use crate::options::Budget;
use crate::state::terms::Usage;
use crate::state::terms::{EntryState, LossReason};

/// Who is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// Every subscriber of the pool.
    Pool,
    /// These sessions, which all hold the entry, one after the other.
    Sessions(Box<[SessionId]>),
    /// Every subscriber of the pool and of every session, once (the scope `workspace`).
    Everybody,
}

/// What is told. The driver, which delivers it, adds names and numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// An entry changed its visible state; `from` is absent for a new one.
    StatusChanged {
        /// The entry.
        entry: EntryId,
        /// Its incarnation.
        generation: Generation,
        /// The state before.
        from: Option<EntryState>,
        /// The state now.
        to: EntryState,
        /// Why, as a stable word.
        reason: &'static str,
    },
    /// The entry's lists are different now. The session's own view decides what it hears of it.
    CatalogChanged {
        /// The entry.
        entry: EntryId,
        /// Its incarnation.
        generation: Generation,
        /// The lists before.
        before: Arc<Catalog>,
        /// The lists now.
        after: Arc<Catalog>,
        /// The names that came, went and changed. A tool that comes back with another definition
        /// than it had has come and changed.
        difference: Arc<CatalogDifference>,
    },
    /// Tools are held back, because their definition is not the accepted one.
    ToolsQuarantined {
        /// The entry.
        entry: EntryId,
        /// Its incarnation.
        generation: Generation,
        /// Those that the session was not told of before.
        held: QuarantinedTools,
    },
    /// The connection was lost.
    Disconnected {
        /// The entry.
        entry: EntryId,
        /// The incarnation that was lost.
        generation: Generation,
        /// Why.
        reason: LossReason,
        /// What the connection was lost by, where it was not ended here.
        error: Option<Error>,
    },
    /// The connection is back.
    Reconnected {
        /// The entry.
        entry: EntryId,
        /// The new incarnation.
        generation: Generation,
        /// How many attempts it took.
        attempts: u32,
        /// How long it was gone.
        downtime: Duration,
    },
    /// The server wants other credentials than it was tried with.
    AuthRequired {
        /// The entry.
        entry: EntryId,
        /// The incarnation that lacked them.
        generation: Generation,
        /// What the server said.
        error: Error,
    },
    /// Most of the budget is taken (SPEC 9.5).
    BudgetWarning {
        /// The budget.
        budget: Budget,
        /// What is taken of it.
        usage: Usage,
    },
    /// Servers that are wanted have no room in the budget, and were not told of before (SPEC 9.5).
    RefusedBatch {
        /// The budget.
        budget: Budget,
        /// What is taken of it.
        usage: Usage,
        /// The servers, in the order in which they came.
        refused: Vec<ServerId>,
    },
    /// The connection is gone for good, until somebody asks.
    Failed {
        /// The entry.
        entry: EntryId,
        /// The last incarnation.
        generation: Generation,
        /// Why.
        error: Error,
    },
}

impl Notice {
    /// The entry that it is about; none when it is about the pool.
    pub fn entry(&self) -> Option<EntryId> {
        match self {
            Notice::StatusChanged { entry, .. }
            | Notice::CatalogChanged { entry, .. }
            | Notice::ToolsQuarantined { entry, .. }
            | Notice::Disconnected { entry, .. }
            | Notice::Reconnected { entry, .. }
            | Notice::AuthRequired { entry, .. }
            | Notice::Failed { entry, .. } => Some(*entry),
            Notice::BudgetWarning { .. } | Notice::RefusedBatch { .. } => None,
        }
    }
}
