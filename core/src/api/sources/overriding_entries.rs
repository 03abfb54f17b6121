//! What is told of entries that would take the place of the one in force (SPEC 12.11).

use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::gates::ApprovalState;
use trunkline_pool::interface::words;

use super::running::{EntryOrigin, ServerPlan, ServerVerdict};

/// Why an entry does not run while it is not known what becomes of it.
const WAITING: &str = "waiting";

/// An entry that would take the place of the one in force, if it could run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Over {
    /// Where it is said.
    pub(crate) origin: Arc<EntryOrigin>,
    /// Why it does not run.
    pub(crate) reason: &'static str,
    /// What was decided of it.
    pub(crate) approval: ApprovalState,
}

impl Over {
    /// One that may not run.
    pub(super) fn of(planned: ServerPlan) -> Over {
        let reason = match &planned.verdict {
            ServerVerdict::Shut(reason) => reason.as_str(),
            ServerVerdict::Invalid(..) => words::gate::INVALID_CONFIG,
            ServerVerdict::Wait(..) => WAITING,
            ServerVerdict::Run(_) => words::gate::DISABLED,
        };
        Over { origin: planned.origin, reason, approval: planned.approval }
    }

    /// As JSON: `{source, file, line, reason, approval_state}`.
    pub(crate) fn to_json(&self) -> Value {
        let mut out = self.origin.to_json();
        out["reason"] = self.reason.into();
        out["approval_state"] = self.approval.as_str().into();
        out
    }
}

impl EntryOrigin {
    /// As JSON: `{source, file, line}`.
    pub(crate) fn to_json(&self) -> Value {
        let EntryOrigin { source, file, line } = self;
        json!({ "source": source.to_string(), "file": file.as_deref(), "line": line })
    }
}
