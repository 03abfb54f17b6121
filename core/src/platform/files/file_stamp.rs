//! Which file is found at a path, so that who starts it finds the same one (SPEC 12.12).
//!
//! The change time (`ctime`) counts in the moment of the start alone: a link or a mode that changes
//! it in the days before says nothing of the content.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Device, inode, size, then seconds and nanoseconds of the last write, and of the last change of
/// any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp(pub [u64; STAMP_WORDS]);

/// Numbers of a stamp.
pub(crate) const STAMP_WORDS: usize = 7;

/// The files of a start, as they were right before it. The starter of the program finds them so, or
/// starts nothing.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// The program, and what interprets it; none where nobody looked.
    pub files: Vec<(PathBuf, FileStamp)>,
    /// Whether the program is none that another file interprets, so that the very file that was
    /// compared can be executed.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is executed so"))]
    pub is_binary: bool,
    /// The files, open so that nobody writes to them or moves them. Another system has nothing of
    /// the kind.
    #[cfg(windows)]
    #[allow(dead_code, reason = "they are held, and nothing is asked of them")]
    pub held: Vec<File>,
}

impl FileStamp {
    /// That of an open file.
    pub(crate) fn of(file: &File) -> io::Result<FileStamp> {
        of(&file.metadata()?, file)
    }

    /// That of a file that cannot be opened for reading.
    #[cfg(unix)]
    pub(crate) fn of_path(path: &Path) -> io::Result<FileStamp> {
        Ok(of_metadata(&std::fs::metadata(path)?))
    }

    /// Nothing is known of what cannot be opened.
    #[cfg(not(unix))]
    pub(crate) fn of_path(_: &Path) -> io::Result<FileStamp> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// Which file it is.
    pub(crate) fn identity(&self) -> [u64; 2] {
        [self.0[0], self.0[1]]
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        self.0[2]
    }

    /// When it was written last.
    pub(crate) fn written(&self) -> [u64; 2] {
        [self.0[3], self.0[4]]
    }
}

#[cfg(unix)]
fn of(found: &std::fs::Metadata, _: &File) -> io::Result<FileStamp> {
    Ok(of_metadata(found))
}

#[cfg(unix)]
fn of_metadata(found: &std::fs::Metadata) -> FileStamp {
    use std::os::unix::fs::MetadataExt;
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
    let [written, written_ns, changed, changed_ns] = times.map(i64::cast_unsigned);
    let size = found.size();
    FileStamp([found.dev(), found.ino(), size, written, written_ns, changed, changed_ns])
}

#[cfg(windows)]
fn of(found: &std::fs::Metadata, file: &File) -> io::Result<FileStamp> {
    use std::os::windows::fs::MetadataExt;
    let [volume, index] = crate::platform::windows::file_identity(file)?;
    let times = [found.last_write_time(), 0, found.creation_time(), 0];
    let [written, written_ns, changed, changed_ns] = times;
    Ok(FileStamp([volume, index, found.file_size(), written, written_ns, changed, changed_ns]))
}

#[cfg(not(any(unix, windows)))]
fn of(found: &std::fs::Metadata, _: &File) -> io::Result<FileStamp> {
    Ok(FileStamp([0, 0, found.len(), 0, 0, 0, 0]))
}
