//! The requests of ours that wait for an answer: the table of `trunkline_pool::in_flight` behind a
//! lock, with ids, what belongs to a request, and who hears of changes. No callback runs under the
//! lock.

#[cfg(all(test, feature = "schedules"))]
mod schedules;

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::sync::mpsc;
use trunkline_pool::in_flight::{self, Callers, FlightTable, HeldCall, TimerWake, Whose};
pub(in crate::client) use trunkline_pool::in_flight::{Clock, Missed, Next, Purpose};
use trunkline_pool::state::SessionId;

use super::time_budget::Attempts;
use crate::base::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::base::sync::{Mutex, MutexGuard, Notify};
use crate::client::state::next_round::NextRound;
use crate::client::types::{OnProgress, ReplyCallback, RequestId};
use crate::transport::Via;

/// Ids below belong to the handshake.
const FIRST_ID: u64 = 1 << 32;

/// One request that waits for its answer.
pub(in crate::client) type Flight = in_flight::Flight<Waiter>;

/// Why a request was not taken in.
pub(in crate::client) type RefusedRequest = in_flight::Refused<Waiter>;

/// A request that missed a deadline.
pub(in crate::client) type Overdue = in_flight::Overdue<Waiter>;

/// Who waits for a request, and what it needs on its way.
pub(in crate::client) struct Waiter {
    pub done: ReplyCallback,
    pub progress: Option<OnProgress>,
    /// The attempts that it is one of.
    pub attempts: Option<Attempts>,
    /// What it needs for another round (SPEC 15.4).
    pub again: Option<Arc<NextRound>>,
    /// Whether a result that asks for input is its result.
    pub takes_input_requests: bool,
    /// Ends with the flight, so that work for it sees the end.
    pub under_way: Vec<mpsc::Sender<Infallible>>,
}

pub(in crate::client) struct InFlight {
    table: Mutex<FlightTable<Waiter>>,
    next_id: AtomicU64,
    /// Wakes the timer: an earlier deadline, or the end.
    pub timer: Notify,
    quiet: Notify,
    /// Whether anybody waits for quiet, which hardly anybody does: written under the lock of the
    /// table.
    is_quiet_awaited: AtomicBool,
}

impl InFlight {
    /// An empty table that takes so many calls.
    pub(in crate::client) fn new(calls_max: u32) -> Self {
        InFlight {
            table: Mutex::new(FlightTable::new(calls_max)),
            next_id: AtomicU64::new(FIRST_ID),
            timer: Notify::new(),
            quiet: Notify::new(),
            is_quiet_awaited: AtomicBool::new(false),
        }
    }

    /// An id that was never used on this connection.
    pub(in crate::client) fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The id that comes next: those of the requests in flight are smaller.
    pub(in crate::client) fn next_id(&self) -> RequestId {
        RequestId(self.next_id.load(Ordering::Relaxed))
    }

    /// Whether a call with a smaller id is in flight that is not among the `unsent`.
    pub(in crate::client) fn has_call_before(
        &self,
        RequestId(id): RequestId,
        unsent: &HashSet<u64>,
    ) -> bool {
        self.lock().has_call_before(id, unsent)
    }

    /// Takes a request in. It must be in the table before its first byte is written.
    pub(in crate::client) fn register(
        &self,
        id: u64,
        flight: Flight,
    ) -> Result<(), RefusedRequest> {
        let mut table = self.lock();
        let timer = table.register(id, flight)?;
        self.heed(table, timer);
        Ok(())
    }

    /// Whether a request in flight wants to hear of progress.
    pub(in crate::client) fn wants_progress(&self, id: u64) -> bool {
        self.lock().flight(id).is_some_and(|flight| flight.payload.progress.is_some())
    }

    /// Whether a result that asks for input is the result of a request in flight.
    pub(in crate::client) fn takes_input_requests(&self, id: u64) -> bool {
        self.lock().flight(id).is_some_and(|flight| flight.payload.takes_input_requests)
    }

    /// Whether a request is in flight.
    pub(in crate::client) fn contains(&self, id: u64) -> bool {
        self.lock().flight(id).is_some()
    }

