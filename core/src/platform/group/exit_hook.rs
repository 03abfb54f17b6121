//! The groups of every live server, killed when the host exits without having closed its pools
//! (SPEC 16.4).

use std::sync::{Mutex, MutexGuard, Once, TryLockError};
use std::time::Duration;

use super::descendants::{self, ProcessIdentity};
use crate::platform::OfProcess;
#[cfg(target_os = "macos")]
use crate::platform::macos_watcher;

#[derive(Debug)]
struct LiveGroup {
    /// Whose it is: a fork of that process leaves it alone.
    host: u32,
    pid: libc::pid_t,
    identity: Option<ProcessIdentity>,
}

static LIVE: OfProcess<Mutex<Vec<LiveGroup>>> = OfProcess::new();

/// Remembers a server's group, until it is forgotten.
pub(super) fn register(pid: libc::pid_t) {
    // A fork has it from its parent.
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        // SAFETY: the function is `extern "C"`, takes nothing, and does not unwind. A failure
        // leaves the ordered ways.
        unsafe { libc::atexit(kill_all) };
    });
    let (host, identity) = (std::process::id(), ProcessIdentity::of(pid));
    lock().push(LiveGroup { host, pid, identity });
    #[cfg(target_os = "macos")]
    if let Some(identity) = identity {
        macos_watcher::tell(macos_watcher::WatcherMessage::Begun, pid, identity.started);
    }
}

/// Nothing of that group is left that the host knows of.
pub(super) fn forget(pid: libc::pid_t) {
    lock().retain(|live| live.pid != pid);
    #[cfg(target_os = "macos")]
    macos_watcher::tell(macos_watcher::WatcherMessage::Over, pid, 0);
}

/// The leaders of all live servers of this process, and when they started.
#[cfg(target_os = "macos")]
pub(in crate::platform) fn live() -> Vec<(libc::pid_t, u64)> {
    let all = lock();
    let own = all.iter().filter(|live| live.is_own());
    own.filter_map(|live| Some((live.pid, live.identity?.started))).collect()
}

fn lock() -> MutexGuard<'static, Vec<LiveGroup>> {
    LIVE.get().lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl LiveGroup {
    fn is_own(&self) -> bool {
        self.host == std::process::id()
    }
}

/// Kills every group of this process that is left. Runs at exit, when other threads may still run:
/// it does not wait for them.
extern "C" fn kill_all() {
    // The lock is held for the time of a push at most, unless its holder is gone.
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        match LIVE.get().try_lock() {
            Ok(live) => return live.iter().for_each(kill),
            Err(TryLockError::Poisoned(live)) => return live.into_inner().iter().for_each(kill),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn kill(live: &LiveGroup) {
    if !live.is_own() || live.identity.is_some_and(ProcessIdentity::is_replaced) {
        return;
    }
    let below = descendants::descendants(Some(live.pid), &Default::default());
    // SAFETY: the group is that of a server of ours that has not been reported gone.
    unsafe { libc::kill(-live.pid, libc::SIGKILL) };
    for identity in below {
        identity.signal(libc::SIGKILL);
    }
}
