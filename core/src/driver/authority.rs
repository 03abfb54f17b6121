//! On whose word a connection is made, and what is decided of that word.

use std::sync::Arc;

use trunkline_pool::config::Fingerprint;
use trunkline_pool::state::Gate;

use crate::lookup::Found;

/// On whose word a connection is made.
#[derive(Clone, Default)]
pub(crate) enum Authority {
    /// The host's own: nothing but the lists of names keeps it out.
    #[default]
    Host,
    /// A source's, for as long as what is decided of it admits it.
    Warrant(Arc<dyn Warrant>),
}

/// What is decided of a server of a source: whether the workspace is trusted as far as it needs that, whether its configuration is
/// approved, and what else can change while it runs.
///
/// One stands for one configuration of one name. Whoever changes what one says calls
/// [`Driver::review_keys`](super::Driver::review_keys) then.
pub(crate) trait Warrant: Send + Sync {
    /// What is decided now. Asked under the pool's mutex: it neither waits nor calls the pool.
    fn gate(&self) -> Gate;

    /// The same, right before a connection is begun, from what the world is then: decisions that others wrote, and what the
    /// command's name leads to. It may read files, and runs where that harms nobody. What it says, [`gate`](Self::gate) says from then on, unless
    /// it cannot know: then this connection is not begun, and others stay.
    fn recheck(&self) -> Gate;

    /// Whether this program, which was found for the command and is started next, is the one that was approved. `false` is a wait for
    /// approval, which [`gate`](Self::gate) says from then on. It may read files.
    fn admits_program(&self, program: &Found) -> bool;
}

impl Authority {
    /// What is decided now.
    pub(crate) fn gate(&self) -> Gate {
        match self {
            Authority::Host => Gate::Open,
            Authority::Warrant(warrant) => warrant.gate(),
        }
    }

    /// The warrant, unless it is the host's own.
    pub(crate) fn warrant(&self) -> Option<&Arc<dyn Warrant>> {
        match self {
            Authority::Host => None,
            Authority::Warrant(warrant) => Some(warrant),
        }
    }

    /// Somebody else asks for the same connection: the host's own word stays, and of others the newest counts. Whether it is another
    /// than before.
    pub(super) fn heed(&mut self, newest: &Authority) -> bool {
        match (&*self, newest) {
            (Authority::Host, _) => false,
            (Authority::Warrant(old), Authority::Warrant(new)) if Arc::ptr_eq(old, new) => false,
            (Authority::Warrant(_), _) => {
                *self = newest.clone();
                true
            }
        }
    }
}

/// A server that a session would ask for, as far as its gates are concerned.
pub(crate) struct Candidate<'a> {
    /// The server's name.
    pub name: &'a str,
    /// On whose word.
    pub authority: &'a Authority,
    /// The identity of its configuration, whoever asks for it; absent for the host's own.
    pub configuration: Option<Fingerprint>,
}
