//! The requests of one connection that wait for an answer: who takes each out, when it gives up,
//! and on whose behalf it is.
//!
//! Invariants:
//! 1. A request leaves the table exactly once, and the code that took it out answers it (I-17).
//! 2. After [`end`](FlightTable::end) the table stays empty: a request that comes later is refused.
//! 3. The timer looks no later than the earliest deadline, so one timer serves all.
//! 4. A call that was given up without an answer is in doubt from that same moment on (SPEC 15.1).
//!
//! What else belongs to a request, such as whom to tell of its end, is its payload `P`: the rules
//! here do not look at it.

use std::collections::HashSet;
use std::time::Instant;

use super::callers::Abandoned;
pub use super::callers::Callers;
pub use super::clock::{Begun, Clock, Missed, later};
use crate::base::id_map::IdMap;
use crate::state::SessionId;

/// One request that waits for its answer.
#[derive(Debug)]
pub struct Flight<P> {
    /// On whose behalf it is made.
    pub purpose: Purpose,
    /// The session that called; `None` for the connection's own.
    pub caller: Option<SessionId>,
    /// When it gives up.
    pub clock: Clock,
    /// What the rules do not look at.
    pub payload: P,
    /// How often it was sent again with what the server asked for (SPEC 15.4).
    rounds: u32,
    /// The id that its caller knows it by, once it has another.
    first: Option<u64>,
}

/// On whose behalf a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A call of a host: counted, limited, waited for.
    Call,
    /// The connection's own, such as a listing.
    Own,
    /// The connection's own, answered when the server has no more to tell: a stream of changes.
    Stream,
}

/// Why a request was not taken in; it is given back.
#[derive(Debug)]
pub enum Refused<P> {
    /// As many calls as allowed are in flight.
    Limit(P),
    /// The connection has ended.
    Ended(P),
}

/// What becomes of a call whose server asks for input.
#[derive(Debug)]
pub enum Turn<P, T> {
    /// There is no such call.
    Gone,
    /// It can have no further round, and is out of the table.
    Refused(Flight<P>),
    /// It has one, with its clock held until [`go_on`](FlightTable::go_on).
    Next {
        /// What it takes along.
        with: T,
        /// The session that called.
        caller: Option<SessionId>,
        /// For going on.
        held: HeldCall,
    },
}

/// A call whose clock stands still: the id that its caller knows it by, which later rounds do not
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldCall(u64);

/// Which calls a question of the server stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// All of a session's: it is not known which one it belongs to.
    Session(SessionId),
    /// The one that it belongs to.
    Request(u64),
}

/// A request that missed a deadline, and is out of the table.
#[derive(Debug)]
pub struct Overdue<P> {
    /// Its id.
    pub id: u64,
    /// The request.
    pub flight: Flight<P>,
    /// What it missed.
    pub missed: Missed,
}

/// When the timer looks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Then, unless it is woken.
    At(Instant),
    /// Not before it is woken.
    WhenWoken,
}

/// Whether the timer has to be woken, since it would look too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum TimerWake {
    /// It looks early enough.
    Keep,
    /// It has to look again now.
    Wake,
}

/// The table.
#[derive(Debug)]
pub struct FlightTable<P> {
    flights: IdMap<u64, Flight<P>>,
    abandoned: Abandoned,
    /// Of calls in a later round: the id that the caller knows, and the one that they have.
    renamed: IdMap<u64, u64>,
    calls: usize,
    calls_max: usize,
    streams: usize,
    /// When the timer looks next; `None`: not before it is woken.
    armed: Option<Instant>,
    ended: bool,
}

impl<P> Flight<P> {
    /// A request in its first round.
    pub fn new(purpose: Purpose, caller: Option<SessionId>, clock: Clock, payload: P) -> Flight<P> {
        Flight { purpose, caller, clock, payload, rounds: 0, first: None }
    }

    /// Whether an earlier round of it was sent, and answered: what becomes of this one, the call
    /// may have had its effect.
    pub fn was_sent(&self) -> bool {
        self.rounds > 0
    }
}

