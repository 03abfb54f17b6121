//! Every order in which a task, waiters, event loops, a caller that does not read and a server can
//! take their steps (invariants of `reader_role`). One step is what happens under one lock, as
//! `core/src/transport/stdio/reader_role.rs` takes them.

mod loops;
mod world;

use std::collections::HashSet;
use std::time::Instant;

use trunkline_pool::reader_role::{Lending, ReaderRole, Tell};

use loops::OF_LOOPS;
use world::{Slip, Waiter, World};

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
        let held = waiters.count() + world.loops.iter().filter(|it| it.has_stream()).count();
        assert!(held + usize::from(world.task.has_stream()) <= 1, "1: {world:?}");
        seen.borrowed += held;
        let nexts = world.nexts(slip, now);
        if nexts.is_empty() {
            let waits_for_look = world.blocked && world.in_flight.iter().any(|id| *id >= OF_LOOPS);
            seen.stuck += usize::from(!waits_for_look && !world.is_answered());
            let mut later = world;
            later.task_looks();
            later.task_looks();
            while later.task_steps(slip) {}
            seen.stuck += usize::from(waits_for_look && !later.in_flight.is_empty());
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

#[test]
fn in_every_order_the_calls_of_event_loops_are_answered() {
    for (loops, calls, waiters, cancels) in [(1, 3, 0, 0), (1, 2, 0, 1), (2, 1, 0, 0), (1, 1, 1, 0)]
    {
        let first = World::new(waiters, 1, cancels).with_loops(loops, calls);
        let seen = all_orders(first, Slip::None);
        assert!(seen.worlds > 1000 && seen.borrowed > 100, "{seen:?}");
        assert_eq!((seen.stuck, seen.unread), (0, 0), "{seen:?}");
    }
}

/// 4: a loop that does not come to what it may read leaves it to the task.
#[test]
fn in_every_order_the_call_of_a_blocked_loop_is_answered_at_the_second_look() {
    for (loops, calls) in [(1, 3), (2, 1)] {
        let mut first = World::new(0, 0, 0).with_loops(loops, calls);
        first.blocked = true;
        let seen = all_orders(first, Slip::None);
        assert!(seen.worlds > 1000, "{seen:?}");
        assert_eq!((seen.stuck, seen.unread), (0, 0), "{seen:?}");
    }
}

#[test]
fn every_slip_of_an_event_loop_is_seen() {
    for slip in [Slip::NoLookAfterLending, Slip::NoLookAfterResting, Slip::LookForTwo] {
        let seen = all_orders(World::new(0, 0, 1).with_loops(1, 2), slip);
        assert!(seen.stuck > 0, "{slip:?}: {seen:?}");
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

fn lent(lending: Lending, now: Instant) -> ReaderRole<&'static str> {
    let mut role = ReaderRole::new(lending);
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
    let mut role: ReaderRole<&str> = ReaderRole::new(lending);
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

/// A wait that finds the stream is none for which the task would have to lend it again.
#[test]
fn who_waits_on_a_loop_counts_as_a_thread_does() {
    let (now, lending) = (Instant::now(), Lending::default());
    let mut role = ReaderRole::new(lending);
    for _ in 0..lending.waits {
        assert!(!role.may_lend());
        assert_eq!(role.reserve(now), None);
    }
    assert!(role.may_lend());
    role.lend("stream");
    assert_eq!(role.reserve(now), Some(&mut "stream"));
    assert_eq!(role.borrow_ready(), Some("stream"));
    assert_eq!(role.reserve(now), None);
    assert_eq!(role.borrow_ready(), None);
    assert_eq!(role.look(), None, "it was borrowed");
    assert_eq!(role.rest("stream"), Tell::Nobody);
    assert_eq!(role.reserve(now), Some(&mut "stream"));
    assert_eq!(role.look(), Some("stream"), "and not since");
    assert_eq!(role.borrow_ready(), None);
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
    let waits_for = |role: &mut ReaderRole<&str>| {
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
    let mut role = ReaderRole::new(Lending::default());
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
