//! The answer of the gates.

use crate::error::{Error, ErrorCode};
use crate::interface::words::gate;
use crate::view::explain::Reason;

/// Whether a gate lets a server connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gate {
    /// It does; so it is where no gate was set.
    #[default]
    Open,
    /// It does not.
    Shut(GateReason),
}

impl Gate {
    /// # Errors
    /// `not_admitted` with `detail.reason`.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Gate::Open => Ok(()),
            Gate::Shut(reason) => Err(reason.error()),
        }
    }

    /// Both of them: open when both are, with the first reason of SPEC 11.6 otherwise.
    #[must_use]
    pub fn and(self, other: Gate) -> Gate {
        match (self, other) {
            (Gate::Open, gate) | (gate, Gate::Open) => gate,
            (Gate::Shut(one), Gate::Shut(other)) => Gate::Shut(one.min(other)),
        }
    }
}

/// Why the gates refuse a server: the reasons of SPEC 11.6 that are known before it is started, in
/// its order.
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
    /// The error for a caller that asks for a server that is refused so.
    pub(crate) fn error(self) -> Error {
        let reason = self.as_str();
        let sentence = Reason::from_word(reason).map_or("is kept out", Reason::sentence);
        Error::new(ErrorCode::NotAdmitted, format!("the server {sentence}"))
            .with_detail("reason", reason)
    }
}
