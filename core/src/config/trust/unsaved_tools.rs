//! The accepted tools that are still to be kept with their approvals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use trunkline_pool::approvals::{ApprovalHash, Standing, ToolDigests};

/// What is to be kept.
#[derive(Default)]
pub(crate) struct Accepted {
    unsaved: Mutex<Unsaved>,
    /// Wakes who waits for nothing to be left.
    pub(crate) idle: Notify,
}

#[derive(Default)]
pub(crate) struct Unsaved {
    pub(crate) by_approval: BTreeMap<(Box<str>, ApprovalHash), Save>,
    pub(crate) is_at_work: bool,
}

/// What is accepted by one approval.
pub(crate) struct Save {
    pub(crate) by: Standing,
    pub(crate) tools: Arc<ToolDigests>,
    /// Those that the host accepted itself.
    pub(crate) said: BTreeSet<Arc<str>>,
}

impl Accepted {
    pub(crate) fn unsaved(&self) -> MutexGuard<'_, Unsaved> {
        self.unsaved.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The next; without any, the work is over.
    pub(crate) fn next(&self) -> Option<((Box<str>, ApprovalHash), Save)> {
        let mut unsaved = self.unsaved();
        let next = unsaved.by_approval.pop_first();
        if next.is_none() {
            unsaved.is_at_work = false;
            self.idle.notify_waiters();
        }
        next
    }
}
