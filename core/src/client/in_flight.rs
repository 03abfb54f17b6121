//! The requests of ours that wait for an answer, and when each gives up.
//!
//! Invariants:
//! 1. A request leaves the table exactly once, and whoever takes it out answers it, with no lock held.
//! 2. After `end` the table stays empty: a request that comes later is refused.
//! 3. `armed` is never later than the earliest deadline, so one timer serves all.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, mpsc};
use trunkline_pool::state::SessionId;

use super::callers::{Abandoned, Callers};
use super::clock::{Clock, Missed};
use super::era::Again;
use super::{Done, OnProgress, RequestId};

/// Ids below belong to the handshake.
const FIRST_ID: u64 = 1 << 32;

/// One request that waits for its answer.
pub(super) struct Flight {
    pub done: Done,
    pub purpose: Purpose,
    /// The session on whose behalf it is made.
    pub caller: Option<SessionId>,
    pub progress: Option<OnProgress>,
    pub clock: Clock,
    /// What it needs for another round, and how many it had (SPEC 15.4).
    pub again: Option<Arc<Again>>,
    pub rounds: u32,
    /// The id that its caller knows it by.
    pub first: Option<u64>,
    /// Ends with the flight: whoever works for it sees that.
    pub under_way: Vec<mpsc::Sender<Infallible>>,
}

/// On whose behalf a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A call of a host: counted, limited, waited for.
    Call,
    /// The connection's own, such as a listing.
    Own,
}

/// Why a request was not taken in.
pub(super) enum Refused {
    /// As many calls as allowed are in flight.
    Limit(Done),
    /// The connection has ended.
    Ended(Done),
}

pub(super) struct InFlight {
    table: Mutex<Table>,
    next_id: AtomicU64,
    /// Wakes the timer: an earlier deadline, or the end.
    pub timer: Notify,
    quiet: Notify,
}

struct Table {
    flights: HashMap<u64, Flight, BuildHasherDefault<IdHasher>>,
    abandoned: Abandoned,
    /// Of calls in a later round: the id that the caller knows, and the one that they have.
    renamed: HashMap<u64, u64>,
    calls: usize,
    calls_max: usize,
    /// When the timer looks next; `None`: not before it is woken.
    armed: Option<Instant>,
    ended: bool,
}

impl Flight {
    pub(super) fn new(done: Done, purpose: Purpose, clock: Clock) -> Self {
        Flight {
            done,
            purpose,
            caller: None,
            progress: None,
            clock,
            again: None,
            rounds: 0,
            first: None,
            under_way: Vec::new(),
        }
    }
}

impl InFlight {
    /// An empty table that takes so many calls.
    pub(super) fn new(calls_max: u32) -> Self {
        InFlight {
            table: Mutex::new(Table {
                flights: HashMap::default(),
                abandoned: Abandoned::default(),
                renamed: HashMap::new(),
                calls: 0,
                calls_max: usize::try_from(calls_max).unwrap_or(usize::MAX),
                armed: None,
                ended: false,
            }),
            next_id: AtomicU64::new(FIRST_ID),
            timer: Notify::new(),
            quiet: Notify::new(),
        }
    }

    /// An id that was never used on this connection.
    pub(super) fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The id that comes next: those of the requests in flight are smaller.
    pub(super) fn next_id(&self) -> RequestId {
        RequestId(self.next_id.load(Ordering::Relaxed))
    }

    /// Whether a call with a smaller id is in flight that is none of the `unsent`.
    pub(super) fn has_call_before(&self, RequestId(id): RequestId, unsent: &HashSet<u64>) -> bool {
        let table = self.lock();
        let mut calls = table.flights.iter().filter(|(_, flight)| flight.purpose == Purpose::Call);
        calls.any(|(other, _)| *other < id && !unsent.contains(other))
    }

    /// Takes a request in. It must be in the table before its first byte is written.
    pub(super) fn register(&self, id: u64, flight: Flight) -> Result<(), Refused> {
        let mut table = self.lock();
        if table.ended {
            return Err(Refused::Ended(flight.done));
        }
        if flight.purpose == Purpose::Call {
            if table.calls >= table.calls_max {
                return Err(Refused::Limit(flight.done));
            }
            table.calls += 1;
        }
        let deadline = flight.clock.deadline();
        table.flights.insert(id, flight);
        self.arm(table, deadline);
        Ok(())
    }

    /// Whether a request in flight wants to hear of progress.
    pub(super) fn wants_progress(&self, id: u64) -> bool {
        self.lock().flights.get(&id).is_some_and(|flight| flight.progress.is_some())
    }

    /// Whether a request is in flight.
    pub(super) fn contains(&self, id: u64) -> bool {
        self.lock().flights.contains_key(&id)
    }

    /// Takes a request out, to be answered by the caller; `None` when somebody else did.
    pub(super) fn take(&self, id: u64) -> Option<Flight> {
        let mut table = self.lock();
        let flight = table.flights.remove(&id)?;
        self.left(&mut table, &flight);
        Some(flight)
    }

