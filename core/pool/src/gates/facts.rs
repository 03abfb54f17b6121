//! What is known of a server when its gate is decided.

use super::GateReason;

/// A server, and what is known of it beside its name. The lists are the gates' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Its name, which the lists are about.
    pub name: &'a str,
    /// Whether any source names it.
    pub presence: ServerPresence,
    /// Whether its configuration can be used.
    pub validity: Validity,
    /// Whether the workspace is trusted as far as it needs that.
    pub trust: Trust,
    /// Whether its configuration switches it off.
    pub switch: ServerSwitch,
    /// What was decided of its configuration.
    pub approval: ApprovalState,
}

impl<'a> Facts<'a> {
    /// A server that the lists alone decide on: it is there and valid, and needs neither trust nor
    /// approval.
    pub const fn of_name(name: &'a str) -> Facts<'a> {
        Facts {
            name,
            presence: ServerPresence::Named,
            validity: Validity::Valid,
            trust: Trust::NotNeeded,
            switch: ServerSwitch::On,
            approval: ApprovalState::NotNeeded,
        }
    }

    /// The same, known besides not to be allowed to run for that reason. What is on a list the
    /// lists say.
    pub const fn shut_by(self, reason: GateReason) -> Facts<'a> {
        match reason {
            GateReason::Removed => Facts { presence: ServerPresence::Removed, ..self },
            GateReason::InvalidConfig => Facts { validity: Validity::Invalid, ..self },
            GateReason::Untrusted => Facts { trust: Trust::Missing, ..self },
            GateReason::Excluded | GateReason::NotAllowed => self,
            GateReason::Disabled => Facts { switch: ServerSwitch::Off, ..self },
            GateReason::Rejected => Facts { approval: ApprovalState::Rejected, ..self },
            GateReason::PendingApproval => Facts { approval: ApprovalState::Pending, ..self },
        }
    }
}

/// Whether any source names a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerPresence {
    /// A source names it, or the caller that asks for it.
    Named,
    /// It was there, and none does any more.
    Removed,
}

/// Whether the configuration of a server can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Validity {
    /// It can.
    Valid,
    /// It cannot, and there is none from before that could.
    Invalid,
}

/// Whether a workspace is trusted as far as a server needs that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// It comes from where no trust is needed.
    NotNeeded,
    /// It needs trust, and the workspace has it.
    Given,
    /// It needs trust, and the workspace does not have it.
    Missing,
}

/// Whether the configuration of a server switches it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerSwitch {
    /// It does not.
    On,
    /// It does.
    Off,
}

/// What was decided of the configuration of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApprovalState {
    /// It comes from where no approval is needed.
    NotNeeded,
    /// It may run.
    Approved,
    /// It may not.
    Rejected,
    /// Nothing yet.
    Pending,
}

impl ApprovalState {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalState::NotNeeded => "not_required",
            ApprovalState::Approved => "approved",
            ApprovalState::Rejected => "rejected",
            ApprovalState::Pending => "pending",
        }
    }
}
