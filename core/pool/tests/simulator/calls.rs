//! The third simulation: the calls of one connection, with answers that come late, twice or for
//! nobody, with cancellations, time-outs, further rounds, persons who take their time, and the loss
//! of it all at any moment.
//!
//! What is held against the table is written a second time here, by other means: a call is a line
//! in a list, and its two times are counted up by what passes instead of being moments ahead.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use trunkline_pool::in_flight::{
    Callers, Clock, Flight, FlightTable, HeldCall, Missed, Next, Overdue, Purpose, Refused,
    TimerWake, Turn, Whose,
};
use trunkline_pool::state::SessionId;

use crate::chance::Chance;

/// Moves of one connection; it is lost at the last one, if not before.
const MOVES: u64 = 150;

/// One of so many connections is lost before its last moves.
const LOST_EARLY: u64 = 4;

/// As the table has it: for how long persons may be waited for, and how long a call without an
/// answer is in doubt.
const HELD_MAX: Duration = Duration::from_secs(3600);
const DOUBT: Duration = Duration::from_secs(30);

/// Further rounds that a call may have here.
const ROUNDS_MAX: u32 = 2;

/// A call as its caller sees it.
struct Call {
    /// The id that the caller knows, and the one that it has.
    first: u64,
    id: u64,
    purpose: Purpose,
    caller: Option<SessionId>,
    turns: bool,
    rounds: u32,
    total: Spent,
    idle: Spent,
    holds: u32,
    stood: Duration,
    ended: bool,
}

/// A time that is counted up.
struct Spent {
    of: Duration,
    so_far: Duration,
}

impl Spent {
    fn is_over(&self) -> bool {
        self.so_far >= self.of
    }
}

impl Call {
    fn pass(&mut self, time: Duration) {
        let stands = match self.holds {
            0 => Duration::ZERO,
            _ => time.min(HELD_MAX - self.stood),
        };
        self.stood += stands;
        self.total.so_far += time - stands;
        self.idle.so_far += time - stands;
    }

    fn missed(&self) -> Option<Missed> {
        match (self.total.is_over(), self.idle.is_over()) {
            (true, _) => Some(Missed::Total),
            (false, true) => Some(Missed::Idle),
            (false, false) => None,
        }
    }

    fn hold(&mut self) {
        if self.holds == 0 {
            self.idle.so_far = Duration::ZERO;
        }
        self.holds += 1;
    }

    fn go_on(&mut self) {
        self.holds -= 1;
        if self.holds == 0 {
            self.idle.so_far = Duration::ZERO;
        }
    }
}

/// One connection: the table, and what must be true of it. The payload of a request is its place in
/// `calls`.
struct Connection {
    chance: Chance,
    table: FlightTable<usize>,
    now: Instant,
    calls: Vec<Call>,
    calls_max: usize,
    next_id: u64,
    /// Ids that had their day: answers to them come again.
    spent_ids: Vec<u64>,
    held: Vec<Vec<(usize, HeldCall)>>,
    /// Ids that were given up, whose, and when.
    doubts: VecDeque<(u64, SessionId, Instant)>,
    /// When the timer looks; `None`: when it is woken.
    looks: Option<Instant>,
    ended: bool,
}

type Checked = Result<(), String>;

/// Runs one connection; the moves that were made, and what was wrong.
pub fn call(seed: u64) -> (u64, Checked) {
    let mut connection = Connection::new(seed);
    for number in 0..MOVES {
        connection.chance = Chance::of_move(seed, number);
        if let Err(what) = connection.act().and_then(|()| connection.check()) {
            return (number + 1, Err(format!("calls: {what}")));
        }
    }
    let over = connection.end().and_then(|()| connection.check());
    (
        MOVES + 1,
        over.and_then(|()| connection.everybody_has_an_answer())
            .map_err(|what| format!("calls: {what}")),
    )
}

