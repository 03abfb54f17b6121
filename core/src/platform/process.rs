//! A server's process, held by the supervisor or by the library.

use super::group;
#[cfg(target_os = "linux")]
use super::supervised;
use super::{Exit, TreeSignal};

/// A server's process and its tree. Dropping it ends what is left of the tree, at once.
#[derive(Debug)]
pub(crate) enum Process {
    /// Under the supervisor.
    #[cfg(target_os = "linux")]
    Supervised(supervised::SupervisedProcess),
    /// A child of the host.
    Group(group::GroupProcess),
}

impl Process {
    /// The pid of the leader, while anything of the tree is left. Never to be signalled by it.
    pub(crate) fn pid(&self) -> u32 {
        match self {
            #[cfg(target_os = "linux")]
            Process::Supervised(process) => process.pid(),
            Process::Group(process) => process.pid(),
        }
    }

    /// How the leader ended; `None` while it lives.
    pub(crate) fn exit_now(&self) -> Option<Exit> {
        match self {
            #[cfg(target_os = "linux")]
            Process::Supervised(process) => process.exit_now(),
            Process::Group(process) => process.exit_now(),
        }
    }

    /// Waits for the end of the leader. A dropped future changes nothing.
    pub(crate) async fn exited(&self) -> Exit {
        match self {
            #[cfg(target_os = "linux")]
            Process::Supervised(process) => process.exited().await,
            Process::Group(process) => process.exited().await,
        }
    }

    /// Whether the leader has ended or is about to, though nobody told how yet.
    pub(crate) fn is_ending(&self) -> bool {
        group::is_ending(self.pid().cast_signed())
    }

    /// Notes the descendants of the moment, where links to them vanish with their parents.
    pub(crate) fn survey(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Process::Supervised(_) => {}
            Process::Group(process) => process.survey(),
        }
    }

    /// Waits until nothing of the tree is left. A dropped future changes nothing.
    pub(crate) async fn gone(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Process::Supervised(process) => process.gone().await,
            Process::Group(process) => process.gone().await,
        }
    }

    /// Sends a signal to the whole tree. A group may have to be killed again, for what it forked
    /// meanwhile.
    pub(crate) fn signal(&self, signal: TreeSignal) {
        match self {
            #[cfg(target_os = "linux")]
            Process::Supervised(process) => process.signal(signal),
            Process::Group(process) => process.signal(signal),
        }
    }
}