    /// When a request in flight gives up.
    pub(in crate::client) fn deadline(&self, id: u64) -> Option<Instant> {
        self.lock().flight(id).map(|flight| flight.clock.deadline())
    }

    /// Takes a request out, to be answered by the caller; `None` when somebody else did.
    pub(in crate::client) fn take(&self, id: u64) -> Option<Flight> {
        let flight = self.take_out(|table| table.take(id));
        flight.inspect(note_time)
    }

    /// The same, of one whose answer came, or never will: where it was given up before, it is not
    /// in doubt any more.
    pub(in crate::client) fn settle(&self, id: u64) -> Option<Flight> {
        let flight = self.take(id);
        if flight.is_none() {
            self.forget_abandoned(id);
        }
        flight
    }

    /// Takes a request out whose answer did not come: the server may still work on it, and that is
    /// in doubt from the same moment on.
    pub(in crate::client) fn give_up(&self, id: u64) -> Option<Flight> {
        let flight = self.take_out(|table| table.give_up(id, Instant::now()));
        flight.inspect(note_time)
    }

    /// [`give_up`](Self::give_up) by the id that the caller knows; with the id that it has now.
    pub(in crate::client) fn give_up_call(&self, id: u64) -> Option<(u64, Flight)> {
        self.take_out(|table| table.give_up_call(id, Instant::now()))
    }

    /// Gives a call another id for its next round, with its clock held. It never leaves the table
    /// in between.
    pub(in crate::client) fn turn(&self, id: u64, next: u64, rounds_max: u32) -> InputOutcome {
        let (under_way, over) = mpsc::channel(1);
        let with = |waiter: &mut Waiter, rounds| {
            let again = waiter.again.clone().filter(|_| rounds < rounds_max)?;
            waiter.under_way.push(under_way);
            Some(again)
        };
        match self.take_out(|table| table.turn(id, next, Instant::now(), with)) {
            in_flight::Turn::Gone => InputOutcome::Gone,
            in_flight::Turn::Refused(flight) => InputOutcome::Refused(flight),
            in_flight::Turn::Next { with: again, caller, held } => {
                InputOutcome::Next { again, caller, hold: Hold { calls: vec![held], over } }
            }
        }
    }

    /// Hands a progress notification to the request that it is about, and moves its idle deadline.
    ///
    /// `false` when there is no such request. The callback runs without the lock.
    pub(in crate::client) fn progress(
        &self,
        id: u64,
        deliver: impl FnOnce(&mut OnProgress),
    ) -> bool {
        let mut callback = {
            let mut table = self.lock();
            let Some(flight) = table.flight_mut(id) else {
                return false;
            };
            flight.clock.progressed(Instant::now());
            flight.payload.progress.take()
        };
        if let Some(callback) = &mut callback {
            deliver(callback);
        }
        if let Some(flight) = self.lock().flight_mut(id) {
            flight.payload.progress = callback;
        }
        true
    }

    /// Takes out what is overdue, and says when to look again; `None` in the second place: the
    /// table has ended.
    pub(in crate::client) fn expire(&self, now: Instant) -> (Vec<Overdue>, Option<Next>) {
        self.take_out(|table| table.expire(now))
    }

    /// Takes everything out, for good.
    pub(in crate::client) fn end(&self) -> Vec<(u64, Flight)> {
        let flights = self.take_out(FlightTable::end);
        flights.iter().for_each(|(_, flight)| note_time(flight));
        self.timer.notify_one();
        flights
    }

    /// Whose call a log message of the server can be about.
    pub(in crate::client) fn log_callers(&self, via: Via, now: Instant) -> Callers {
        let mut table = self.lock();
        match via {
            Via::Common => table.log_callers(now),
            Via::Response(id) => table.caller_of(id),
        }
    }