impl<P> FlightTable<P> {
    /// An empty table that takes so many calls; the connection's own requests are not counted.
    pub fn new(calls_max: u32) -> FlightTable<P> {
        FlightTable {
            flights: IdMap::default(),
            abandoned: Abandoned::default(),
            renamed: IdMap::default(),
            calls: 0,
            streams: 0,
            calls_max: usize::try_from(calls_max).unwrap_or(usize::MAX),
            armed: None,
            ended: false,
        }
    }

    /// Takes a request in, under an id that was never used here. It must be in the table before its
    /// first byte is written.
    pub fn register(&mut self, id: u64, flight: Flight<P>) -> Result<TimerWake, Refused<P>> {
        if self.ended {
            return Err(Refused::Ended(flight.payload));
        }
        match flight.purpose {
            Purpose::Call if self.calls >= self.calls_max => {
                return Err(Refused::Limit(flight.payload));
            }
            Purpose::Call => self.calls += 1,
            Purpose::Stream => self.streams += 1,
            Purpose::Own => {}
        }
        let deadline = flight.clock.deadline();
        self.flights.insert(id, flight);
        Ok(self.arm(deadline))
    }

    /// A request in flight.
    pub fn flight(&self, id: u64) -> Option<&Flight<P>> {
        self.flights.get(&id)
    }

    /// The same, to be changed: its clock only by the rules of this table.
    pub fn flight_mut(&mut self, id: u64) -> Option<&mut Flight<P>> {
        self.flights.get_mut(&id)
    }

    /// Takes a request out that has its answer; `None` when somebody else did.
    pub fn take(&mut self, id: u64) -> Option<Flight<P>> {
        let flight = self.flights.remove(&id)?;
        if let Some(first) = flight.first {
            self.renamed.remove(&first);
        }
        match flight.purpose {
            Purpose::Call => self.calls -= 1,
            Purpose::Stream => self.streams -= 1,
            Purpose::Own => {}
        }
        Some(flight)
    }

    /// Takes a request out whose answer did not come: the server may still work on it, and that is
    /// in doubt from now on.
    pub fn give_up(&mut self, id: u64, now: Instant) -> Option<Flight<P>> {
        let flight = self.take(id)?;
        if let Some(session) = flight.caller {
            self.abandoned.add(id, session, now);
        }
        Some(flight)
    }

    /// [`give_up`](Self::give_up) by the id that the caller knows; with the id that it has now.
    pub fn give_up_call(&mut self, first: u64, now: Instant) -> Option<(u64, Flight<P>)> {
        let id = self.renamed.get(&first).copied().unwrap_or(first);
        self.give_up(id, now).map(|flight| (id, flight))
    }

    /// A call that was given up has its answer, or was never sent: it is not in doubt any more.
    pub fn forget_abandoned(&mut self, id: u64) {
        self.abandoned.forget(id);
    }

    /// Gives a call the id of its next round, with its clock held. `with` decides by the payload
    /// and the number of earlier rounds whether it may have one. It never leaves the table in
    /// between.
    pub fn turn<T>(
        &mut self,
        id: u64,
        next: u64,
        now: Instant,
        with: impl FnOnce(&mut P, u32) -> Option<T>,
    ) -> Turn<P, T> {
        let Some(flight) = self.flights.get_mut(&id) else { return Turn::Gone };
        let Some(with) = with(&mut flight.payload, flight.rounds) else {
            return self.take(id).map_or(Turn::Gone, Turn::Refused);
        };
        let Some(mut flight) = self.flights.remove(&id) else { return Turn::Gone };
        flight.clock.hold(now);
        flight.rounds += 1;
        let (caller, first) = (flight.caller, *flight.first.get_or_insert(id));
        self.renamed.insert(first, next);
        self.flights.insert(next, flight);
        Turn::Next { with, caller, held: HeldCall(first) }
    }

