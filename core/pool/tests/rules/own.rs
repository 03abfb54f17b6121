//! Connections that are a session's own.

use trunkline_pool::state::*;

use crate::bench::*;

/// A connected entry of session 0's own.
fn held_alone() -> Bench {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire_own(0, 0, 0));
    bench.step(connected(0, 1, 1));
    bench
}

/// SPEC 2.2: it is of no use to others, so that only its own calls keep it, at most for the drain
/// delay.
#[test]
fn the_last_release_ends_it_as_soon_as_its_calls_have_ended() {
    let mut bench = held_alone();
    let how = CloseMode::Graceful { until: at(1_000) };
    assert_eq!(
        bench.step(release(0)),
        [publish(0, 1, Closed, 0), status(0, 1, Active, Draining, "released"), end(0, 1, how)]
    );
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "released")]);
}

/// SPEC 2.2, 3.6: as long as one lease is left it stays.
#[test]
fn a_second_lease_keeps_it() {
    let mut bench = held_alone();
    bench.step(acquire_own(1, 0, 0));
    assert_eq!(bench.step(release(0)), []);
    assert_eq!(bench.row(0).refs, 1);
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.step(release(1)).len(), 3);
}

/// SPEC 2.2, 3.13: it ends with its session, after the time for which the session's holds are kept.
#[test]
fn it_ends_with_its_session() {
    let mut bench = held_alone();
    bench.step(close_keeping(0, 500));
    assert_eq!(bench.row(0).refs, 1);
    let how = CloseMode::Graceful { until: at(1_500) };
    assert_eq!(
        bench.wait_until(500),
        [publish(0, 1, Closed, 0), status(0, 1, Active, Draining, "released"), end(0, 1, how)]
    );
}

/// SPEC 2.2, 3.4: what comes up for nobody does not stay.
#[test]
fn it_ends_at_once_when_nobody_waits_for_it_any_more() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire_own(0, 0, 0));
    bench.step(cancel(0));
    let effects = bench.step(connected(0, 1, 1));
    let closes = |effect: &Effect| matches!(effect, Effect::Close { .. });
    assert_eq!(effects.iter().filter(|effect| closes(effect)).count(), 1);
    assert_eq!(bench.deadline(), None);
}

/// SPEC 2.2: asked for again while it ends, the session gets a new one beside it.
#[test]
fn an_acquire_while_it_ends_begins_anew() {
    let mut bench = held_alone();
    bench.step(release(0));
    let effects = bench.step(acquire_own(1, 0, 0));
    assert!(effects.contains(&connect(1, 1, 0)), "{effects:?}");
}
