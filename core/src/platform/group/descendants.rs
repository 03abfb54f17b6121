//! The processes below a server: found in the system's table, told apart by start time, signalled
//! only when they are the same.
//!
//! This is the fallback where no supervisor runs: it sees descendants by their parent links and by
//! their group, at most [`DESCENDANTS_MAX`] of them and [`DEPTH_MAX`] deep (SPEC 9.8).

use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;

use super::process_table::{self, Stat, children, stat};
#[cfg(target_os = "linux")]
use crate::platform::fork::child::exit_descriptor;

/// How many descendants of one server are followed.
pub(super) const DESCENDANTS_MAX: usize = 256;

/// How deep they are followed.
const DEPTH_MAX: usize = 8;

/// One process, not only one pid: pids are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProcessIdentity {
    pub pid: libc::pid_t,
    /// In the unit of the table.
    pub started: u64,
}

impl ProcessIdentity {
    /// The process that has this pid now; `None` when there is none, or no `/proc`.
    pub(super) fn of(pid: libc::pid_t) -> Option<ProcessIdentity> {
        stat(pid).map(|stat| ProcessIdentity { pid, started: stat.started })
    }

    /// Whether it still runs. A dead process that its parent has not reaped does not.
    pub(super) fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| !stat.dead && stat.started == self.started)
    }

    /// Whether another process has its pid now.
    pub(super) fn is_replaced(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started != self.started)
    }

    /// Sends a signal to this very process, or nothing (S-25).
    #[cfg(target_os = "linux")]
    pub(super) fn signal(self, signal: libc::c_int) {
        let Some(descriptor) = exit_descriptor(self.pid) else {
            return;
        };
        // The descriptor holds whichever process has the pid now; only then is the identity
        // compared.
        if self.is_alive() {
            // SAFETY: signals the process that the descriptor holds; the information argument may
            // be null.
            unsafe {
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    descriptor.as_raw_fd(),
                    signal,
                    std::ptr::null::<libc::siginfo_t>(),
                    0,
                );
            }
        }
    }

    /// Sends a signal to this very process. Nothing can hold a process here, so that only the look
    /// just before it tells whose pid it is.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn signal(self, signal: libc::c_int) {
        if self.is_alive() {
            // SAFETY: sends a signal.
            unsafe { libc::kill(self.pid, signal) };
        }
    }
}

/// The descendants of `root`, if there is one, by parent links, and what hangs below those `known`
/// from earlier.
///
/// Cheap: it reads the children of each process, not the whole table.
pub(super) fn descendants(
    root: Option<libc::pid_t>,
    known: &BTreeSet<ProcessIdentity>,
) -> BTreeSet<ProcessIdentity> {
    let mut found = BTreeSet::new();
    let mut level: Vec<libc::pid_t> = known
        .iter()
        .filter(|identity| identity.is_alive())
        .map(|identity| identity.pid)
        .chain(root)
        .collect();
    for _ in 0..DEPTH_MAX {
        let mut next = Vec::new();
        for child in level.iter().flat_map(|pid| children(*pid)) {
            if found.len() + known.len() >= DESCENDANTS_MAX {
                return found;
            }
            let identity = ProcessIdentity::of(child);
            if let Some(identity) = identity.filter(|it| !known.contains(it) && found.insert(*it)) {
                next.push(identity.pid);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    found
}

/// Every living process of the group or the session that `leader` founded, and the children of
/// those `known`.
///
/// Reads the whole process table: for stragglers only.
pub(super) fn members(
    leader: libc::pid_t,
    known: &BTreeSet<ProcessIdentity>,
) -> BTreeSet<ProcessIdentity> {
    let belongs = |stat: &Stat| {
        stat.group == leader
            || stat.session == leader
            || known.iter().any(|identity| identity.pid == stat.parent && identity.is_alive())
    };
    let found = process_table::pids().into_iter().filter_map(|pid| {
        let stat = stat(pid).filter(|stat| !stat.dead && belongs(stat))?;
        Some(ProcessIdentity { pid, started: stat.started })
    });
    found.take(DESCENDANTS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-25: a pid that was used again is another process.
    #[test]
    fn a_signal_reaches_the_process_that_was_meant_and_no_other_with_its_pid() {
        let mut bystander = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let identity = ProcessIdentity::of(bystander.id().cast_signed()).unwrap();
        let stale = ProcessIdentity { started: identity.started - 1, ..identity };
        assert!(identity.is_alive() && stale.is_replaced() && !stale.is_alive());
        stale.signal(libc::SIGKILL);
        identity.signal(libc::SIGTERM);
        let ended = bystander.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(libc::SIGTERM));
        assert!(!identity.is_alive());
        identity.signal(libc::SIGKILL);
    }
}
