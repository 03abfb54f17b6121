//! The servers that a session does without (SPEC 6.5).
//!
//! A lease on a disabled server sleeps and works again later. Ending it would make the host find
//! everybody who holds one.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

/// The servers that a session does without (SPEC 6.5). Readers have it without the
/// session: the last reference to a session must not be dropped under a lock, since that ends it.
#[derive(Default)]
pub(crate) struct Disabled(Mutex<BTreeSet<Box<str>>>);

impl Disabled {
    pub(crate) fn servers(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
