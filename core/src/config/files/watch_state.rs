//! The watcher of a pool, and what is under way to bring its watches in line.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::watch::{Polled, Watcher};

/// The watcher of a pool, once a file is watched.
#[derive(Default)]
pub(crate) struct Watching {
    watcher: Mutex<Option<Arc<Watcher>>>,
    /// Folders that were told of because they are not watched.
    pub(crate) polled: Mutex<Vec<Polled>>,
    /// The thread that brings the watches in line holds it, for as long as the file system takes.
    /// So the newest set is declared last, in whatever order threads come.
    pub(crate) turn: Mutex<()>,
    /// Whether somebody is to do so soon.
    pub(crate) is_due: AtomicBool,
}

impl Watching {
    pub(crate) fn guard(&self) -> MutexGuard<'_, Option<Arc<Watcher>>> {
        self.watcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
