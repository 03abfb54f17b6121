//! A descriptor that is readable while something waits.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::FromRawFd;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// An eventfd, or a pipe where there is none.
pub struct Wakeup {
    reader: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    writer: OwnedFd,
}

impl Wakeup {
    /// Not readable at first.
    #[cfg(target_os = "linux")]
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes no pointers; the result is checked.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is open, and nothing else owns it.
        Ok(Wakeup { reader: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// Not readable at first.
    #[cfg(not(target_os = "linux"))]
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
        for end in [&reader, &writer] {
            // SAFETY: the descriptor is open, and the call takes no pointers.
            if unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(Wakeup { reader, writer })
    }

    /// The descriptor to watch.
    pub fn descriptor(&self) -> i32 {
        self.reader.as_raw_fd()
    }

    /// Makes it readable. Never blocks; from any thread.
    pub fn ring(&self) {
        #[cfg(target_os = "linux")]
        let fd = self.reader.as_raw_fd();
        #[cfg(not(target_os = "linux"))]
        let fd = self.writer.as_raw_fd();
        let one = 1u64.to_ne_bytes();
        // SAFETY: the buffer lives through the call and is as long as said. A full descriptor is
        // readable already, so the result does not matter.
        unsafe { libc::write(fd, one.as_ptr().cast(), one.len()) };
    }

    /// Makes it not readable.
    pub fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: the buffer lives through the call and is as long as said. Nothing to read is what
        // is wanted.
        unsafe { libc::read(self.reader.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }

    /// Waits until it is readable, or so long. Whether it is.
    pub fn wait(&self, at_most: Duration) -> bool {
        let mut watched = libc::pollfd { fd: self.descriptor(), events: libc::POLLIN, revents: 0 };
        let milliseconds = i32::try_from(at_most.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: one valid pollfd that lives through the call.
        unsafe { libc::poll(&mut watched, 1, milliseconds) > 0 }
    }
}
