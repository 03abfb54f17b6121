//! Systems without an implementation: nothing can be started, and everything else is unreachable.

use std::convert::Infallible;
use std::io;

use super::{Launch, LaunchError, Launched};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// Somebody else reaped it.
    Unknown,
}

/// What a signal to a tree is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeSignal {
    /// A request.
    Terminate,
    /// The end.
    Kill,
}

/// A server's process.
#[derive(Debug)]
pub(crate) struct Process(Infallible);

/// The end that we write to.
#[derive(Debug)]
pub(crate) struct WritePipe(Infallible);

/// The end that we read from.
#[derive(Debug)]
pub(crate) struct ReadPipe(Infallible);

/// Refuses.
pub(crate) async fn launch(_launch: Launch) -> Result<Launched, LaunchError> {
    Err(LaunchError::new("start a process on this system", io::ErrorKind::Unsupported.into()))
}

/// Nothing to block here.
pub(crate) fn block_all_signals() {}

impl Process {
    pub(crate) fn pid(&self) -> u32 {
        match self.0 {}
    }
    pub(crate) fn exit_now(&self) -> Option<Exit> {
        match self.0 {}
    }
    pub(crate) async fn exited(&self) -> Exit {
        match self.0 {}
    }
    pub(crate) fn survey(&self) {
        match self.0 {}
    }
    pub(crate) fn is_gone(&self) -> bool {
        match self.0 {}
    }
    pub(crate) fn signal(&self, _signal: TreeSignal) {
        match self.0 {}
    }
}

impl WritePipe {
    pub(crate) fn write_now(&self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }
    pub(crate) async fn writing<T>(&self, _write: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        match self.0 {}
    }
}

impl ReadPipe {
    pub(crate) async fn read(&self, _buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self.0 {}
    }
    pub(crate) fn read_now(&self, _buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self.0 {}
    }
}
