//! What a server writes to stdout, and who reads it: the connection's task, or a thread that waits
//! for its answer. The rules are `trunkline_pool::reader_role`; here is what a reader does.
//!
//! An event loop does not wait: it is told when there is something to read, and borrows the stream
//! for as long as that takes.
//!
//! A waiter takes one thing, the answer that it waits for. Whatever else comes, and silence, an
//! error or the end of the stream as well, it leaves to the task, untouched: so everything a server
//! can send has one place where it is handled, on the threads of the library.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use trunkline_pool::reader_role::{Lending, ReaderRole, Tell};

use crate::platform::{LentPipe, ReadPipe, Room};
use crate::transport::{
    Ahead, AnswerReader, Borrower, EventLoop, FrameReader, Inbound, LentOutput, UndeliveredAnswer,
};

/// How long a waiter reads for one answer before it leaves that to the task. Until then it does not
/// see that its call is cancelled, or cut off, which SPEC 5.6 gives 10 ms. A timer that is due
/// before the system's next tick, of 4 ms mostly, costs it more to set.
const WAIT_MAX: Duration = Duration::from_millis(8);

/// Who reads.
#[derive(Debug)]
pub(super) struct Output {
    role: Mutex<ReaderRole<OutputStream>>,
    /// Whether a recall would change anything, for those who ask that at each call. A request that
    /// is in the table before it looks here is seen by a thread that sets this before it looks into
    /// the table: the lock of the table orders them.
    is_in_use: AtomicBool,
    look: Duration,
    /// Wakes the task: the stream is there for it.
    returned: Notify,
}

/// The pipe, and what was read of it and not taken.
#[derive(Debug)]
pub(super) struct OutputStream {
    pub(super) pipe: LentPipe,
    pub(super) frames: FrameReader,
    /// The event loop that may read it.
    pub(super) borrower: Option<Borrower>,
}

/// What becomes of the task's stream when it offers to lend it.
pub(super) enum Offered {
    /// Nobody wants it.
    Kept(ReadPipe, FrameReader),
    /// It is lent, until [`Output::returned`] or [`Output::call_in`].
    Lent,
}

impl Output {
    /// The task reads.
    pub(super) fn new(lending: Lending) -> Output {
        Output {
            role: Mutex::new(ReaderRole::new(lending)),
            is_in_use: AtomicBool::new(false),
            look: lending.look,
            returned: Notify::new(),
        }
    }

    /// A request is in flight that no waiter reads for.
    pub(super) fn recall(&self) {
        if self.is_in_use.load(Ordering::Acquire) {
            let tell = self.step(ReaderRole::recall);
            self.tell(tell);
        }
    }

    /// Reads the answer to a request on this thread, if the stream is offered, until the deadline
    /// of the request at most, and tells it.
    pub(super) fn read_here(&self, request: u64, inbound: &dyn Inbound) {
        let (now, is_alone) = (Instant::now(), inbound.awaited() <= 1);
        let Some(stream) = self.step(|role| role.borrow(now, is_alone)) else { return };
        let borrowed = Borrowed { output: self, stream: Some(stream) };
        // A call that ended before the stream was borrowed has nothing to wait for.
        let Some(deadline) = inbound.deadline(request) else { return borrowed.rest(inbound) };
        let answer = borrowed.read(request, inbound, now, deadline.min(now + WAIT_MAX));
        // The one that is told may call, and wait: the stream is for others by now.
        answer.into_iter().for_each(UndeliveredAnswer::tell);
    }

    /// Lets an event loop read the answer to a request of its own, if the stream is offered and
    /// nothing else is in flight.
    pub(super) fn lend_to(
        &self,
        event_loop: &EventLoop,
        request: u64,
        inbound: &dyn Inbound,
    ) -> AnswerReader {
        if inbound.awaited() > 1 {
            self.recall();
            return AnswerReader::Library;
        }
        // It was refused, or has ended: what is in flight is another's.
        if inbound.deadline(request).is_none() {
            return AnswerReader::Library;
        }
        let now = Instant::now();
        let reserve = |role: &mut ReaderRole<OutputStream>| {
            role.reserve(now).map(|stream| stream.reserve(event_loop, request))
        };
        match self.step(reserve) {
            None => AnswerReader::Library,
            // News of the loan before must not be told under the lock.
            Some(Ok((read_by, _before))) => read_by,
            Some(Err(_)) => {
                self.recall();
                AnswerReader::Library
            }
        }
    }

    /// Reads what there is, once, for the loop that the stream is lent to. Whether it is to go on
    /// polling until its next call.
    pub(super) fn read_ready(&self, request: u64, inbound: &dyn Inbound) -> bool {
        let Some(stream) = self.step(ReaderRole::borrow_ready) else { return false };
        let borrowed = Borrowed { output: self, stream: Some(stream) };
        // Whatever comes when its call has ended is the task's.
        if inbound.deadline(request).is_none() {
            return false;
        }
        let (answer, goes_on) = borrowed.read_once(request, inbound);
        answer.into_iter().for_each(UndeliveredAnswer::tell);
        goes_on
    }

    /// Lends the task's stream if waiters would rather read for themselves.
    pub(super) fn offer(
        &self,
        pipe: ReadPipe,
        mut frames: FrameReader,
        inbound: &dyn Inbound,
    ) -> Offered {
        let is_wanted = self.is_in_use.load(Ordering::Acquire) && self.step(|role| role.may_lend());
        if !(is_wanted && frames.is_empty() && inbound.awaited() == 0) {
            return Offered::Kept(pipe, frames);
        }
        frames.rest();
        let pipe = match pipe.lend() {
            Ok(pipe) => pipe,
            Err(pipe) => return Offered::Kept(pipe, frames),
        };
        self.step(|role| role.lend(OutputStream { pipe, frames, borrower: None }));
        // Who began a request before that found nothing to recall.
        if inbound.awaited() > 0 {
            self.recall();
        }
        Offered::Lent
    }

