//! The system's watches, by the crate `notify`: inotify on Linux, FSEvents on macOS,
//! `ReadDirectoryChangesW` on Windows.
//!
//! Version 9 of `notify` is used although it is a candidate. Version 8 wakes for each file that is
//! only opened, and loses events on macOS while a watch is added.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use notify::event::EventKindMask;
use notify::{Config, ErrorKind, Event, EventHandler, RecommendedWatcher, RecursiveMode, Watcher};

use super::inbox::Inbox;
use super::types::UnwatchedReason;

/// The system's watches, with a thread of `notify` that hears. It is made on a thread of ours,
/// whose blocked signals that one inherits.
pub(super) struct Backend {
    /// Present until drop.
    watcher: Option<RecommendedWatcher>,
    /// Nothing is ever sent: its end is the end of the thread that hears.
    hearing: Receiver<()>,
}

/// Where `notify` brings what it heard.
struct WatchHandler {
    inbox: Arc<Inbox>,
    _hearing: Sender<()>,
}

/// What a watch that was asked for has come to.
pub(super) enum WatchOutcome {
    Yes,
    /// The folder is not there any more.
    Gone,
    No(UnwatchedReason),
}

impl Backend {
    /// # Errors
    /// Those of the system, which has a bound for each user.
    pub(super) fn new(inbox: Arc<Inbox>) -> notify::Result<Backend> {
        let (sender, hearing) = channel();
        let ear = WatchHandler { inbox, _hearing: sender };
        // Files that are only read, by ourselves too, wake nobody.
        let kinds = EventKindMask::CORE | EventKindMask::ACCESS_CLOSE;
        let config = Config::default().with_event_kinds(kinds);
        let watcher = RecommendedWatcher::new(ear, config)?;
        Ok(Backend { watcher: Some(watcher), hearing })
    }

    /// Whether anybody hears. A thread that could not be started, or has panicked, does not.
    pub(super) fn is_alive(&self) -> bool {
        matches!(self.hearing.try_recv(), Err(TryRecvError::Empty))
    }

    pub(super) fn watch(&mut self, folder: &Path) -> WatchOutcome {
        let Some(watcher) = &mut self.watcher else {
            return WatchOutcome::No(UnwatchedReason::NoWatcher);
        };
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => WatchOutcome::Yes,
            Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => WatchOutcome::Gone,
            Err(error) => WatchOutcome::No(UnwatchedReason::of(&error)),
        }
    }

    /// What is not watched any more, because the folder went, is fine.
    pub(super) fn unwatch(&mut self, folder: &Path) {
        if let Some(watcher) = &mut self.watcher {
            let _ = watcher.unwatch(folder);
        }
    }
}

impl UnwatchedReason {
    fn of(error: &notify::Error) -> UnwatchedReason {
        match &error.kind {
            ErrorKind::MaxFilesWatch => UnwatchedReason::WatchesUsedUp,
            ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                UnwatchedReason::PermissionDenied
            }
            _ => UnwatchedReason::Failed,
        }
    }
}

impl EventHandler for WatchHandler {
    fn handle_event(&mut self, heard: notify::Result<Event>) {
        self.inbox.hear(heard);
    }
}

impl Drop for WatchHandler {
    /// Nobody hears any more.
    fn drop(&mut self) {
        self.inbox.miss();
    }
}

impl Drop for Backend {
    /// Returns when the thread that hears has closed what it had open.
    fn drop(&mut self) {
        let Some(watcher) = self.watcher.take() else { return };
        if !self.is_alive() {
            // Its drop would panic for want of that thread.
            return std::mem::forget(watcher);
        }
        drop(watcher);
        let _ = self.hearing.recv_timeout(END_MAX);
    }
}

/// How long the end of `notify`'s thread is waited for; it takes less than a millisecond. A thread
/// that hangs in the system costs no more.
const END_MAX: Duration = Duration::from_secs(2);