impl Connection {
    fn new(seed: u64) -> Connection {
        let mut chance = Chance::new(seed);
        let calls_max = chance.pick(&[1, 2, 8, 1000]);
        Connection {
            table: FlightTable::new(calls_max),
            now: Instant::now(),
            calls: Vec::new(),
            calls_max: calls_max as usize,
            next_id: 1,
            spent_ids: Vec::new(),
            held: Vec::new(),
            doubts: VecDeque::new(),
            looks: None,
            ended: false,
            chance,
        }
    }

    fn act(&mut self) -> Checked {
        match self.chance.below(100) {
            0..30 => self.register(),
            30..45 => self.answer(),
            45..55 => self.cancel(),
            55..65 => self.turn(),
            65..72 => self.progress(),
            72..80 => self.hold(),
            80..88 => self.go_on(),
            88..99 => self.pass(),
            _ if self.chance.below(LOST_EARLY) == 0 => self.end(),
            _ => self.answer_nobody(),
        }
    }

    fn register(&mut self) -> Checked {
        let purpose = if self.chance.percent(85) { Purpose::Call } else { Purpose::Own };
        let caller = (purpose == Purpose::Call).then(|| SessionId(self.chance.below(3)));
        let time = |chance: &mut Chance| chance.millis(&[5, 50, 1_000, 60_000, 4_000_000]);
        let (total, idle) = (time(&mut self.chance), time(&mut self.chance));
        let turns = self.chance.percent(70);
        let (id, number) = (self.new_id(), self.calls.len());
        let clock = Clock::new(total, idle, None, self.now);
        let in_flight = self.under_way().filter(|call| call.purpose == Purpose::Call).count();
        let is_full = purpose == Purpose::Call && in_flight >= self.calls_max;
        let taken = self.table.register(id, Flight::new(purpose, caller, clock, number));
        let timer = match (taken, self.ended, is_full) {
            (Ok(timer), false, false) => timer,
            (Err(Refused::Ended(given)), true, _) | (Err(Refused::Limit(given)), false, true)
                if given == number =>
            {
                self.spent_ids.push(id);
                return Ok(());
            }
            (taken, ..) => return Err(format!("request {id} was met with {taken:?}")),
        };
        let counted = |of| Spent { of, so_far: Duration::ZERO };
        self.calls.push(Call {
            first: id,
            id,
            purpose,
            caller,
            turns,
            rounds: 0,
            total: counted(total),
            idle: counted(idle),
            holds: 0,
            stood: Duration::ZERO,
            ended: false,
        });
        self.heed(timer)
    }

    /// An answer comes.
    fn answer(&mut self) -> Checked {
        let Some(number) = self.pick() else { return self.answer_nobody() };
        let id = self.calls[number].id;
        let taken = self.table.take(id);
        self.ends(number, taken.map(|flight| flight.payload), "the answer")
    }

    /// An answer comes to what was answered, given up or never asked.
    fn answer_nobody(&mut self) -> Checked {
        let id = self.chance.pick_some(&self.spent_ids).unwrap_or(u64::MAX);
        if self.table.take(id).is_some() {
            return Err(format!("request {id} was there a second time"));
        }
        self.table.forget_abandoned(id);
        self.doubts.retain(|(doubted, ..)| *doubted != id);
        Ok(())
    }

    /// The caller gives up; also one whose call is over.
    fn cancel(&mut self) -> Checked {
        let number = match self.chance.percent(80) {
            true => self.pick(),
            false => (!self.calls.is_empty())
                .then(|| self.chance.below(self.calls.len() as u64) as usize),
        };
        let Some(number) = number else { return Ok(()) };
        let was_under_way = !self.calls[number].ended;
        let given_up = self.table.give_up_call(self.calls[number].first, self.now);
        match (was_under_way, given_up) {
            (false, None) => Ok(()),
            (true, Some((id, flight))) if id == self.calls[number].id => {
                self.doubt(number);
                self.ends(number, Some(flight.payload), "the cancellation")
            }
            (_, given_up) => Err(format!("the cancellation of call {number} met {given_up:?}")),
        }
    }

