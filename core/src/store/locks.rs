//! Waiting for locks that other processes hold.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

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

/// The lock that a file stands for, as soon as it is had. Between two looks at it no thread waits: the runtime has few that may, and
/// who has the lock needs one.
pub(super) async fn lock(path: PathBuf, patience: Duration) -> Result<FileLock, Unlocked> {
    let until = Instant::now() + patience;
    loop {
        let looked_at = path.clone();
        let tried = tokio::task::spawn_blocking(move || try_lock(&looked_at)).await;
        match tried.unwrap_or_else(|died| Err(died.into())) {
            Ok(Some(locked)) => return Ok(locked),
            Ok(None) if Instant::now() < until => tokio::time::sleep(LOCK_POLL).await,
            Ok(None) => return Err(Unlocked::Held),
            Err(error) => return Err(Unlocked::Failed(error)),
        }
    }
}
