//! Loss, reconnect, and a fresh attempt for a failed entry.

use trunkline_pool::state::*;

use crate::bench::*;

/// A held entry that used up its two attempts and failed at 3 s.
fn failed_entry() -> Bench {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    bench.step(connect_failed(0, 2, exited()));
    bench.wait_until(3_000);
    bench.step(connect_failed(0, 3, exited()));
    assert_eq!(bench.row(0).state, Failed);
    bench
}

/// SPEC 8.1, 8.5
#[test]
fn a_lost_connection_comes_back_after_its_delay() {
    let mut bench = held();
    assert_eq!(
        bench.step(disconnected(0, 1)),
        [
            publish_error(0, 1, Reconnecting, 1, exited()),
            status(0, 1, Active, Reconnecting, "lost"),
            lost(0, 0, 1, LossReason::TransportClosed),
        ]
    );
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(exited()));
    assert_eq!(bench.step(closed(0, 1)), []);
    assert_eq!(bench.wait_until(999), []);
    assert_eq!(
        bench.wait_until(1_000),
        [publish_error(0, 2, Reconnecting, 1, exited()), connect(0, 2, 0)]
    );
    bench.now = 1_200;
    assert_eq!(
        bench.step(connected(0, 2, 2)),
        [
            publish(0, 2, Active, 2),
            status(0, 2, Reconnecting, Active, "connected"),
            back(0, 0, 2, 1, 1_200),
            changed(0, 0, 2, 1, 2),
        ]
    );
    assert_eq!(bench.pool.last_error(ServerId(0)), None);
}

/// SPEC 8.5: lists that are the same are no news.
#[test]
fn coming_back_with_the_same_lists_says_nothing_of_them() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(connected(0, 2, 1)),
        [
            publish(0, 2, Active, 1),
            status(0, 2, Reconnecting, Active, "connected"),
            back(0, 0, 2, 1, 1_000),
        ]
    );
}

/// SPEC 8.1: incarnations never overlap, so that the attempt waits for what is still ending.
#[test]
fn an_attempt_waits_for_the_end_of_what_was_lost() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    assert_eq!(bench.wait_until(1_000), [publish_error(0, 2, Reconnecting, 1, exited())]);
    assert_eq!(bench.row(0).situation, Situation::Replacing);
    assert_eq!(bench.step(closed(0, 1)), [connect(0, 2, 0)]);
}

/// SPEC 8.1, 5.8
#[test]
fn an_entry_whose_attempts_are_used_up_fails_with_the_last_error() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    let other = trunkline_pool::Error::new(trunkline_pool::ErrorCode::SpawnFailed, "no such file");
    assert_eq!(
        bench.step(connect_failed(0, 2, other.clone())),
        [publish_error(0, 2, Reconnecting, 1, other.clone())]
    );
    assert_eq!(bench.deadline(), Some(3_000));
    bench.wait_until(3_000);
    assert_eq!(
        bench.step(connect_failed(0, 3, other.clone())),
        [
            publish_error(0, 3, Failed, 0, other.clone()),
            status(0, 3, Reconnecting, Failed, "attempts_used_up"),
            failed(0, 0, 3, other.clone()),
            changed(0, 0, 3, 1, 0),
        ]
    );
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.pool.processes(), 0);
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(other));
}

/// SPEC 8.1, I-09: a server's own schedule goes before the pool's, the newest that was asked with.
#[test]
fn an_entry_comes_back_as_its_configuration_says() {
    let error = trunkline_pool::Error::new(trunkline_pool::ErrorCode::SpawnFailed, "no such file");
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire_delayed(0, 0, &[300, 400]));
    bench.step(connected(0, 1, 1));
    bench.step(disconnected(0, 1));
    assert_eq!(bench.deadline(), Some(300));
    bench.step(closed(0, 1));
    bench.wait_until(300);
    bench.step(open(1));
    bench.step(acquire_delayed(1, 1, &[300, 700]));
    bench.step(connect_failed(0, 2, error.clone()));
    assert_eq!(bench.deadline(), Some(1_000));
    bench.step(acquire(2, 1, 0));
    bench.wait_until(1_000);
    bench.step(connect_failed(0, 3, error));
    // Both of the pool's attempts were used.
    assert_eq!(bench.deadline(), None);
}

/// SPEC 8.1, I-09: jitter adds up to a quarter, never takes away, and differs.
#[test]
fn remote_delays_are_spread() {
    let mut waits = Vec::new();
    for seed in 0..50 {
        let mut bench = Bench { pool: PoolState::new(options(), seed), now: 0 };
        bench.step(open(0));
        bench.step(acquire_of(0, 0, 0, 0, Family::Remote));
        bench.step(connected(0, 1, 1));
        bench.step(disconnected(0, 1));
        waits.push(bench.pool.next_deadline().unwrap().0);
    }
    assert!(waits.iter().all(|wait| (1_000_000_000..=1_250_000_000).contains(wait)), "{waits:?}");
    let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!(*least < 1_050_000_000 && *most > 1_200_000_000, "{least} to {most}");
    waits.sort_unstable();
    waits.dedup();
    assert_eq!(waits.len(), 50);
}

