//! When an entry is given up: the breaker, forgiveness, and credentials that are missing.

use trunkline_pool::state::*;

use crate::bench::*;

/// SPEC 8.2, I-10: six losses within the window; every attempt but the last one succeeds.
#[test]
fn too_many_losses_open_the_breaker() {
    let mut options = options();
    options.reconnect.local_delays = vec![ms(0); 100];
    let mut bench = held_with(options);
    for generation in 1..=5 {
        bench.step(disconnected(0, generation));
        bench.step(closed(0, generation));
        bench.wait_until(u64::from(generation) * 6_000);
        bench.step(connected(0, generation + 1, 1));
    }
    // The first loss was 30 s ago, which still counts.
    assert_eq!(
        bench.step(disconnected(0, 6)),
        [
            publish_error(0, 6, Failed, 0, crash_loop()),
            status(0, 6, Active, Failed, "crash_loop"),
            lost(0, 0, 6, LossReason::TransportClosed),
            failed(0, 0, 6, crash_loop()),
            changed(0, 0, 6, 1, 0),
        ]
    );
    assert_eq!(bench.row(0).losses, 6);
    assert_eq!(bench.row(0).situation, Situation::FailedEnding);
}

/// SPEC 8.2
#[test]
fn losses_outside_the_window_do_not_count() {
    let mut options = options();
    options.reconnect.local_delays = vec![ms(0); 100];
    let mut bench = held_with(options);
    for generation in 1..=20 {
        bench.step(disconnected(0, generation));
        bench.step(closed(0, generation));
        bench.wait_until(u64::from(generation) * 6_001);
        bench.step(connected(0, generation + 1, 1));
    }
    assert_eq!(bench.row(0).state, Active);
}

/// SPEC 8.2
#[test]
fn running_out_of_attempts_after_short_lived_successes_is_unstable() {
    let mut bench = held();
    for (generation, now) in [(1, 1_000), (2, 3_000)] {
        bench.step(disconnected(0, generation));
        bench.step(closed(0, generation));
        bench.wait_until(now);
        bench.step(connected(0, generation + 1, 1));
    }
    assert_eq!(
        bench.step(disconnected(0, 3)),
        [
            publish_error(0, 3, Failed, 0, unstable()),
            status(0, 3, Active, Failed, "unstable"),
            lost(0, 0, 3, LossReason::TransportClosed),
            failed(0, 0, 3, unstable()),
            changed(0, 0, 3, 1, 0),
        ]
    );
}

/// SPEC 8.2
#[test]
fn attempts_are_forgiven_after_a_time_of_health() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    bench.step(connected(0, 2, 1));
    bench.now = 31_000;
    bench.step(disconnected(0, 2));
    assert_eq!(bench.deadline(), Some(32_000));
    bench.step(closed(0, 2));
    bench.wait_until(32_000);
    bench.step(connect_failed(0, 3, exited()));
    bench.wait_until(34_000);
    bench.step(connect_failed(0, 4, exited()));
    // The success before the time of health no longer makes this unstable.
    assert_eq!(bench.row(0).error, Some(exited()));
}

/// SPEC 8.2
#[test]
fn a_little_less_health_forgives_nothing() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    bench.step(connected(0, 2, 1));
    bench.now = 30_999;
    bench.step(disconnected(0, 2));
    assert_eq!(bench.deadline(), Some(32_999));
}

/// SPEC 8.2, I-10
#[test]
fn an_acquire_buys_a_crash_looping_entry_one_attempt() {
    let mut options = options();
    options.reconnect.breaker_losses = 0;
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.step(acquire(1, 0, 0));
    bench.step(connected(0, 2, 1));
    assert_eq!(bench.row(0).state, Active);
    bench.step(disconnected(0, 2));
    assert_eq!(bench.row(0).state, Failed);
    assert_eq!(bench.row(0).error, Some(crash_loop()));
    // Nothing is to be done for it any more.
    bench.step(closed(0, 2));
    assert_eq!(bench.deadline(), None);
}

/// SPEC 8.4
#[test]
fn a_loss_for_lack_of_credentials_is_not_tried_again() {
    let mut bench = held();
    assert_eq!(
        bench.step(disconnected_by(0, 1, unauthorized())),
        [
            publish_error(0, 1, AuthRequired, 0, unauthorized()),
            status(0, 1, Active, AuthRequired, "auth_required"),
            lost_by(0, 0, 1, unauthorized()),
            failed(0, 0, 1, unauthorized()),
            changed(0, 0, 1, 1, 0),
            auth_required(0, 1, unauthorized()),
        ]
    );
    // SPEC 3.2: nothing has changed since.
    assert_eq!(bench.step(acquire(1, 0, 0)), [refuse(1, unauthorized())]);
    assert_eq!(bench.deadline(), None);
}

/// SPEC 8.4
#[test]
fn an_attempt_that_lacks_credentials_is_not_repeated() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(connect_failed(0, 2, unauthorized())),
        [
            publish_error(0, 2, AuthRequired, 0, unauthorized()),
            status(0, 2, Reconnecting, AuthRequired, "auth_required"),
            failed(0, 0, 2, unauthorized()),
            changed(0, 0, 2, 1, 0),
            auth_required(0, 2, unauthorized()),
        ]
    );
}

/// SPEC 8.2: a loss counts from the last one, and the newest losses decide however many came
/// before.
#[test]
fn the_breaker_stays_open_while_losses_go_on() {
    let mut options = options();
    options.reconnect.local_delays = vec![ms(0); 100];
    options.reconnect.breaker_losses = 1;
    options.reconnect.breaker_window = ms(10_000);
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    bench.step(connected(0, 2, 1));
    for (ticket, generation, now) in [(1, 2, 5_000), (2, 3, 12_000), (3, 4, 20_000)] {
        bench.now = now;
        bench.step(disconnected(0, generation));
        assert_eq!(bench.row(0).state, Failed, "at {now}");
        bench.step(closed(0, generation));
        bench.step(acquire(ticket, 0, 0));
        bench.step(connected(0, generation + 1, 1));
    }
    bench.now = 30_001;
    bench.step(disconnected(0, 5));
    assert_eq!(bench.row(0).state, Reconnecting);
}
