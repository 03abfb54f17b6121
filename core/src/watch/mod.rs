//! Hears when a declared file may have changed: written, replaced, removed, or reached by another
//! way (SPEC 13.5).
//!
//! A file may be absent, and any folder on the way to it; a link on the way, or the file itself,
//! may be swapped. The watches are on the folders in which a name of that way is looked up
//! (`path_trail`). They are never on files, whose watch would go with an editor's rename. A thread
//! of `notify` takes a change in (`inbox`) and brings it to the one thread of the watcher. That
//! brings the watches in line (`active_watches`) and tells the change once it was quiet for a while
//! (`debounce`).
//!
//! # What a caller may rely on
//!
//! - **Arm, then read.** Whatever changes after [`Watcher::set_files`] has returned is told. So a
//!   file is declared first and read then; what is read in a callback, or later, is never older
//!   than the last change that will be told. Declaring tells nothing.
//! - A callback names files that *may* have changed. It can be wrong, also after a write of the
//!   caller's own, and comes at least once for each burst; a caller that cares compares what the
//!   files mean.
//! - Callbacks come one at a time on the watcher's own thread, under no lock of it. They may block,
//!   and may call the watcher or drop it.
//! - What cannot be watched is polled, which [`Watcher::polled`] says, and the files concerned
//!   count as changed when that begins.
//!
//! What no notification of the system tells is not told: writes of another machine on a network
//! file system, writes through another hard link in another folder, and a file system mounted over
//! a folder.

mod active_watches;
mod backend;
mod debounce;
mod inbox;
mod path_trail;
#[cfg(test)]
mod tests;
mod types;
mod watch_set;

use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::active_watches::ActiveWatches;
use self::debounce::Debouncer;
use self::inbox::{Inbox, PathChanges, WaitEnd};
use self::path_trail::Trail;
pub(crate) use self::types::{Polled, WatchOptions};
use self::watch_set::Declared;
use crate::runtime::blocking_pool::no_thread;
use crate::{Result, platform};

/// Watches declared files until it is dropped.
///
/// Drop returns when no callback runs or comes any more and every watch is given back; it waits for
/// one that runs, so its thread must not hold what a callback waits for. Dropped by its own
/// callback, it ends when that returns.
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    /// Present until drop.
    thread: Option<JoinHandle<()>>,
    fork_generation: u64,
}

/// What the watcher and its thread share.
struct Shared {
    inbox: Arc<Inbox>,
    armed: Mutex<ActiveWatches>,
    debounce: Duration,
    on_change: Box<dyn Fn(BTreeSet<PathBuf>) + Send + Sync>,
}

/// The folders in which names are looked up on the way to an absolute path, as far as it exists, by
/// paths without links. Looks things up and opens nothing.
pub(crate) fn folders_on_the_way(path: &Path) -> Vec<PathBuf> {
    Trail::of(path).steps.into_iter().map(|step| step.folder.path).collect()
}

impl Watcher {
    /// Begins to watch nothing.
    ///
    /// # Errors
    /// `limit` (`threads`) when a thread cannot be started. Watches that the system refuses are no
    /// error, see [`Watcher::polled`].
    pub(crate) fn new(
        options: WatchOptions,
        on_change: impl Fn(BTreeSet<PathBuf>) + Send + Sync + 'static,
    ) -> Result<Watcher> {
        let inbox = Arc::new(Inbox::default());
        let armed = Mutex::new(ActiveWatches::new(inbox.clone(), options.watches_max));
        let on_change = Box::new(on_change);
        let shared = Arc::new(Shared { inbox, armed, debounce: options.debounce, on_change });
        let thread = Shared::start(shared.clone()).map_err(|error| no_thread(&error))?;
        Ok(Watcher { shared, thread: Some(thread), fork_generation: platform::fork_generation() })
    }