    /// The server asks for input: the call goes on under another id.
    fn turn(&mut self) -> Checked {
        let Some(number) = self.pick() else { return Ok(()) };
        let (id, next, now) = (self.calls[number].id, self.new_id(), self.now);
        let turns = self.calls[number].turns;
        let with = |_: &mut usize, rounds| (turns && rounds < ROUNDS_MAX).then_some(rounds);
        let may = turns && self.calls[number].rounds < ROUNDS_MAX;
        match self.table.turn(id, next, now, with) {
            Turn::Refused(flight) if !may => self.ends(number, Some(flight.payload), "the round"),
            Turn::Next { with, held, caller } if may => {
                let call = &mut self.calls[number];
                if with != call.rounds || caller != call.caller {
                    return Err(format!("call {number} turns in round {with} of {caller:?}"));
                }
                call.hold();
                call.rounds += 1;
                self.spent_ids.push(std::mem::replace(&mut call.id, next));
                self.held.push(vec![(number, held)]);
                Ok(())
            }
            turn => Err(format!("call {number} turned to {turn:?}")),
        }
    }

    fn progress(&mut self) -> Checked {
        let Some(number) = self.pick() else { return Ok(()) };
        let call = &mut self.calls[number];
        let Some(flight) = self.table.flight_mut(call.id) else {
            return Err(format!("call {number} is not there to hear of progress"));
        };
        flight.clock.progressed(self.now);
        if call.holds == 0 {
            call.idle.so_far = Duration::ZERO;
        }
        Ok(())
    }

    /// A person is asked on behalf of a session.
    fn hold(&mut self) -> Checked {
        let session = SessionId(self.chance.below(3));
        let request = self.pick().filter(|_| self.chance.percent(30));
        let request = request.map(|number| self.calls[number].id);
        let whose = request.map_or(Whose::Session(session), Whose::Request);
        let mut seen = Vec::new();
        let held = self.table.hold(whose, self.now, |number| seen.push(*number));
        let its_own = |call: &Call| {
            !call.ended && request.map_or(call.caller == Some(session), |id| call.id == id)
        };
        let expected: BTreeSet<usize> =
            (0..self.calls.len()).filter(|number| its_own(&self.calls[*number])).collect();
        if seen.iter().copied().collect::<BTreeSet<_>>() != expected || held.len() != seen.len() {
            return Err(format!("{whose:?} has {expected:?} to hold, and {seen:?} were held"));
        }
        seen.iter().for_each(|number| self.calls[*number].hold());
        self.held.push(seen.into_iter().zip(held).collect());
        Ok(())
    }

    /// A person has answered.
    fn go_on(&mut self) -> Checked {
        if self.held.is_empty() {
            return Ok(());
        }
        let which = self.chance.below(self.held.len() as u64) as usize;
        let (numbers, held): (Vec<usize>, Vec<HeldCall>) =
            self.held.swap_remove(which).into_iter().unzip();
        let mut seen = BTreeSet::new();
        let timer = self.table.go_on(&held, self.now, |number| {
            seen.insert(*number);
        });
        let there: BTreeSet<usize> =
            numbers.into_iter().filter(|number| !self.calls[*number].ended).collect();
        if seen != there {
            return Err(format!("{there:?} should go on, and {seen:?} did"));
        }
        there.iter().for_each(|number| self.calls[*number].go_on());
        self.heed(timer)
    }

    /// Time passes, and the timer looks when it said it would.
    fn pass(&mut self) -> Checked {
        let time = self.chance.millis(&[1, 4, 45, 950, 29_000, 3_600_000]);
        self.now += time;
        self.calls.iter_mut().filter(|call| !call.ended).for_each(|call| call.pass(time));
        match self.looks {
            Some(at) if at <= self.now => self.expire(),
            _ => self.nothing_is_overdue(),
        }
    }

