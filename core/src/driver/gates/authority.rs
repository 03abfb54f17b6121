//! On whose word a connection is made, and what is decided of that word.
//!
//! The word that admits a key is part of the key. Otherwise a rejection would end what another
//! admits, or a rejected server would live on by the word of a host that has left.

use std::sync::Arc;

use trunkline_pool::acceptance::Recalled;
use trunkline_pool::approvals::{Replaced, ToolDigests};
use trunkline_pool::config::Fingerprint;
use trunkline_pool::gates::WarrantId;
use trunkline_pool::options::{OnToolChange, PoolOptions};
use trunkline_pool::state::Gate;

use crate::Result;
use crate::auth::Author;
use crate::host_env::FoundProgram;
use crate::platform::Expected;
use crate::runtime::blocking_pool::OneByOne;

/// On whose word a connection is made. It is part of what a connection is: what runs by another
/// word shares nothing, so that no word admits or ends what runs by another.
#[derive(Clone, Default)]
pub(crate) enum Authority {
    /// The host's own: nothing but the lists of names keeps it out.
    #[default]
    Host,
    /// A source's, for as long as what is decided of it admits it.
    Warrant(Arc<dyn Warrant>),
}

/// What is decided of a server of a source: whether the workspace is trusted as far as it needs
/// that, whether its configuration is approved, and what else can change while it runs.
///
/// Whatever one decides about is admitted and shut out together. After a change of it,
/// [`Driver::review_keys`](crate::driver::Driver::review_keys) must follow.
pub(crate) trait Warrant: Send + Sync {
    /// What is decided now. Asked under the pool's mutex: it neither waits nor calls the pool.
    fn gate(&self) -> Gate;

    /// The same, right before a connection is begun, from what the world is then: decisions that
    /// others wrote, and what the command's name leads to. It may read files, and runs where that
    /// harms nobody. What it says, [`gate`](Self::gate) says from then on.
    ///
    /// # Errors
    /// `store` when it cannot know: nothing is decided by that, so this connection is not begun,
    /// and others stay.
    fn recheck(&self) -> Result<Gate>;

    /// Where [`recheck`](Self::recheck) waits for its turn to read files; none when it reads none,
    /// and so harms nobody anywhere.
    fn rechecks(&self) -> Option<&OneByOne>;

    /// Whether it is the approval of a configuration: of servers that need one, changed tools are
    /// held back by default (SPEC 7.6).
    fn is_approval(&self) -> bool {
        false
    }

    /// The approval that it is, and the tools that were accepted by it; nothing while it is not
    /// approved, or where it is none. It waits for no file.
    fn accepted_tools(&self) -> Option<Recalled> {
        None
    }

    /// Has that kept with the approval, where it is one: all that is accepted, and what the host
    /// accepted just now. It waits for no file.
    fn keep_tools(&self, _accepted: &Arc<ToolDigests>, _tool: Option<&Arc<str>>) {}

    /// What the program that was found for the command, and its interpreters, have to be at the
    /// start to be what was looked at. Nothing is a wait for approval, which [`gate`](Self::gate)
    /// says from then on. It may read files.
    fn admits_program(&self, program: &FoundProgram) -> Option<Expected>;

    /// How its program is another than was looked at, if it is (SPEC 12.12). It waits for no file.
    fn replaced(&self) -> Option<Replaced> {
        None
    }
}

/// [`Warrant::recheck`], asked from where nobody may wait for a file system; nothing when it
/// panics. One after the other is answered from what the world is in its own turn. A dropped future
/// leaves one that has begun.
pub(crate) async fn recheck(warrant: &Arc<dyn Warrant>) -> Option<Result<Gate>> {
    let Some(rechecks) = warrant.rechecks() else { return Some(warrant.recheck()) };
    let asked = warrant.clone();
    rechecks.run(move || asked.recheck()).await
}

impl Authority {
    /// What is decided now.
    pub(crate) fn gate(&self) -> Gate {
        match self {
            Authority::Host => Gate::Open,
            Authority::Warrant(warrant) => warrant.gate(),
        }
    }

    /// How the program of what runs by it is another than was looked at, if it is.
    pub(crate) fn replaced(&self) -> Option<Replaced> {
        self.warrant()?.replaced()
    }

    /// Who wrote what runs by it, as far as it decides what its sign-ins may reach.
    pub(crate) fn author(&self) -> Author {
        match self.warrant().is_some_and(|warrant| warrant.is_approval()) {
            true => Author::Source,
            false => Author::Host,
        }
    }

    /// What accepted definitions of tools belong to: those of a server that needs approval are not
    /// those of an equal one that needs none (SPEC 12.11).
    pub(crate) fn judged_as(&self, fingerprint: Fingerprint) -> Fingerprint {
        match self.author() {
            Author::Source => fingerprint.of_approved(),
            Author::Host => fingerprint,
        }
    }

    /// What becomes of changed tools of what runs by it: what the host says for all servers, else
    /// what is the rule for its kind.
    pub(crate) fn on_tool_change(&self, options: &PoolOptions) -> OnToolChange {
        let by_rule = match self.warrant().is_some_and(|warrant| warrant.is_approval()) {
            true => OnToolChange::Quarantine,
            false => OnToolChange::Notify,
        };
        options.on_tool_change.unwrap_or(by_rule)
    }

    /// The warrant, unless it is the host's own.
    pub(crate) fn warrant(&self) -> Option<&Arc<dyn Warrant>> {
        match self {
            Authority::Host => None,
            Authority::Warrant(warrant) => Some(warrant),
        }
    }

    /// Which warrant it is, for as long as somebody has that, unless it is the host's own. Two are
    /// the same word when this is equal.
    pub(crate) fn id(&self) -> Option<WarrantId> {
        self.warrant().map(|warrant| WarrantId(Arc::as_ptr(warrant).cast::<()>().addr()))
    }
}

/// A server that a session would ask for, as far as its gates are concerned.
pub(crate) struct Candidate<'a> {
    /// The server's name.
    pub name: &'a str,
    /// On whose word.
    pub authority: &'a Authority,
}
