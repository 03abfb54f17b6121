//! One file: read whole, and replaced whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use super::replace::FILE_BYTES_MAX;
use super::replace::{ReplaceHandles, write_new, write_whole};
use super::stamp::FileVersion;
use crate::base::bounded_reader;
use crate::platform::{check_own_folder, check_unreadable, open_own};
use crate::{Error, ErrorCode, Result};

/// A file that is this user's alone.
#[derive(Clone, Debug)]
pub(crate) struct OwnFile {
    path: PathBuf,
    /// What messages call what it is of.
    of: &'static str,
}

/// What has the name of a file.
pub(crate) enum FileContent {
    Nothing,
    Bytes(Vec<u8>),
    /// More than is read.
    TooLong,
}

impl OwnFile {
    /// The file of that path, which need not be there.
    pub(crate) fn new(path: impl Into<PathBuf>, of: &'static str) -> OwnFile {
        OwnFile { path: path.into(), of }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it.
    ///
    /// # Errors
    /// `store`, also for one that another could have put there.
    pub(crate) fn read(&self) -> Result<FileContent> {
        let file = match open_own(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(FileContent::Nothing);
            }
            Err(error) => return Err(self.failed("read", &error)),
        };
        let read = bounded_reader::of_file(file, FILE_BYTES_MAX);
        let bytes = read.map_err(|error| self.failed("read", &error))?;
        Ok(bytes.map_or(FileContent::TooLong, FileContent::Bytes))
    }

    /// Refuses a file that others may read. One that is not there hides nothing.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn check_private(&self) -> Result<()> {
        let checked = fs::symlink_metadata(&self.path).and_then(|found| check_unreadable(&found));
        match checked {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("trusted", &error))
            }
            _ => Ok(()),
        }
    }

    /// Puts these bytes in the place of what is there, in one step. The lock must be held.
    ///
    /// # Errors
    /// `store`, also for what could not be read again.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(self.failed("written", &io::ErrorKind::FileTooLarge.into()));
        }
        // One name for all: what a process that was killed left goes with the next save.
        let new = self.beside("new");
        let written = ReplaceHandles::of(&self.path).and_then(|place| {
            let put = write_whole(&new, bytes).and_then(|()| fs::rename(&new, &self.path));
            put.inspect_err(|_| drop(fs::remove_file(&new)))?;
            place.settle(&self.path, &new)
        });
        written.map_err(|error| self.failed("written", &error))
    }

    /// The same for what is worth nothing after a power cut: it need not come to the disk, and who
    /// writes it bounds it.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn write_passing(&self, bytes: &[u8]) -> Result<()> {
        let new = self.beside("new");
        let put = write_new(&new, bytes).and_then(|file| {
            // Where a file that is open cannot be renamed.
            drop(file);
            fs::rename(&new, &self.path)
        });
        put.map_err(|error| {
            drop(fs::remove_file(&new));
            self.failed("written", &error)
        })
    }

    /// What tells whether another file has its name since, without reading it.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn stamp(&self) -> Result<FileVersion> {
        FileVersion::of(&self.path).map_err(|error| self.failed("read", &error))
    }

    /// Whether something has that name, be it a link to nothing.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn exists(&self) -> Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed("read", &error)),
        }
    }

    /// Removes it, if it is there. The lock must be held.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("removed", &error))
            }
            _ => Ok(()),
        }
    }

    /// Renames a file that cannot be read; its new name. The lock must be held.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn set_aside(&self) -> Result<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let aside = self.beside(&format!("damaged-{}", now.as_nanos()));
        fs::rename(&self.path, &aside).map_err(|error| self.failed("set aside", &error))?;
        Ok(aside.display().to_string())
    }

    /// Makes its folder, for nobody else to look into.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn make_folder(&self) -> Result<()> {
        let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty())
        else {
            return Ok(());
        };
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(self.failed_at("made", folder, &error));
            }
            _ => {}
        }
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| self.failed_at("made", folder, &error))
    }

    /// Refuses a folder in which others could put a file of their own in its place. In one that is
    /// not there is no file.
    ///
    /// # Errors
    /// `store`.
    pub(crate) fn check_folder(&self) -> Result<()> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        match check_own_folder(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed_at("trusted", folder, &error))
            }
            _ => Ok(()),
        }
    }

    /// The path of a file beside it.
    pub(crate) fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(ending);
        self.path.with_file_name(name)
    }

    /// What was done with it and did not succeed.
    pub(crate) fn failed(&self, what: &str, error: &io::Error) -> Error {
        self.failed_at(what, &self.path, error)
    }

    /// What is said of one that a later version wrote.
    pub(crate) fn later_version_error(&self) -> Error {
        self.failed("read", &io::Error::new(io::ErrorKind::InvalidData, "it is of a later version"))
    }

    fn failed_at(&self, what: &str, path: &Path, error: &io::Error) -> Error {
        let message = format!("the file of {} cannot be {what}: {error}", self.of).to_lowercase();
        let failed =
            Error::new(ErrorCode::Store, message).with_detail("path", path.display().to_string());
        match error.raw_os_error() {
            Some(number) => failed.with_detail("errno", number),
            None => failed,
        }
    }
}