    fn expire(&mut self) -> Checked {
        let expected: BTreeMap<u64, Missed> =
            self.under_way().filter_map(|call| Some((call.id, call.missed()?))).collect();
        let (overdue, next) = self.table.expire(self.now);
        let found: BTreeMap<u64, Missed> =
            overdue.iter().map(|overdue| (overdue.id, overdue.missed)).collect();
        if found != expected {
            return Err(format!("{expected:?} are overdue, and {found:?} were taken out"));
        }
        for Overdue { id, flight, .. } in overdue {
            let number = flight.payload;
            if self.calls[number].id != id {
                return Err(format!("call {number} timed out as {id}"));
            }
            self.doubt(number);
            self.ends(number, Some(number), "the time-out")?;
        }
        self.looks = match next {
            Some(Next::At(at)) => Some(at),
            Some(Next::WhenWoken) => None,
            None if self.ended => None,
            None => return Err("the timer stops before the end".to_string()),
        };
        Ok(())
    }

    /// The connection is lost.
    fn end(&mut self) -> Checked {
        let flights = self.table.end();
        self.ended = true;
        if !flights.is_sorted_by_key(|(id, _)| *id) {
            return Err("the calls do not end in their order".to_string());
        }
        flights.into_iter().try_for_each(|(id, flight)| match self.calls[flight.payload].id == id {
            true => self.ends(flight.payload, Some(flight.payload), "the end"),
            false => Err(format!("call {} ended as {id}", flight.payload)),
        })
    }

    fn check(&mut self) -> Checked {
        let calls = self.under_way().filter(|call| call.purpose == Purpose::Call).count();
        if self.table.calls() != calls {
            return Err(format!("{calls} calls are in flight, and {} counted", self.table.calls()));
        }
        if let Some(call) = self.under_way().find(|call| self.table.flight(call.id).is_none()) {
            return Err(format!("request {} is gone without an answer", call.id));
        }
        let now = self.now;
        self.doubts.retain(|(_, _, since)| *since + DOUBT > now);
        let sessions: BTreeSet<SessionId> =
            self.under_way().filter_map(|call| call.caller).collect();
        let known = self.under_way().map(|call| (call.id, call.caller));
        let doubted = self.doubts.iter().map(|(id, caller, _)| (*id, Some(*caller)));
        for (id, caller) in known.chain(doubted) {
            let found = self.table.caller_of(id);
            if found != caller.map_or(Callers::Nobody, Callers::One) {
                return Err(format!("request {id} is of {caller:?}, and the table says {found:?}"));
            }
        }
        let in_doubt = |one: &SessionId| self.doubts.iter().any(|(_, other, _)| other != one);
        let expected = match sessions.first() {
            None => Callers::Nobody,
            Some(one) if sessions.len() == 1 && !in_doubt(one) => Callers::One(*one),
            Some(_) => Callers::Several,
        };
        match self.table.callers(now) {
            found if found == expected => Ok(()),
            found => {
                Err(format!("the server works for {expected:?}, and the table says {found:?}"))
            }
        }
    }

    fn nothing_is_overdue(&self) -> Checked {
        match self.under_way().find(|call| call.missed().is_some()) {
            None => Ok(()),
            Some(call) => Err(format!("request {} is overdue, and the timer sleeps", call.id)),
        }
    }

    fn everybody_has_an_answer(&self) -> Checked {
        match self.calls.iter().position(|call| !call.ended) {
            None => Ok(()),
            Some(number) => Err(format!("call {number} never ended")),
        }
    }

    /// A call has ended: for the first time, and as the one that it is.
    fn ends(&mut self, number: usize, taken: Option<usize>, how: &str) -> Checked {
        let call = &mut self.calls[number];
        if taken != Some(number) || std::mem::replace(&mut call.ended, true) {
            return Err(format!("{how} of call {number} took out {taken:?}"));
        }
        self.spent_ids.push(call.id);
        Ok(())
    }

    fn doubt(&mut self, number: usize) {
        let Call { id, caller, .. } = self.calls[number];
        self.doubts.extend(caller.map(|session| (id, session, self.now)));
    }

    fn heed(&mut self, timer: TimerWake) -> Checked {
        match timer {
            TimerWake::Wake => self.expire(),
            TimerWake::Keep => Ok(()),
        }
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn under_way(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.ended)
    }

    /// One that is under way.
    fn pick(&mut self) -> Option<usize> {
        let open: Vec<usize> =
            (0..self.calls.len()).filter(|number| !self.calls[*number].ended).collect();
        self.chance.pick_some(&open)
    }
}
