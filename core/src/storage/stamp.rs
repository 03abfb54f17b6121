//! Whether a file is still the one that was read.
//!
//! A stamp is trusted once it is three seconds old: two saves fit into one tick of a file system's
//! clock.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What can be said of a file without reading it; nothing of one that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion(Option<FileVersionFields>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileVersionFields {
    bytes: u64,
    modified: Option<SystemTime>,
    place: (u64, u64, i64, i64),
}

/// A file that was written so lately may have been written twice by one tick of the clock of its
/// file system; the coarsest ticks every two seconds.
const LATELY: Duration = Duration::from_secs(3);

impl FileVersion {
    pub(super) fn of(path: &Path) -> io::Result<FileVersion> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(FileVersion(Some(FileVersionFields {
                bytes: metadata.len(),
                modified: metadata.modified().ok(),
                place: place(&metadata),
            }))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileVersion(None)),
            Err(error) => Err(error),
        }
    }

    /// Whether an equal one means that the file is the same.
    pub(crate) fn is_settled(&self) -> bool {
        let Some(told) = &self.0 else { return true };
        let age = told.modified.and_then(|at| SystemTime::now().duration_since(at).ok());
        age.is_some_and(|age| age > LATELY)
    }
}

/// The device, the file on it, and when that was changed in any way.
#[cfg(unix)]
fn place(metadata: &Metadata) -> (u64, u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn place(_metadata: &Metadata) -> (u64, u64, i64, i64) {
    (0, 0, 0, 0)
}
