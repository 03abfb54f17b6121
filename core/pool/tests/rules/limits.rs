//! Limits: processes and entries of one name.

use trunkline_pool::options::PoolOptions;
use trunkline_pool::state::*;

use crate::bench::*;

fn processes(limit: u32) -> PoolOptions {
    let mut options = options();
    options.limits.processes = limit;
    options
}

/// SPEC 9.6
#[test]
fn a_process_beyond_the_limit_is_refused() {
    let mut bench = held_with(processes(1));
    assert_eq!(bench.step(acquire(1, 0, 1)), [refuse(1, limit("processes", 1))]);
    assert_eq!(bench.pool.processes(), 1);
    assert_eq!(bench.pool.last_error(ServerId(1)), None);
}

/// SPEC 9.6: a remote server is no process.
#[test]
fn remote_servers_do_not_count_as_processes() {
    let mut bench = held_with(processes(1));
    let effects = bench.step(acquire_of(1, 0, 1, 1, Family::Remote));
    assert!(effects.contains(&connect(1, 1, 1)), "{effects:?}");
    assert_eq!(bench.pool.processes(), 1);
}

/// SPEC 9.6, I-03: the replacement waits for the slot of what is dying.
#[test]
fn an_acquire_waits_for_the_slot_of_a_closing_process() {
    let mut bench = held_with(processes(1));
    bench.step(release(0));
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(acquire(1, 0, 0)),
        [publish(1, 1, Spawning, 0), status(1, 1, None, Spawning, "acquire")]
    );
    // One slot comes back, and one waits for it: there is none for a third.
    assert_eq!(bench.step(acquire(2, 0, 2)), [refuse(2, limit("processes", 1))]);
    assert_eq!(
        bench.step(closed(0, 1)),
        [status(0, 1, Draining, Closed, "drain_delay"), connect(1, 1, 0)]
    );
}

/// SPEC 9.6
#[test]
fn who_waits_for_a_slot_is_served_in_order() {
    let mut bench = held_with(processes(2));
    bench.step(acquire(1, 0, 1));
    bench.step(connected(1, 1, 1));
    bench.step(close(0));
    bench.wait_until(1_000);
    bench.step(open(1));
    bench.step(acquire(2, 1, 7));
    bench.step(acquire(3, 1, 6));
    let effects = bench.step(closed(1, 1));
    assert!(effects.contains(&connect(2, 1, 7)), "{effects:?}");
    let effects = bench.step(closed(0, 1));
    assert!(effects.contains(&connect(3, 1, 6)), "{effects:?}");
}

/// SPEC 9.6, 3.4: nothing was started, so nothing is left.
#[test]
fn a_cancelled_wait_for_a_slot_leaves_nothing() {
    let mut bench = held_with(processes(1));
    bench.step(release(0));
    bench.wait_until(1_000);
    bench.step(acquire(1, 0, 0));
    assert_eq!(
        bench.step(cancel(1)),
        [
            refuse(1, cancelled()),
            publish(1, 1, Closed, 0),
            status(1, 1, Spawning, Closed, "unwanted"),
        ]
    );
    bench.step(closed(0, 1));
    assert_eq!(bench.pool.entries().count(), 0);
    assert_eq!(bench.pool.processes(), 0);
}

/// SPEC 3.3, 9.6: the slot is given back once.
#[test]
fn a_failed_connect_gives_its_slot_back() {
    let mut bench = Bench::with(processes(1));
    bench.step(open(0));
    for entry in 0..3 {
        bench.step(acquire(u64::from(entry), 0, entry));
        assert_eq!(bench.pool.processes(), 1);
        bench.step(connect_failed(entry, 1, exited()));
        assert_eq!(bench.pool.processes(), 0);
    }
}

/// SPEC 9.6: an entry that is to come back keeps its place.
#[test]
fn a_reconnecting_entry_keeps_its_slot() {
    let mut bench = held_with(processes(1));
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(bench.step(acquire(1, 0, 1)), [refuse(1, limit("processes", 1))]);
}

/// SPEC 9.6, 3.2: a failed entry has no slot, and its fresh attempt needs one.
#[test]
fn a_fresh_attempt_needs_a_slot() {
    let mut options = processes(1);
    options.reconnect.local_delays = vec![];
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    // Until it is gone, the lost process still takes its slot.
    assert_eq!(bench.step(acquire(1, 0, 1)), [refuse(1, limit("processes", 1))]);
    bench.step(closed(0, 1));
    bench.step(acquire(2, 0, 1));
    bench.step(connected(1, 1, 1));
    assert_eq!(bench.step(acquire(3, 0, 0)), [refuse(3, limit("processes", 1))]);
    assert_eq!(
        bench.step(restart(4, 0, None)),
        [restarted(4, &[(0, Err(RestartRefusal::Failed(limit("processes", 1))))])]
    );
    // When the other closes, the fresh attempt waits for its slot.
    bench.step(release(1));
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(acquire(5, 0, 0)),
        [
            publish_error(0, 2, Reconnecting, 0, exited()),
            status(0, 2, Failed, Reconnecting, "acquire"),
        ]
    );
    // A restart meanwhile takes the place of the wait in the queue.
    assert_eq!(bench.step(restart(6, 0, None)), [publish_error(0, 3, Reconnecting, 0, exited())]);
    assert_eq!(bench.row(0).situation, Situation::Queued);
    let effects = bench.step(closed(1, 1));
    assert_eq!(effects, [status(1, 1, Draining, Closed, "drain_delay"), connect(0, 3, 0)]);
}

