//! Who reads what a server writes: the connection's task, or, for a while, the thread that waits
//! for an answer.
//!
//! ```text
//!            lend               borrow
//!   Task ----------> Offered ---------> Waiter
//!    ^                 |  ^               |
//!    | take            |  +---- rest -----+
//!    |                 | recall, call_in  | give_back; rest, once it is called in
//!    +---- Returned <--+------------------+
//! ```
//!
//! A thread that waits for an answer of its own call and reads it itself is woken by the server,
//! and not by another thread. So the task lends the stream once threads wait one after another,
//! each alone, and takes it back as soon as somebody else needs it.
//!
//! An event loop must not wait for one answer. So the stream rests here while its call is in
//! flight, and the loop borrows it for one read whenever the system says that there is something to
//! read.
//!
//! Invariants:
//! 1. The stream is in one place: the task has it, or this has it, or one waiter has it. Nobody can
//!    copy it.
//! 2. Only a waiter that borrowed it gives it back, and only the task takes it for good.
//! 3. It rests here only while nothing is in flight that no waiter reads for, and no loop for whose
//!    one call it rests: the sender of such a request recalls it after the request is in the table.
//!    A thread that lays it down here looks into the table afterwards, and recalls it as well.
//! 4. It rests here unread no longer than from one [`look`](ReaderRole::look) of the task to the
//!    next but one, also when a loop is blocked.
//! 5. Once the task has called it in, no waiter gets it.

use std::time::{Duration, Instant};

/// When a stream is lent, and how soon the task looks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lending {
    /// After so many waits in a row.
    pub waits: u32,
    /// Each at most so long after the one before: the hop of a longer one is not worth it.
    pub gap: Duration,
    /// Between two looks of the task at a stream that it lent.
    pub look: Duration,
}

impl Default for Lending {
    fn default() -> Self {
        const MILLISECOND: Duration = Duration::from_millis(1);
        Lending { waits: 8, gap: MILLISECOND, look: 2 * MILLISECOND }
    }
}

/// Where the stream `S` of one connection is. A copy of it, which tests make, needs an `S` that can
/// be copied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReaderRole<S> {
    place: StreamPlace<S>,
    lending: Lending,
    /// Waits in a row that found the stream with the task.
    waits: u32,
    last_wait: Option<Instant>,
    /// How many of them it takes.
    needed: u32,
    /// How often the stream was borrowed since it was lent, and at the last look.
    borrowed: u32,
    seen: u32,
    /// Whether the task wants it at once.
    is_called_in: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum StreamPlace<S> {
    /// With the task.
    Task,
    /// Here, for the next waiter.
    Offered(S),
    /// With a waiter.
    Waiter,
    /// Here, for the task alone.
    Returned(S),
}

/// Whether the task has to be told that the stream is there for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Tell {
    /// Nothing has changed for it.
    Nobody,
    /// The stream was laid down for it.
    Task,
}

impl<S> ReaderRole<S> {
    /// The task has the stream.
    pub fn new(lending: Lending) -> ReaderRole<S> {
        ReaderRole {
            place: StreamPlace::Task,
            lending,
            waits: 0,
            last_wait: None,
            needed: lending.waits,
            borrowed: 0,
            seen: 0,
            is_called_in: false,
        }
    }

    /// Gives the stream to a thread whose call is in flight, or notes that it waits without: in a
    /// row when nothing else is in flight.
    pub fn borrow(&mut self, now: Instant, is_alone: bool) -> Option<S> {
        let stream = self.borrow_ready();
        if stream.is_none() {
            self.note_wait(now, is_alone);
        }
        stream
    }

    /// The stream, if it is offered, for an event loop whose call is in flight, and nothing else:
    /// it stays here, and is for that loop to [`borrow_ready`](Self::borrow_ready). Otherwise notes
    /// that the loop waits without.
    pub fn reserve(&mut self, now: Instant) -> Option<&mut S> {
        self.note_wait(now, true);
        match &mut self.place {
            StreamPlace::Offered(stream) => Some(stream),
            StreamPlace::Task | StreamPlace::Waiter | StreamPlace::Returned(_) => None,
        }
    }

    /// Gives the stream to a loop that was told that it can be read, unless somebody else has it by
    /// now.
    pub fn borrow_ready(&mut self) -> Option<S> {
        match std::mem::replace(&mut self.place, StreamPlace::Waiter) {
            StreamPlace::Offered(stream) => {
                self.borrowed = self.borrowed.saturating_add(1);
                Some(stream)
            }
            other => {
                self.place = other;
                None
            }
        }
    }

