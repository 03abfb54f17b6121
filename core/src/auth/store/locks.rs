//! Waiting for locks that other processes hold.

use std::path::Path;
use std::time::{Duration, Instant};

use super::file;
use crate::Error;
use crate::platform::{FileLock, try_lock};

/// Waiting for another process that writes the file: it takes milliseconds.
pub(super) const WRITE_WAIT_MAX: Duration = Duration::from_secs(5);

/// Waiting for another process that renews the same grant, which takes as long as an authorization server.
pub(super) const RENEWAL_WAIT_MAX: Duration = Duration::from_secs(20);

/// Between two looks at a lock that another process holds.
const LOCK_POLL: Duration = Duration::from_millis(10);

/// Why a lock was not had.
pub(super) enum Unlocked {
    /// Another has it.
    Held,
    Failed(std::io::Error),
}

impl Unlocked {
    pub(super) fn into_error(self, path: &Path) -> Error {
        match self {
            Unlocked::Held => file::failed("locked", path, &std::io::ErrorKind::TimedOut.into()),
            Unlocked::Failed(error) => file::failed("locked", path, &error),
        }
    }
}

/// The lock that a file stands for, as soon as it is had. Blocks.
pub(super) fn lock(path: &Path, patience: Duration) -> Result<FileLock, Unlocked> {
    let until = Instant::now() + patience;
    loop {
        match try_lock(path) {
            Ok(Some(locked)) => return Ok(locked),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOCK_POLL),
            Ok(None) => return Err(Unlocked::Held),
            Err(error) => return Err(Unlocked::Failed(error)),
        }
    }
}
