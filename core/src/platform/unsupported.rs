//! Systems without an implementation: nothing can be started, and everything else is unreachable.

use std::convert::Infallible;
use std::time::Duration;

use super::{Exit, Room, TreeSignal};

/// A server's process.
#[derive(Debug)]
pub(crate) struct Process(Infallible);

/// The end that we write to.
#[derive(Debug)]
pub(crate) struct WritePipe(Infallible);

/// The end that we read from.
#[derive(Debug)]
pub(crate) struct ReadPipe(Infallible);

/// Nobody else than the runtime can wait for it here.
#[derive(Debug)]
pub(crate) struct LentPipe(Infallible);

/// Another descriptor of what is never lent.
#[derive(Debug)]
pub(crate) struct PipeCopy(Infallible);

/// There are no servers to survive.
pub(crate) fn supervision() -> &'static str {
    "group"
}

/// Nothing to block here.
pub(crate) fn block_all_signals() {}

impl Process {
    pub(crate) fn pid(&self) -> u32 {
        match self.0 {}
    }
    pub(crate) fn is_ending(&self) -> bool {
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
    pub(crate) async fn gone(&self) {
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
    pub(crate) fn unread(&self) -> Option<usize> {
        match self.0 {}
    }
    pub(crate) async fn writing<T>(&self, _write: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        match self.0 {}
    }
}

impl ReadPipe {
    pub(crate) async fn read(&self, _into: &mut impl Room) -> io::Result<usize> {
        match self.0 {}
    }
    pub(crate) fn read_now(&self, _buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self.0 {}
    }
    pub(crate) fn lend(self) -> Result<LentPipe, ReadPipe> {
        match self.0 {}
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
