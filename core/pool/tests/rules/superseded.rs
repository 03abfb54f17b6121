//! Restarts of what the pool no longer has configured (SPEC 9.1, 13.1).

use trunkline_pool::state::*;

use crate::bench::*;

const SUPERSEDED: Result<u64, RestartRefusal> = Err(RestartRefusal::Superseded);

/// SPEC 9.1, 13.1: the attempt ends, and nothing is reported of it but that.
#[test]
fn a_restart_ends_when_the_last_holder_leaves_a_replaced_configuration() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    bench.step(closed(0, 1));
    assert_eq!(bench.step(reconfigure(&[0], &[])), []);
    assert_eq!(
        bench.step(release(0)),
        [publish(0, 2, Closed, 0), restarted(1, &[(0, SUPERSEDED)]), end(0, 2, CloseMode::Now),]
    );
    assert_eq!(bench.step(connected(0, 2, 1)), []);
    assert_eq!(bench.step(closed(0, 2)), [status(0, 2, Reconnecting, Closed, "superseded")]);
    assert_eq!(bench.pool.entries().count(), 0);
}

/// SPEC 9.1, 9.2: while the old process ends, no other is begun.
#[test]
fn a_restart_that_waits_for_the_old_process_begins_no_other() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    bench.step(reconfigure(&[0], &[]));
    assert_eq!(
        bench.step(release(0)),
        [publish(0, 2, Closed, 0), restarted(1, &[(0, SUPERSEDED)])]
    );
    assert_eq!(bench.step(closed(0, 1)), [status(0, 2, Reconnecting, Closed, "superseded")]);
}

/// SPEC 9.1, 9.6: a restart that waits for a process slot is over at once, and needs none.
#[test]
fn a_restart_that_waits_for_a_slot_gives_its_turn_back() {
    let mut options = options();
    options.limits.processes = 1;
    options.drain_delay = ms(0);
    options.reconnect.local_delays = vec![];
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.step(acquire(1, 0, 1));
    bench.step(connected(1, 1, 1));
    bench.step(release(1));
    bench.step(restart(2, 0, None));
    assert_eq!(bench.row(0).situation, Situation::Queued);
    bench.step(reconfigure(&[0], &[]));
    let effects = bench.step(release(0));
    assert!(effects.contains(&restarted(2, &[(0, SUPERSEDED)])), "{effects:?}");
    assert!(bench.pool.entry(EntryId(0)).is_none());
    assert_eq!(bench.step(closed(1, 1)), [status(1, 1, Draining, Closed, "drain_delay")]);
}

/// SPEC 9.1, 13.1: there is no release to wait for.
#[test]
fn a_restart_of_an_idle_entry_ends_with_its_configuration() {
    let mut bench = held();
    bench.step(release(0));
    bench.step(restart(1, 0, None));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(reconfigure(&[0], &[])),
        [publish(0, 2, Closed, 0), restarted(1, &[(0, SUPERSEDED)]), end(0, 2, CloseMode::Now),]
    );
}

/// SPEC 9.1: everybody who shares it is answered, each once.
#[test]
fn all_who_share_a_superseded_restart_are_answered() {
    let mut bench = held();
    bench.step(release(0));
    bench.step(restart(1, 0, None));
    bench.step(restart(2, 0, Some(0)));
    let effects = bench.step(reconfigure(&[0], &[]));
    let answers: Vec<_> =
        effects.into_iter().filter(|e| matches!(e, Effect::Restarted { .. })).collect();
    assert_eq!(answers, [restarted(1, &[(0, SUPERSEDED)]), restarted(2, &[(0, SUPERSEDED)])]);
}

/// SPEC 9.1: of one name, what was replaced is not carried out, and what took its place is.
#[test]
fn an_entry_that_is_superseded_leaves_the_others_of_its_name_alone() {
    let mut bench = held();
    bench.step(acquire_of(1, 0, 5, 0, Family::Local));
    bench.step(connected(1, 1, 1));
    bench.step(restart(2, 0, None));
    bench.step(reconfigure(&[0], &[1]));
    bench.step(release(0));
    bench.step(closed(1, 1));
    bench.now = 100;
    let effects = bench.step(connected(1, 2, 1));
    assert!(effects.contains(&restarted(2, &[(0, SUPERSEDED), (1, Ok(100))])), "{effects:?}");
}

