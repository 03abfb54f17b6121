//! Files that are read again when they change on disk (SPEC 13.5).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use trunkline_pool::interface::{EventKind, words};

use super::pass::Busy;
use crate::Result;
use crate::api::pool::PoolCore;
use crate::driver::About;
use crate::watch::{Polled, WatchOptions, Watcher};

/// The watcher of a pool, once a file is watched.
#[derive(Default)]
pub(super) struct Watching {
    watcher: Mutex<Option<Watcher>>,
    /// Folders that were told of because they are not watched.
    polled: Mutex<Vec<Polled>>,
    /// Held by whoever reads files and takes up what they say, so that what is taken up last is what was read last.
    turn: tokio::sync::Mutex<()>,
}

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
    /// `internal` when no thread can be started; `closing`, `closed`.
    pub(super) fn arm(self: &Arc<Self>, path: PathBuf) -> Result<Armed> {
        {
            let mut watching = self.sources.watching.guard();
            // Nobody would end a watcher that begins after the end of the pool.
            self.driver.check_open()?;
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
        self.tell_polled(watcher.polled());
    }

    /// Tells of folders that are polled instead of watched, each once.
    fn tell_polled(&self, polled: Vec<Polled>) {
        let news: Vec<Polled> = {
            let told = &self.sources.watching.polled;
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            let before = std::mem::replace(&mut *told, polled.clone());
            polled.into_iter().filter(|polled| !before.contains(polled)).collect()
        };
        for Polled { folder, why } in news {
            let folder = folder.display();
            let message = format!("{folder} is looked at every two seconds, not watched: {why}");
            let code = words::warning_code::POLLED;
            let fields = [("code", code.into()), ("message", message.into())];
            self.driver.hub.publish(EventKind::Warning, None, &About::default(), &fields);
        }
    }

    /// Watches nothing any more.
    pub(in crate::api) fn watch_nothing(&self) {
        let gone = self.sources.watching.guard().take();
        drop(gone);
    }

    /// Some of the watched files may say something else.
    fn changed_on_disk(self: &Arc<Self>, changed: BTreeSet<PathBuf>) {
        let (pool, busy) = (self.clone(), Busy::new(self));
        self.driver.spawn(async move {
            if pool.driver.check_open().is_ok() {
                pool.reread(|file| file.watch && changed.contains(&file.path)).await;
            }
            drop(busy);
        });
        // What is polled may be another.
        self.watch_files();
    }
}

impl Watching {
    fn guard(&self) -> MutexGuard<'_, Option<Watcher>> {
        self.watcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn to read files. A future that is dropped gives it back.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}
