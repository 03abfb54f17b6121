//! How a watcher works, and what it says of folders that it does not watch.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How often the files in folders that are not watched are looked at.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How a watcher works.
#[derive(Clone, Debug)]
pub(crate) struct WatchOptions {
    /// How long it has to be quiet before a change is told; default 300 ms.
    pub(crate) debounce: Duration,
    /// How many folders are watched at most; the files of further ones are polled. Default 1024: an
    /// old kernel gives a user 8192.
    pub(crate) watches_max: usize,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions { debounce: Duration::from_millis(300), watches_max: 1024 }
    }
}

/// A folder that is looked at every two seconds, because it is not watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Polled {
    pub(crate) folder: PathBuf,
    pub(crate) why: UnwatchedReason,
}

/// Why a folder is not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnwatchedReason {
    /// The user has no watches left (`fs.inotify.max_user_watches`).
    WatchesUsedUp,
    /// The system gives this process no watcher (`fs.inotify.max_user_instances`, open files).
    NoWatcher,
    /// There are more folders than [`WatchOptions::watches_max`].
    TooMany,
    /// The folder may be passed and not read.
    PermissionDenied,
    /// Anything else, such as a file system that tells nothing.
    Failed,
}

impl fmt::Display for UnwatchedReason {
    /// For a person, as the end of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnwatchedReason::WatchesUsedUp => "the user has no watches left",
            UnwatchedReason::NoWatcher => "the system gives no watcher",
            UnwatchedReason::TooMany => "there are too many folders",
            UnwatchedReason::PermissionDenied => "it cannot be read",
            UnwatchedReason::Failed => "the system refuses",
        })
    }
}
