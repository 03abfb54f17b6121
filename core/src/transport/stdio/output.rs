//! What a server writes to stdout, and who reads it: the connection's task, or a thread that waits for its answer. The rules are
//! `trunkline_pool::reader_role`; here is what whoever reads does.
//!
//! A waiter takes one thing, the answer that it waits for. Whatever else comes, and silence, an error or the end of the stream as well,
//! it leaves to the task, untouched: so everything a server can send has one place where it is handled, on the threads of the library.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use trunkline_pool::reader_role::{Lending, Role, Tell};

use crate::platform::{LentPipe, ReadPipe, Room};
use crate::transport::{Ahead, FrameReader, Inbound};

/// How long a waiter reads for one answer before it leaves that to the task. Until then it does not see that its call is cancelled, or
/// cut off, which SPEC 5.6 gives 10 ms. A timer that is due before the system's next tick, of 4 ms mostly, costs it more to set.
const WAIT_MAX: Duration = Duration::from_millis(8);

/// Who reads.
#[derive(Debug)]
pub(super) struct Output {
    role: Mutex<Role<Stream>>,
    look: Duration,
    /// Wakes the task: the stream is there for it.
    returned: Notify,
}

/// The pipe, and what was read of it and not taken.
#[derive(Debug)]
struct Stream {
    pipe: LentPipe,
    frames: FrameReader,
}

impl Output {
    /// The task reads.
    pub(super) fn new(lending: Lending) -> Output {
        Output { role: Mutex::new(Role::new(lending)), look: lending.look, returned: Notify::new() }
    }

    /// A request is in flight that no waiter reads for.
    pub(super) fn recall(&self) {
        let tell = self.role().recall();
        self.tell(tell);
    }

    /// Reads the answer to a request on this thread, if the stream is offered, until the deadline of the request at most.
    pub(super) fn read_here(&self, request: u64, inbound: &dyn Inbound) {
        let now = Instant::now();
        let Some(stream) = self.role().borrow(now) else { return };
        let mut borrowed = Borrowed { output: self, stream: Some(stream) };
        // A call that ended before the stream was borrowed has nothing to wait for.
        let is_read = inbound.deadline(request).is_none_or(|deadline| {
            borrowed.reads_nothing_but(request, inbound, now, deadline.min(now + WAIT_MAX))
        });
        if is_read {
            borrowed.rest(inbound);
        }
    }

    /// Lends the stream if waiters would rather read for themselves, and resolves when the task has it again; at once, if not.
    ///
    /// # Errors
    /// When the pipe cannot be followed any more. A dropped future leaves the stream to no task.
    pub(super) async fn lend(
        &self,
        pipe: ReadPipe,
        mut frames: FrameReader,
        inbound: &dyn Inbound,
    ) -> io::Result<(ReadPipe, FrameReader)> {
        if !(frames.is_empty() && self.role().may_lend() && inbound.is_quiet()) {
            return Ok((pipe, frames));
        }
        frames.rest();
        let pipe = match pipe.lend() {
            Ok(pipe) => pipe,
            Err(pipe) => return Ok((pipe, frames)),
        };
        self.role().lend(Stream { pipe, frames });
        // Who began a request before that found nothing to recall.
        let claimed = if inbound.is_quiet() { None } else { self.role().claim() };
        let Stream { pipe, frames } = match claimed {
            Some(stream) => stream,
            None => self.returned().await,
        };
        Ok((pipe.take_back()?, frames))
    }

    async fn returned(&self) -> Stream {
        loop {
            let stream = tokio::select! {
                biased;
                () = self.returned.notified() => self.role().take(),
                () = tokio::time::sleep(self.look) => self.role().look(),
            };
            if let Some(stream) = stream {
                return stream;
            }
        }
    }

    fn tell(&self, tell: Tell) {
        match tell {
            Tell::Nobody => {}
            Tell::Task => self.returned.notify_one(),
        }
    }

    fn role(&self) -> MutexGuard<'_, Role<Stream>> {
        self.role.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stream while a waiter has it. Dropped, it goes to the task.
struct Borrowed<'a> {
    output: &'a Output,
    /// Absent at the end.
    stream: Option<Stream>,
}

impl Borrowed<'_> {
    /// Reads until the answer has come; whether nothing else has.
    fn reads_nothing_but(
        &mut self,
        request: u64,
        inbound: &dyn Inbound,
        mut now: Instant,
        until: Instant,
    ) -> bool {
        let Some(Stream { pipe, frames }) = &mut self.stream else { return false };
        loop {
            match pipe.read_within(until.saturating_duration_since(now), frames.room()) {
                Ok(1..) => inbound.heard(),
                Ok(0) | Err(_) => return false,
            }
            match frames.ahead() {
                Ahead::Frame(frame) if inbound.take_answer(request, frame) => {
                    frames.next_line();
                    return frames.is_empty();
                }
                Ahead::Part => now = Instant::now(),
                Ahead::Frame(_) | Ahead::Other => return false,
            }
            // However slowly an answer drips, and however long it is.
            if now >= until {
                return false;
            }
        }
    }

    /// Leaves it to the next waiter, or to the task, when somebody needs that.
    fn rest(mut self, inbound: &dyn Inbound) {
        let Some(stream) = self.stream.take() else { return };
        self.output.role().rest(stream);
        // Who began a request before that found nothing to recall.
        if !inbound.is_quiet() {
            self.output.recall();
        }
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.output.role().give_back(stream);
            self.output.returned.notify_one();
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
