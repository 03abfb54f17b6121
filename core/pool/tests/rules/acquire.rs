//! Acquire, its failure and its cancellation.

use trunkline_pool::state::*;

use crate::bench::*;

/// SPEC 3.1, 3.3
#[test]
fn the_first_acquire_starts_one_server() {
    let mut bench = Bench::new();
    bench.step(open(0));
    assert_eq!(
        bench.step(acquire(0, 0, 0)),
        [publish(0, 1, Spawning, 0), connect(0, 1, 0), status(0, 1, None, Spawning, "acquire")]
    );
}

/// SPEC 3.3, I-02
#[test]
fn acquires_of_a_connecting_entry_wait_for_its_one_server() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(open(1));
    bench.step(acquire(0, 0, 0));
    assert_eq!(bench.step(acquire(1, 1, 0)), []);
    assert_eq!(bench.step(acquire(2, 1, 0)), []);
    assert_eq!(
        bench.step(connected(0, 1, 1)),
        [
            publish(0, 1, Active, 1),
            grant(0, 0, 0),
            grant(1, 1, 0),
            grant(2, 2, 0),
            status(0, 1, Spawning, Active, "connected"),
        ]
    );
    assert_eq!(bench.row(0).refs, 2);
}

/// SPEC 3.2
#[test]
fn an_acquire_of_a_connected_entry_attaches_at_once() {
    let mut bench = held();
    bench.step(open(1));
    assert_eq!(bench.step(acquire(1, 1, 0)), [grant(1, 1, 0)]);
}

/// SPEC 3.3
#[test]
fn a_failed_connect_answers_all_with_one_error_and_leaves_nothing() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(acquire(1, 0, 0));
    assert_eq!(
        bench.step(connect_failed(0, 1, exited())),
        [
            publish_error(0, 1, Closed, 0, exited()),
            refuse(0, exited()),
            refuse(1, exited()),
            status(0, 1, Spawning, Closed, "connect_failed"),
        ]
    );
    assert_eq!(bench.pool.entries().count(), 0);
    assert_eq!(bench.pool.processes(), 0);
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(exited()));
    // The next acquire tries afresh.
    assert_eq!(
        bench.step(acquire(2, 0, 0)),
        [publish(1, 1, Spawning, 0), connect(1, 1, 0), status(1, 1, None, Spawning, "acquire")]
    );
    assert_eq!(bench.row(1).index, 1);
}

/// SPEC 9.4, 11.6, I-27: what went wrong is told until the server connects again, and not once more
/// when it is asleep.
#[test]
fn a_server_that_connects_has_no_error_left_when_it_goes() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(connect_failed(0, 1, exited()));
    bench.step(acquire(1, 0, 0));
    assert_eq!(bench.pool.last_error(ServerId(0)), Some(exited()));
    bench.step(connected(1, 1, 1));
    assert_eq!(bench.pool.last_error(ServerId(0)), None);
    bench.step(release(0));
    bench.wait_until(1_000);
    bench.step(closed(1, 1));
    assert_eq!(bench.pool.entries().count(), 0);
    assert_eq!(bench.pool.last_error(ServerId(0)), None);
}

/// SPEC 3.4
#[test]
fn a_cancelled_acquire_is_answered_once() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(acquire(1, 0, 0));
    assert_eq!(bench.step(cancel(0)), [refuse(0, cancelled())]);
    assert_eq!(bench.step(cancel(0)), []);
    bench.step(connected(0, 1, 1));
    assert_eq!(bench.step(cancel(1)), []);
}

