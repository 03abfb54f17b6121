//! What is said of one server of the sources: where, what came of it, and what is above and below.

use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::gates::ApprovalState;
use trunkline_pool::interface::words;
use trunkline_pool::layers::SourceName;
use trunkline_pool::state::{Gate, GateReason};

use crate::driver::server_config::ResolvedServer;
use crate::{Error, ErrorCode};

/// Why an entry does not run while it is not known what becomes of it.
const WAITING: &str = "waiting";

/// What a source says of a name, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct ServerRecord {
    /// Where it is said.
    pub(crate) origin: Arc<EntryOrigin>,
    /// What came of it.
    pub(crate) standing: ConfigStatus,
    /// What was decided of it, whatever else keeps it out.
    pub(crate) approval: ApprovalState,
    /// What keeps out what the name has, though that could run.
    pub(crate) kept_out: Option<GateReason>,
    /// The entries above it that may not run, and so hide nothing.
    pub(crate) over: Vec<Over>,
    /// The entry below that it takes the place of, of one that needs approval.
    pub(crate) hides: Option<EntryOrigin>,
}

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntryOrigin {
    /// The source.
    pub(crate) source: Arc<SourceName>,
    /// The file, of a source that is one.
    pub(crate) file: Option<Arc<str>>,
    /// The line of its entry, from 1.
    pub(crate) line: Option<usize>,
}

/// What came of a configuration.
#[derive(Clone, Debug)]
pub(crate) enum ConfigStatus {
    /// It may run.
    Runs,
    /// It is wrong. What ran before goes on.
    Invalid(Error),
    /// It may not run.
    Shut(GateReason),
    /// It is not known yet. What ran before goes on.
    Waiting(PendingOn),
}

/// What has to come before it is known what becomes of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PendingOn {
    /// What the host is asked for.
    Host,
    /// What the file system says of what it names.
    Files,
}

/// What a pass says of one name.
pub(crate) struct ServerPlan {
    pub(crate) origin: Arc<EntryOrigin>,
    pub(crate) verdict: ServerVerdict,
    pub(crate) approval: ApprovalState,
    /// The entries above it that may not run.
    pub(crate) over: Vec<Over>,
    /// The entry below that it takes the place of.
    pub(crate) hides: Option<EntryOrigin>,
}

/// What is to be done about one name.
pub(crate) enum ServerVerdict {
    /// It runs.
    Run(Arc<ResolvedServer>),
    /// It does not, for this reason.
    Shut(GateReason),
    /// It is wrong.
    Invalid(Error, OnUnresolved),
    /// It is not known yet.
    Wait(PendingOn, OnUnresolved),
}

/// What becomes of what a name had, when there is nothing right to take its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnUnresolved {
    /// It goes on for as long as it is admitted.
    Stays,
    /// It is over.
    Ends,
}

/// How a pass goes about entries that are the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefreshScope {
    /// What was found out counts.
    No,
    /// What needs approval is looked up again.
    Sights,
    /// All are looked up and expanded again.
    Yes,
}

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

impl ServerRecord {
    /// What is decided of it, apart from the lists of names.
    pub(crate) fn gate(&self) -> Gate {
        match &self.standing {
            ConfigStatus::Shut(reason) => Gate::Shut(*reason),
            ConfigStatus::Runs | ConfigStatus::Invalid(_) | ConfigStatus::Waiting(_) => Gate::Open,
        }
    }

    /// Why it does not run.
    pub(crate) fn error(&self) -> Error {
        let error = match &self.standing {
            ConfigStatus::Invalid(error) => return error.clone(),
            ConfigStatus::Shut(reason) => {
                let refused = Gate::Shut(*reason).check().err();
                refused.unwrap_or_else(|| refusal(reason.as_str(), "a gate keeps the server out"))
            }
            ConfigStatus::Waiting(PendingOn::Files) => {
                let message = "the file system is asked for what the server's configuration names";
                Error::new(ErrorCode::Unavailable, message).with_hint(
                    "try again in a moment; what is mounted there may have stopped answering",
                )
            }
            ConfigStatus::Waiting(PendingOn::Host) | ConfigStatus::Runs => {
                let message = "the host is asked for what the server's configuration needs";
                Error::new(ErrorCode::Unavailable, message)
                    .with_hint("answer the question, or wait until `settled`")
            }
        };
        let error = error.with_detail("source", self.origin.source.to_string());
        match &self.origin.file {
            Some(file) => error.with_detail("file", &**file),
            None => error,
        }
    }
}

impl ConfigStatus {
    pub(crate) fn is(&self, other: &ConfigStatus) -> bool {
        match (self, other) {
            (ConfigStatus::Runs, ConfigStatus::Runs) => true,
            (ConfigStatus::Waiting(one), ConfigStatus::Waiting(other)) => one == other,
            (ConfigStatus::Invalid(one), ConfigStatus::Invalid(other)) => one == other,
            (ConfigStatus::Shut(one), ConfigStatus::Shut(other)) => one == other,
            _ => false,
        }
    }
}

impl Over {
    /// One that may not run.
    pub(crate) fn of(planned: ServerPlan) -> Over {
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

impl OnUnresolved {
    pub(crate) fn of(self, old: Option<&Arc<ResolvedServer>>) -> Option<Arc<ResolvedServer>> {
        match self {
            OnUnresolved::Stays => old.filter(|old| old.authority.gate() == Gate::Open).cloned(),
            OnUnresolved::Ends => None,
        }
    }
}

pub(crate) fn refusal(reason: &str, message: &str) -> Error {
    Error::new(ErrorCode::NotAdmitted, message).with_detail("reason", reason)
}
