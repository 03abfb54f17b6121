//! By what the server of a source runs: trust, and where it needs one its approval, asked again before each connection (SPEC 11.5).

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use trunkline_pool::approvals::{ApprovalHash, Decision, Root};
use trunkline_pool::state::{Gate, GateReason};

use super::sighted::{Command, file_of};
use crate::api::pool::PoolCore;
use crate::approvals::Approvals;
use crate::driver::Warrant;
use crate::lookup::Found;

/// By what one configuration of one name runs.
pub(super) struct EntryWarrant {
    /// Whether the workspace is trusted, which all that runs by a warrant needs.
    trust: Arc<AtomicBool>,
    gate: Mutex<Gate>,
    approved: Option<Approved>,
}

/// What was approved.
pub(super) struct Approved {
    pub(super) pool: Weak<PoolCore>,
    pub(super) approvals: Arc<Approvals>,
    pub(super) root: Root,
    pub(super) name: Box<str>,
    pub(super) hash: ApprovalHash,
    /// The file that its command led to.
    pub(super) file: Option<PathBuf>,
    pub(super) command: Command,
    pub(super) workspace: PathBuf,
    pub(super) inherit_env: Vec<String>,
}

impl EntryWarrant {
    /// It admits in a trusted workspace, until it is told otherwise.
    pub(super) fn new(trust: &Arc<AtomicBool>, approved: Option<Approved>) -> Arc<EntryWarrant> {
        Arc::new(EntryWarrant { trust: trust.clone(), gate: Mutex::new(Gate::Open), approved })
    }

    /// What is decided from now on.
    pub(super) fn set(&self, gate: Gate) {
        *self.guard() = gate;
    }

    /// The configuration that was approved, if it needed that.
    pub(super) fn hash(&self) -> Option<ApprovalHash> {
        self.approved.as_ref().map(|approved| approved.hash)
    }

    fn guard(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// It is shut from now on, and the pool looks at the entry again.
    fn shut(&self, approved: &Approved, reason: GateReason) -> Gate {
        let gate = Gate::Shut(reason);
        self.set(gate);
        if let Some(pool) = approved.pool.upgrade() {
            pool.look_again();
        }
        gate
    }
}

impl Warrant for EntryWarrant {
    fn gate(&self) -> Gate {
        match self.trust.load(Ordering::Acquire) {
            true => *self.guard(),
            false => Gate::Shut(GateReason::Untrusted),
        }
    }

    fn recheck(&self) -> Gate {
        let (Gate::Open, Some(approved)) = (self.gate(), &self.approved) else {
            return self.gate();
        };
        let read = approved.approvals.reread_if_changed().and_then(|is_other| {
            let Approved { root, name, hash, .. } = approved;
            Ok((is_other, approved.approvals.standing(root, name, *hash)?))
        });
        let (is_other, standing) = match read {
            Ok(read) => read,
            Err(error) => {
                // Nothing begins, and what runs goes on: nobody decided anything.
                if let Some(pool) = approved.pool.upgrade() {
                    pool.retry_decisions(&error);
                }
                return Gate::Shut(GateReason::PendingApproval);
            }
        };
        match standing.map(|standing| standing.decision) {
            Some(Decision::Approved) => {}
            Some(Decision::Rejected) => return self.shut(approved, GateReason::Rejected),
            None => return self.shut(approved, GateReason::PendingApproval),
        }
        if is_other && let Some(pool) = approved.pool.upgrade() {
            // What another host decided of other servers counts as well.
            pool.look_again();
        }
        let Approved { workspace, inherit_env, file, .. } = approved;
        if approved.command.file(&approved.name, workspace, inherit_env) != *file {
            return self.shut(approved, GateReason::PendingApproval);
        }
        Gate::Open
    }

    fn admits_program(&self, program: &Found) -> bool {
        let Some(approved) = &self.approved else { return true };
        let is_it = approved.file.as_deref() == Some(Path::new(&file_of(program)));
        if !is_it {
            self.shut(approved, GateReason::PendingApproval);
        }
        is_it
    }
}
