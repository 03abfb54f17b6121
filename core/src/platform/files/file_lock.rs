//! A lock on a file, between the processes of a machine.
//!
//! On Unix a forked child has the descriptors of its parent, and so its locks, for as long as it
//! runs. Those that are held are closed in the child: a lock ends with the process that took it,
//! though that is killed and leaves children.
//!
//! Locks of `fcntl` would end when any descriptor of the file is closed, and two pools of one
//! process would not see each other.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(unix)]
use crate::platform::fork::close_on_fork::NotInherited;

/// A lock, until it is dropped. In a forked child it is the parent's.
#[cfg(unix)]
pub(crate) struct FileLock {
    file: NotInherited<File>,
}

#[cfg(unix)]
impl Drop for FileLock {
    fn drop(&mut self) {
        use std::os::fd::AsRawFd;
        if !self.file.is_of_parent() {
            // Said, not left to the descriptor's end: a child may have it open too.
            // SAFETY: the descriptor is open until the file is dropped.
            unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
        }
    }
}

/// The same where no process is forked.
#[cfg(not(unix))]
pub(crate) struct FileLock {
    #[expect(dead_code, reason = "that it is open is the lock")]
    file: File,
}

/// Takes the lock that a file stands for, if nobody has it; it goes with what this gives. The file
/// is made if need be, and stays.
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
    let lock = FileLock { file: NotInherited::new(file) };
    // SAFETY: the descriptor is open for as long as `lock` is.
    if unsafe { libc::flock(lock.file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(Some(lock));
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
    use std::cell::RefCell;
    use std::io::{Read as _, Write as _};

    use super::{FileLock, try_lock};
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

    /// SPEC 16.3: nothing that a child drops is let go in its parent.
    #[test]
    fn a_forked_child_that_drops_a_lock_lets_go_of_nothing() {
        let folder = Folder::new();
        let path = folder.join("lock");
        let lock = RefCell::new(try_lock(&path).unwrap());
        beside_a_child(|| drop(lock.take()), || assert!(try_lock(&path).unwrap().is_none()));
        drop(lock);
        assert!(try_lock(&path).unwrap().is_some());
    }

    /// SPEC 16.3, 9.4: what was killed can be started again, though its children go on.
    #[test]
    fn a_lock_ends_with_the_process_that_took_it() {
        let folder = Folder::new();
        let path = folder.join("lock");
        let lock = RefCell::new(try_lock(&path).unwrap());
        let is_killed = || {
            // The end of a process closes its files, and says nothing of locks.
            let lock: FileLock = lock.take().unwrap();
            // SAFETY: the other one is forgotten.
            let file = unsafe { std::ptr::read(&raw const lock.file) };
            std::mem::forget(lock);
            drop(file);
            assert!(try_lock(&path).unwrap().is_some());
        };
        beside_a_child(|| (), is_killed);
    }

    /// Does something while a forked child runs, which does something at its start.
    fn beside_a_child(in_child: impl FnOnce(), meanwhile: impl FnOnce()) {
        let (mut started, mut starts) = std::io::pipe().unwrap();
        let (mut ended, ends) = std::io::pipe().unwrap();
        // SAFETY: the child drops a lock at most, waits for a pipe, and ends without running
        // destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            drop(ends);
            in_child();
            let _ = starts.write_all(b".");
            let _ = ended.read(&mut [0]);
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(0) };
        }
        started.read_exact(&mut [0]).unwrap();
        meanwhile();
        drop(ends);
        let mut status = 0;
        // SAFETY: the child is ours, and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    }
}
