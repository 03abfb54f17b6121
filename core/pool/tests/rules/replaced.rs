//! What takes the place of an old configuration waits for the end of what nobody wants any more
//! (SPEC 13.1: break before make).

use trunkline_pool::config::Share;
use trunkline_pool::options::PoolOptions;
use trunkline_pool::state::*;

use crate::bench::*;

/// Server 0 by another configuration.
fn newer(ticket: u64, session: u64, key: u32) -> PoolInput {
    acquire_of(ticket, session, key, 0, Family::Local)
}

fn connects(effects: &[Effect]) -> Vec<ConnectionId> {
    let connect = |effect: &Effect| match effect {
        Effect::Connect { connection, .. } => Some(*connection),
        _ => None,
    };
    effects.iter().filter_map(connect).collect()
}

fn closes(effects: &[Effect]) -> Vec<(ConnectionId, CloseMode)> {
    let close = |effect: &Effect| match effect {
        Effect::Close { connection, how } => Some((*connection, *how)),
        _ => None,
    };
    effects.iter().filter_map(close).collect()
}

fn alone(options: PoolOptions) -> Bench {
    let mut bench = Bench::with(options);
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench
}

/// SPEC 13.1: one that still connects, at two changes in a row.
#[test]
fn a_replacement_waits_for_the_end_of_an_attempt() {
    let mut bench = alone(options());
    bench.step(reconfigure(&[0], &[]));
    bench.step(cancel(0));
    let effects = bench.step(newer(1, 0, 5));
    assert_eq!(connects(&effects), []);
    assert_eq!(closes(&effects), [(id(0, 1), CloseMode::Now)]);
    assert_eq!((bench.row(1).state, bench.row(1).situation), (Spawning, Situation::Replacing));
    bench.step(reconfigure(&[1], &[]));
    assert_eq!(connects(&bench.step(cancel(1))), []);
    assert_eq!(connects(&bench.step(newer(2, 0, 6))), []);
    assert_eq!(connects(&bench.step(closed(0, 1))), [id(2, 1)]);
    assert_eq!(bench.step(connected(2, 1, 1))[1], grant(2, 0, 2));
}

/// SPEC 13.1: the calls of a connected one have five seconds.
#[test]
fn a_replacement_waits_for_a_connection_and_its_calls() {
    let mut bench = held();
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    let effects = bench.step(newer(1, 0, 5));
    assert_eq!(closes(&effects), [(id(0, 1), CloseMode::Graceful { until: at(5_000) })]);
    assert_eq!(connects(&effects), []);
    assert_eq!(connects(&bench.step(closed(0, 1))), [id(1, 1)]);
}

/// SPEC 13.1: who keeps the old one keeps it, and the new one comes beside it.
#[test]
fn a_replacement_comes_beside_what_another_session_holds() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(acquire(1, 1, 0));
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    let effects = bench.step(newer(2, 0, 5));
    assert_eq!((connects(&effects), closes(&effects)), (vec![id(1, 1)], vec![]));
    assert_eq!(bench.row(0).refs, 1);
}

/// SPEC 13.1: what was lost and waits for its next attempt, or failed, with its process still
/// there.
#[test]
fn a_replacement_waits_for_the_process_of_what_was_lost() {
    for delays in [vec![ms(1_000)], vec![]] {
        let mut options = options();
        options.reconnect.local_delays = delays;
        let mut bench = held_with(options);
        bench.step(disconnected(0, 1));
        bench.step(reconfigure(&[0], &[]));
        bench.step(release(0));
        assert_eq!(connects(&bench.step(newer(1, 0, 5))), []);
        assert_eq!(connects(&bench.step(closed(0, 1))), [id(1, 1)]);
    }
}

/// SPEC 13.1, 15.3: nothing of one that lacks credentials is left to wait for, but its process.
#[test]
fn a_replacement_takes_the_place_of_what_lacks_credentials() {
    let mut bench = held();
    bench.step(disconnected_by(0, 1, unauthorized()));
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    assert_eq!(connects(&bench.step(newer(1, 0, 5))), []);
    assert_eq!(connects(&bench.step(closed(0, 1))), [id(1, 1)]);
    assert!(bench.pool.entry(EntryId(0)).is_none());
}

