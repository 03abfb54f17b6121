//! The end of a pool.

use trunkline_pool::state::*;
use trunkline_pool::{Error, ErrorCode};

use crate::bench::*;

fn left_behind() -> Error {
    Error::new(ErrorCode::Timeout, "the server was still ending when the drain's time was over")
        .with_detail("which", "total")
        .with_hint("give the drain a longer `timeout_ms`")
}

/// SPEC 9.7, I-08
#[test]
fn a_drain_closes_everything_and_answers_when_it_is_gone() {
    let mut bench = held();
    let how = CloseMode::Graceful { until: at(10_000) };
    assert_eq!(
        bench.step(drain(9, DrainMode::Finish, 10_000)),
        [
            publish_error(0, 1, Closed, 0, closing()),
            status(0, 1, Active, Draining, "drain_all"),
            lost(0, 0, 1, LossReason::Shutdown),
            end(0, 1, how),
        ]
    );
    assert!(bench.pool.is_closing());
    assert_eq!(
        bench.step(closed(0, 1)),
        [status(0, 1, Draining, Closed, "drain_all"), drained(9, 1, 0, &[])]
    );
    assert_eq!(bench.deadline(), None);
}

/// SPEC 9.7, I-08
#[test]
fn a_forced_drain_interrupts_at_once_and_counts_who_was_killed() {
    let mut bench = held();
    bench.step(acquire(1, 0, 1));
    bench.step(connected(1, 1, 1));
    let effects = bench.step(drain(9, DrainMode::Force, 10_000));
    assert!(effects.contains(&end(0, 1, CloseMode::Now)), "{effects:?}");
    assert!(effects.contains(&end(1, 1, CloseMode::Now)), "{effects:?}");
    bench.step(killed(0, 1));
    assert_eq!(
        bench.step(closed(1, 1)),
        [status(1, 1, Draining, Closed, "drain_all"), drained(9, 1, 1, &[])]
    );
}

/// SPEC 9.7
#[test]
fn what_is_left_at_the_deadline_is_killed_and_then_reported() {
    let mut bench = held();
    bench.step(drain(9, DrainMode::Finish, 10_000));
    assert_eq!(bench.wait_until(9_999), []);
    assert_eq!(bench.wait_until(10_000), [end(0, 1, CloseMode::Kill)]);
    assert_eq!(bench.deadline(), Some(10_200));
    assert_eq!(bench.wait_until(10_200), [drained(9, 0, 0, &[(0, left_behind())])]);
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.step(killed(0, 1)), [status(0, 1, Draining, Closed, "drain_all")]);
    // Who asks later hears the whole.
    assert_eq!(bench.step(drain(10, DrainMode::Finish, 20_000)), [drained(10, 0, 1, &[])]);
}

/// SPEC 9.7: what is gone within the grace of the kill is not reported.
#[test]
fn a_kill_that_works_is_a_forced_end() {
    let mut bench = held();
    bench.step(drain(9, DrainMode::Finish, 10_000));
    bench.wait_until(10_000);
    assert_eq!(
        bench.step(killed(0, 1)),
        [status(0, 1, Draining, Closed, "drain_all"), drained(9, 0, 1, &[])]
    );
}

/// SPEC 3.10, 9.7
#[test]
fn a_draining_pool_refuses_acquires_and_restarts() {
    let mut bench = held();
    bench.step(drain(9, DrainMode::Finish, 10_000));
    assert_eq!(bench.step(acquire(1, 0, 0)), [refuse(1, closing())]);
    assert_eq!(bench.step(restart(2, 0, None)), [refuse(2, closing())]);
    bench.step(closed(0, 1));
    assert_eq!(bench.step(acquire(3, 0, 0)), [refuse(3, closing())]);
    assert_eq!(bench.step(restart(4, 0, None)), [refuse(4, closing())]);
}

/// SPEC 9.7
#[test]
fn every_acquire_under_way_is_answered() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    assert_eq!(
        bench.step(drain(9, DrainMode::Finish, 10_000)),
        [
            publish_error(0, 1, Closed, 0, closing()),
            refuse(0, closing()),
            end(0, 1, CloseMode::Now),
        ]
    );
    // SPEC 3.4: the cancelled attempt may come up, fail or end; it is gone when it says so.
    assert_eq!(bench.step(connected(0, 1, 1)), []);
    assert_eq!(
        bench.step(connect_failed(0, 1, exited())),
        [status(0, 1, Spawning, Closed, "drain_all"), drained(9, 1, 0, &[])]
    );
    assert_eq!(bench.step(closed(0, 1)), []);
}

