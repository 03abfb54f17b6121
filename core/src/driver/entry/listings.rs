//! How many listings of an entry began and ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::Error;

/// How many listings of an entry began, and the last one whose effects are all carried out.
#[derive(Default)]
pub(crate) struct Listings {
    pub(in crate::driver) begun: AtomicU64,
    pub(in crate::driver) ended: watch::Sender<u64>,
    /// The last that came to nothing, and why.
    pub(in crate::driver) failed: Mutex<Option<(u64, Error)>>,
}

impl Listings {
    /// Whether one began whose effects are not all carried out.
    pub(in crate::driver) fn are_read(&self) -> bool {
        self.begun.load(Ordering::SeqCst) > *self.ended.borrow()
    }

    pub(in crate::driver) fn failed(&self) -> MutexGuard<'_, Option<(u64, Error)>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