    /// Lays a borrowed stream down for the next waiter, or for the task that has called it in. At
    /// most half of what its own loop waits for is left in it. The caller then looks whether
    /// anything else is in flight, and recalls the stream if so.
    pub fn rest(&mut self, stream: S) -> Tell {
        debug_assert!(matches!(self.place, StreamPlace::Waiter), "a waiter has it");
        if self.is_called_in {
            self.place = StreamPlace::Returned(stream);
            return Tell::Task;
        }
        self.place = StreamPlace::Offered(stream);
        Tell::Nobody
    }

    /// Lays a borrowed stream down for the task, which has to be told.
    pub fn give_back(&mut self, stream: S) {
        debug_assert!(matches!(self.place, StreamPlace::Waiter), "a waiter has it");
        self.place = StreamPlace::Returned(stream);
    }

    /// A request is in flight that no waiter reads for.
    pub fn recall(&mut self) -> Tell {
        match std::mem::replace(&mut self.place, StreamPlace::Task) {
            StreamPlace::Offered(stream) => {
                self.place = StreamPlace::Returned(stream);
                return Tell::Task;
            }
            StreamPlace::Task => self.waits = 0,
            // The waiter looks itself before it lays the stream down.
            other @ (StreamPlace::Waiter | StreamPlace::Returned(_)) => self.place = other,
        }
        Tell::Nobody
    }

    /// Whether the task may lend the stream, if nothing is in flight.
    pub fn may_lend(&self) -> bool {
        matches!(self.place, StreamPlace::Task) && self.waits >= self.needed
    }

    /// The task lays its stream down for waiters. It looks then whether anything is in flight, and
    /// claims the stream if so.
    pub fn lend(&mut self, stream: S) {
        debug_assert!(matches!(self.place, StreamPlace::Task), "the task has it");
        (self.borrowed, self.seen) = (0, 0);
        self.place = StreamPlace::Offered(stream);
    }

    /// What was laid down for the task.
    pub fn take(&mut self) -> Option<S> {
        match std::mem::replace(&mut self.place, StreamPlace::Task) {
            StreamPlace::Returned(stream) => Some(self.taken(stream)),
            other => {
                self.place = other;
                None
            }
        }
    }

    /// The stream for the task, unless a waiter has it: that one gives it back soon.
    pub fn claim(&mut self) -> Option<S> {
        let _ = self.recall();
        self.take()
    }

    /// The same, and no other waiter gets it.
    pub fn call_in(&mut self) -> Option<S> {
        self.is_called_in = true;
        self.claim()
    }

    /// Whether a [`recall`](Self::recall) would change anything.
    pub fn is_in_use(&self) -> bool {
        self.waits > 0 || !matches!(self.place, StreamPlace::Task)
    }

    /// A look of the task at what it lent: the stream, when it was laid down for the task, or
    /// nobody borrowed it since the look before.
    pub fn look(&mut self) -> Option<S> {
        let is_idle = self.borrowed == self.seen;
        self.seen = self.borrowed;
        if is_idle { self.claim() } else { self.take() }
    }

    /// Of waits without the stream only those count that find it with the task.
    fn note_wait(&mut self, now: Instant, is_alone: bool) {
        if !matches!(self.place, StreamPlace::Task) {
            return;
        }
        let soon = |last| now.saturating_duration_since(last) <= self.lending.gap;
        let before = if self.last_wait.is_some_and(soon) { self.waits } else { 0 };
        self.waits = if is_alone { before.saturating_add(1) } else { 0 };
        self.last_wait = Some(now);
    }

    /// Who lends in vain waits longer before the next time: lending costs the task as much as some
    /// waits.
    fn taken(&mut self, stream: S) -> S {
        let was_worth_it = self.borrowed >= self.lending.waits;
        self.needed = match was_worth_it {
            true => self.lending.waits,
            false => {
                self.needed.saturating_mul(2).min(self.lending.waits.saturating_mul(RELUCTANCE_MAX))
            }
        };
        (self.waits, self.is_called_in) = (0, false);
        stream
    }
}

/// How many times the waits it takes at most, when it was in vain again and again.
const RELUCTANCE_MAX: u32 = 128;