    /// [`give_up`](Self::give_up) by the id that the caller knows; with the id that it has now.
    pub(super) fn give_up_call(&self, id: u64) -> Option<(u64, Flight)> {
        let mut table = self.lock();
        let id = table.renamed.get(&id).copied().unwrap_or(id);
        self.give_up_in(&mut table, id).map(|flight| (id, flight))
    }

    /// Gives a call another id for its next round, with its clock held. It never leaves the table in between.
    pub(super) fn turn(&self, id: u64, next: u64, rounds_max: u32) -> Turn {
        let mut table = self.lock();
        let Some(mut flight) = table.flights.remove(&id) else { return Turn::Gone };
        let again = flight.again.clone().filter(|_| flight.rounds < rounds_max);
        let Some(again) = again else {
            self.left(&mut table, &flight);
            return Turn::Refused(flight);
        };
        let (under_way, over) = mpsc::channel(1);
        flight.clock.hold(Instant::now());
        flight.under_way.push(under_way);
        flight.rounds += 1;
        let first = *flight.first.get_or_insert(id);
        let caller = flight.caller;
        table.renamed.insert(first, next);
        table.flights.insert(next, flight);
        Turn::Next { again, caller, hold: Hold { calls: vec![next], over } }
    }

    /// Takes a request out whose answer did not come: the server may still work on it, and that is in doubt from the same moment on.
    pub(super) fn give_up(&self, id: u64) -> Option<Flight> {
        self.give_up_in(&mut self.lock(), id)
    }

    fn give_up_in(&self, table: &mut Table, id: u64) -> Option<Flight> {
        let flight = table.flights.remove(&id)?;
        table.doubt(id, &flight);
        self.left(table, &flight);
        Some(flight)
    }

    /// Hands a progress notification to the request that it is about, and moves its idle deadline.
    ///
    /// `false` when there is no such request. The callback runs without the lock.
    pub(super) fn progress(&self, id: u64, deliver: impl FnOnce(&mut OnProgress)) -> bool {
        let mut callback = {
            let mut table = self.lock();
            let Some(flight) = table.flights.get_mut(&id) else {
                return false;
            };
            flight.clock.progressed(Instant::now());
            flight.progress.take()
        };
        if let Some(callback) = &mut callback {
            deliver(callback);
        }
        if let Some(flight) = self.lock().flights.get_mut(&id) {
            flight.progress = callback;
        }
        true
    }

    /// Takes out what is overdue, and says when to look again; `None` in the second place: the table has ended.
    pub(super) fn expire(&self, now: Instant) -> (Vec<(u64, Flight, Missed)>, Option<Next>) {
        let mut table = self.lock();
        let overdue: Vec<_> = table
            .flights
            .iter()
            .filter_map(|(id, flight)| flight.clock.missed(now).map(|missed| (*id, missed)))
            .collect();
        let overdue = overdue
            .into_iter()
            .filter_map(|(id, missed)| {
                let flight = table.flights.remove(&id)?;
                table.doubt(id, &flight);
                self.left(&mut table, &flight);
                Some((id, flight, missed))
            })
            .collect();
        table.armed = table.flights.values().map(|flight| flight.clock.deadline()).min();
        let next = match (table.ended, table.armed) {
            (true, _) => None,
            (false, Some(at)) => Some(Next::At(at)),
            (false, None) => Some(Next::WhenWoken),
        };
        (overdue, next)
    }

    /// Takes everything out, for good.
    pub(super) fn end(&self) -> Vec<(u64, Flight)> {
        let mut table = self.lock();
        table.ended = true;
        table.calls = 0;
        table.renamed.clear();
        let mut flights: Vec<_> = table.flights.drain().collect();
        drop(table);
        flights.sort_unstable_by_key(|(id, _)| *id);
        self.timer.notify_one();
        self.quiet.notify_waiters();
        flights
    }

    /// Whose calls the server may be working on.
    pub(super) fn callers(&self, now: Instant) -> Callers {
        self.lock().callers(now)
    }

    /// Whose calls the server may be working on; when they are one session's, with their clocks stopped from the same moment on.
    /// These go on with [`go_on`](Self::go_on).
    pub(super) fn hold_callers(&self, now: Instant) -> (Callers, Option<Hold>) {
        let mut table = self.lock();
        let callers = table.callers(now);
        let hold = match callers {
            Callers::One(session) => table.hold(session, now),
            Callers::Nobody | Callers::Several => None,
        };
        (callers, hold)
    }

    /// A call that was given up has its answer, or was never sent.
    pub(super) fn forget_abandoned(&self, id: u64) {
        self.lock().abandoned.forget(id);
    }

    /// Lets the clocks go on that were stopped.
    pub(super) fn go_on(&self, Hold { calls, over }: Hold) {
        drop(over);
        let now = Instant::now();
        let mut table = self.lock();
        let mut deadline: Option<Instant> = None;
        for id in calls {
            let Some(flight) = table.flights.get_mut(&id) else { continue };
            flight.clock.go_on(now);
            flight.under_way.retain(|under_way| !under_way.is_closed());
            let at = flight.clock.deadline();
            deadline = Some(deadline.map_or(at, |earliest| earliest.min(at)));
        }
        if let Some(deadline) = deadline {
            self.arm(table, deadline);
        }
    }

