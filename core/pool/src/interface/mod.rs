//! The registry of errors, events and options that Rust, C, Python and Node share.
//!
//! It only grows: numbers and names are never reused. The header, the stubs and the docs are checked against it.

use crate::error::ErrorCode;

impl ErrorCode {
    /// The stable name, as in JSON and in every language.
    pub fn name(self) -> &'static str {
        "internal"
    }

    /// Whether the same operation may succeed later without a change by the user.
    pub fn is_retryable(self) -> bool {
        false
    }
}

/// The kinds of event; the number is the bit in a C mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum EventKind {
    /// An entry changed its visible state.
    StatusChanged = 0,
    /// Tools of a session's view came, went or changed.
    ToolsChanged = 1,
    /// Prompts of a session's view came, went or changed.
    PromptsChanged = 2,
    /// Resources of a session's view came, went or changed.
    ResourcesChanged = 3,
    /// A subscribed resource was updated.
    ResourceUpdated = 4,
    /// A held connection was lost.
    Disconnected = 5,
    /// A held connection is back.
    Reconnected = 6,
    /// A held connection is gone for good.
    Failed = 7,
    /// Progress of a call.
    Progress = 8,
    /// A log message of a server.
    Log = 9,
    /// A line that a server wrote to stderr.
    Stderr = 10,
    /// Servers wait for approval.
    ApprovalNeeded = 11,
    /// A server wants credentials.
    AuthRequired = 12,
    /// The budget is nearly used up.
    BudgetWarning = 13,
    /// Servers refused in one pass.
    RefusedBatch = 14,
    /// A source of configuration changed.
    SourceChanged = 15,
    /// A source of configuration is broken.
    SourceError = 16,
    /// A reconcile ended.
    Reconciled = 17,
    /// A changed tool waits to be accepted.
    ToolQuarantined = 18,
    /// A server of the session became ready.
    ServerReady = 19,
    /// Something the operator should know.
    Warning = 20,
    /// The subscriber was too slow; events were dropped.
    Lagged = 63,
}
