//! The drain delay and the idle cap.

use trunkline_pool::state::*;

use crate::bench::*;

/// Options in which the cap is reached long before a drain delay that begins anew would be over.
fn thrashed() -> Bench {
    let mut options = options();
    options.drain_delay = ms(1_000);
    options.idle_cap = ms(2_500);
    held_with(options)
}

/// SPEC 3.6
#[test]
fn the_last_release_starts_the_drain() {
    let mut bench = held();
    assert_eq!(
        bench.step(release(0)),
        [publish(0, 1, Draining, 1), status(0, 1, Active, Draining, "released")]
    );
    assert_eq!(bench.deadline(), Some(1_000));
    assert_eq!(bench.wait_until(999), []);
    assert_eq!(bench.wait_until(1_000), [publish(0, 1, Closed, 0), end(0, 1, CloseMode::Now)]);
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.wait_until(9_000), []);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "drain_delay")]);
}

/// SPEC 3.6, I-06
#[test]
fn a_release_twice_is_one_release() {
    let mut bench = held();
    bench.step(acquire(1, 0, 0));
    assert_eq!(bench.step(release(0)), []);
    assert_eq!(bench.step(release(0)), []);
    assert_eq!(bench.row(0).refs, 1);
    bench.step(release(1));
    assert_eq!(bench.row(0).refs, 0);
    assert_eq!(bench.step(release(1)), []);
}

/// SPEC 3.6
#[test]
fn attaching_in_time_cancels_the_drain() {
    let mut bench = held();
    bench.step(release(0));
    bench.now = 900;
    assert_eq!(
        bench.step(acquire(1, 0, 0)),
        [publish(0, 1, Active, 1), grant(1, 1, 0), status(0, 1, Draining, Active, "held")]
    );
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.wait_until(60_000), []);
}

/// SPEC 3.6
#[test]
fn without_a_drain_delay_the_last_release_closes() {
    let mut options = options();
    options.drain_delay = ms(0);
    let mut bench = held_with(options);
    assert_eq!(
        bench.step(release(0)),
        [
            publish(0, 1, Closed, 0),
            status(0, 1, Active, Draining, "drain_delay"),
            end(0, 1, CloseMode::Now),
        ]
    );
}

/// SPEC 3.7
#[test]
fn short_holds_do_not_keep_a_server_beyond_the_idle_cap() {
    let mut bench = thrashed();
    // The first hold was long, so that the window opens at 1 s and the cap falls at 3.5 s.
    bench.now = 1_000;
    bench.step(release(0));
    for (ticket, now) in [(1, 1_800), (2, 2_600), (3, 3_400)] {
        bench.now = now;
        bench.step(acquire(ticket, 0, 0));
        bench.step(release(ticket));
    }
    assert_eq!(bench.deadline(), Some(3_500));
    assert_eq!(bench.wait_until(3_500), [publish(0, 1, Closed, 0), end(0, 1, CloseMode::Now)]);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "idle_cap")]);
}

/// SPEC 3.7
#[test]
fn a_cap_that_passes_during_a_short_hold_closes_with_the_release() {
    let mut bench = thrashed();
    bench.now = 1_000;
    bench.step(release(0));
    for (ticket, now) in [(1, 1_900), (2, 2_800)] {
        bench.now = now;
        bench.step(acquire(ticket, 0, 0));
        bench.step(release(ticket));
    }
    bench.now = 3_400;
    bench.step(acquire(3, 0, 0));
    assert_eq!(bench.wait_until(4_000), []);
    assert_eq!(
        bench.step(release(3)),
        [
            publish(0, 1, Closed, 0),
            status(0, 1, Active, Draining, "idle_cap"),
            end(0, 1, CloseMode::Now),
        ]
    );
}

/// SPEC 3.7
#[test]
fn a_hold_of_the_drain_delay_opens_a_new_window() {
    let mut bench = thrashed();
    bench.now = 1_000;
    bench.step(release(0));
    bench.now = 1_500;
    bench.step(acquire(1, 0, 0));
    bench.now = 2_500;
    bench.step(release(1));
    // The old cap would be 3.5 s, which is when the drain delay ends as well; the new one is 5 s.
    for (ticket, now) in [(2, 3_400), (3, 4_300)] {
        bench.now = now;
        bench.step(acquire(ticket, 0, 0));
        bench.step(release(ticket));
    }
    assert_eq!(bench.deadline(), Some(5_000));
}

/// SPEC 3.7
#[test]
fn a_hold_a_little_shorter_than_the_drain_delay_keeps_the_window() {
    let mut bench = thrashed();
    bench.now = 1_000;
    bench.step(release(0));
    bench.now = 1_900;
    bench.step(acquire(1, 0, 0));
    bench.now = 2_899;
    bench.step(release(1));
    assert_eq!(bench.deadline(), Some(3_500));
}

/// SPEC 3.7
#[test]
fn the_idle_cap_never_closes_a_held_server() {
    let mut bench = thrashed();
    assert_eq!(bench.wait_until(1_000_000), []);
    assert_eq!(bench.row(0).state, Active);
}

/// SPEC 3.7: when both fall at once, the drain delay is the reason.
#[test]
fn a_drain_that_ends_with_the_cap_counts_as_the_drain() {
    let mut options = options();
    options.idle_cap = options.drain_delay;
    let mut bench = held_with(options);
    bench.step(release(0));
    bench.wait_until(1_000);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "drain_delay")]);
}