    /// Whose call a question of the server can be about; when they are one session's, with the
    /// clocks of what it can be about stopped from the same moment on. These go on with
    /// [`go_on`](Self::go_on).
    pub(in crate::client) fn hold_callers(
        &self,
        via: Via,
        now: Instant,
    ) -> (Callers, Option<Hold>) {
        let mut table = self.lock();
        let callers = callers(&mut table, via, now);
        let whose = match (callers, via) {
            (Callers::Nobody | Callers::Several, _) => return (callers, None),
            // Nobody is asked for a call that was given up.
            (Callers::One(_), Via::Response(id)) if table.flight(id).is_none() => {
                return (Callers::Nobody, None);
            }
            (Callers::One(_), Via::Response(id)) => Whose::Request(id),
            (Callers::One(session), Via::Common) => Whose::Session(session),
        };
        (callers, hold(&mut table, whose, now))
    }

    /// A call that was given up has its answer, or was never sent.
    pub(in crate::client) fn forget_abandoned(&self, id: u64) {
        self.lock().forget_abandoned(id);
    }

    /// Lets the clocks go on that were stopped.
    pub(in crate::client) fn go_on(&self, Hold { calls, over }: Hold) {
        drop(over);
        let mut table = self.lock();
        let timer = table.go_on(&calls, Instant::now(), |waiter| {
            waiter.under_way.retain(|under_way| !under_way.is_closed());
        });
        self.heed(table, timer);
    }

    /// Calls in flight, and requests of the connection's own that are answered soon.
    pub(in crate::client) fn awaited(&self) -> usize {
        self.lock().awaited()
    }

    /// Calls in flight.
    pub(in crate::client) fn count(&self) -> usize {
        self.lock().calls()
    }

    /// Waits until no call is in flight. A dropped future changes nothing.
    pub(in crate::client) async fn quiet(&self) {
        loop {
            let quiet = self.quiet.notified();
            tokio::pin!(quiet);
            quiet.as_mut().enable();
            {
                let table = self.lock();
                if table.calls() == 0 {
                    return;
                }
                self.is_quiet_awaited.store(true, Ordering::Relaxed);
            }
            quiet.await;
        }
    }

    /// Takes something out, and tells who waits for quiet.
    fn take_out<T>(&self, take: impl FnOnce(&mut FlightTable<Waiter>) -> T) -> T {
        let mut table = self.lock();
        let taken = take(&mut table);
        if table.calls() == 0 && self.is_quiet_awaited.load(Ordering::Relaxed) {
            self.is_quiet_awaited.store(false, Ordering::Relaxed);
            self.quiet.notify_waiters();
        }
        taken
    }

    fn heed(&self, table: MutexGuard<'_, FlightTable<Waiter>>, timer: TimerWake) {
        drop(table);
        match timer {
            TimerWake::Keep => {}
            TimerWake::Wake => self.timer.notify_one(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, FlightTable<Waiter>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Another attempt may follow, and goes on with the time that this one leaves.
fn note_time(flight: &Flight) {
    if let Some(attempts) = &flight.payload.attempts {
        attempts.ended(&flight.clock);
    }
}

fn callers(table: &mut FlightTable<Waiter>, via: Via, now: Instant) -> Callers {
    match via {
        Via::Common => table.callers(now),
        Via::Response(id) => table.caller_of(id),
    }
}

/// Stops the clocks of calls; `None` when none is in flight.
fn hold(table: &mut FlightTable<Waiter>, whose: Whose, now: Instant) -> Option<Hold> {
    let (under_way, over) = mpsc::channel(1);
    let calls = table.hold(whose, now, |waiter| waiter.under_way.push(under_way.clone()));
    (!calls.is_empty()).then_some(Hold { calls, over })
}

/// What becomes of a call whose server asks for input.
pub(in crate::client) enum InputOutcome {
    /// There is no such call.
    Gone,
    /// It can have no further round, and is out of the table.
    Refused(Flight),
    /// It has one.
    Next { again: Arc<NextRound>, caller: Option<SessionId>, hold: Hold },
}

/// Calls whose clocks stand still.
pub(in crate::client) struct Hold {
    calls: Vec<HeldCall>,
    over: mpsc::Receiver<Infallible>,
}

impl Hold {
    /// Waits until no call is in flight any more.
    pub(in crate::client) async fn over(&mut self) {
        // Nothing is ever sent: the end of the senders is the end of their flights.
        while self.over.recv().await.is_some() {}
    }
}
