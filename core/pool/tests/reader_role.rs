//! Every order in which a task, waiters, a caller that does not read and a server can take their steps (invariants of
//! `reader_role`). One step is what happens under one lock, as `core/src/transport/stdio/output.rs` takes them.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::time::{Duration, Instant};

use trunkline_pool::reader_role::{Lending, Role, Tell};

/// What a server writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Frame {
    Answer(u8),
    /// Unasked.
    Note,
}

/// What was read of the pipe and not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Stream(VecDeque<Frame>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Task {
    Reads(Stream),
    /// It has read what there was.
    MayLend(Stream),
    Lends(Stream),
    HasLent,
    Waits,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Waiter {
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
enum Caller {
    Registers,
    Recalls,
    Sends,
    Done,
}

/// A step that is left out, or taken too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    None,
    NoLookAfterLending,
    NoLookAfterResting,
    NoRecall,
    RecallBeforeRegistering,
    NotTold,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    role: Role<Stream>,
    task: Task,
    /// The task was told, and has not looked yet.
    told: bool,
    waiters: Vec<(Waiter, u8)>,
    caller: Caller,
    in_flight: BTreeSet<u8>,
    /// What the server has not answered.
    asked: BTreeSet<u8>,
    pipe: VecDeque<Frame>,
    notes: u8,
    notes_heard: u8,
    /// How many calls another thread may still end.
    cancels: u8,
}

/// The caller's request; those of a waiter are its number in tens, and the calls it has left.
const BESIDE: u8 = 99;

impl World {
    fn new(waiters: u8, calls: u8, cancels: u8) -> World {
        let lending = Lending { waits: 1, gap: Duration::MAX, look: Duration::ZERO };
        World {
            role: Role::new(lending),
            task: Task::Reads(Stream::default()),
            told: false,
            waiters: (0..waiters).map(|_| (Waiter::Registers, calls)).collect(),
            caller: Caller::Registers,
            in_flight: BTreeSet::new(),
            asked: BTreeSet::new(),
            pipe: VecDeque::new(),
            notes: 1,
            notes_heard: 0,
            cancels,
        }
    }

