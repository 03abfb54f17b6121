//! A server's process and its tree: watching it, signalling it, and making sure that nothing of it
//! is left (I-01).

use std::collections::BTreeSet;
use std::io;
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::descendants::{self, ProcessIdentity};
use super::fork::{Unclaimed, abandon};
use super::{exit, exit_hook};
use crate::platform::{Exit, TreeSignal};

/// How often, at one millisecond each, a drop looks whether the killed leader has ended.
const REAP_TRIES: u32 = 50;

/// How often the tree is looked at while it is awaited: soon first, then more and more rarely.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LAST: Duration = Duration::from_millis(16);

/// A server's process, the leader of its own session and group. Dropping it kills what is left of
/// its tree.
#[derive(Debug)]
pub(crate) struct GroupProcess {
    pid: libc::pid_t,
    /// Absent where there is no `/proc`; the group alone is ended there.
    identity: Option<ProcessIdentity>,
    /// The process that started it: a fork of the host must not end its parent's servers.
    owner: libc::pid_t,
    exit: watch::Receiver<Option<Exit>>,
    tree: Mutex<Tree>,
}

#[derive(Debug, Default)]
struct Tree {
    /// Descendants seen so far.
    known: BTreeSet<ProcessIdentity>,
    /// The leader was reaped: its pid is no longer ours, its group only while it has members.
    reaped: bool,
    /// Nothing is left.
    gone: bool,
}

impl GroupProcess {
    /// Takes over a child that was just started. Needs the runtime.
    pub(super) fn claim(child: Unclaimed) -> io::Result<Self> {
        let pid = child.claim().ok_or(io::ErrorKind::NotFound)?;
        let exit = exit::watch(pid).inspect_err(|_| abandon(pid))?;
        exit_hook::register(pid);
        Ok(GroupProcess {
            pid,
            identity: ProcessIdentity::of(pid),
            // SAFETY: has no preconditions.
            owner: unsafe { libc::getpid() },
            exit,
            tree: Mutex::default(),
        })
    }

    /// Its pid, which stays its own until nothing of the tree is left.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// How the leader ended; `None` while it lives.
    pub(crate) fn exit_now(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for the end of the leader. A dropped future changes nothing.
    pub(crate) async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Unknown),
            // The watch ended without an answer: nothing more can be known.
            Err(_) => Exit::Unknown,
        }
    }

    /// Notes the descendants of the moment, since the links to them vanish with their parents.
    pub(crate) fn survey(&self) {
        self.look(&mut self.lock());
    }

    /// Notes the descendants that can be found now: not below a number that is another's by now
    /// (S-25).
    fn look(&self, tree: &mut Tree) {
        let root = self.group_is_ours().then_some(self.pid);
        let found = descendants::descendants(root, &tree.known);
        tree.known.extend(found);
    }

    /// Whether the leader, its group and every known descendant are gone. Reaps the leader once it
    /// has ended.
    fn is_gone(&self) -> bool {
        if self.exit_now().is_none() {
            return false;
        }
        let mut tree = self.lock();
        if tree.gone {
            return true;
        }
        if !tree.reaped {
            self.look(&mut tree);
            reap(self.pid);
            tree.reaped = true;
        }
        tree.known.retain(|identity| identity.is_alive());
        tree.gone = tree.known.is_empty() && !self.group_lives();
        if tree.gone {
            exit_hook::forget(self.pid);
        }
        tree.gone
    }

    /// Waits until nothing is left. A dropped future changes nothing.
    pub(crate) async fn gone(&self) {
        self.exited().await;
        let mut pause = LOOK_FIRST;
        while !self.is_gone() {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_LAST);
        }
    }

    /// Sends a signal to the group and to every descendant that can be found now.
    pub(crate) fn signal(&self, signal: TreeSignal) {
        let number = match signal {
            TreeSignal::Terminate => libc::SIGTERM,
            TreeSignal::Kill => libc::SIGKILL,
        };
        let mut tree = self.lock();
        if tree.gone {
            return;
        }
        self.look(&mut tree);
        if tree.reaped && self.group_is_ours() {
            // The members that outlived their leader, one by one, each by its identity.
            let found = descendants::members(self.pid, &tree.known);
            tree.known.extend(found);
        }
        if self.group_is_ours() {
            // SAFETY: the group is this server's own: its leader is unreaped, or it still has
            // members.
            unsafe { libc::kill(-self.pid, number) };
        }
        for identity in &tree.known {
            identity.signal(number);
        }
    }

    /// Whether the number still names the group that this leader founded.
    fn group_is_ours(&self) -> bool {
        !self.identity.is_some_and(ProcessIdentity::is_replaced)
    }

    /// Whether a living process is left in the group, apart from a leader that is not reaped.
    fn group_lives(&self) -> bool {
        // SAFETY: signal 0 only asks.
        let answer = unsafe { libc::kill(-self.pid, 0) };
        if answer < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) {
            return false;
        }
        if !self.group_is_ours() {
            return false;
        }
        // Dead members that their own parent has not reaped keep the group's number, and are no
        // survivors.
        self.identity.is_none() || !descendants::members(self.pid, &BTreeSet::new()).is_empty()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GroupProcess {
    /// Only reached with a live tree when the runtime ended before the ordered shutdown did.
    fn drop(&mut self) {
        // SAFETY: has no preconditions.
        if self.lock().gone || unsafe { libc::getpid() } != self.owner {
            return;
        }
        self.signal(TreeSignal::Kill);
        let reaped = self.lock().reaped;
        for _ in 0..if reaped { 0 } else { REAP_TRIES } {
            if reap(self.pid) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        exit_hook::forget(self.pid);
    }
}

/// Reaps a child that has ended; `false` when it has not ended yet. Somebody else may have reaped
/// it.
fn reap(pid: libc::pid_t) -> bool {
    // SAFETY: waits for a child of ours by its pid; the status is not asked for.
    unsafe { libc::waitpid(pid, ptr::null_mut(), libc::WNOHANG) != 0 }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    /// S-25: a helper may outlive the leader and its group, whose number is free from then on.
    #[test]
    fn nothing_of_a_stranger_that_has_the_leaders_number_is_signalled() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 1000 & wait $!"]).process_group(0);
        let mut stranger = shell.spawn().unwrap();
        let pid = stranger.id().cast_signed();
        let below = || descendants::descendants(Some(pid), &BTreeSet::new()).into_iter().next();
        let child = loop {
            match below() {
                Some(child) => break child,
                None => std::thread::yield_now(),
            }
        };
        let identity =
            ProcessIdentity::of(pid).map(|it| ProcessIdentity { started: it.started - 1, ..it });
        let ended = watch::channel(Some(Exit::Unknown));
        let process = GroupProcess {
            pid,
            identity,
            // SAFETY: has no preconditions.
            owner: unsafe { libc::getpid() },
            exit: ended.1,
            tree: Mutex::new(Tree { reaped: true, ..Tree::default() }),
        };
        process.survey();
        process.signal(TreeSignal::Kill);
        assert!(process.is_gone());
        child.signal(libc::SIGTERM);
        assert_eq!(stranger.wait().unwrap().code(), Some(128 + libc::SIGTERM));
    }
}
