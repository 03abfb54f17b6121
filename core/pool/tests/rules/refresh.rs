//! Reading lists again.

use trunkline_pool::state::*;

use crate::bench::*;

/// The least time from the beginning of one listing to that of the next, in milliseconds.
const SPACING: u64 = 250;

/// SPEC 7.2
#[test]
fn any_number_of_changes_during_a_listing_causes_one_more() {
    let mut bench = held();
    assert_eq!(bench.step(stale(0, 1)), [list(0, 1, 1)]);
    for _ in 0..100 {
        assert_eq!(bench.step(stale(0, 1)), []);
    }
    bench.now = SPACING;
    assert_eq!(
        bench.step(listed(0, 1, 1, 2)),
        [publish(0, 1, Active, 2), changed(0, 0, 1, 1, 2), list(0, 1, 2)]
    );
    assert_eq!(bench.step(listed(0, 1, 2, 3)), [publish(0, 1, Active, 3), changed(0, 0, 1, 2, 3)]);
    bench.now = 2 * SPACING;
    assert_eq!(bench.step(stale(0, 1)), [list(0, 1, 3)]);
}

/// SPEC 7.2, S-24: a server that announces changes without end is listed a few times a second, and
/// the last change is not missed.
#[test]
fn listings_begin_at_a_distance_from_one_another() {
    let mut bench = held();
    assert_eq!(bench.step(stale(0, 1)), [list(0, 1, 1)]);
    bench.step(listed(0, 1, 1, 2));
    for _ in 0..100 {
        assert_eq!(bench.step(stale(0, 1)), []);
    }
    assert_eq!(bench.row(0).situation, Situation::ListingDue);
    assert_eq!(bench.deadline(), Some(SPACING));
    assert_eq!(bench.wait_until(SPACING - 1), []);
    assert_eq!(bench.wait_until(SPACING), [list(0, 1, 2)]);
    // One that was outdated before it ended waits as well.
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 2, 3)), [publish(0, 1, Active, 3), changed(0, 0, 1, 2, 3)]);
    assert_eq!(bench.wait_until(2 * SPACING), [list(0, 1, 3)]);
    assert_eq!(bench.step(listed(0, 1, 3, 3)), []);
    assert_eq!(bench.deadline(), None);
}

/// SPEC 7.2, 3.11: what was to be listed goes with its connection; the next one is not made to
/// wait.
#[test]
fn a_listing_that_is_due_ends_with_its_connection() {
    let mut bench = held();
    bench.step(stale(0, 1));
    bench.step(listed(0, 1, 1, 2));
    bench.step(stale(0, 1));
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(bench.deadline(), Some(1_000));
    assert_eq!(
        bench.wait_until(1_000),
        [publish_error(0, 2, Reconnecting, 2, exited()), connect(0, 2, 0)]
    );
    bench.step(connected(0, 2, 2));
    assert_eq!(bench.step(stale(0, 2)), [list(0, 2, 1)]);
    assert_eq!(bench.step(stale(0, 1)), []);
}

/// I-15: a result that is late, or comes twice, replaces nothing.
#[test]
fn only_the_result_of_the_listing_under_way_counts() {
    let mut bench = held();
    bench.step(stale(0, 1));
    bench.step(stale(0, 1));
    bench.now = SPACING;
    bench.step(listed(0, 1, 1, 2));
    for old in [listed(0, 1, 1, 9), listed(0, 1, 3, 9), listing_failed(0, 1, 1)] {
        assert_eq!(bench.step(old), []);
    }
    assert_eq!(bench.pool.last_error(ServerId(0)), None);
    bench.step(listed(0, 1, 2, 3));
    assert_eq!(bench.step(listed(0, 1, 2, 9)), []);
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 2, 9)), []);
}

/// SPEC 7.3
#[test]
fn a_failed_listing_keeps_the_old_lists() {
    let mut bench = held();
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listing_failed(0, 1, 1)), []);
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(exited()));
    // A change that came meanwhile is looked at all the same.
    bench.now = SPACING;
    bench.step(stale(0, 1));
    bench.step(stale(0, 1));
    bench.now = 2 * SPACING;
    assert_eq!(bench.step(listing_failed(0, 1, 2)), [list(0, 1, 3)]);
    // What is listed after all is well again.
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(exited()));
    bench.step(listed(0, 1, 3, 1));
    assert_eq!(bench.pool.last_error(ServerId(0)), None);
}

/// SPEC 7.3: equal lists are no news.
#[test]
fn a_listing_that_finds_no_difference_says_nothing() {
    let mut bench = held();
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 1, 1)), []);
}

/// SPEC 7.4: every session that holds the entry hears of it, and nobody else.
#[test]
fn every_holder_hears_of_a_change() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(open(2));
    bench.step(acquire(1, 1, 0));
    bench.step(stale(0, 1));
    assert_eq!(
        bench.step(listed(0, 1, 1, 2)),
        [publish(0, 1, Active, 2), changed_for(&[0, 1], 0, 1, 1, 2)]
    );
}

/// SPEC 7.2, 3.6: a listing neither holds up a drain nor survives it.
#[test]
fn a_draining_entry_is_listed_and_closes_on_time() {
    let mut bench = held();
    bench.step(release(0));
    assert_eq!(bench.step(stale(0, 1)), [list(0, 1, 1)]);
    assert_eq!(bench.step(listed(0, 1, 1, 2)), [publish(0, 1, Draining, 2)]);
    bench.step(stale(0, 1));
    assert_eq!(bench.wait_until(SPACING), [list(0, 1, 2)]);
    assert_eq!(bench.wait_until(1_000), [publish(0, 1, Closed, 0), end(0, 1, CloseMode::Now)]);
    assert_eq!(bench.step(listed(0, 1, 2, 3)), []);
    assert_eq!(bench.step(stale(0, 1)), []);
}

/// SPEC 7.2: a listing goes on through a release and an attach.
#[test]
fn attaching_during_a_listing_keeps_it_single() {
    let mut bench = held();
    bench.step(stale(0, 1));
    bench.step(release(0));
    bench.step(acquire(1, 0, 0));
    assert_eq!(bench.step(stale(0, 1)), []);
    bench.now = SPACING;
    assert_eq!(
        bench.step(listed(0, 1, 1, 2)),
        [publish(0, 1, Active, 2), changed(0, 0, 1, 1, 2), list(0, 1, 2)]
    );
}
