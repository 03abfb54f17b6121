//! Files that are read again when they change on disk (SPEC 13.5).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::Result;
use crate::api::pool::PoolCore;
use crate::watch::{WatchOptions, Watcher};

/// The watcher of a pool, once a file is watched.
#[derive(Default)]
pub(super) struct Watching(Mutex<Option<Watcher>>);

/// Keeps a file watched until it is a source, which keeps it watched then.
pub(super) struct Armed {
    pool: Weak<PoolCore>,
    path: PathBuf,
}

impl Drop for Armed {
    fn drop(&mut self) {
        let Some(pool) = self.pool.upgrade() else { return };
        {
            let mut desired = pool.sources.desired();
            let place = desired.arming.iter().position(|path| *path == self.path);
            place.map(|place| desired.arming.swap_remove(place));
        }
        pool.watch_files();
    }
}

impl PoolCore {
    /// Watches a file beside the sources that are watched already. Blocks for some look-ups.
    ///
    /// # Errors
    /// `internal` when no thread can be started.
    pub(super) fn arm(self: &Arc<Self>, path: PathBuf) -> Result<Armed> {
        {
            let mut watching = self.sources.watching.guard();
            if watching.is_none() {
                let weak = Arc::downgrade(self);
                *watching = Some(Watcher::new(WatchOptions::default(), move |changed| {
                    if let Some(pool) = weak.upgrade() {
                        pool.changed_on_disk(changed);
                    }
                })?);
            }
        }
        self.sources.desired().arming.push(path.clone());
        self.watch_files();
        Ok(Armed { pool: Arc::downgrade(self), path })
    }

    /// Watches what is to be watched now, and nothing else.
    pub(super) fn watch_files(&self) {
        // The newest set is declared last, whoever comes first.
        let watching = self.sources.watching.guard();
        let Some(watcher) = &*watching else { return };
        let files = {
            let desired = self.sources.desired();
            let sources = desired.files.values().filter(|file| file.watch);
            sources.map(|file| file.path.clone()).chain(desired.arming.clone()).collect()
        };
        watcher.set_files(files);
    }

    /// Watches nothing any more.
    pub(in crate::api) fn watch_nothing(&self) {
        let gone = self.sources.watching.guard().take();
        drop(gone);
    }

    /// Some of the watched files may say something else.
    fn changed_on_disk(self: &Arc<Self>, changed: BTreeSet<PathBuf>) {
        let pool = Arc::downgrade(self);
        self.driver.spawn(async move {
            let Some(pool) = pool.upgrade() else { return };
            if pool.driver.check_open().is_ok() {
                pool.reread(|file| file.watch && changed.contains(&file.path)).await;
            }
        });
    }
}

impl Watching {
    fn guard(&self) -> MutexGuard<'_, Option<Watcher>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