/// SPEC 8.1: local delays are exact, and each family has its own.
#[test]
fn each_family_has_its_own_delays() {
    let mut options = options();
    options.reconnect.remote_delays = vec![];
    let mut bench = Bench::with(options);
    bench.step(open(0));
    bench.step(acquire_of(0, 0, 0, 0, Family::Remote));
    bench.step(connected(0, 1, 1));
    bench.step(disconnected(0, 1));
    assert_eq!(bench.row(0).state, Failed);
    bench.step(acquire_of(1, 0, 1, 1, Family::Local));
    bench.step(connected(1, 1, 1));
    bench.step(disconnected(1, 1));
    assert_eq!(bench.deadline(), Some(1_000));
}

/// SPEC 8.1: nobody to come back for.
#[test]
fn a_loss_of_a_draining_entry_ends_it() {
    let mut bench = held();
    bench.step(release(0));
    assert_eq!(bench.step(disconnected(0, 1)), [publish_error(0, 1, Closed, 0, exited())]);
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "lost")]);
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(exited()));
}

/// SPEC 8.1
#[test]
fn the_last_release_ends_a_reconnect_that_is_waiting() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(release(0)),
        [publish(0, 1, Closed, 0), status(0, 1, Reconnecting, Closed, "unwanted")]
    );
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.pool.processes(), 0);
}

/// SPEC 8.1: the same while the attempt waits for what is still ending.
#[test]
fn the_last_release_ends_a_reconnect_that_waits_for_an_end() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.wait_until(1_000);
    assert_eq!(bench.step(release(0)), [publish(0, 2, Closed, 0)]);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 2, Reconnecting, Closed, "unwanted")]);
}

/// SPEC 3.4, 8.1
#[test]
fn a_reconnect_under_way_that_nobody_wants_comes_up_into_its_drain() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    assert_eq!(bench.step(release(0)), [forgo(0, 2)]);
    assert_eq!(
        bench.step(connected(0, 2, 1)),
        [publish(0, 2, Draining, 1), status(0, 2, Reconnecting, Draining, "connected")]
    );
    assert_eq!(bench.deadline(), Some(2_000));
}

/// SPEC 8.1
#[test]
fn a_reconnect_under_way_that_nobody_wants_is_not_repeated() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    bench.step(release(0));
    assert_eq!(
        bench.step(connect_failed(0, 2, exited())),
        [
            publish_error(0, 2, Closed, 0, exited()),
            status(0, 2, Reconnecting, Closed, "connect_failed"),
        ]
    );
}

/// SPEC 3.2, 8.1
#[test]
fn an_acquire_of_a_reconnecting_entry_waits_for_the_outcome() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(bench.step(acquire(1, 1, 0)), []);
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(connect_failed(0, 2, exited())),
        [publish_error(0, 2, Reconnecting, 1, exited())]
    );
    bench.wait_until(3_000);
    assert_eq!(
        bench.step(connected(0, 3, 1)),
        [
            publish(0, 3, Active, 1),
            grant(1, 1, 0),
            status(0, 3, Reconnecting, Active, "connected"),
            back(0, 0, 3, 2, 3_000),
        ]
    );
}

/// SPEC 3.3, 8.1
#[test]
fn who_waits_for_a_reconnect_hears_of_its_failure() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.step(acquire(1, 1, 0));
    bench.wait_until(1_000);
    bench.step(connect_failed(0, 2, exited()));
    bench.wait_until(3_000);
    assert_eq!(
        bench.step(connect_failed(0, 3, exited())),
        [
            publish_error(0, 3, Failed, 0, exited()),
            refuse(1, exited()),
            status(0, 3, Reconnecting, Failed, "attempts_used_up"),
            failed(0, 0, 3, exited()),
            changed(0, 0, 3, 1, 0),
        ]
    );
}

/// SPEC 8.1, 3.3: with waiters but no holders nothing is stored but the error.
#[test]
fn a_failed_reconnect_that_nobody_holds_ends() {
    let mut bench = held();
    bench.step(open(1));
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.step(acquire(1, 1, 0));
    bench.step(release(0));
    bench.wait_until(1_000);
    bench.step(connect_failed(0, 2, exited()));
    bench.wait_until(3_000);
    assert_eq!(
        bench.step(connect_failed(0, 3, exited())),
        [
            publish_error(0, 3, Closed, 0, exited()),
            refuse(1, exited()),
            status(0, 3, Reconnecting, Closed, "attempts_used_up"),
        ]
    );
}

