//! Which process this is: the one that loaded the library, or a fork of it.
//!
//! Fork handlers that take every lock are not used: each fork would wait for the start of a
//! runtime, and a forgotten lock would hang as before.

use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// How many forks lie between this process and the one that first asked.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// A number that is different in every forked child from what it was in its parent. One atomic
/// load.
pub(crate) fn fork_generation() -> u64 {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(register);
    GENERATION.load(Ordering::Relaxed)
}

/// One value for each process. A forked child makes its own when it first asks, and never touches
/// the parent's: that may be locked by a thread which the child does not have, for ever.
pub(crate) struct OfProcess<T>(AtomicPtr<Made<T>>);

/// Never freed.
struct Made<T> {
    fork_generation: u64,
    value: T,
}

impl<T: Default + Send + Sync + 'static> OfProcess<T> {
    /// Not made yet.
    pub(crate) const fn new() -> Self {
        OfProcess(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// That of this process.
    pub(crate) fn get(&self) -> &'static T {
        let fork_generation = fork_generation();
        let found = self.0.load(Ordering::Acquire);
        // SAFETY: what is there was made below, and is never freed.
        match unsafe { found.as_ref() } {
            Some(made) if made.fork_generation == fork_generation => &made.value,
            _ => self.make(found, fork_generation),
        }
    }

    fn make(&self, before: *mut Made<T>, fork_generation: u64) -> &'static T {
        let made = Box::into_raw(Box::new(Made { fork_generation, value: T::default() }));
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match self.0.compare_exchange(before, made, order.0, order.1) {
            // SAFETY: it was just made, and is never freed from here on.
            Ok(_) => unsafe { &(*made).value },
            Err(other) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: another thread of this process made that one, which is never freed.
                unsafe { &(*other).value }
            }
        }
    }
}

#[cfg(unix)]
fn register() {
    extern "C" fn in_child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
        super::noted_descriptors::close_noted();
    }
    // SAFETY: the handler only uses atomics and closes files, which is allowed in a forked child;
    // the library is never unloaded.
    let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if failed != 0 {
        tracing::error!(errno = failed, "forks cannot be noticed");
    }
}

#[cfg(not(unix))]
fn register() {}