/// SPEC 9.7, 9.1
#[test]
fn every_restart_under_way_is_answered() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    assert_eq!(
        bench.step(drain(9, DrainMode::Finish, 10_000)),
        [
            publish_error(0, 2, Closed, 0, closing()),
            restarted(1, &[(0, Err(RestartRefusal::Closing))]),
        ]
    );
    assert_eq!(
        bench.step(closed(0, 1)),
        [status(0, 2, Reconnecting, Closed, "drain_all"), drained(9, 1, 0, &[])]
    );
}

/// SPEC 9.7: nothing of it is alive, so nothing is counted.
#[test]
fn an_entry_that_is_away_ends_at_once() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(drain(9, DrainMode::Finish, 10_000)),
        [
            publish_error(0, 1, Closed, 0, closing()),
            status(0, 1, Reconnecting, Closed, "drain_all"),
            drained(9, 0, 0, &[]),
        ]
    );
}

/// SPEC 9.7
#[test]
fn an_empty_pool_is_drained_at_once() {
    let mut bench = Bench::new();
    assert_eq!(bench.step(drain(9, DrainMode::Force, 0)), [drained(9, 0, 0, &[])]);
    assert_eq!(bench.deadline(), None);
}

/// SPEC 9.7: of two drains the earlier deadline and the lesser patience count.
#[test]
fn a_second_drain_can_only_hurry() {
    let mut bench = held();
    bench.step(drain(9, DrainMode::Finish, 10_000));
    assert_eq!(bench.step(drain(10, DrainMode::Finish, 20_000)), []);
    assert_eq!(bench.deadline(), Some(10_000));
    assert_eq!(bench.step(drain(11, DrainMode::Force, 5_000)), [end(0, 1, CloseMode::Now)]);
    assert_eq!(bench.deadline(), Some(5_000));
    assert_eq!(bench.step(drain(12, DrainMode::Force, 6_000)), []);
    assert_eq!(
        bench.step(closed(0, 1)),
        [
            status(0, 1, Draining, Closed, "drain_all"),
            drained(9, 1, 0, &[]),
            drained(10, 1, 0, &[]),
            drained(11, 1, 0, &[]),
            drained(12, 1, 0, &[]),
        ]
    );
}

/// SPEC 9.7: a drain that joins after the deadline neither kills again nor softens what is under
/// way.
#[test]
fn a_drain_after_the_deadline_waits_with_the_first() {
    let mut bench = held();
    bench.step(drain(9, DrainMode::Finish, 10_000));
    bench.wait_until(10_000);
    assert_eq!(bench.step(drain(10, DrainMode::Force, 30_000)), []);
    assert_eq!(bench.deadline(), Some(10_200));
    let left = [(0, left_behind())];
    assert_eq!(bench.wait_until(10_200), [drained(9, 0, 0, &left), drained(10, 0, 0, &left)]);
}

/// SPEC 9.7: an end that was under way before the drain belongs to it.
#[test]
fn a_drain_waits_for_what_was_already_closing() {
    let mut bench = held();
    bench.step(release(0));
    bench.wait_until(1_000);
    assert_eq!(bench.step(drain(9, DrainMode::Finish, 10_000)), []);
    assert_eq!(
        bench.step(closed(0, 1)),
        [status(0, 1, Draining, Closed, "drain_delay"), drained(9, 1, 0, &[])]
    );
}

/// SPEC 3.6, 9.7: leases of a drained pool are gone, and releasing them is no error.
#[test]
fn a_drain_takes_all_holds() {
    let mut bench = held();
    bench.step(drain(9, DrainMode::Finish, 10_000));
    assert_eq!(bench.row(0).refs, 0);
    assert_eq!(bench.step(release(0)), []);
    assert_eq!(bench.step(close(0)), []);
}

/// SPEC 9.7: a kept session's time may run out during the drain.
#[test]
fn a_kept_session_ends_during_a_drain() {
    let mut bench = held();
    bench.step(close_keeping(0, 500));
    bench.step(drain(9, DrainMode::Finish, 10_000));
    assert_eq!(bench.wait_until(500), []);
    assert_eq!(bench.deadline(), Some(10_000));
}