/// SPEC 9.6, 3.2: what is lost and not yet gone has a slot still, and the fresh attempt takes it.
#[test]
fn a_fresh_attempt_takes_over_the_slot_of_what_is_dying() {
    let mut options = processes(1);
    options.reconnect.local_delays = vec![];
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    assert_eq!(
        bench.step(acquire(1, 0, 0)),
        [
            publish_error(0, 2, Reconnecting, 0, exited()),
            status(0, 2, Failed, Reconnecting, "acquire"),
        ]
    );
    assert_eq!(bench.step(closed(0, 1)), [connect(0, 2, 0)]);
}

/// SPEC 9.6, 9.2: a restart takes the slot of what it replaces.
#[test]
fn a_restart_keeps_within_the_limit() {
    let mut bench = held_with(processes(1));
    bench.step(restart(1, 0, None));
    assert_eq!(bench.pool.processes(), 1);
    assert_eq!(bench.step(closed(0, 1)), [connect(0, 2, 0)]);
}

/// SPEC 9.6
#[test]
fn entries_of_one_name_are_limited() {
    let mut options = options();
    options.limits.entries_per_name = 2;
    let mut bench = held_with(options);
    bench.step(acquire_of(1, 0, 5, 0, Family::Local));
    assert_eq!(
        bench.step(acquire_of(2, 0, 6, 0, Family::Local)),
        [refuse(2, limit("entries_per_name", 2))]
    );
    let effects = bench.step(acquire_of(3, 0, 7, 1, Family::Local));
    assert!(effects.contains(&connect(2, 1, 7)), "{effects:?}");
    // What is only closing does not count.
    bench.step(release(0));
    bench.wait_until(1_000);
    let effects = bench.step(acquire_of(4, 0, 6, 0, Family::Local));
    assert!(effects.contains(&connect(3, 1, 6)), "{effects:?}");
}

/// SPEC 9.3
#[test]
fn an_index_is_never_used_again() {
    let mut bench = Bench::new();
    bench.step(open(0));
    for entry in 0..5 {
        bench.step(acquire(u64::from(entry), 0, 0));
        assert_eq!(bench.row(entry).index, entry);
        bench.step(connect_failed(entry, 1, exited()));
    }
}

/// SPEC 9.6, 13.2: what a session wants waits for a process that is still in use, and begins when
/// that is gone; meanwhile the limit is what is wrong with it.
#[test]
fn a_wish_waits_for_a_process() {
    let mut bench = held_with(processes(1));
    let full = limit("processes", 1);
    let defer = Effect::Defer { ticket: Ticket(1), error: full.clone() };
    assert_eq!(bench.step(want([acquire(1, 0, 1)])), [defer]);
    let refusals: Vec<_> = bench.pool.refusals().map(|r| (r.server, r.reason)).collect();
    assert_eq!(refusals, [(ServerId(1), "limit")]);
    assert_eq!(bench.pool.last_error(ServerId(1)), Some(full));
    assert!(bench.pool.is_beyond_budget(ServerId(1)));
    bench.step(release(0));
    let effects = bench.wait_until(30_000);
    assert!(!effects.contains(&connect(1, 1, 1)), "{effects:?}");
    let effects = bench.step(closed(0, 1));
    assert!(effects.contains(&connect(1, 1, 1)), "{effects:?}");
    assert_eq!(bench.pool.last_error(ServerId(1)), None);
    let effects = bench.step(connected(1, 1, 1));
    assert!(effects.contains(&grant(1, 1, 1)), "{effects:?}");
}

/// SPEC 9.6: as does one for which its name has too many entries. What needs no process is held up
/// by nobody who waits for one.
#[test]
fn a_wish_waits_for_an_entry_of_its_name() {
    let mut options = processes(1);
    options.limits.entries_per_name = 1;
    let mut bench = held_with(options);
    bench.step(want([acquire_of(1, 0, 7, 0, Family::Local), acquire(2, 0, 8)]));
    let effects = bench.step(want([acquire_of(3, 0, 9, 9, Family::Remote)]));
    assert!(effects.contains(&connect(1, 1, 9)), "{effects:?}");
    bench.step(cancel(2));
    bench.step(release(0));
    bench.wait_until(30_000);
    let effects = bench.step(closed(0, 1));
    assert!(effects.contains(&connect(2, 1, 7)), "{effects:?}");
}

/// SPEC 9.5, 9.6, 13.1: the end of what is replaced makes room for all that it can be for, in the
/// same step.
#[test]
fn wishes_begin_by_the_room_of_what_one_of_them_replaces() {
    let mut options = processes(1);
    options.limits.entries_per_name = 2;
    options.drain_delay = ms(30_000);
    let mut bench = held_with(options);
    bench.step(acquire_of(1, 0, 8, 0, Family::Remote));
    bench.step(connected(1, 1, 1));
    bench.step(want([acquire(2, 0, 1)]));
    bench.step(want([acquire_of(3, 0, 9, 0, Family::Remote)]));
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    let begun = [2, 3].map(|row| bench.row(row).situation);
    assert_eq!(begun, [Situation::Queued, Situation::Replacing]);
}
