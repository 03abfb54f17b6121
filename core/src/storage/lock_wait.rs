//! Waiting for locks that other processes hold.
//!
//! A thread polls for the lock, and first for a lock that says that it waits. Without that, a host
//! that saves all the time starves another.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::OwnFile;
use crate::Error;
use crate::platform::{FileLock, try_lock};
use crate::runtime::blocking_pool;

/// Waiting for another process that writes the file: it takes milliseconds.
pub(crate) const WRITE_WAIT_MAX: Duration = Duration::from_secs(5);

/// Between two looks at a lock that another process holds.
const LOCK_POLL: Duration = Duration::from_millis(10);

/// The same for a thread that waits.
const LOCK_POLL_NOW: Duration = Duration::from_millis(1);

/// Why a lock was not had.
pub(crate) enum Unlocked {
    /// Another has it.
    Held,
    Failed(std::io::Error),
}

impl Unlocked {
    pub(crate) fn into_error(self, file: &OwnFile) -> Error {
        match self {
            Unlocked::Held => file.failed("locked", &std::io::ErrorKind::TimedOut.into()),
            Unlocked::Failed(error) => file.failed("locked", &error),
        }
    }
}

/// The lock that a file stands for, as soon as it is had. Between two looks at it no thread waits:
/// the runtime has few that may, and who has the lock needs one.
pub(crate) async fn lock(path: PathBuf, patience: Duration) -> Result<FileLock, Unlocked> {
    let until = Instant::now() + patience;
    loop {
        let looked_at = path.clone();
        let tried = blocking_pool::begin(move || try_lock(&looked_at)).await;
        match tried.unwrap_or_else(|died| Err(io::Error::other(died))) {
            Ok(Some(locked)) => return Ok(locked),
            Ok(None) if Instant::now() < until => tokio::time::sleep(LOCK_POLL).await,
            Ok(None) => return Err(Unlocked::Held),
            Err(error) => return Err(Unlocked::Failed(error)),
        }
    }
}

/// The right to write a file, by a thread that waits. Who waits for it has the turn, so that a
/// process that writes all the time waits for one that came later.
///
/// # Errors
/// `store` when another process has it for too long.
pub(crate) fn lock_now(file: &OwnFile) -> Result<FileLock, Error> {
    let had = |ending| wait_for(&file.beside(ending)).map_err(|why| why.into_error(file));
    let _turn_until_locked = had("turn")?;
    had("lock")
}

fn wait_for(path: &Path) -> Result<FileLock, Unlocked> {
    let until = Instant::now() + WRITE_WAIT_MAX;
    loop {
        match try_lock(path) {
            Ok(Some(locked)) => return Ok(locked),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOCK_POLL_NOW),
            Ok(None) => return Err(Unlocked::Held),
            Err(error) => return Err(Unlocked::Failed(error)),
        }
    }
}