/// SPEC 3.2
#[test]
fn an_acquire_of_a_failed_entry_starts_one_fresh_attempt() {
    let mut bench = failed_entry();
    bench.step(open(1));
    assert_eq!(
        bench.step(acquire(1, 1, 0)),
        [
            publish_error(0, 4, Reconnecting, 0, exited()),
            connect(0, 4, 0),
            status(0, 4, Failed, Reconnecting, "acquire"),
        ]
    );
    assert_eq!(bench.step(acquire(2, 0, 0)), []);
    bench.now = 4_000;
    assert_eq!(
        bench.step(connected(0, 4, 2)),
        [
            publish(0, 4, Active, 2),
            grant(1, 1, 0),
            grant(2, 2, 0),
            status(0, 4, Reconnecting, Active, "connected"),
            back(0, 0, 4, 3, 4_000),
            changed_and_renewed(0, 0, 4, 0, 2),
        ]
    );
    assert_eq!((bench.row(0).index, bench.row(0).refs), (0, 2));
    // The lease of before is as good as ever.
    bench.step(release(0));
    assert_eq!(bench.row(0).refs, 2);
}

/// SPEC 3.2
#[test]
fn a_fresh_attempt_that_fails_is_answered_and_leaves_the_entry_failed() {
    let mut bench = failed_entry();
    bench.step(acquire(1, 0, 0));
    assert_eq!(
        bench.step(connect_failed(0, 4, exited())),
        [
            publish_error(0, 4, Failed, 0, exited()),
            refuse(1, exited()),
            status(0, 4, Reconnecting, Failed, "connect_failed"),
            failed(0, 0, 4, exited()),
        ]
    );
    assert_eq!(bench.deadline(), None);
}

/// SPEC 3.2, 3.4: the holders still want what a cancelled acquire asked for.
#[test]
fn a_fresh_attempt_goes_on_for_the_holders() {
    let mut bench = failed_entry();
    bench.step(acquire(1, 0, 0));
    assert_eq!(bench.step(cancel(1)), [refuse(1, cancelled())]);
    assert_eq!(
        bench.step(connected(0, 4, 1)),
        [
            publish(0, 4, Active, 1),
            status(0, 4, Reconnecting, Active, "connected"),
            back(0, 0, 4, 3, 3_000),
            changed(0, 0, 4, 0, 1),
        ]
    );
}

/// SPEC 3.2, 3.3
#[test]
fn the_last_release_of_a_failed_entry_ends_it() {
    let mut bench = failed_entry();
    assert_eq!(
        bench.step(release(0)),
        [publish(0, 3, Closed, 0), status(0, 3, Failed, Closed, "unwanted")]
    );
    assert_eq!(bench.pool.entries().count(), 0);
}

/// SPEC 8.2, 3.2: the fresh attempt waits for the end of what failed.
#[test]
fn a_fresh_attempt_waits_for_the_end_of_what_was_lost() {
    let mut options = options();
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

fn session_lost(generation: u32) -> PoolInput {
    let reason = LossReason::SessionLost;
    PoolInput::Disconnected { connection: id(0, generation), reason, error: exited() }
}

/// SPEC 8.4: the server lives; only the session is to be made anew.
#[test]
fn a_lost_session_is_made_anew_at_once_and_only_once() {
    let mut bench = held();
    bench.step(session_lost(1));
    assert_eq!(bench.deadline(), Some(0));
    bench.step(closed(0, 1));
    assert!(bench.wait_until(0).contains(&connect(0, 2, 0)));
    bench.now = 10;
    bench.step(connected(0, 2, 1));
    bench.step(session_lost(2));
    assert_eq!(bench.deadline(), Some(1_010));
}

/// SPEC 8.4: bounded, and never sooner than the schedule, whose form it has: a websocket is of the
/// family that has no jitter.
#[test]
fn a_server_that_asks_for_time_gets_it() {
    for (asked, least) in [(0, 1_000), (7_000, 7_000), (u64::MAX, 300_000)] {
        for (family, most) in [(Family::Local, least), (Family::Remote, least + least / 4)] {
            let mut bench = Bench { pool: PoolState::new(options(), 1), now: 0 };
            bench.step(open(0));
            bench.step(acquire_of(0, 0, 0, 0, family));
            bench.step(connected(0, 1, 1));
            bench.step(disconnected_by(0, 1, exited().with_detail("retry_after_ms", asked)));
            let due = bench.deadline().unwrap();
            assert!((least..=most).contains(&due), "{due} after {asked}, {family:?}");
        }
    }
}
