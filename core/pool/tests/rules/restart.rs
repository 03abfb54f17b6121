//! Restart.

use trunkline_pool::state::*;

use crate::bench::*;

/// SPEC 9.2
#[test]
fn a_restart_ends_the_old_incarnation_before_the_new_one_begins() {
    let mut bench = held();
    bench.now = 500;
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [
            publish(0, 2, Reconnecting, 1),
            status(0, 2, Active, Reconnecting, "restart"),
            lost(0, 0, 1, LossReason::Restart),
            end(0, 1, CloseMode::Now),
        ]
    );
    assert_eq!(bench.step(closed(0, 1)), [connect(0, 2, 0)]);
    bench.now = 700;
    assert_eq!(
        bench.step(connected(0, 2, 2)),
        [
            publish(0, 2, Active, 2),
            restarted(1, &[(0, Ok(200))]),
            status(0, 2, Reconnecting, Active, "connected"),
            back(0, 0, 2, 1, 200),
            changed(0, 0, 2, 1, 2),
        ]
    );
}

/// SPEC 9.2
#[test]
fn a_restart_that_fails_leaves_the_entry_failed() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(connect_failed(0, 2, exited())),
        [
            publish_error(0, 2, Failed, 0, exited()),
            restarted(1, &[(0, Err(RestartRefusal::Failed(exited())))]),
            status(0, 2, Reconnecting, Failed, "connect_failed"),
            failed(0, 0, 2, exited()),
            changed(0, 0, 2, 1, 0),
        ]
    );
    assert_eq!(bench.deadline(), None);
}

/// SPEC 9.1
#[test]
fn all_entries_of_a_name_restart_in_parallel() {
    let mut bench = held();
    bench.step(acquire_of(1, 0, 5, 0, Family::Local));
    bench.step(connected(1, 1, 1));
    bench.step(restart(2, 0, None));
    bench.step(closed(0, 1));
    bench.step(closed(1, 1));
    bench.now = 100;
    bench.step(connected(1, 2, 1));
    bench.now = 300;
    let effects = bench.step(connected(0, 2, 1));
    assert!(effects.contains(&restarted(2, &[(0, Ok(300)), (1, Ok(100))])), "{effects:?}");
}

/// SPEC 9.1
#[test]
fn one_entry_can_be_restarted_alone() {
    let mut bench = held();
    bench.step(acquire_of(1, 0, 5, 0, Family::Local));
    bench.step(connected(1, 1, 1));
    assert_eq!(
        bench.step(restart(2, 0, Some(1))),
        [
            publish(1, 2, Reconnecting, 1),
            status(1, 2, Active, Reconnecting, "restart"),
            lost(0, 1, 1, LossReason::Restart),
            end(1, 1, CloseMode::Now),
        ]
    );
    assert_eq!(bench.row(0).state, Active);
}

/// SPEC 9.1
#[test]
fn an_unknown_name_or_index_gives_an_empty_list() {
    let mut bench = held();
    assert_eq!(bench.step(restart(1, 7, None)), [restarted(1, &[])]);
    assert_eq!(bench.step(restart(2, 0, Some(7))), [restarted(2, &[])]);
}

/// SPEC 9.1
#[test]
fn a_first_connect_is_in_flight() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [restarted(1, &[(0, Err(RestartRefusal::InFlight))])]
    );
}

/// SPEC 9.1
#[test]
fn a_restart_under_way_is_shared() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    bench.now = 100;
    assert_eq!(bench.step(restart(2, 0, Some(0))), []);
    bench.step(closed(0, 1));
    assert_eq!(bench.step(restart(3, 0, None)), []);
    bench.now = 200;
    assert_eq!(
        bench.step(connected(0, 2, 1)),
        [
            publish(0, 2, Active, 1),
            restarted(1, &[(0, Ok(200))]),
            restarted(2, &[(0, Ok(100))]),
            restarted(3, &[(0, Ok(100))]),
            status(0, 2, Reconnecting, Active, "connected"),
            back(0, 0, 2, 1, 200),
        ]
    );
}

/// SPEC 9.2
#[test]
fn an_idle_entry_restarts_without_its_timers_and_gets_new_ones() {
    let mut bench = held();
    bench.step(release(0));
    bench.now = 900;
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [
            publish(0, 2, Reconnecting, 1),
            status(0, 2, Draining, Reconnecting, "restart"),
            end(0, 1, CloseMode::Now),
        ]
    );
    assert_eq!(bench.deadline(), None);
    bench.now = 5_500;
    assert_eq!(bench.step(closed(0, 1)), [connect(0, 2, 0)]);
    assert_eq!(
        bench.step(connected(0, 2, 1)),
        [
            publish(0, 2, Draining, 1),
            restarted(1, &[(0, Ok(4_600))]),
            status(0, 2, Reconnecting, Draining, "connected"),
        ]
    );
    // The cap of the first idleness would have passed at 5 s.
    assert_eq!(bench.deadline(), Some(6_500));
}

