//! Our ends of a server's three pipes: non-blocking, readable and writable from any thread.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::fork::close_on_fork::NotInherited;
use super::{Room, signals};

/// The end that we write to. The reader reads the end once it is closed here, whatever a fork of
/// this process does.
#[derive(Debug)]
pub(crate) struct WritePipe(AsyncFd<NotInherited<OwnedFd>>);

/// The end that we read from.
#[derive(Debug)]
pub(crate) struct ReadPipe(AsyncFd<OwnedFd>);

/// The same while the runtime has nothing to do with it.
#[derive(Debug)]
pub(crate) struct LentPipe(OwnedFd);

/// Another descriptor of a lent pipe, for who waits by a system of its own until that can be read.
#[derive(Debug)]
pub(crate) struct PipeCopy(OwnedFd);

impl WritePipe {
    /// Registers a non-blocking descriptor with the runtime of the caller.
    pub(super) fn new(fd: NotInherited<OwnedFd>) -> io::Result<Self> {
        #[cfg(target_vendor = "apple")]
        signals::never_raise(fd.as_fd())?;
        // SAFETY: an owned descriptor stays open, and the same, as long as it is owned.
        Ok(WritePipe(unsafe { AsyncFd::register_with_interest(fd, Interest::WRITABLE)? }))
    }

    /// Writes what the pipe takes now. On any thread, also outside the runtime.
    ///
    /// # Errors
    /// `WouldBlock` when it is full, `BrokenPipe` when nobody reads.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        signals::write(self.0.get_ref().as_fd(), bytes)
    }

    /// Bytes in the pipe that nobody has read, also after the reader's end; `None` where the system
    /// does not say.
    pub(crate) fn unread(&self) -> Option<usize> {
        // Elsewhere the writing end is not asked, or answers for the other direction.
        if cfg!(not(target_os = "linux")) {
            return None;
        }
        let mut count: libc::c_int = 0;
        // SAFETY: asks an open descriptor, and writes one integer, which is there.
        let asked =
            unsafe { libc::ioctl(self.0.get_ref().as_raw_fd(), libc::FIONREAD, &mut count) };
        usize::try_from(count).ok().filter(|_| asked == 0)
    }

    /// Runs `write` whenever the pipe may be writable, until it gives anything but `WouldBlock`.
    ///
    /// A dropped future has done what its last call of `write` did, and nothing more.
    pub(crate) async fn writing<T>(
        &self,
        mut write: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            let mut ready = self.0.writable().await?;
            if let Ok(result) = ready.try_io(|_| write()) {
                return result;
            }
        }
    }
}

impl ReadPipe {
    /// Registers a non-blocking descriptor with the runtime of the caller.
    pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
        // SAFETY: as above.
        Ok(ReadPipe(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE)? }))
    }

    /// Appends what can be read, at most as much as there is room for; 0 is the end of the stream,
    /// or no room. One task at a time may wait in it.
    ///
    /// A dropped future has read nothing.
    pub(crate) async fn read(&self, into: &mut impl Room) -> io::Result<usize> {
        // The one reader has a place of its own for its waker: `readable` would enter and leave a
        // list for every frame.
        poll_fn(|context| self.poll_read(context, into)).await
    }

    fn poll_read(
        &self,
        context: &mut Context<'_>,
        into: &mut impl Room,
    ) -> Poll<io::Result<usize>> {
        loop {
            let Poll::Ready(ready) = self.0.poll_read_ready(context) else {
                into.rest();
                return Poll::Pending;
            };
            let (mut ready, buffer) = (ready?, into.room());
            let room = buffer.capacity() - buffer.len();
            match read_spare(self.0.get_ref().as_fd(), buffer) {
                Ok(count) => {
                    // A short read emptied the pipe: the next edge will tell, so that no second
                    // read is needed.
                    if count < room {
                        ready.clear_ready();
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Appends what is there now.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is.
    pub(crate) fn read_now(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        read_spare(self.0.get_ref().as_fd(), buffer)
    }

    /// Takes it away from the runtime, for threads that wait by themselves; itself where they
    /// cannot.
    pub(crate) fn lend(self) -> Result<LentPipe, ReadPipe> {
        Ok(LentPipe(self.0.into_inner()))
    }
}

impl LentPipe {
    /// Appends what can be read as soon as anything can; 0 is the end of the stream, or no room.
    /// Blocks the thread, at most so long.
    ///
    /// # Errors
    /// `WouldBlock` when nothing came; `Interrupted` when the thread had a signal meanwhile.
    pub(crate) fn read_within(&self, wait: Duration, buffer: &mut Vec<u8>) -> io::Result<usize> {
        // A server that shares the core has mostly answered by now: a question costs less than a
        // wait.
        match self.read_now(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            read => return read,
        }
        // Not before the time is over.
        let milliseconds = wait.as_micros().div_ceil(1000);
        let wait = libc::c_int::try_from(milliseconds).unwrap_or(libc::c_int::MAX);
        let mut asked = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which the system writes to during the call; the descriptor is open.
        match unsafe { libc::poll(&mut asked, 1, wait) } {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            1.. => read_spare(self.0.as_fd(), buffer),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Appends what is there now, as [`ReadPipe::read_now`].
    ///
    /// # Errors
    /// `WouldBlock` when nothing is.
    pub(crate) fn read_now(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        read_spare(self.0.as_fd(), buffer)
    }

    /// A descriptor to wait for it by.
    ///
    /// # Errors
    /// When the process may have no more.
    pub(crate) fn copy(&self) -> io::Result<PipeCopy> {
        self.0.try_clone().map(PipeCopy)
    }

    /// Gives it back to the runtime. Must be called on a thread of the runtime.
    ///
    /// # Errors
    /// When the runtime cannot take it.
    pub(crate) fn take_back(self) -> io::Result<ReadPipe> {
        ReadPipe::new(self.0)
    }
}

impl PipeCopy {
    /// Its number, as long as this is there.
    pub(crate) fn number(&self) -> libc::c_int {
        self.0.as_raw_fd()
    }
}

fn read_spare(fd: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let spare = buffer.spare_capacity_mut();
    loop {
        // SAFETY: the descriptor is borrowed for the call; the spare capacity is writable for its
        // length.
        let count = unsafe { libc::read(fd.as_raw_fd(), spare.as_mut_ptr().cast(), spare.len()) };
        match usize::try_from(count) {
            Ok(count) => {
                let length = buffer.len() + count;
                // SAFETY: the kernel initialised `count` bytes, and `count` is at most the spare
                // capacity.
                unsafe { buffer.set_len(length) };
                return Ok(count);
            }
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// A pipe whose two ends are closed on exec and numbered 3 or above. So they survive the move to 0,
/// 1 and 2 in a child of a host that closed its own.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    // SAFETY: the array has room for the two descriptors that the call writes.
    let result = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    // SAFETY: as above.
    let result = unsafe { libc::pipe(ends.as_mut_ptr()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just opened, and nobody else owns them.
    let (read, write) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    Ok((above_standard(read)?, above_standard(write)?))
}

/// The same descriptor, closed on exec and numbered 3 or above.
fn above_standard(fd: OwnedFd) -> io::Result<OwnedFd> {
    if cfg!(target_os = "linux") && fd.as_raw_fd() > 2 {
        return Ok(fd);
    }
    // SAFETY: duplicates a descriptor that is open.
    let copy = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the copy is new and unowned.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Makes reads and writes of this end return `WouldBlock`; the other end, the child's, stays
/// blocking.
pub(super) fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: reads and sets the flags of an open descriptor.
    let result = unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        if flags < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