    /// Replaces the declared files, which are absolute paths; a relative one is taken from the
    /// current directory. Of a folder every change of what is in it counts.
    ///
    /// When it returns, all of them are watched: read them after it. It blocks for some look-ups of
    /// each. In a forked child it does nothing.
    pub(crate) fn set_files(&self, files: BTreeSet<PathBuf>) {
        if self.is_forked() {
            return;
        }
        let absolute = |file: PathBuf| std::path::absolute(&file).unwrap_or(file);
        let mut armed = self.shared.armed();
        armed.declare(files.into_iter().map(absolute).collect());
        let changed = armed.align();
        drop(armed);
        self.shared.inbox.leave(changed);
    }

    /// The folders that are not watched but polled.
    pub(crate) fn polled(&self) -> Vec<Polled> {
        if self.is_forked() {
            return Vec::new();
        }
        self.shared.armed().polled()
    }

    fn is_forked(&self) -> bool {
        self.fork_generation != platform::fork_generation()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.is_forked() {
            // Its threads do not exist here, and its locks may be held by them.
            std::mem::forget((self.shared.clone(), thread));
            return;
        }
        self.shared.inbox.end();
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            tracing::error!("watching files ended with a panic");
        }
    }
}

impl Shared {
    /// Starts the thread, and waits until the system's watches are there, or are refused.
    fn start(shared: Arc<Shared>) -> io::Result<JoinHandle<()>> {
        let (ready, is_ready) = sync_channel(1);
        let thread = std::thread::Builder::new().name(THREAD_NAME.into());
        let thread = thread.spawn(move || shared.run(ready))?;
        is_ready.recv().map_err(io::Error::other)?;
        Ok(thread)
    }

    fn run(&self, ready: SyncSender<()>) {
        platform::block_all_signals();
        self.armed().revive();
        // Who started it waits for this.
        let _ = ready.send(());
        let mut debouncer = Debouncer::new(self.debounce);
        let mut until = None;
        while let WaitEnd::News(news) = self.inbox.wait(until) {
            until = self.work(news, &mut debouncer);
        }
        self.armed().disarm();
    }

    /// Takes in news and tells what is due; when to come again.
    fn work(&self, news: PathChanges, debouncer: &mut Debouncer<Declared>) -> Option<Instant> {
        let now = Instant::now();
        let changed = self.take_in(news, now);
        debouncer.note(now, changed);
        if let Some(due) = debouncer.take(now) {
            // What is looked at here is what the callback will find; only what changes later is
            // news.
            let mut armed = self.armed();
            let others = armed.align().into_iter().filter(|file| !due.contains(file));
            debouncer.note(now, others);
            let due: BTreeSet<PathBuf> =
                due.intersection(armed.declared()).map(|file| file.to_path_buf()).collect();
            drop(armed);
            self.tell(due);
        }
        let looks = self.armed().next_look();
        [debouncer.due(), looks].into_iter().flatten().min()
    }

    /// Brings the watches in line with what was heard; the files that may have changed.
    fn take_in(&self, news: PathChanges, now: Instant) -> BTreeSet<Declared> {
        let mut changed = news.touched;
        let mut armed = self.armed();
        let is_time = armed.next_look().is_some_and(|look| look <= now);
        if is_time {
            armed.revive();
        }
        if news.is_gap {
            armed.forget(|_| true);
            changed.extend(armed.declared().iter().cloned());
        }
        if !news.moved.is_empty() {
            let is_moved = |folder: &Path| folder.ancestors().any(|it| news.moved.contains(it));
            armed.forget(is_moved);
        }
        if is_time {
            changed.extend(armed.look());
        } else if news.is_gap || !news.moved.is_empty() {
            changed.extend(armed.align());
        }
        changed
    }

    fn tell(&self, changed: BTreeSet<PathBuf>) {
        if changed.is_empty() || self.inbox.is_over() {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| (self.on_change)(changed))).is_err() {
            tracing::error!("a callback of watched files panicked");
        }
    }

    fn armed(&self) -> MutexGuard<'_, ActiveWatches> {
        self.armed.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

const THREAD_NAME: &str = "trunkline-watch";
