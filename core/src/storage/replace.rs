//! The place of a file while another takes it, so that what cannot be brought to the disk can be
//! taken back.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::base::bounded_reader;

/// A longer file is damaged, and none is written (S-12).
pub(crate) const FILE_BYTES_MAX: usize = 1 << 20;

/// What is open before anything is changed: a save for which that cannot be had has not begun.
pub(super) struct ReplaceHandles {
    folder: Option<File>,
    /// What has the name until the save; it can be read when it has the name no more.
    before: Option<File>,
}

impl ReplaceHandles {
    /// The place of the file of that path.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> io::Result<ReplaceHandles> {
        let folder = match path.parent() {
            Some(folder) => Some(File::open(folder)?),
            None => None,
        };
        let before = match crate::platform::open_own(path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(ReplaceHandles { folder, before })
    }

    /// The same where folders cannot be opened, and come to the disk with what is in them.
    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> io::Result<ReplaceHandles> {
        Ok(ReplaceHandles { folder: None, before: None })
    }

    /// Brings the name to the disk. Where that fails, what was there has it again, as far as that
    /// can be done: nobody is to find what its writer was told is not there.
    pub(super) fn settle(self, path: &Path, new: &Path) -> io::Result<()> {
        let Some(synced) = self.folder.as_ref().map(File::sync_all) else { return Ok(()) };
        match synced {
            Err(error) if !is_unable(&error) => {
                self.take_back(path, new);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn take_back(self, path: &Path, new: &Path) {
        let Some(before) = self.before else { return drop(fs::remove_file(path)) };
        // What is longer was damaged, and is no loss.
        let Ok(Some(bytes)) = bounded_reader::of_file(before, FILE_BYTES_MAX) else { return };
        let _ = write_whole(new, &bytes).and_then(|()| fs::rename(new, path));
    }
}

/// Whether a file system has no such thing as bringing a folder to the disk.
fn is_unable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

/// A new file of that path, on the disk.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_new(path, bytes)?.sync_all()
}

/// A new file of that path. The lock is held, so that what has its name is of a process that died
/// while it wrote.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = fs::remove_file(path);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    Ok(file)
}
