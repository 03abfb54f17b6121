//! Which process this is: the one that loaded the library, or a fork of it.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many forks lie between this process and the one that first asked.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// A number that is different in every forked child from what it was in its parent. One atomic load.
pub(crate) fn fork_generation() -> u64 {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(register);
    GENERATION.load(Ordering::Relaxed)
}

#[cfg(unix)]
fn register() {
    extern "C" fn in_child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
        super::inherited::close_inherited();
    }
    // SAFETY: the handler only uses atomics and closes files, which is allowed in a forked child; the library is never unloaded.
    let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if failed != 0 {
        tracing::error!(errno = failed, "forks cannot be noticed");
    }
}

#[cfg(not(unix))]
fn register() {}