/// SPEC 13.1, 9.6: with one process slot, what waits for it leaves the queue, and what has it gives
/// it.
#[test]
fn a_replacement_gets_the_process_slot_of_what_it_replaces() {
    let mut options = options();
    options.limits.processes = 1;
    let mut bench = held_with(options);
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    assert_eq!(connects(&bench.step(newer(1, 0, 5))), []);
    assert_eq!(bench.row(1).situation, Situation::Queued);
    bench.step(reconfigure(&[1], &[]));
    bench.step(cancel(1));
    assert_eq!(connects(&bench.step(newer(2, 0, 6))), []);
    assert_eq!(connects(&bench.step(closed(0, 1))), [id(2, 1)]);
}

/// SPEC 13.1: what ended by a gate, or came back as it was, is waited for like any other.
#[test]
fn a_replacement_waits_for_what_was_over_before_the_change() {
    let mut bench = held();
    let shut = Gate::Shut(GateReason::Rejected);
    bench.step(PoolInput::SetGates { names: vec![], keys: vec![(KeyId(0), shut)] });
    bench.step(reconfigure(&[0], &[]));
    assert_eq!(connects(&bench.step(newer(1, 0, 5))), []);
    bench.step(reconfigure(&[1], &[0]));
    bench.step(cancel(1));
    bench.step(PoolInput::SetGates { names: vec![], keys: vec![(KeyId(0), Gate::Open)] });
    assert_eq!(connects(&bench.step(acquire(2, 0, 0))), []);
    assert_eq!(connects(&bench.step(closed(0, 1))), [id(2, 1)]);
}

/// SPEC 13.1: what was let go while the replacement waited for a process slot ends first as well.
#[test]
fn a_replacement_looks_again_when_it_begins() {
    let mut options = options();
    options.limits.processes = 2;
    options.drain_delay = ms(0);
    let mut bench = held_with(options);
    bench.step(acquire(1, 0, 9));
    bench.step(connected(1, 1, 1));
    bench.step(release(1));
    bench.step(newer(2, 0, 5));
    assert_eq!(bench.row(2).situation, Situation::Queued);
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    assert_eq!(connects(&bench.step(closed(1, 1))), []);
    assert_eq!(connects(&bench.step(closed(0, 1))), [id(2, 1)]);
}

/// SPEC 3.7: what is removed and not replaced drains as ever.
#[test]
fn what_nothing_replaces_drains() {
    let mut bench = held();
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    assert_eq!((bench.row(0).state, bench.deadline()), (Draining, Some(1_000)));
    assert_eq!(connects(&bench.step(acquire(1, 0, 9))), [id(1, 1)]);
}

/// SPEC 13.1, 2.2: the calls of a session's own connection, which ends with its last release, have
/// no more than that either, once something is to take its place.
#[test]
fn a_replacement_cuts_the_patience_with_a_sessions_own_connection_short() {
    let mut long = options();
    long.drain_delay = ms(30_000);
    let mut bench = Bench::with(long);
    let own = |ticket, key| match newer(ticket, 0, key) {
        PoolInput::Acquire(ask) => PoolInput::Acquire(Ask { share: Share::Session, ..ask }),
        other => other,
    };
    bench.step(open(0));
    bench.step(own(0, 0));
    bench.step(connected(0, 1, 1));
    bench.step(reconfigure(&[0], &[]));
    let patient = CloseMode::Graceful { until: at(30_000) };
    assert_eq!(closes(&bench.step(release(0))), [(id(0, 1), patient)]);
    let effects = bench.step(own(1, 5));
    assert_eq!(closes(&effects), [(id(0, 1), CloseMode::Graceful { until: at(5_000) })]);
    assert_eq!(connects(&effects), []);
    // Once.
    assert_eq!(closes(&bench.step(cancel(1))), []);
    assert_eq!(closes(&bench.step(own(2, 6))), []);
    assert_eq!(connects(&bench.step(closed(0, 1))), [id(2, 1)]);
}

/// Two connections of their own, of one configuration that is then another; what nobody holds has
/// long to drain. Rows 0 and 1.
fn two_that_are_replaced(processes: Option<u32>) -> Bench {
    let mut long = options();
    long.drain_delay = ms(30_000);
    if let Some(processes) = processes {
        long.limits.processes = processes;
    }
    let mut bench = Bench::with(long);
    for session in 0..2 {
        bench.step(open(session));
        bench.step(of_its_own(session, session, session as u32));
        bench.step(connected(session as u32, 1, 1));
    }
    bench.step(reconfigure(&[0, 1], &[]));
    bench.step(release(0));
    bench
}

