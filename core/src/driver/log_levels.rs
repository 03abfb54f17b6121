//! How much of an entry's log its sessions want to hear, where each request says it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use trunkline_pool::state::SessionId;

/// The levels that sessions asked for, as the protocol names them.
#[derive(Default)]
pub(crate) struct LogLevels {
    /// Whether there ever was one: nearly no call has to look further.
    is_any: AtomicBool,
    levels: Mutex<BTreeMap<SessionId, &'static str>>,
}

impl LogLevels {
    /// A session wants to hear this level and what is graver.
    pub(crate) fn set(&self, session: SessionId, level: &'static str) {
        self.levels().insert(session, level);
        self.is_any.store(true, Ordering::Release);
    }

    /// What a session asked for.
    pub(crate) fn of(&self, session: SessionId) -> Option<&'static str> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        self.levels().get(&session).copied()
    }

    /// A session is gone.
    pub(crate) fn forget(&self, session: SessionId) {
        self.levels().remove(&session);
    }

    fn levels(&self) -> MutexGuard<'_, BTreeMap<SessionId, &'static str>> {
        self.levels.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
