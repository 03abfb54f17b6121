//! A descriptor that is readable from `set` to `clear`: an eventfd on Linux, a pipe elsewhere.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The two ends; one descriptor for both where the system has such a thing.
pub(crate) struct Notify {
    read: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    write: OwnedFd,
}

impl Notify {
    #[cfg(target_os = "linux")]
    pub(crate) fn new() -> io::Result<Notify> {
        // SAFETY: no pointers are involved.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that nobody else knows.
        Ok(Notify { read: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new() -> io::Result<Notify> {
        let mut ends = [0; 2];
        // SAFETY: `ends` has room for two descriptors.
        if unsafe { libc::pipe(ends.as_mut_ptr()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        for end in ends {
            // SAFETY: no pointers are involved.
            unsafe {
                libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
                libc::fcntl(end, libc::F_SETFL, libc::O_NONBLOCK);
            }
        }
        // SAFETY: new descriptors that nobody else knows.
        let [read, write] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        Ok(Notify { read, write })
    }

    /// The descriptor to poll for reading.
    pub(crate) fn fd(&self) -> RawFd {
        self.read.as_raw_fd()
    }

    /// Makes it readable. Called once between two `clear`s, so it never finds the pipe full.
    pub(crate) fn set(&self) {
        #[cfg(target_os = "linux")]
        let fd = self.read.as_raw_fd();
        #[cfg(not(target_os = "linux"))]
        let fd = self.write.as_raw_fd();
        let one = 1_u64.to_ne_bytes();
        // SAFETY: `one` has eight bytes.
        unsafe { libc::write(fd, one.as_ptr().cast(), one.len()) };
    }

    /// Makes it not readable.
    pub(crate) fn clear(&self) {
        let mut counter = [0_u8; 8];
        // SAFETY: `counter` has eight bytes.
        unsafe { libc::read(self.fd(), counter.as_mut_ptr().cast(), counter.len()) };
    }
}
