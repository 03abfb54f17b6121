//! Calls that take time: each has a thread, and a cancellation wakes it.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a wait ended.
#[derive(Clone, Copy, PartialEq)]
pub enum Waited {
    Whole,
    Cancelled,
}

/// The slow calls under way, by request id as it stood.
#[derive(Default)]
pub struct SlowCalls {
    under_way: Mutex<HashMap<Vec<u8>, Arc<Cancel>>>,
}

/// One call's cancellation.
#[derive(Default)]
pub struct Cancel {
    cancelled: Mutex<bool>,
    changed: Condvar,
}

impl SlowCalls {
    /// Registers a call before its thread starts, so that a cancel can never come too early.
    pub fn begin(&self, id: &[u8]) -> Arc<Cancel> {
        let cancel = Arc::new(Cancel::default());
        lock(&self.under_way).insert(id.to_vec(), Arc::clone(&cancel));
        cancel
    }

    /// Forgets a call; another one that has taken the same id since stays.
    pub fn end(&self, id: &[u8], cancel: &Arc<Cancel>) {
        let mut under_way = lock(&self.under_way);
        if under_way.get(id).is_some_and(|other| Arc::ptr_eq(other, cancel)) {
            under_way.remove(id);
        }
    }

    /// How many are under way.
    pub fn count(&self) -> usize {
        lock(&self.under_way).len()
    }

    /// Cancels the call with that id, if it is under way.
    pub fn cancel(&self, id: &[u8]) {
        if let Some(cancel) = lock(&self.under_way).remove(id) {
            *lock(&cancel.cancelled) = true;
            cancel.changed.notify_all();
        }
    }
}

impl Cancel {
    /// Waits for `time`, or until the call is cancelled.
    pub fn wait(&self, time: Duration) -> Waited {
        let deadline = Instant::now() + time;
        let mut cancelled = lock(&self.cancelled);
        while !*cancelled {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Waited::Whole;
            }
            let waited = self.changed.wait_timeout(cancelled, left);
            cancelled = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Waited::Cancelled
    }
}

/// Takes a lock that stays usable when a thread that held it has panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
