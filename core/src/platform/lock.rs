//! A lock on a file, between the processes of a machine.

use std::fs::File;
use std::io;
use std::path::Path;

/// A lock, until it is dropped.
pub(crate) struct FileLock {
    #[cfg_attr(not(unix), expect(dead_code, reason = "that it is open is the lock"))]
    file: File,
}

#[cfg(unix)]
impl Drop for FileLock {
    fn drop(&mut self) {
        use std::os::fd::AsRawFd;
        // Said, not left to the descriptor's end: a child that the host forked meanwhile has it open too.
        // SAFETY: the descriptor is open for as long as `file` is.
        unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
    }
}

/// Takes the lock that a file stands for, if nobody has it; it goes with what this gives. The file is made if need be, and stays.
#[cfg(unix)]
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<FileLock>> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    // A pipe of that name has no reader to wait for.
    let options = libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(options)
        .open(path)?;
    // SAFETY: the descriptor is open for as long as `file` is.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(Some(FileLock { file }));
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        error => Err(error),
    }
}

/// The same where a file that is open can be kept from being opened again.
#[cfg(windows)]
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<FileLock>> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARING_VIOLATION: i32 = 32;
    let opened = File::options().write(true).create(true).truncate(false).share_mode(0).open(path);
    match opened {
        Ok(file) => Ok(Some(FileLock { file })),
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Nothing is known of locks here.
#[cfg(not(any(unix, windows)))]
pub(crate) fn try_lock(_path: &Path) -> io::Result<Option<FileLock>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::try_lock;
    use crate::folder::Folder;

    /// SPEC 15.3: a child that was forked meanwhile has the descriptor open for as long as it runs.
    #[test]
    fn a_lock_is_let_go_though_somebody_else_has_the_file_open() {
        let folder = Folder::new();
        let path = folder.join("lock");
        let lock = try_lock(&path).unwrap().unwrap();
        // What a fork makes of a descriptor: another one of the same open file.
        let inherited = lock.file.try_clone().unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        drop(lock);
        assert!(try_lock(&path).unwrap().is_some());
        drop(inherited);
    }
}