/// An acquire of a connection of the session's own.
fn of_its_own(ticket: u64, session: u64, key: u32) -> PoolInput {
    match newer(ticket, session, key) {
        PoolInput::Acquire(ask) => PoolInput::Acquire(Ask { share: Share::Session, ..ask }),
        other => other,
    }
}

/// SPEC 13.1, 2.2: what is let go while the replacement waits for another already has five seconds
/// from then on.
#[test]
fn what_is_let_go_while_a_replacement_waits_has_no_more_time_than_that() {
    let mut bench = two_that_are_replaced(None);
    assert_eq!(connects(&bench.step(of_its_own(2, 0, 5))), []);
    bench.now = 2_000;
    let last = closes(&bench.step(release(1))).pop();
    assert_eq!(last, Some((id(1, 1), CloseMode::Graceful { until: at(7_000) })));
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "released")]);
    assert_eq!(connects(&bench.step(closed(1, 1))), [id(2, 1)]);
}

/// SPEC 13.1, 2.2, 9.6: also while it waits for a process slot.
#[test]
fn what_is_let_go_while_a_replacement_is_queued_has_no_more_time_than_that() {
    let mut bench = two_that_are_replaced(Some(2));
    let hurried = closes(&bench.step(of_its_own(2, 0, 5)));
    assert_eq!(bench.row(2).situation, Situation::Queued);
    assert_eq!(hurried, [(id(0, 1), CloseMode::Graceful { until: at(5_000) })]);
    bench.now = 2_000;
    let last = closes(&bench.step(release(1))).pop();
    assert_eq!(last, Some((id(1, 1), CloseMode::Graceful { until: at(7_000) })));
    assert_eq!(connects(&bench.step(closed(0, 1))), []);
    assert_eq!(connects(&bench.step(closed(1, 1))), [id(2, 1)]);
}

/// SPEC 13.1, 9.6: a wish that waits for room ends what it is to replace as soon as that is let go,
/// like an acquire.
#[test]
fn a_wish_that_waits_for_room_ends_what_it_replaces() {
    for limited in ["processes", "entries_per_name"] {
        let mut long = options();
        long.drain_delay = ms(30_000);
        match limited {
            "processes" => long.limits.processes = 1,
            _ => long.limits.entries_per_name = 1,
        }
        let mut bench = held_with(long);
        bench.step(open(1));
        bench.step(reconfigure(&[0], &[]));
        let defer = |effect: &Effect| matches!(effect, Effect::Defer { .. });
        assert!(bench.step(want([newer(1, 1, 5)])).iter().any(defer), "{limited}");
        let hurried = vec![(id(0, 1), CloseMode::Graceful { until: at(5_000) })];
        assert_eq!(closes(&bench.step(release(0))), hurried, "{limited}");
        assert_eq!(connects(&bench.step(closed(0, 1))), [id(1, 1)], "{limited}");
    }
}

/// SPEC 13.1, 9.6: also what is ending already, and while the room goes to somebody who came first;
/// whether the wish was there before the end or came after it.
#[test]
fn a_wish_that_waits_for_room_hurries_what_is_ending() {
    for is_first in [true, false] {
        let mut limited = options();
        limited.drain_delay = ms(30_000);
        limited.limits.processes = 1;
        let mut bench = Bench::with(limited);
        bench.step(open(0));
        bench.step(open(1));
        bench.step(of_its_own(0, 0, 1));
        bench.step(connected(0, 1, 1));
        bench.step(reconfigure(&[0], &[]));
        let other = acquire_of(1, 1, 9, 9, Family::Local);
        let mut inputs = vec![want([other]), want([newer(2, 1, 5)])];
        inputs.insert(if is_first { 2 } else { 1 }, release(0));
        let effects: Vec<Effect> = inputs.into_iter().flat_map(|it| bench.step(it)).collect();
        let hurried = (id(0, 1), CloseMode::Graceful { until: at(5_000) });
        assert_eq!(closes(&effects).pop(), Some(hurried), "the wish is first: {is_first}");
        assert_eq!(connects(&bench.step(closed(0, 1))), [id(1, 1)]);
    }
}
