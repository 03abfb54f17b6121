//! Sessions: what they hold, how they end, how they are resumed.

use trunkline_pool::state::*;

use crate::bench::*;

/// SPEC 3.5, 3.8
#[test]
fn closing_a_session_answers_its_acquires_and_releases_its_holds() {
    let mut bench = held();
    bench.step(acquire(1, 0, 1));
    assert_eq!(
        bench.step(close(0)),
        [
            refuse(1, closed_session()),
            forgo(1, 1),
            publish(0, 1, Draining, 1),
            status(0, 1, Active, Draining, "released"),
        ]
    );
    assert_eq!(bench.step(release(0)), []);
    // What it waited for comes up into its drain.
    assert_eq!(
        bench.step(connected(1, 1, 1)),
        [publish(1, 1, Draining, 1), status(1, 1, Spawning, Draining, "connected")]
    );
}

/// SPEC 3.5, 3.13
#[test]
fn a_closed_session_cannot_acquire() {
    let mut bench = held();
    bench.step(close(0));
    assert_eq!(bench.step(acquire(1, 0, 0)), [refuse(1, closed_session())]);
    assert_eq!(bench.step(acquire(2, 9, 0)), [refuse(2, closed_session())]);
}

/// SPEC 3.13
#[test]
fn a_session_holds_an_entry_until_its_last_lease_goes() {
    let mut bench = held();
    bench.step(acquire(1, 0, 0));
    bench.step(acquire(2, 0, 0));
    assert_eq!(bench.row(0).refs, 1);
    assert_eq!(bench.step(release(1)), []);
    assert_eq!(bench.step(release(0)), []);
    assert_eq!(
        bench.step(release(2)),
        [publish(0, 1, Draining, 1), status(0, 1, Active, Draining, "released")]
    );
}

/// SPEC 3.6: another session's hold keeps the entry.
#[test]
fn an_entry_stays_while_another_session_holds_it() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(acquire(1, 1, 0));
    assert_eq!(bench.step(close(0)), []);
    assert_eq!(bench.row(0).refs, 1);
}

/// SPEC 3.13
#[test]
fn a_closed_session_keeps_its_holds_for_a_while() {
    let mut bench = held();
    bench.step(acquire(1, 0, 1));
    assert_eq!(bench.step(close_keeping(0, 500)), [refuse(1, closed_session()), forgo(1, 1)]);
    assert_eq!(bench.step(acquire(2, 0, 0)), [refuse(2, closed_session())]);
    assert_eq!(bench.deadline(), Some(500));
    assert_eq!(bench.row(0).refs, 1);
    assert_eq!(
        bench.wait_until(500),
        [publish(0, 1, Draining, 1), status(0, 1, Active, Draining, "released")]
    );
}

/// SPEC 3.13
#[test]
fn a_resumed_session_keeps_its_leases() {
    let mut bench = held();
    bench.step(close_keeping(0, 500));
    bench.now = 400;
    assert_eq!(bench.step(resume(0)), []);
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.wait_until(60_000), []);
    assert_eq!(bench.step(acquire(1, 0, 0)), [grant(1, 1, 0)]);
    assert_eq!(bench.step(release(1)), []);
    assert_eq!(
        bench.step(release(0)),
        [publish(0, 1, Draining, 1), status(0, 1, Active, Draining, "released")]
    );
}

/// SPEC 3.13: one that comes too late is a session like a new one.
#[test]
fn a_session_resumed_too_late_holds_nothing() {
    let mut bench = held();
    bench.step(close_keeping(0, 500));
    bench.wait_until(500);
    assert_eq!(bench.step(resume(0)), []);
    assert_eq!(
        bench.step(acquire(1, 0, 0)),
        [publish(0, 1, Active, 1), grant(1, 1, 0), status(0, 1, Draining, Active, "held")]
    );
}

/// SPEC 3.13: of two closes the last says how long.
#[test]
fn closing_again_changes_how_long_holds_are_kept() {
    let mut bench = held();
    bench.step(close_keeping(0, 500));
    bench.now = 100;
    bench.step(close_keeping(0, 5_000));
    assert_eq!(bench.deadline(), Some(5_100));
    assert_eq!(
        bench.step(close(0)),
        [publish(0, 1, Draining, 1), status(0, 1, Active, Draining, "released")]
    );
}

/// SPEC 3.13: opening what is open changes nothing.
#[test]
fn opening_a_session_twice_keeps_what_it_holds() {
    let mut bench = held();
    let before = bench.pool.clone();
    assert_eq!(bench.step(open(0)), []);
    assert_eq!(bench.pool, before);
}

/// SPEC 8.5: none after a close, though the holds are kept.
#[test]
fn a_closed_session_hears_nothing_of_what_it_keeps() {
    let mut bench = held();
    bench.step(close_keeping(0, 60_000));
    assert_eq!(
        bench.step(disconnected(0, 1)),
        [
            publish_error(0, 1, Reconnecting, 1, exited()),
            status(0, 1, Active, Reconnecting, "lost"),
        ]
    );
}

/// SPEC 3.8: two sessions that wait for the same entry are told apart.
#[test]
fn closing_one_of_two_waiting_sessions_leaves_the_other_waiting() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(open(1));
    bench.step(acquire(0, 0, 0));
    bench.step(acquire(1, 1, 0));
    assert_eq!(bench.step(close(0)), [refuse(0, closed_session())]);
    assert_eq!(
        bench.step(connected(0, 1, 1)),
        [publish(0, 1, Active, 1), grant(1, 0, 0), status(0, 1, Spawning, Active, "connected"),]
    );
    assert_eq!(bench.row(0).state, EntryState::Active);
}
