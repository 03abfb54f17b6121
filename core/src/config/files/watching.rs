//! Files that are read again when they change on disk (SPEC 13.5).
//!
//! A watched file that is absent is looked for once more after 300 ms, since editors rename a file
//! away for a moment. A longer debounce would delay every change for that moment.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::oneshot::Receiver;
use tokio::time::Instant;
use trunkline_pool::interface::{EventKind, words};
use trunkline_pool::text::escaped;

use crate::Result;
use crate::config::Config;
use crate::config::desired::Arming;
use crate::events::EventSubject;
use crate::runtime::blocking_pool;
use crate::watch::{Polled, WatchOptions, Watcher};

/// Keeps a file watched until it is a source, which keeps it watched then.
pub(crate) struct PendingWatch {
    config: Weak<Config>,
    path: PathBuf,
}

impl Drop for PendingWatch {
    fn drop(&mut self) {
        let Some(config) = self.config.upgrade() else { return };
        {
            let mut desired = config.desired();
            let place = desired.arming.iter().position(|arming| arming.path == self.path);
            place.map(|place| desired.arming.swap_remove(place));
        }
        config.watch_files();
    }
}

impl PendingWatch {
    /// Whether the file changed since, and has not been a source yet.
    pub(crate) fn is_missed(&self) -> bool {
        let Some(config) = self.config.upgrade() else { return false };
        let desired = config.desired();
        desired.arming.iter().any(|arming| arming.path == self.path && arming.is_missed)
    }
}

impl Config {
    /// Watches a file beside the sources that are watched already. Blocks for some look-ups.
    ///
    /// # Errors
    /// `limit` (`threads`) when no thread can be started; `closing`, `closed`.
    pub(crate) fn arm(self: &Arc<Self>, path: PathBuf) -> Result<PendingWatch> {
        {
            let mut watching = self.watching.guard();
            // Nobody would end a watcher that begins after the end of the pool.
            self.driver.check_open()?;
            if watching.is_none() {
                let weak = Arc::downgrade(self);
                let watcher = Watcher::new(WatchOptions::default(), move |changed| {
                    if let Some(config) = weak.upgrade() {
                        config.changed_on_disk(&changed);
                    }
                });
                *watching = Some(watcher?.into());
            }
        }
        self.desired().arming.push(Arming { path: path.clone(), is_missed: false });
        self.align_watches();
        Ok(PendingWatch { config: Arc::downgrade(self), path })
    }

    /// Watches what is to be watched now, and nothing else. Blocks for some look-ups.
    fn align_watches(&self) {
        let watching = &self.watching;
        let _turn = watching.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // What comes from here on is another's.
        watching.is_due.store(false, Ordering::Release);
        let Some(watcher) = watching.guard().clone() else { return };
        let files = {
            let desired = self.desired();
            let sources = desired.files.values().filter(|file| file.watch);
            let arming = desired.arming.iter().map(|arming| arming.path.clone());
            sources.map(|file| file.path.clone()).chain(arming).collect()
        };
        watcher.set_files(files);
        self.tell_polled(watcher.polled());
    }

    /// The same soon, on a thread that may wait. One at most waits for the one that is at it.
    pub(crate) fn watch_files(self: &Arc<Self>) {
        if self.watching.guard().is_none() || self.watching.is_due.swap(true, Ordering::AcqRel) {
            return;
        }
        let config = self.clone();
        blocking_pool::begin(move || config.align_watches());
    }

    /// Tells of folders that are polled instead of watched, each once.
    fn tell_polled(&self, polled: Vec<Polled>) {
        let news: Vec<Polled> = {
            let told = &self.watching.polled;
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            let before = std::mem::replace(&mut *told, polled.clone());
            polled.into_iter().filter(|polled| !before.contains(polled)).collect()
        };
        for Polled { folder, why } in news {
            let folder = escaped(&folder.to_string_lossy());
            let message = format!("{folder} is looked at every two seconds, not watched: {why}");
            let code = words::warning_code::POLLED;
            let fields = [("code", code.into()), ("message", message.into())];
            self.driver.hub.publish(EventKind::Warning, None, &EventSubject::default(), &fields);
        }
    }

    /// Watches nothing any more. Its end is waited for, unless it waits for a file system itself.
    pub(crate) async fn watch_nothing(&self) {
        let Some(ends) = self.drop_watcher() else { return };
        let until = self.driver.runtime.sleep_until(Instant::now() + END_WAIT_MAX);
        tokio::select! {
            _ = ends => {}
            () = until => {}
        }
    }

    /// Ends the watcher on a thread that may wait for it.
    pub(crate) fn drop_watcher(&self) -> Option<Receiver<()>> {
        let gone = self.watching.guard().take()?;
        Some(blocking_pool::begin(move || drop(gone)))
    }

    /// Some of the watched files may say something else.
    fn changed_on_disk(self: &Arc<Self>, changed: &BTreeSet<PathBuf>) {
        if self.driver.check_open().is_ok() {
            self.desired().note_missed(changed, &self.driver.options);
            self.reread(|file| file.watch && changed.contains(&file.path));
        }
        // What is polled may be another.
        self.watch_files();
    }
}

/// How long the end of a pool waits for that of its watcher, which takes milliseconds where all
/// file systems answer.
const END_WAIT_MAX: Duration = Duration::from_secs(1);