    /// Takes out what is overdue, and says when to look again; `None` in the second place: the
    /// table has ended.
    pub fn expire(&mut self, now: Instant) -> (Vec<Overdue<P>>, Option<Next>) {
        let missed = |(id, flight): (&u64, &Flight<P>)| Some((*id, flight.clock.missed(now)?));
        let overdue: Vec<_> = self.flights.iter().filter_map(missed).collect();
        let give_up = |(id, missed)| Some(Overdue { id, flight: self.give_up(id, now)?, missed });
        let overdue = overdue.into_iter().filter_map(give_up).collect();
        self.armed = self.flights.values().map(|flight| flight.clock.deadline()).min();
        let next = match (self.ended, self.armed) {
            (true, _) => None,
            (false, Some(at)) => Some(Next::At(at)),
            (false, None) => Some(Next::WhenWoken),
        };
        (overdue, next)
    }

    /// Takes everything out, for good, in the order of their ids.
    pub fn end(&mut self) -> Vec<(u64, Flight<P>)> {
        self.ended = true;
        (self.calls, self.streams) = (0, 0);
        self.renamed.clear();
        let mut flights: Vec<_> = self.flights.drain().collect();
        flights.sort_unstable_by_key(|(id, _)| *id);
        flights
    }

    /// Whose calls the server may be working on.
    pub fn callers(&mut self, now: Instant) -> Callers {
        let in_flight = self.flights.values().filter_map(|flight| flight.caller);
        Callers::of(in_flight, self.abandoned.sessions(now))
    }

    /// Whose calls a log message may be about: with none in flight, those that were given up.
    pub fn log_callers(&mut self, now: Instant) -> Callers {
        match self.callers(now) {
            Callers::Nobody => Callers::of(self.abandoned.sessions(now), std::iter::empty()),
            callers => callers,
        }
    }

    /// Whose call this request is, or was until it was given up: for what is known to belong to it.
    pub fn caller_of(&self, id: u64) -> Callers {
        let in_flight = self.flights.get(&id).and_then(|flight| flight.caller);
        in_flight.or_else(|| self.abandoned.caller_of(id)).map_or(Callers::Nobody, Callers::One)
    }

    /// Stops the clocks of calls, and shows the payload of each.
    pub fn hold(
        &mut self,
        whose: Whose,
        now: Instant,
        mut each: impl FnMut(&mut P),
    ) -> Vec<HeldCall> {
        let flights = self.flights.iter_mut();
        let its_own = flights.filter(|(id, flight)| match whose {
            Whose::Session(caller) => flight.caller == Some(caller),
            Whose::Request(request) => **id == request,
        });
        let hold = |(id, flight): (&u64, &mut Flight<P>)| {
            flight.clock.hold(now);
            each(&mut flight.payload);
            HeldCall(flight.first.unwrap_or(*id))
        };
        its_own.map(hold).collect()
    }

    /// Lets clocks go on that were stopped, once for each time, and shows the payloads of those
    /// that are still in flight.
    pub fn go_on(
        &mut self,
        held: &[HeldCall],
        now: Instant,
        mut each: impl FnMut(&mut P),
    ) -> TimerWake {
        let mut timer = TimerWake::Keep;
        for HeldCall(first) in held {
            let id = self.renamed.get(first).unwrap_or(first);
            let Some(flight) = self.flights.get_mut(id) else { continue };
            flight.clock.go_on(now);
            each(&mut flight.payload);
            let deadline = flight.clock.deadline();
            if self.arm(deadline) == TimerWake::Wake {
                timer = TimerWake::Wake;
            }
        }
        timer
    }

    /// Calls in flight, and requests of the connection's own that are answered soon.
    pub fn awaited(&self) -> usize {
        self.flights.len() - self.streams
    }

    /// Calls in flight.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Whether a call with a smaller id is in flight that is not among the `unsent`.
    pub fn has_call_before(&self, id: u64, unsent: &HashSet<u64>) -> bool {
        let mut calls = self.flights.iter().filter(|(_, flight)| flight.purpose == Purpose::Call);
        calls.any(|(other, _)| *other < id && !unsent.contains(other))
    }

