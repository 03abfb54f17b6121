//! A task, waiters, event loops, a caller and a server, and every step that one of them can take.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use trunkline_pool::reader_role::{Lending, ReaderRole, Tell};

use super::loops::{Loop, OF_LOOPS, Turn};

/// What a server writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    Answer(u8),
    /// Nothing by itself: the answer follows.
    Half(u8),
    /// Unasked.
    Note,
}

/// What was read of the pipe and not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stream(pub VecDeque<Frame>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    Reads(Stream),
    /// It has read what there was.
    MayLend(Stream),
    Lends(Stream),
    HasLent,
    Waits,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Waiter {
    Registers,
    Sends,
    Borrows,
    /// Whether its call is still in flight.
    HasBorrowed(Stream),
    Reads(Stream),
    Rests(Stream),
    GivesBack(Stream),
    HasRested,
    /// Until its call has ended.
    Sleeps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    Registers,
    Recalls,
    Sends,
    Done,
}

/// A step that is left out, or taken too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    None,
    NoLookAfterLending,
    NoLookAfterResting,
    NoRecall,
    RecallBeforeRegistering,
    NotTold,
    /// Who has one call takes what is in flight for it.
    LookForTwo,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub role: ReaderRole<Stream>,
    pub task: Task,
    /// The task was told, and has not looked yet.
    pub told: bool,
    pub waiters: Vec<(Waiter, u8)>,
    pub loops: Vec<Loop>,
    /// No loop comes to what it is told.
    pub blocked: bool,
    pub caller: Caller,
    pub in_flight: BTreeSet<u8>,
    /// What the server has not answered.
    pub asked: BTreeSet<u8>,
    pub pipe: VecDeque<Frame>,
    pub notes: u8,
    /// How many answers may come in parts.
    pub halves: u8,
    pub notes_heard: u8,
    /// How many calls another thread may still end.
    pub cancels: u8,
}

/// The caller's request; those of a waiter are its number in tens, and the calls it has left.
pub const BESIDE: u8 = 99;

impl World {
    pub fn new(waiters: u8, calls: u8, cancels: u8) -> World {
        let lending = Lending { waits: 1, gap: Duration::MAX, look: Duration::ZERO };
        World {
            role: ReaderRole::new(lending),
            task: Task::Reads(Stream::default()),
            told: false,
            waiters: (0..waiters).map(|_| (Waiter::Registers, calls)).collect(),
            loops: Vec::new(),
            blocked: false,
            caller: Caller::Registers,
            in_flight: BTreeSet::new(),
            asked: BTreeSet::new(),
            pipe: VecDeque::new(),
            notes: 1,
            halves: 1,
            notes_heard: 0,
            cancels,
        }
    }

    pub fn with_loops(mut self, loops: u8, calls: u8) -> World {
        let one = Loop { at: Turn::Turns, left: calls, has_call: false, polls: false };
        self.loops = vec![one; loops.into()];
        self
    }

    /// All that can come next, but for a look of the task.
    pub fn nexts(&self, slip: Slip, now: Instant) -> Vec<World> {
        let mut nexts = Vec::new();
        let mut step = |take: &dyn Fn(&mut World) -> bool| {
            let mut next = self.clone();
            if take(&mut next) {
                nexts.push(next);
            }
        };
        step(&|world| world.task_steps(slip));
        step(&|world| world.caller_steps(slip));
        for number in 0..self.waiters.len() {
            step(&|world| world.waiter_steps(number, slip, now));
            step(&|world| world.waiter_loses_patience(number));
        }
        for number in 0..self.loops.len() {
            step(&|world| world.loop_steps(number, slip, now));
            step(&|world| world.loop_is_told(number));
            step(&|world| world.loop_stops(number));
        }
        for id in &self.asked {
            step(&|world| {
                world.pipe.push_back(Frame::Answer(*id));
                world.asked.remove(id)
            });
            step(&|world| {
                let can = *id >= OF_LOOPS && world.halves > 0;
                if can {
                    world.halves -= 1;
                    world.pipe.push_back(Frame::Half(*id));
                }
                can
            });
        }
        for id in self.in_flight.iter().filter(|_| self.cancels > 0) {
            step(&|world| {
                world.cancels -= 1;
                world.in_flight.remove(id)
            });
        }
        step(&|world| {
            let can = world.notes > 0;
            if can {
                world.notes -= 1;
                world.pipe.push_back(Frame::Note);
            }
            can
        });
        nexts
    }

    pub fn task_steps(&mut self, slip: Slip) -> bool {
        self.task = match std::mem::replace(&mut self.task, Task::Waits) {
            Task::Reads(mut stream) => {
                stream.0.append(&mut self.pipe);
                if stream.0.is_empty() {
                    self.task = Task::Reads(stream);
                    return false;
                }
                while let Some(frame) = stream.0.pop_front() {
                    match frame {
                        Frame::Answer(id) => drop(self.in_flight.remove(&id)),
                        Frame::Half(_) => {}
                        Frame::Note => self.notes_heard += 1,
                    }
                }
                Task::MayLend(stream)
            }
            Task::MayLend(stream) if self.role.may_lend() && self.in_flight.is_empty() => {
                Task::Lends(stream)
            }
            Task::MayLend(stream) => Task::Reads(stream),
            Task::Lends(stream) => {
                self.role.lend(stream);
                Task::HasLent
            }
            Task::HasLent => {
                let looks = slip != Slip::NoLookAfterLending && !self.in_flight.is_empty();
                let claimed = if looks { self.role.claim() } else { None };
                claimed.map_or(Task::Waits, Task::back)
            }
            Task::Waits => {
                let told = std::mem::take(&mut self.told);
                let taken = if told { self.role.take() } else { None };
                self.task = taken.map_or(Task::Waits, Task::back);
                return told;
            }
        };
        true
    }