    /// Resolves when the task has what it lent again. A dropped future changes nothing.
    pub(super) async fn returned(&self) -> OutputStream {
        loop {
            let stream = tokio::select! {
                biased;
                () = self.returned.notified() => self.step(ReaderRole::take),
                () = tokio::time::sleep(self.look) => self.step(ReaderRole::look),
            };
            if let Some(stream) = stream {
                return stream;
            }
        }
    }

    /// The same as soon as no waiter reads any more: none begins to.
    pub(super) async fn call_in(&self) -> OutputStream {
        match self.step(ReaderRole::call_in) {
            Some(stream) => stream,
            None => self.returned().await,
        }
    }

    fn tell(&self, tell: Tell) {
        match tell {
            Tell::Nobody => {}
            Tell::Task => self.returned.notify_one(),
        }
    }

    fn step<T>(&self, step: impl FnOnce(&mut ReaderRole<OutputStream>) -> T) -> T {
        let mut role = self.role.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = step(&mut role);
        self.is_in_use.store(role.is_in_use(), Ordering::Release);
        outcome
    }
}

impl OutputStream {
    /// The loan to a loop, new or renewed, and the one that it takes the place of.
    fn reserve(
        &mut self,
        event_loop: &EventLoop,
        request: u64,
    ) -> io::Result<(AnswerReader, Option<Borrower>)> {
        let renewed = self.borrower.as_ref().and_then(|it| it.renew(event_loop, request));
        if let Some(number) = renewed {
            return Ok((AnswerReader::Loan(number), None));
        }
        let (output, borrower) = LentOutput::new(event_loop, request, self.pipe.copy()?);
        Ok((AnswerReader::NewLoan(output), self.borrower.replace(borrower)))
    }
}

/// The stream while a waiter has it. Dropped, it goes to the task.
struct Borrowed<'a> {
    output: &'a Output,
    /// Absent at the end.
    stream: Option<OutputStream>,
}

impl Borrowed<'_> {
    /// Reads until the answer has come, and lays the stream down: for others only if nothing else
    /// came.
    fn read(
        mut self,
        request: u64,
        inbound: &dyn Inbound,
        mut now: Instant,
        until: Instant,
    ) -> Option<UndeliveredAnswer> {
        // However slowly an answer drips, however long it is, and however many signals the thread
        // has.
        while now <= until {
            let OutputStream { pipe, frames, .. } = self.stream.as_mut()?;
            match pipe.read_within(until.saturating_duration_since(now), frames.room()) {
                Ok(1..) => inbound.heard(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return None,
            }
            match frames.ahead() {
                Ahead::Frame(frame) => {
                    let answer = inbound.take_answer(request, frame)?;
                    self.pass_answer(inbound);
                    return Some(answer);
                }
                Ahead::Part => now = Instant::now(),
                Ahead::Other => return None,
            }
        }
        None
    }

    /// Reads what is there now. Lays the stream down for others only if that was the answer, or a
    /// part of it. The second value says which it was.
    fn read_once(
        mut self,
        request: u64,
        inbound: &dyn Inbound,
    ) -> (Option<UndeliveredAnswer>, bool) {
        const LEFT: (Option<UndeliveredAnswer>, bool) = (None, false);
        let Some(OutputStream { pipe, frames, .. }) = self.stream.as_mut() else { return LEFT };
        match pipe.read_now(frames.room()) {
            Ok(1..) => inbound.heard(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return LEFT,
        }
        match frames.ahead() {
            Ahead::Frame(frame) => match inbound.take_answer(request, frame) {
                Some(answer) => (Some(answer), self.pass_answer(inbound)),
                None => LEFT,
            },
            Ahead::Part => {
                self.rest_for(request, inbound);
                (None, true)
            }
            Ahead::Other => LEFT,
        }
    }

    /// Goes beyond the answer that was taken; whether the stream is for others then, and not for
    /// the task.
    fn pass_answer(mut self, inbound: &dyn Inbound) -> bool {
        let Some(OutputStream { frames, .. }) = self.stream.as_mut() else { return false };
        frames.next_line();
        let is_all = frames.is_empty();
        if is_all {
            self.rest(inbound);
        }
        is_all
    }

    /// Leaves it for the loop that goes on to wait for this request, or to the task, when somebody
    /// else needs that.
    fn rest_for(mut self, request: u64, inbound: &dyn Inbound) {
        let Some(stream) = self.stream.take() else { return };
        let tell = self.output.step(|role| role.rest(stream));
        self.output.tell(tell);
        // In this order: what is in flight is then seen to be its own, or has recalled the stream
        // by itself.
        let (awaited, is_its) = (inbound.awaited(), inbound.deadline(request).is_some());
        if awaited > usize::from(is_its) {
            self.output.recall();
        }
    }

    /// Leaves it to the next waiter, or to the task, when somebody needs that.
    fn rest(mut self, inbound: &dyn Inbound) {
        let Some(stream) = self.stream.take() else { return };
        let tell = self.output.step(|role| role.rest(stream));
        self.output.tell(tell);
        // Who began a request before that found nothing to recall.
        if inbound.awaited() > 0 {
            self.output.recall();
        }
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.output.step(|role| role.give_back(stream));
            self.output.returned.notify_one();
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
