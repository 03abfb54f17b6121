//! By what the server of a source runs: trust, and where it needs one its approval, asked again
//! before each connection (SPEC 11.5).
//!
//! Decisions that cannot be read end nothing and let nothing begin. Counting them as absent ended
//! every approved server for want of one descriptor.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use trunkline_pool::acceptance::Recalled;
use trunkline_pool::approvals::{
    ApprovalHash, Book, Decision, Identity, ProjectRoot, Replaced, Standing, ToolDigests,
};
use trunkline_pool::state::{Gate, GateReason};

use crate::Result;
use crate::config::resolve::launch_preview::{Command, LaunchPreview, file_of};
use crate::config::resolve::looks::Looks;
use crate::driver::Warrant;
use crate::host_env::{FoundProgram, StartSnapshot};
use crate::platform::Expected;
use crate::runtime::blocking_pool::OneByOne;

/// What a warrant has to know of the configuration of its pool, which stands above it.
pub(crate) trait Approving: Send + Sync {
    /// What is decided of a configuration by the newest decisions, and whether those are others
    /// than before. It reads the file of decisions where that changed.
    ///
    /// # Errors
    /// Why they cannot be read. They are tried again then.
    fn read_decision(
        self: Arc<Self>,
        name: &str,
        hash: ApprovalHash,
    ) -> Result<(bool, Option<Standing>)>;

    /// The program that the command of a server leads to now. It reads folders and links.
    fn find_program(&self, name: &str, command: &Command) -> Option<FoundProgram>;

    /// Decisions or programs may be others: what needs approval is looked at again.
    fn look_anew(self: Arc<Self>);

    /// The approval of a configuration, and the tools that were accepted by it.
    fn accepted(&self, name: &str, hash: ApprovalHash) -> Option<(Standing, Arc<ToolDigests>)>;

    /// Has kept what is accepted by the approval of a configuration.
    fn keep(
        self: Arc<Self>,
        of: (&str, ApprovalHash),
        tools: &Arc<ToolDigests>,
        tool: Option<&Arc<str>>,
    );

    /// What programs were found to be.
    fn looks(&self) -> &Looks;
}

/// The trust in the workspace. It is a warrant by itself, of all that needs nothing else.
pub(crate) struct Trust(AtomicBool);

/// The approval of one configuration of one name, for as long as anything is to run by it.
pub(crate) struct Approved {
    trust: Arc<Trust>,
    config: Weak<dyn Approving>,
    name: Box<str>,
    identity: Identity,
    /// The file that its command led to when it was shown; none where it led to none, or to one
    /// that could not be shown.
    file: Option<PathBuf>,
    /// What that and its interpreters were.
    look: Option<StartSnapshot>,
    /// What is decided of the configuration as it is written.
    written: ApprovalHash,
    state: Mutex<State>,
    /// One at a time asks about it again, right before a connection.
    rechecks: OneByOne,
}

struct State {
    /// What is decided of it.
    decided: Gate,
    /// With what its program is found, as it was looked up last.
    command: Command,
    /// Whether that was another file when it was to start last.
    is_astray: bool,
}

impl Trust {
    pub(crate) fn new(trusted: bool) -> Arc<Trust> {
        Arc::new(Trust(AtomicBool::new(trusted)))
    }

    /// Whether there is any, from now on.
    pub(crate) fn set(&self, trusted: bool) {
        self.0.store(trusted, Ordering::Release);
    }
}

impl Warrant for Trust {
    fn gate(&self) -> Gate {
        match self.0.load(Ordering::Acquire) {
            true => Gate::Open,
            false => Gate::Shut(GateReason::Untrusted),
        }
    }

    fn recheck(&self) -> Result<Gate> {
        Ok(self.gate())
    }

    fn rechecks(&self) -> Option<&OneByOne> {
        None
    }

    fn admits_program(&self, _: &FoundProgram) -> Option<Expected> {
        Some(Expected::default())
    }
}

impl Approved {
    /// It waits for approval until it is [judged](Self::judge).
    pub(crate) fn new(
        config: Weak<dyn Approving>,
        trust: &Arc<Trust>,
        name: &str,
        (sighted, command): (&LaunchPreview, &Command),
    ) -> Arc<Approved> {
        let state = State {
            decided: Gate::Shut(GateReason::PendingApproval),
            command: command.clone(),
            is_astray: !sighted.is_whole,
        };
        Arc::new(Approved {
            trust: trust.clone(),
            config,
            name: name.into(),
            identity: sighted.identity.clone(),
            file: sighted.file.clone().filter(|_| sighted.is_whole),
            look: sighted.look.clone(),
            written: sighted.as_written().hash,
            state: Mutex::new(state),
            rechecks: OneByOne::default(),
        })
    }