    /// All that can come next, but for a look of the task.
    fn nexts(&self, slip: Slip, now: Instant) -> Vec<World> {
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
        for id in &self.asked {
            step(&|world| {
                world.pipe.push_back(Frame::Answer(*id));
                world.asked.remove(id)
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

    fn task_steps(&mut self, slip: Slip) -> bool {
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

    fn task_looks(&mut self) {
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

    fn is_answered(&self) -> bool {
        let is_done = |(waiter, left): &(Waiter, u8)| *waiter == Waiter::Registers && *left == 0;
        self.caller == Caller::Done && self.waiters.iter().all(is_done) && self.in_flight.is_empty()
    }
}

impl Task {
    /// With what a waiter has read and not taken.
    fn back(stream: Stream) -> Task {
        Task::Reads(stream)
    }

    fn has_stream(&self) -> bool {
        matches!(self, Task::Reads(_) | Task::MayLend(_) | Task::Lends(_))
    }
}

/// What was seen of all orders.
#[derive(Debug, Default)]
struct Seen {
    worlds: usize,
    /// A waiter had the stream.
    borrowed: usize,
    /// Orders that end with a call that nobody answers.
    stuck: usize,
    /// Orders that end with something unread, which two looks do not bring.
    unread: usize,
}

fn all_orders(first: World, slip: Slip) -> Seen {
    let now = Instant::now();
    let mut seen = Seen::default();
    let (mut known, mut open) = (HashSet::from([first.clone()]), vec![first]);
    while let Some(world) = open.pop() {
        seen.worlds += 1;
        let waiters = world.waiters.iter().filter(|(waiter, _)| {
            use Waiter::{GivesBack, HasBorrowed, Reads, Rests};
            matches!(waiter, HasBorrowed(_) | Reads(_) | Rests(_) | GivesBack(_))
        });
        let held = waiters.count();
        assert!(held + usize::from(world.task.has_stream()) <= 1, "1: {world:?}");
        seen.borrowed += held;
        let nexts = world.nexts(slip, now);
        if nexts.is_empty() {
            seen.stuck += usize::from(!world.is_answered());
            let mut later = world;
            later.task_looks();
            later.task_looks();
            while later.task_steps(slip) {}
            seen.unread += usize::from(later.notes_heard == 0);
        }
        for next in nexts {
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    seen
}

#[test]
fn in_every_order_every_call_is_answered_and_what_comes_unasked_is_read() {
    for (waiters, calls, cancels) in [(1, 4, 0), (2, 2, 0), (1, 3, 1), (2, 1, 1)] {
        let seen = all_orders(World::new(waiters, calls, cancels), Slip::None);
        assert!(seen.worlds > 1000 && seen.borrowed > 100, "{seen:?}");
        assert_eq!((seen.stuck, seen.unread), (0, 0), "{seen:?}");
    }
}

/// Each of the steps is needed: without it some order leaves a call unanswered.
#[test]
fn every_slip_is_seen() {
    for slip in [
        Slip::NoLookAfterLending,
        Slip::NoLookAfterResting,
        Slip::NoRecall,
        Slip::RecallBeforeRegistering,
        Slip::NotTold,
    ] {
        let seen = all_orders(World::new(1, 3, 0), slip);
        assert!(seen.stuck > 0, "{slip:?}: {seen:?}");
    }
}

fn lent(lending: Lending, now: Instant) -> Role<&'static str> {
    let mut role = Role::new(lending);
    for _ in 0..lending.waits {
        assert!(!role.may_lend());
        assert_eq!(role.borrow(now, true), None);
    }
    assert!(role.may_lend());
    role.lend("stream");
    role
}

#[test]
fn only_waits_that_follow_each_other_soon_and_alone_count() {
    let (now, lending) = (Instant::now(), Lending::default());
    let mut role: Role<&str> = Role::new(lending);
    for wait in 0..lending.waits * 4 {
        assert_eq!(role.borrow(now + lending.gap * 2 * wait, true), None);
    }
    assert!(!role.may_lend());
    for wait in 0..lending.waits * 4 {
        assert_eq!(role.borrow(now, wait % 2 == 0), None);
    }
    assert!(!role.may_lend());
    for _ in 0..lending.waits * 4 {
        assert_eq!(role.borrow(now, true), None);
        assert_eq!(role.recall(), Tell::Nobody);
    }
    assert!(!role.may_lend());
    lent(lending, now);
}

#[test]
fn a_stream_that_nobody_borrows_is_taken_back_at_the_second_look() {
    let now = Instant::now();
    let mut role = lent(Lending::default(), now);
    assert_eq!(role.borrow(now, true), Some("stream"));
    assert_eq!(role.look(), None);
    assert_eq!(role.rest("stream"), Tell::Nobody);
    assert_eq!(role.look(), Some("stream"));
}

#[test]
fn who_lends_in_vain_waits_longer_and_who_does_not_waits_no_longer() {
    let (now, lending) = (Instant::now(), Lending::default());
    let mut role = lent(lending, now);
    let waits_for = |role: &mut Role<&str>| {
        let mut waits = 0;
        while !role.may_lend() {
            assert_eq!(role.borrow(now, true), None);
            waits += 1;
        }
        waits
    };
    for times in [2, 4, 8, 16, 32, 64, 128, 128] {
        assert_eq!(role.claim(), Some("stream"));
        assert_eq!(waits_for(&mut role), lending.waits * times);
        role.lend("stream");
    }
    for _ in 0..lending.waits {
        assert_eq!(role.borrow(now, true), Some("stream"));
        assert_eq!(role.rest("stream"), Tell::Nobody);
    }
    assert_eq!(role.recall(), Tell::Task);
    assert_eq!(role.take(), Some("stream"));
    assert_eq!(waits_for(&mut role), lending.waits);
}

/// As when the server's process has ended: who reads in turns would keep it from the task for good.
#[test]
fn what_is_called_in_goes_to_no_other_waiter() {
    let now = Instant::now();
    let mut role = lent(Lending::default(), now);
    assert_eq!(role.borrow(now, true), Some("stream"));
    assert_eq!(role.call_in(), None);
    assert_eq!(role.rest("stream"), Tell::Task);
    assert_eq!(role.borrow(now, true), None);
    assert_eq!(role.take(), Some("stream"));
    // The next time that it is lent it is lent as ever.
    role.lend("stream");
    assert_eq!(role.borrow(now, true), Some("stream"));
    assert_eq!(role.rest("stream"), Tell::Nobody);
    assert_eq!(role.call_in(), Some("stream"));
}

#[test]
fn it_is_in_use_while_waits_count_and_while_it_is_lent() {
    let now = Instant::now();
    let mut role = Role::new(Lending::default());
    assert!(!role.is_in_use());
    assert_eq!(role.borrow(now, true), None);
    assert!(role.is_in_use());
    assert_eq!(role.recall(), Tell::Nobody);
    assert!(!role.is_in_use());
    role.lend("stream");
    assert!(role.is_in_use());
    assert_eq!(role.recall(), Tell::Task);
    assert!(role.is_in_use());
    assert_eq!(role.take(), Some("stream"));
    assert!(!role.is_in_use());
}