/// SPEC 3.4: nothing is started for nobody. An attempt that has not begun ends with its last wish,
/// however that went.
#[test]
fn an_attempt_that_has_not_begun_goes_with_its_last_wish() {
    let ways: [(&str, PoolInput, Vec<Effect>); 2] = [
        ("cancelled", cancel(1), vec![refuse(1, cancelled()), forgo(0, 1)]),
        ("closed", close(1), vec![refuse(1, closed_session()), forgo(0, 1)]),
    ];
    for (way, last, told) in ways {
        let mut bench = Bench::new();
        bench.step(open(0));
        bench.step(open(1));
        bench.step(acquire(0, 0, 0));
        bench.step(acquire(1, 1, 0));
        assert_eq!(bench.step(cancel(0)), [refuse(0, cancelled())], "{way}");
        assert_eq!(bench.step(last), told, "{way}");
        assert_eq!(
            bench.step(unbegun(0, 1)),
            [publish(0, 1, Closed, 0), status(0, 1, Spawning, Closed, "unwanted")],
            "{way}"
        );
        assert_eq!(bench.pool.last_error(ServerId(0)), None, "{way}");
        assert!(bench.step(acquire(2, 0, 0)).contains(&connect(1, 1, 0)), "{way}");
    }
}

/// SPEC 3.4: who asks before the word of that is there gets an attempt of its own, and the word is
/// asked for once.
#[test]
fn who_asks_while_an_attempt_is_dropped_gets_another() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    assert_eq!(bench.step(cancel(0)), [refuse(0, cancelled()), forgo(0, 1)]);
    assert_eq!(bench.step(acquire(1, 0, 0)), []);
    assert_eq!(bench.step(cancel(1)), [refuse(1, cancelled())]);
    assert_eq!(bench.step(acquire(2, 0, 0)), []);
    assert_eq!(bench.step(unbegun(0, 1)), [publish(0, 2, Spawning, 0), connect(0, 2, 0)]);
    assert_eq!(bench.step(unbegun(0, 1)), []);
    assert_eq!(
        bench.step(connected(0, 2, 1)),
        [publish(0, 2, Active, 1), grant(2, 0, 0), status(0, 2, Spawning, Active, "connected")]
    );
}

/// SPEC 3.4, I-04
#[test]
fn a_server_whose_last_waiter_went_comes_up_into_its_drain() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    assert_eq!(bench.step(cancel(0)), [refuse(0, cancelled()), forgo(0, 1)]);
    assert_eq!(
        bench.step(connected(0, 1, 1)),
        [publish(0, 1, Draining, 1), status(0, 1, Spawning, Draining, "connected")]
    );
    assert_eq!(bench.wait_until(1_000), [publish(0, 1, Closed, 0), end(0, 1, CloseMode::Now)]);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "drain_delay")]);
    assert_eq!(bench.pool.entries().count(), 0);
}

/// SPEC 3.4
#[test]
fn an_attempt_that_nobody_waits_for_can_be_joined_again() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(cancel(0));
    assert_eq!(bench.step(acquire(1, 0, 0)), []);
    assert_eq!(
        bench.step(connected(0, 1, 1)),
        [publish(0, 1, Active, 1), grant(1, 0, 0), status(0, 1, Spawning, Active, "connected"),]
    );
}

/// SPEC 3.4
#[test]
fn an_attempt_that_nobody_waits_for_fails_in_silence() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(cancel(0));
    assert_eq!(
        bench.step(connect_failed(0, 1, exited())),
        [
            publish_error(0, 1, Closed, 0, exited()),
            status(0, 1, Spawning, Closed, "connect_failed"),
        ]
    );
}

/// SPEC 3.6: with no drain delay, a server that nobody waits for is closed as it comes up.
#[test]
fn without_a_drain_delay_an_unwanted_server_closes_as_it_comes_up() {
    let mut options = options();
    options.drain_delay = ms(0);
    let mut bench = Bench::with(options);
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(cancel(0));
    assert_eq!(
        bench.step(connected(0, 1, 1)),
        [publish(0, 1, Closed, 0), end(0, 1, CloseMode::Now)]
    );
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Spawning, Closed, "drain_delay")]);
}

/// SPEC 3.2, 3.9: an entry that is closing is a tombstone; its key gets a new entry beside it.
#[test]
fn an_acquire_while_the_old_entry_closes_gets_a_new_one() {
    let mut bench = held();
    bench.step(release(0));
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(acquire(1, 0, 0)),
        [publish(1, 1, Spawning, 0), connect(1, 1, 0), status(1, 1, None, Spawning, "acquire")]
    );
    assert_eq!(bench.row(0).situation, Situation::Ending);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "drain_delay")]);
    assert_eq!(bench.row(1).index, 1);
}

