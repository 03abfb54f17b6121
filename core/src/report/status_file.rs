//! A pool's status as a file, for other programs of the same user to read while the pool runs
//! (option `status_file`, SPEC 9.4).

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use trunkline_pool::options::STATUS_FILE_BYTES_MAX;

use crate::platform::{FileLock, try_lock};
use crate::runtime::blocking_pool::OneByOne;
use crate::storage::OwnFile;
use crate::{Error, ErrorCode, Result};

/// The file, and the right to it.
pub(crate) struct StatusFile {
    file: OwnFile,
    /// While the file is written; nothing once it is over, so that no late status comes back.
    lock: Mutex<Option<FileLock>>,
    pub(crate) turns: OneByOne,
}

impl StatusFile {
    /// Takes a file for a pool, for as long as the pool is there.
    ///
    /// # Errors
    /// `invalid_argument` for what is no whole path, `store` for a place where nothing can be
    /// written or that another pool writes to.
    pub(crate) fn new(path: &str) -> Result<StatusFile> {
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
        Ok(StatusFile { file, lock: Mutex::new(Some(lock)), turns: OneByOne::default() })
    }

    /// Puts a status in the place of the one before; nothing once it is over.
    pub(crate) fn write(&self, status: Value) -> Option<Result<()>> {
        let lock = self.lock();
        lock.as_ref()?;
        let text = text(status, STATUS_FILE_BYTES_MAX);
        Some(
            text.map_err(|error| self.file.failed("written", &error))
                .and_then(|text| self.file.write_passing(text.as_bytes())),
        )
    }

    /// Removes the file, and lets another pool have its name.
    pub(crate) fn remove(&self) {
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

/// What is in the file. A status that is too long for it is without what servers wrote to stderr,
/// and says so.
fn text(mut status: Value, bytes_max: usize) -> std::io::Result<String> {
    let mut left_out = Vec::new();
    loop {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = json!({
            "v": 1,
            "pid": std::process::id(),
            "written_at_ms": now.as_millis() as u64,
            "period_ms": PERIOD.as_millis() as u64,
            "left_out": left_out,
            "status": status,
        });
        let text = text.to_string();
        if text.len() <= bytes_max {
            return Ok(text);
        }
        if !left_out.is_empty() {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        left_out.push("stderr");
        let servers = status["servers"].as_object_mut().into_iter().flatten();
        let entries = servers.filter_map(|(_, server)| server["entries"].as_array_mut());
        entries.flatten().for_each(|entry| entry["stderr"] = Value::Null);
    }
}

/// From one status to the next.
pub(crate) const PERIOD: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    /// SPEC 9.4: no late status comes back, and nobody goes on to write.
    #[test]
    fn nothing_is_written_once_it_is_over() {
        let folder = Folder::new();
        let file = folder.join("status.json");
        let published = StatusFile::new(file.to_str().unwrap()).unwrap();
        assert!(published.write(json!({})).unwrap().is_ok() && file.exists());
        published.remove();
        assert!(published.write(json!({})).is_none() && !file.exists());
        assert!(StatusFile::new(file.to_str().unwrap()).is_ok(), "another may have it");
    }

    /// SPEC 9.4.
    #[test]
    fn what_is_too_long_is_without_stderr_and_says_so() {
        let entry = |stderr: Value| json!({ "entry_index": 0, "stderr": stderr });
        let status = |stderr: Value| json!({ "servers": { "a": { "entries": [entry(stderr.clone()), entry(stderr)] }, "b": { "entries": [] } } });
        let written = |bytes_max| -> Value {
            let full = status(json!(["x".repeat(1000)]));
            serde_json::from_str(&text(full, bytes_max).unwrap()).unwrap()
        };
        let (whole, cut) = (written(3000), written(2000));
        assert_eq!(whole["status"], status(json!(["x".repeat(1000)])));
        assert_eq!((&whole["left_out"], &cut["left_out"]), (&json!([]), &json!(["stderr"])));
        assert_eq!(cut["status"], status(Value::Null));
        assert!(text(status(json!([])), 100).is_err());
    }
}