    fn arm(&mut self, deadline: Instant) -> TimerWake {
        if self.armed.is_some_and(|armed| armed <= deadline) {
            return TimerWake::Keep;
        }
        self.armed = Some(deadline);
        TimerWake::Wake
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn flight(purpose: Purpose, caller: Option<SessionId>, now: Instant) -> Flight<()> {
        let time = Duration::from_secs(9);
        Flight::new(purpose, caller, Clock::new(time, time, None, now), ())
    }

    /// SPEC 8.3: what a server never got cannot be what it works on.
    #[test]
    fn a_call_counts_when_something_of_it_was_sent() {
        let (mut table, now) = (FlightTable::new(9), Instant::now());
        for (id, purpose) in [(1, Purpose::Call), (2, Purpose::Own)] {
            assert!(table.register(id, flight(purpose, None, now)).is_ok());
        }
        assert!(table.has_call_before(3, &HashSet::from([2])));
        assert!(!table.has_call_before(3, &HashSet::from([1])));
        assert!(!table.has_call_before(1, &HashSet::new()));
    }

    /// SPEC 15.1, S-45: a server that is asked for nothing else may still say something of what was
    /// given up.
    #[test]
    fn a_log_message_can_be_about_calls_that_were_given_up() {
        let (mut table, now) = (FlightTable::new(9), Instant::now());
        let begin = |table: &mut FlightTable<()>, id, session| {
            let flight = flight(Purpose::Call, Some(SessionId(session)), now);
            assert!(table.register(id, flight).is_ok());
        };
        assert_eq!(table.log_callers(now), Callers::Nobody);
        for (id, session, expected) in [
            (1, 2, Callers::One(SessionId(2))),
            (2, 2, Callers::One(SessionId(2))),
            (3, 4, Callers::Several),
        ] {
            begin(&mut table, id, session);
            assert!(table.give_up(id, now).is_some());
            assert_eq!((table.callers(now), table.log_callers(now)), (Callers::Nobody, expected));
        }
        table.forget_abandoned(3);
        begin(&mut table, 5, 6);
        assert_eq!(table.log_callers(now), Callers::Several);
        assert!(table.take(5).is_some());
        let later = now + Duration::from_secs(3600);
        assert_eq!(table.log_callers(later), Callers::Nobody);
    }

    /// Nobody waits for the end of a stream, which may be that of the connection.
    #[test]
    fn all_but_streams_are_awaited() {
        let (mut table, now) = (FlightTable::new(9), Instant::now());
        for (id, purpose) in [(1, Purpose::Stream), (2, Purpose::Call), (3, Purpose::Own)] {
            assert!(table.register(id, flight(purpose, None, now)).is_ok());
        }
        for (taken, awaited) in [(3, 1), (1, 1), (2, 0)] {
            assert!(table.take(taken).is_some());
            assert_eq!(table.awaited(), awaited, "{taken}");
        }
        assert!(table.register(4, flight(Purpose::Stream, None, now)).is_ok());
        assert_eq!((table.end().len(), table.awaited()), (1, 0));
    }

    /// SPEC 5.4: a server that answers the next round before it was sent does not stop the clock
    /// for good.
    #[test]
    fn a_call_that_turned_twice_goes_on_when_both_have_let_it() {
        let (mut table, now) = (FlightTable::new(9), Instant::now());
        assert!(table.register(1, flight(Purpose::Call, Some(SessionId(1)), now)).is_ok());
        let mut turn = |id, next| match table.turn(id, next, now, |(), _| Some(())) {
            Turn::Next { held, .. } => held,
            Turn::Gone | Turn::Refused(_) => panic!("{id} is there"),
        };
        let held = [turn(1, 2), turn(2, 3)];
        let late = now + Duration::from_secs(60);
        assert!(table.expire(late).0.is_empty());
        let _ = table.go_on(&held[..1], late, |()| {});
        assert!(table.expire(late + Duration::from_secs(60)).0.is_empty());
        assert_eq!(table.go_on(&held[1..], late, |()| {}), TimerWake::Wake);
        let (overdue, _) = table.expire(late + Duration::from_secs(60));
        assert!(matches!(overdue[..], [Overdue { id: 3, .. }]));
    }
}
