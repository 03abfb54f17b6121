//! What is to be done on the disk: look-ups one after another, and writes one after another beside
//! them.

use std::collections::{HashMap, VecDeque};

use trunkline_pool::catalog_cache::CacheKey;

use super::disk::Write;

/// Look-ups that wait: one for each session that begins. What is asked beyond is answered without
/// the disk.
const LOOK_UPS_MAX: usize = 1024;

/// Keys that wait to be written. What is listed beyond is not kept on the disk until it is listed
/// again.
const WRITES_MAX: usize = 8192;

/// Keys that are written under one lock: so long another process waits at the most.
const BATCH: usize = 32;

/// Called when what was asked for is looked up.
pub(super) type LookupCallback = Box<dyn FnOnce() + Send>;

/// Keys that are looked for.
pub(super) struct LookupRequest {
    pub(super) keys: Vec<CacheKey>,
    pub(super) by: By,
    pub(super) done: LookupCallback,
}

/// Who looks for them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A session that is open.
    Session,
    /// Nobody yet.
    Nobody,
}

#[derive(Default)]
pub(super) struct CatalogJobs {
    look_ups: VecDeque<LookupRequest>,
    /// Of each key the newest alone.
    writes: HashMap<CacheKey, Write>,
    /// Whether a thread looks.
    pub(super) looks: bool,
    /// Whether a thread writes.
    pub(super) writes_now: bool,
}

impl CatalogJobs {
    /// # Errors
    /// What is called, when there are too many.
    pub(super) fn add_look_up(&mut self, looked_for: LookupRequest) -> Result<(), LookupCallback> {
        if self.look_ups.len() >= LOOK_UPS_MAX {
            return Err(looked_for.done);
        }
        self.look_ups.push_back(looked_for);
        Ok(())
    }

    pub(super) fn add_write(&mut self, key: &CacheKey, write: Write) {
        if self.writes.len() < WRITES_MAX || self.writes.contains_key(key) {
            self.writes.insert(key.clone(), write);
        }
    }

    /// The look-up that is next. Without any, nobody looks from now on.
    pub(super) fn next_look_up(&mut self) -> Option<LookupRequest> {
        let next = self.look_ups.pop_front();
        self.looks = next.is_some();
        next
    }

    /// What is written next. Without any, nobody writes from now on.
    pub(super) fn next_writes(&mut self) -> Option<Vec<(CacheKey, Write)>> {
        let keys: Vec<CacheKey> = self.writes.keys().take(BATCH).cloned().collect();
        let writes: Vec<_> = keys.iter().filter_map(|key| self.writes.remove_entry(key)).collect();
        self.writes_now = !writes.is_empty();
        self.writes_now.then_some(writes)
    }

    /// Whether a thread is at it.
    pub(super) fn is_at_work(&self) -> bool {
        self.looks || self.writes_now
    }
}