/// SPEC 9.1, 13.1: old and new live side by side for as long as somebody holds the old.
#[test]
fn a_replaced_configuration_is_restarted_for_who_holds_it() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(acquire(1, 1, 0));
    bench.step(restart(2, 0, None));
    bench.step(reconfigure(&[0], &[]));
    assert_eq!(bench.step(release(0)), []);
    bench.step(closed(0, 1));
    let effects = bench.step(connected(0, 2, 1));
    assert!(effects.contains(&restarted(2, &[(0, Ok(0))])), "{effects:?}");
    // And once more, now that it is known to be old.
    bench.step(restart(3, 0, None));
    assert_eq!(bench.step(closed(0, 2)), [connect(0, 3, 0)]);
}

/// SPEC 9.1: who waits for it wants it too; with the last of them it ends.
#[test]
fn a_replaced_configuration_is_restarted_for_who_waits_for_it() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(restart(1, 0, None));
    bench.step(acquire(2, 1, 0));
    bench.step(release(0));
    assert_eq!(bench.step(reconfigure(&[0], &[])), []);
    assert_eq!(
        bench.step(cancel(2)),
        [refuse(2, cancelled()), publish(0, 2, Closed, 0), restarted(1, &[(0, SUPERSEDED)]),]
    );
}

/// SPEC 9.1: nobody is served by another start of what is old and idle.
#[test]
fn what_is_old_and_idle_is_not_restarted() {
    let mut bench = held();
    bench.step(reconfigure(&[0], &[]));
    bench.step(release(0));
    assert_eq!(bench.step(restart(1, 0, None)), [restarted(1, &[(0, SUPERSEDED)])]);
    assert_eq!(bench.row(0).state, Draining);
    assert_eq!(bench.deadline(), Some(1_000));
}

/// SPEC 9.1: what somebody holds again, or the pool has configured again, is as any other.
#[test]
fn a_configuration_that_came_back_is_restarted() {
    let mut bench = held();
    bench.step(release(0));
    bench.step(reconfigure(&[0], &[]));
    bench.step(reconfigure(&[], &[0]));
    bench.step(restart(1, 0, None));
    assert_eq!(bench.step(closed(0, 1)), [connect(0, 2, 0)]);
    let effects = bench.step(connected(0, 2, 1));
    assert!(effects.contains(&restarted(1, &[(0, Ok(0))])), "{effects:?}");
}

/// SPEC 9.1, 3.4: only a restart is superseded. What comes up for nobody drains, whatever it was
/// begun for.
#[test]
fn a_first_connect_of_a_replaced_configuration_goes_on() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(reconfigure(&[0], &[]));
    bench.step(cancel(0));
    assert_eq!(
        bench.step(restart(1, 0, None)),
        [restarted(1, &[(0, Err(RestartRefusal::InFlight))])]
    );
    bench.step(connected(0, 1, 1));
    assert_eq!(bench.row(0).state, Draining);
}

/// SPEC 9.1, 3.4: the same holds of an attempt of the schedule, which a restart that is refused
/// does not replace.
#[test]
fn a_refused_restart_leaves_an_attempt_of_the_schedule_as_it_is() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    bench.step(release(0));
    assert_eq!(bench.step(reconfigure(&[0], &[])), []);
    assert_eq!(bench.step(restart(1, 0, None)), [restarted(1, &[(0, SUPERSEDED)])]);
    bench.step(connected(0, 2, 1));
    assert_eq!(bench.row(0).state, Draining);
}

/// SPEC 3.11: what is over is only noted for who comes in its place, and what never was is not.
#[test]
fn the_configuration_of_what_is_gone_changes_nothing() {
    let mut options = options();
    options.drain_delay = ms(0);
    let mut bench = held_with(options);
    bench.step(release(0));
    let before = bench.pool.clone();
    assert_eq!(bench.step(reconfigure(&[9], &[0, 9])), []);
    assert_eq!(bench.pool, before);
    assert_eq!(bench.step(reconfigure(&[0], &[])), []);
    assert_eq!(bench.row(0).situation, Situation::Ending);
}