    pub fn task_looks(&mut self) {
        if self.task == Task::Waits {
            self.task = self.role.look().map_or(Task::Waits, Task::back);
        }
    }

    fn caller_steps(&mut self, slip: Slip) -> bool {
        let early = slip == Slip::RecallBeforeRegistering;
        let (registers, recalls) = match self.caller {
            Caller::Registers => (!early, early),
            Caller::Recalls => (early, !early && slip != Slip::NoRecall),
            Caller::Sends => (false, false),
            Caller::Done => return false,
        };
        if registers {
            self.in_flight.insert(BESIDE);
        }
        if recalls {
            let tell = self.role.recall();
            self.told |= tell == Tell::Task && slip != Slip::NotTold;
        }
        self.caller = match self.caller {
            Caller::Registers => Caller::Recalls,
            Caller::Recalls => Caller::Sends,
            Caller::Sends | Caller::Done => {
                self.asked.insert(BESIDE);
                Caller::Done
            }
        };
        true
    }

    fn waiter_steps(&mut self, number: usize, slip: Slip, now: Instant) -> bool {
        let (waiter, left) = std::mem::replace(&mut self.waiters[number], (Waiter::Sleeps, 0));
        let id = u8::try_from(number).unwrap() * 10 + left;
        let has_begun = !matches!(waiter, Waiter::Registers);
        let (next, left) = match waiter {
            Waiter::Registers if left == 0 => {
                self.waiters[number] = (waiter, 0);
                return false;
            }
            Waiter::Registers => {
                self.in_flight.insert(id);
                (Waiter::Sends, left)
            }
            Waiter::Sends => {
                self.asked.insert(id);
                (Waiter::Borrows, left)
            }
            Waiter::Borrows => (
                self.role
                    .borrow(now, self.in_flight.len() <= 1)
                    .map_or(Waiter::Sleeps, Waiter::HasBorrowed),
                left,
            ),
            Waiter::HasBorrowed(stream) if self.in_flight.contains(&id) => {
                (Waiter::Reads(stream), left)
            }
            Waiter::HasBorrowed(stream) => (Waiter::Rests(stream), left),
            Waiter::Reads(mut stream) => {
                stream.0.append(&mut self.pipe);
                match stream.0.front() {
                    None => {
                        self.waiters[number] = (Waiter::Reads(stream), left);
                        return false;
                    }
                    Some(Frame::Answer(answer)) if *answer == id && self.in_flight.remove(&id) => {
                        stream.0.pop_front();
                        match stream.0.is_empty() {
                            true => (Waiter::Rests(stream), left),
                            false => (Waiter::GivesBack(stream), left),
                        }
                    }
                    Some(_) => (Waiter::GivesBack(stream), left),
                }
            }
            Waiter::Rests(stream) => {
                self.told |= self.role.rest(stream) == Tell::Task;
                (Waiter::HasRested, left)
            }
            Waiter::HasRested => {
                if slip != Slip::NoLookAfterResting && !self.in_flight.is_empty() {
                    self.told |= self.role.recall() == Tell::Task;
                }
                (Waiter::Sleeps, left)
            }
            Waiter::GivesBack(stream) => {
                self.role.give_back(stream);
                self.told = true;
                (Waiter::Sleeps, left)
            }
            Waiter::Sleeps if self.in_flight.contains(&id) => {
                self.waiters[number] = (waiter, left);
                return false;
            }
            Waiter::Sleeps => (Waiter::Registers, left - 1),
        };
        assert!(has_begun || left > 0);
        self.waiters[number] = (next, left);
        true
    }

    /// The server is silent for too long, or the call ended otherwise.
    fn waiter_loses_patience(&mut self, number: usize) -> bool {
        match std::mem::replace(&mut self.waiters[number].0, Waiter::Sleeps) {
            Waiter::Reads(stream) => {
                self.waiters[number].0 = Waiter::GivesBack(stream);
                true
            }
            other => {
                self.waiters[number].0 = other;
                false
            }
        }
    }

    pub fn is_answered(&self) -> bool {
        let is_done = |(waiter, left): &(Waiter, u8)| *waiter == Waiter::Registers && *left == 0;
        let has_done = |it: &Loop| !it.has_call && it.left == 0;
        let all_done = self.waiters.iter().all(is_done) && self.loops.iter().all(has_done);
        self.caller == Caller::Done && all_done && self.in_flight.is_empty()
    }
}

impl Task {
    /// With what a waiter has read and not taken.
    fn back(stream: Stream) -> Task {
        Task::Reads(stream)
    }

    pub fn has_stream(&self) -> bool {
        matches!(self, Task::Reads(_) | Task::MayLend(_) | Task::Lends(_))
    }
}
