//! Our ends of a server's three pipes: named pipes, because anonymous ones can only be waited for
//! by blocking a thread.
//!
//! A write counts as done when the system has taken it; it finishes one write before it takes the
//! next.

use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

use crate::platform::Room;

/// What the system buffers in each pipe.
const BUFFER_BYTES: u32 = 64 << 10;

/// The end that we write to.
#[derive(Debug)]
pub(crate) struct WritePipe(NamedPipeServer);

/// The end that we read from.
#[derive(Debug)]
pub(crate) struct ReadPipe(NamedPipeServer);

/// Nobody else than the runtime can wait for it here.
#[derive(Debug)]
pub(crate) struct LentPipe(Infallible);

/// Another descriptor of what is never lent.
#[derive(Debug)]
pub(crate) struct PipeCopy(Infallible);

impl WritePipe {
    /// A pipe that a server reads. Needs the runtime.
    pub(super) async fn pair() -> io::Result<(Self, File)> {
        let name = unused_name();
        let ours = options().access_inbound(false).access_outbound(true).create(&name)?;
        let theirs = OpenOptions::new().read(true).open(&name)?;
        ours.connect().await?;
        Ok((WritePipe(ours), theirs))
    }

    /// Writes what the pipe takes now. On any thread, also outside the runtime.
    ///
    /// # Errors
    /// `WouldBlock` when it is full, `BrokenPipe` when nobody reads.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    /// Bytes in the pipe that nobody has read: the system does not say.
    pub(crate) fn unread(&self) -> Option<usize> {
        None
    }

    /// Runs `write` whenever the pipe may be writable, until it gives anything but `WouldBlock`.
    ///
    /// A dropped future has done what its last call of `write` did, and nothing more.
    pub(crate) async fn writing<T>(
        &self,
        mut write: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            self.0.writable().await?;
            match write() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }
}

impl ReadPipe {
    /// A pipe that a server writes. Needs the runtime.
    pub(super) async fn pair() -> io::Result<(Self, File)> {
        let name = unused_name();
        let ours = options().access_inbound(true).access_outbound(false).create(&name)?;
        let theirs = OpenOptions::new().write(true).open(&name)?;
        ours.connect().await?;
        Ok((ReadPipe(ours), theirs))
    }

    /// Appends what can be read, at most as much as there is room for; 0 is the end of the stream,
    /// or no room.
    ///
    /// A dropped future has read nothing.
    pub(crate) async fn read(&self, into: &mut impl Room) -> io::Result<usize> {
        loop {
            into.rest();
            match self.0.readable().await.and_then(|()| self.read_now(into.room())) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }

    /// Appends what is there now.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is.
    pub(crate) fn read_now(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        if buffer.len() == buffer.capacity() {
            return Ok(0);
        }
        match self.0.try_read_buf(buffer) {
            // The last writer is gone.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
            result => result,
        }
    }

    /// Itself: threads that wait by themselves cannot wait for it.
    pub(crate) fn lend(self) -> Result<LentPipe, ReadPipe> {
        Err(self)
    }
}

impl LentPipe {
    pub(crate) fn read_within(&self, _wait: Duration, _buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self.0 {}
    }
    pub(crate) fn read_now(&self, _buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self.0 {}
    }
    pub(crate) fn copy(&self) -> io::Result<PipeCopy> {
        match self.0 {}
    }
    pub(crate) fn take_back(self) -> io::Result<ReadPipe> {
        match self.0 {}
    }
}

impl PipeCopy {
    pub(crate) fn number(&self) -> i32 {
        match self.0 {}
    }
}

/// One instance, for this machine alone: nobody else can serve or open it once both of our ends are
/// open.
fn options() -> ServerOptions {
    let mut options = ServerOptions::new();
    options.first_pipe_instance(true).max_instances(1).reject_remote_clients(true);
    options.in_buffer_size(BUFFER_BYTES).out_buffer_size(BUFFER_BYTES);
    options
}

fn unused_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = RandomState::new().hash_one(count);
    format!(r"\\.\pipe\trunkline.{}.{count}.{random:016x}", std::process::id())
}