/// SPEC 9.2: nobody holds it, so that nothing is stored but the error.
#[test]
fn an_idle_entry_whose_restart_fails_ends() {
    let mut bench = held();
    bench.step(release(0));
    bench.step(restart(1, 0, None));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(connect_failed(0, 2, exited())),
        [
            publish_error(0, 2, Closed, 0, exited()),
            restarted(1, &[(0, Err(RestartRefusal::Failed(exited())))]),
            status(0, 2, Reconnecting, Closed, "connect_failed"),
        ]
    );
}

/// SPEC 9.2, 3.6: without a drain delay the restarted server goes at once, but the restart is done.
#[test]
fn without_a_drain_delay_an_unwanted_restart_is_answered_and_closed() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    bench.step(release(0));
    bench.step(closed(0, 1));
    let mut options = options();
    options.drain_delay = ms(0);
    let mut bench = held_with(options);
    bench.step(restart(1, 0, None));
    assert_eq!(bench.step(release(0)), []);
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(connected(0, 2, 1)),
        [restarted(1, &[(0, Ok(0))]), publish(0, 2, Closed, 0), end(0, 2, CloseMode::Now)]
    );
}

/// SPEC 8.2, 9.2
#[test]
fn a_restart_of_a_failed_entry_resets_the_breaker() {
    let mut options = options();
    options.reconnect.breaker_losses = 1;
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    bench.step(connected(0, 2, 1));
    bench.step(disconnected(0, 2));
    bench.step(closed(0, 2));
    assert_eq!(bench.row(0).state, Failed);
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [
            publish_error(0, 3, Reconnecting, 0, crash_loop()),
            connect(0, 3, 0),
            status(0, 3, Failed, Reconnecting, "restart"),
        ]
    );
    bench.step(connected(0, 3, 1));
    bench.step(disconnected(0, 3));
    assert_eq!(bench.row(0).state, Reconnecting);
    // The whole schedule is there again.
    assert_eq!(bench.deadline(), Some(2_000));
}

/// SPEC 9.2: a restart does not wait for the schedule.
#[test]
fn a_restart_during_a_reconnect_tries_at_once() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [publish_error(0, 2, Reconnecting, 1, exited()), connect(0, 2, 0)]
    );
    assert_eq!(bench.deadline(), None);
}

/// SPEC 9.2: an attempt of the schedule is replaced, and its late success changes nothing.
#[test]
fn a_restart_during_an_attempt_replaces_it() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [publish_error(0, 3, Reconnecting, 1, exited()), end(0, 2, CloseMode::Now)]
    );
    assert_eq!(bench.step(connected(0, 2, 9)), []);
    assert_eq!(bench.step(connect_failed(0, 2, exited())), [connect(0, 3, 0)]);
    assert_eq!(bench.step(closed(0, 2)), []);
}

/// SPEC 3.2, 9.2: who acquires meanwhile waits for the restart.
#[test]
fn an_acquire_during_a_restart_waits_for_it() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(restart(1, 0, None));
    assert_eq!(bench.step(acquire(2, 1, 0)), []);
    bench.step(closed(0, 1));
    let effects = bench.step(connected(0, 2, 1));
    assert_eq!(
        effects[..3],
        [publish(0, 2, Active, 1), grant(2, 1, 0), restarted(1, &[(0, Ok(0))])]
    );
}

/// SPEC 9.2, 8.2: only what came back by the schedule makes a crash loop.
#[test]
fn a_restart_is_no_short_lived_success() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    bench.step(closed(0, 1));
    bench.step(connected(0, 2, 1));
    bench.step(disconnected(0, 2));
    bench.step(closed(0, 2));
    bench.wait_until(1_000);
    bench.step(connect_failed(0, 3, exited()));
    bench.wait_until(3_000);
    bench.step(connect_failed(0, 4, exited()));
    assert_eq!(bench.row(0).error, Some(exited()));
}

/// SPEC 9.1: a restart without credentials is tried, since it is what a person asks for after a
/// sign-in.
#[test]
fn a_restart_tries_what_waits_for_credentials() {
    let mut bench = held();
    bench.step(disconnected_by(0, 1, unauthorized()));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [
            publish_error(0, 2, Reconnecting, 0, unauthorized()),
            connect(0, 2, 0),
            status(0, 2, AuthRequired, Reconnecting, "restart"),
        ]
    );
}