    /// Calls in flight.
    pub(super) fn count(&self) -> usize {
        self.lock().calls
    }

    /// Waits until no call is in flight. A dropped future changes nothing.
    pub(super) async fn quiet(&self) {
        loop {
            let quiet = self.quiet.notified();
            tokio::pin!(quiet);
            quiet.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            quiet.await;
        }
    }

    /// Wakes the timer when it would look too late.
    fn arm(&self, mut table: MutexGuard<'_, Table>, deadline: Instant) {
        if table.armed.is_none_or(|armed| deadline < armed) {
            table.armed = Some(deadline);
            drop(table);
            self.timer.notify_one();
        }
    }

    fn left(&self, table: &mut Table, flight: &Flight) {
        if let Some(first) = flight.first {
            table.renamed.remove(&first);
        }
        if flight.purpose == Purpose::Call {
            table.calls -= 1;
            if table.calls == 0 {
                self.quiet.notify_waiters();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of a call whose server asks for input.
pub(super) enum Turn {
    /// There is no such call.
    Gone,
    /// It can have no further round, and is out of the table.
    Refused(Flight),
    /// It has one.
    Next { again: Arc<Again>, caller: Option<SessionId>, hold: Hold },
}

/// Calls whose clocks stand still.
pub(super) struct Hold {
    calls: Vec<u64>,
    over: mpsc::Receiver<Infallible>,
}

impl Table {
    /// The server may still work on a call that was taken out.
    fn doubt(&mut self, id: u64, flight: &Flight) {
        if let Some(session) = flight.caller {
            self.abandoned.add(id, session, Instant::now());
        }
    }

    fn callers(&mut self, now: Instant) -> Callers {
        let in_flight = self.flights.values().filter_map(|flight| flight.caller);
        Callers::of(in_flight, self.abandoned.sessions(now))
    }

    /// Stops the clocks of a session's calls; `None` when none is in flight.
    fn hold(&mut self, caller: SessionId, now: Instant) -> Option<Hold> {
        let (under_way, over) = mpsc::channel(1);
        let flights = self.flights.iter_mut();
        let calls =
            flights.filter(|(_, flight)| flight.caller == Some(caller)).map(|(id, flight)| {
                flight.clock.hold(now);
                flight.under_way.push(under_way.clone());
                *id
            });
        let calls: Vec<u64> = calls.collect();
        (!calls.is_empty()).then_some(Hold { calls, over })
    }
}

impl Hold {
    /// Waits until none of the calls is in flight any more.
    pub(super) async fn over(&mut self) {
        // Nothing is ever sent: the end of the senders is the end of their flights.
        while self.over.recv().await.is_some() {}
    }
}

/// When the timer looks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    At(Instant),
    WhenWoken,
}

/// Ids are our own and sequential: they need no mixing against an adversary, only to be spread over the table.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, id: u64) {
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        self.0 = id.wrapping_mul(GOLDEN);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// SPEC 8.3: what a server never got cannot be what it works on.
    #[test]
    fn a_call_counts_when_something_of_it_was_sent() {
        let calls = InFlight::new(9);
        let (call, own) = (calls.new_id(), calls.new_id());
        for (id, purpose) in [(call, Purpose::Call), (own, Purpose::Own)] {
            let time = Duration::from_secs(9);
            let flight = Flight::new(Box::new(drop), purpose, Clock::new(time, time, None));
            assert!(calls.register(id, flight).is_ok());
        }
        assert!(calls.has_call_before(calls.next_id(), &HashSet::from([own])));
        assert!(!calls.has_call_before(calls.next_id(), &HashSet::from([call])));
        assert!(!calls.has_call_before(RequestId(call), &HashSet::new()));
    }

    /// SPEC 15.1: there is no moment at which a call that the server may still work on is forgotten.
    #[test]
    fn what_a_server_asks_is_nobody_elses_while_a_call_without_an_answer_is_in_doubt() {
        let (calls, now) = (InFlight::new(9), Instant::now());
        let (one, other) = (SessionId(1), SessionId(2));
        let begin = |session, time| {
            let id = calls.new_id();
            let clock = Clock::new(time, time, None);
            let mut flight = Flight::new(Box::new(drop), Purpose::Call, clock);
            flight.caller = Some(session);
            assert!(calls.register(id, flight).is_ok());
            id
        };
        let long = Duration::from_secs(9);
        begin(one, long);
        let (callers, hold) = calls.hold_callers(now);
        assert!(callers == Callers::One(one) && hold.is_some());
        for end in [InFlight::give_up, |calls: &InFlight, id| {
            let (overdue, _) = calls.expire(Instant::now() + Duration::from_secs(60));
            overdue.into_iter().find(|(overdue, ..)| *overdue == id).map(|(_, flight, _)| flight)
        }] {
            let id = begin(other, long);
            assert!(end(&calls, id).is_some());
            begin(one, long);
            let (callers, hold) = calls.hold_callers(Instant::now());
            assert!(callers == Callers::Several && hold.is_none());
            calls.forget_abandoned(id);
        }
    }
}
