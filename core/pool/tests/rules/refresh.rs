//! Reading lists again.

use trunkline_pool::state::*;

use crate::bench::*;

/// SPEC 7.2
#[test]
fn any_number_of_changes_during_a_listing_causes_one_more() {
    let mut bench = held();
    assert_eq!(bench.step(stale(0, 1)), [list(0, 1)]);
    for _ in 0..100 {
        assert_eq!(bench.step(stale(0, 1)), []);
    }
    assert_eq!(
        bench.step(listed(0, 1, 2)),
        [publish(0, 1, Active, 2), changed(0, 0, 1, 1, 2), list(0, 1)]
    );
    assert_eq!(bench.step(listed(0, 1, 3)), [publish(0, 1, Active, 3), changed(0, 0, 1, 2, 3)]);
    assert_eq!(bench.step(stale(0, 1)), [list(0, 1)]);
}

/// SPEC 7.3
#[test]
fn a_failed_listing_keeps_the_old_lists() {
    let mut bench = held();
    bench.step(stale(0, 1));
    let failed = Input::CatalogListed { connection: id(0, 1), result: Err(exited()) };
    assert_eq!(bench.step(failed.clone()), []);
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(&exited()));
    // A change that came meanwhile is looked at all the same.
    bench.step(stale(0, 1));
    bench.step(stale(0, 1));
    assert_eq!(bench.step(failed), [list(0, 1)]);
}

/// SPEC 7.3: equal lists are no news.
#[test]
fn a_listing_that_finds_no_difference_says_nothing() {
    let mut bench = held();
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 1)), []);
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
        bench.step(listed(0, 1, 2)),
        [publish(0, 1, Active, 2), changed(0, 0, 1, 1, 2), changed(1, 0, 1, 1, 2)]
    );
}

/// SPEC 7.2, 3.6: a listing neither holds up a drain nor survives it.
#[test]
fn a_draining_entry_is_listed_and_closes_on_time() {
    let mut bench = held();
    bench.step(release(0));
    assert_eq!(bench.step(stale(0, 1)), [list(0, 1)]);
    assert_eq!(bench.step(listed(0, 1, 2)), [publish(0, 1, Draining, 2)]);
    bench.step(stale(0, 1));
    assert_eq!(bench.wait_until(1_000), [publish(0, 1, Closed, 0), end(0, 1, CloseMode::Now)]);
    assert_eq!(bench.step(listed(0, 1, 3)), []);
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
    assert_eq!(
        bench.step(listed(0, 1, 2)),
        [publish(0, 1, Active, 2), changed(0, 0, 1, 1, 2), list(0, 1)]
    );
}