    /// Whose it is.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What a decision about it is about.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// It was looked up anew, and came to the same.
    pub(crate) fn sighted(&self, (sighted, command): (&LaunchPreview, &Command)) {
        let mut state = self.state();
        state.command = command.clone();
        state.is_astray = !sighted.is_whole;
    }

    /// Where its program leads is found out when it is to start again.
    pub(crate) fn forget_where_it_leads(&self) {
        self.state().is_astray = false;
    }

    /// It is as decided as the book says from now on.
    pub(crate) fn judge(&self, root: &ProjectRoot, book: &Book) {
        let standing = book.standing(root, &self.name, self.identity.hash);
        self.state().decided = gate_of(standing.map(|standing| standing.decision));
    }

    /// Finds out where its command leads to now, and what follows from that. It reads folders and
    /// links.
    fn look(&self, config: &dyn Approving) -> Gate {
        let command = self.state().command.clone();
        let found = config.find_program(&self.name, &command);
        let is_astray = found.as_ref().map(file_of) != self.file;
        self.state().is_astray = is_astray;
        gate_of_way(is_astray)
    }

    /// It says that from now on, and the pool looks at its configuration again.
    fn shut(&self, config: Arc<dyn Approving>, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        config.look_anew();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Warrant for Approved {
    fn gate(&self) -> Gate {
        let state = self.state();
        self.trust.gate().and(state.decided).and(gate_of_way(state.is_astray))
    }

    fn recheck(&self) -> Result<Gate> {
        let gate = self.gate();
        let (Gate::Open, Some(config)) = (gate, self.config.upgrade()) else { return Ok(gate) };
        let (is_other, standing) = config.clone().read_decision(&self.name, self.identity.hash)?;
        // The answer is what was found here, and what is known to shut it besides: a pass that took
        // an older book may say meanwhile that it is open.
        let decided = gate_of(standing.map(|standing| standing.decision));
        if decided != Gate::Open {
            self.shut(config, |state| state.decided = decided);
            return Ok(self.trust.gate().and(decided));
        }
        let leads = self.look(&*config);
        if is_other || leads != Gate::Open {
            // What another host decided of other servers counts as well.
            config.look_anew();
        }
        Ok(self.gate().and(leads))
    }

    fn rechecks(&self) -> Option<&OneByOne> {
        Some(&self.rechecks)
    }

    fn is_approval(&self) -> bool {
        true
    }

    fn accepted_tools(&self) -> Option<Recalled> {
        let (by, tools) = self.config.upgrade()?.accepted(&self.name, self.identity.hash)?;
        Some(Recalled::Approved { by, tools })
    }

    fn keep_tools(&self, accepted: &Arc<ToolDigests>, tool: Option<&Arc<str>>) {
        if let Some(config) = self.config.upgrade() {
            config.keep((&self.name, self.identity.hash), accepted, tool);
        }
    }

    fn admits_program(&self, program: &FoundProgram) -> Option<Expected> {
        let is_it = self.file.as_deref() == Some(Path::new(&file_of(program)));
        let (look, found) = (self.look.as_ref().filter(|_| is_it), StartSnapshot::at(program));
        if look.is_some_and(|look| look.replaced_by(&found).is_none()) {
            return Some(found.expected());
        }
        let config = self.config.upgrade()?;
        if is_it {
            config.looks().note_replacement(&self.name, self.written, found);
        }
        self.shut(config, |state| state.is_astray = true);
        None
    }

    fn replaced(&self) -> Option<Replaced> {
        self.config.upgrade()?.looks().replaced(&self.name, self.written)
    }
}

/// What follows from where a command leads to.
fn gate_of_way(is_astray: bool) -> Gate {
    match is_astray {
        true => Gate::Shut(GateReason::PendingApproval),
        false => Gate::Open,
    }
}

/// What follows from a decision.
fn gate_of(decision: Option<Decision>) -> Gate {
    match decision {
        Some(Decision::Approved) => Gate::Open,
        Some(Decision::Rejected) => Gate::Shut(GateReason::Rejected),
        None => Gate::Shut(GateReason::PendingApproval),
    }
}
