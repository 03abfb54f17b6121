//! A pool's status as a file, for other programs of the same user to read while the pool runs (option `status_file`, SPEC 9.4).

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::pool::PoolCore;
use crate::apart::OneByOne;
use crate::platform::{FileLock, try_lock};
use crate::store::OwnFile;
use crate::{Error, ErrorCode, Result};

/// The file, and the right to it.
pub(super) struct Published {
    file: OwnFile,
    /// While the file is written; nothing once it is over, so that no late status comes back.
    lock: Mutex<Option<FileLock>>,
    turns: OneByOne,
}

impl Published {
    /// Takes a file for a pool, for as long as the pool is there.
    ///
    /// # Errors
    /// `invalid_argument` for what is no whole path, `store` for a place where nothing can be written or that another pool writes to.
    pub(super) fn new(path: &str) -> Result<Published> {
        let path = Path::new(path);
        if !path.is_absolute() || path.file_name().is_none() {
            let message = "`status_file` is not the whole path of a file";
            return Err(Error::new(ErrorCode::InvalidArgument, message)
                .with_detail("path", "status_file")
                .with_hint("give a path that begins at the root; `~` stands for nothing here"));
        }
        let named = |error: Error| error.with_detail("option", "status_file");
        let file = OwnFile::new(path, "the status");
        file.make_folder().map_err(named)?;
        file.check_folder().map_err(named)?;
        let held = || std::io::Error::from(std::io::ErrorKind::ResourceBusy);
        let lock = try_lock(&file.beside("lock")).and_then(|lock| lock.ok_or_else(held));
        let lock = lock.map_err(|error| {
            let failed = named(file.failed("written", &error));
            failed.with_hint("each pool needs a file of its own, in a folder that it may write to")
        })?;
        Ok(Published { file, lock: Mutex::new(Some(lock)), turns: OneByOne::default() })
    }

    /// Puts a status in the place of the one before; nothing once it is over.
    fn write(&self, status: &Value) -> Result<()> {
        let lock = self.lock();
        if lock.is_none() {
            return Ok(());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = json!({
            "v": 1,
            "pid": std::process::id(),
            "written_at_ms": now.as_millis() as u64,
            "period_ms": PERIOD.as_millis() as u64,
            "status": status,
        });
        self.file.write(text.to_string().as_bytes())
    }

    /// Removes the file, and lets another pool have its name.
    fn remove(&self) {
        let held = self.lock().take();
        if held.is_some()
            && let Err(error) = self.file.remove()
        {
            tracing::warn!("{error}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<FileLock>> {
        self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl PoolCore {
    /// Writes the status down, now and each second from then on; nothing without a file for it.
    ///
    /// # Errors
    /// `store` when it cannot be written now. Later on that is logged, once until it can be again.
    pub(super) fn publish(self: &Arc<PoolCore>) -> Result<()> {
        let Some(published) = self.published.clone() else { return Ok(()) };
        let named = |error: Error| error.with_detail("option", "status_file");
        published.write(&self.status()).map_err(named)?;
        let pool = Arc::downgrade(self);
        self.driver.spawn(async move {
            let mut has_failed = false;
            loop {
                tokio::time::sleep(PERIOD).await;
                let Some(status) = pool.upgrade().map(|pool| pool.status()) else { return };
                let write = published.clone();
                let written = published.turns.run(move || write.write(&status)).await;
                let failed = written.and_then(Result::err);
                if let Some(error) = failed.as_ref().filter(|_| !has_failed) {
                    tracing::warn!("{error}");
                }
                has_failed = failed.is_some();
            }
        });
        Ok(())
    }

    /// The file is gone once this has returned.
    pub(super) async fn unpublish(&self) {
        if let Some(published) = self.published.clone() {
            let remove = published.clone();
            published.turns.run(move || remove.remove()).await;
        }
    }

    /// The same, for who may not wait.
    pub(super) fn unpublish_in_background(&self) {
        if let Some(published) = self.published.clone() {
            self.driver.runtime.handle().spawn_blocking(move || published.remove());
        }
    }
}

/// From one status to the next.
const PERIOD: Duration = Duration::from_secs(1);