/// SPEC 3.9
#[test]
fn entries_of_one_name_live_side_by_side() {
    let mut bench = held();
    assert_eq!(
        bench.step(acquire_of(1, 0, 5, 0, Family::Local)),
        [publish(1, 1, Spawning, 0), connect(1, 1, 5), status(1, 1, None, Spawning, "acquire")]
    );
    let rows: Vec<_> = bench.pool.entries().map(|row| (row.server, row.index)).collect();
    assert_eq!(rows, [(ServerId(0), 0), (ServerId(0), 1)]);
}

/// SPEC 3.11, I-15
#[test]
fn events_of_another_incarnation_change_nothing() {
    let mut bench = held();
    let before = bench.pool.clone();
    for generation in [0, 2] {
        assert_eq!(bench.step(connected(0, generation, 2)), []);
        assert_eq!(bench.step(connect_failed(0, generation, exited())), []);
        assert_eq!(bench.step(disconnected(0, generation)), []);
        assert_eq!(bench.step(stale(0, generation)), []);
        assert_eq!(bench.step(listed(0, generation, 1, 2)), []);
        assert_eq!(bench.step(closed(0, generation)), []);
    }
    assert_eq!(bench.step(closed(1, 1)), []);
    assert_eq!(bench.pool, before);
}

/// SPEC 3.11: nor does an event of the right incarnation that comes twice or makes no sense.
#[test]
fn repeated_events_change_nothing() {
    let mut bench = held();
    let before = bench.pool.clone();
    assert_eq!(bench.step(connected(0, 1, 2)), []);
    assert_eq!(bench.step(connect_failed(0, 1, exited())), []);
    assert_eq!(bench.step(listed(0, 1, 1, 2)), []);
    assert_eq!(bench.pool, before);
    bench.step(disconnected(0, 1));
    assert_eq!(bench.step(disconnected(0, 1)), []);
    bench.step(closed(0, 1));
    assert_eq!(bench.step(closed(0, 1)), []);
}

fn ended_silently() -> trunkline_pool::Error {
    let message = "the server ended without a word about why";
    trunkline_pool::Error::new(trunkline_pool::ErrorCode::Exited, message)
}

/// SPEC 3.11: a connection whose end is told without its loss counts as lost.
#[test]
fn an_end_without_a_loss_is_a_loss() {
    let mut bench = held();
    let silent = ended_silently();
    assert_eq!(
        bench.step(closed(0, 1)),
        [
            publish_error(0, 1, Reconnecting, 1, silent),
            status(0, 1, Active, Reconnecting, "lost"),
            lost_by(0, 0, 1, ended_silently()),
        ]
    );
    assert_eq!(bench.row(0).situation, Situation::Backoff);
}

/// SPEC 4.6: an attempt whose end is told without its failure counts as failed.
#[test]
fn an_end_without_a_failure_is_a_failure() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    let silent = ended_silently();
    assert_eq!(
        bench.step(closed(0, 1)),
        [
            publish_error(0, 1, Closed, 0, silent.clone()),
            refuse(0, silent),
            status(0, 1, Spawning, Closed, "connect_failed"),
        ]
    );
}

/// SPEC 3.6: the pool's time never runs backwards, whatever order threads come in.
#[test]
fn an_older_moment_counts_as_the_newest_seen() {
    let mut bench = held();
    bench.now = 4_000;
    bench.step(open(1));
    bench.now = 0;
    bench.step(release(0));
    assert_eq!(bench.deadline(), Some(5_000));
}

/// SPEC 3.3, I-25: what failed leaves no trace that grows.
#[test]
fn failed_connects_do_not_pile_up() {
    let mut bench = Bench::new();
    bench.step(open(0));
    let mut fail = |from: u32, to: u32| {
        for entry in from..to {
            bench.step(acquire(u64::from(entry), 0, 0));
            bench.step(connect_failed(entry, 1, exited()));
        }
        format!("{:?}", bench.pool).len()
    };
    let (few, many) = (fail(0, 1_000), fail(1_000, 10_000));
    assert!(many < few + 100, "{few} bytes of text became {many}");
}
