//! What failed comes back by itself while somebody wants it: quietly, in time, and never what only
//! a person can mend.

use trunkline_pool::state::*;
use trunkline_pool::{Error, ErrorCode};

use crate::bench::*;

/// Quiet attempts after 1 and 4 s; the last wait repeats.
fn revived() -> trunkline_pool::options::PoolOptions {
    let mut options = options();
    options.reconnect.local_delays = Vec::new();
    options.reconnect.revive = vec![ms(1_000), ms(4_000)];
    options
}

/// When the next quiet attempt is due: at most a quarter later than its delay.
fn due_in(bench: &Bench, delay: u64) -> u64 {
    let due = bench.deadline().unwrap();
    let waits = due - bench.now;
    assert!((delay..=delay + delay / 4).contains(&waits), "{waits} ms, not {delay}");
    due + 1
}

/// SPEC 8.1
#[test]
fn a_lost_server_is_tried_quietly_until_it_is_there() {
    let mut bench = held_with(revived());
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    for (generation, delay) in [(2, 1_000), (3, 4_000), (4, 4_000)] {
        let due = due_in(&bench, delay);
        assert_eq!(
            bench.wait_until(due),
            [publish_error(0, generation, Failed, 0, exited()), connect(0, generation, 0)]
        );
        // No event tells of an attempt in vain.
        assert_eq!(
            bench.step(connect_failed(0, generation, exited())),
            [publish_error(0, generation, Failed, 0, exited())]
        );
    }
    let due = due_in(&bench, 4_000);
    bench.wait_until(due);
    assert_eq!(
        bench.step(connected(0, 5, 1)),
        [
            publish(0, 5, Active, 1),
            status(0, 5, Failed, Active, "connected"),
            back(0, 0, 5, 4, due),
            changed(0, 0, 5, 0, 1),
        ]
    );
}

/// SPEC 8.1, 3.3: a wish waits on when the first connect fails, and an acquire does not.
#[test]
fn a_first_connect_that_failed_is_tried_again_for_a_wish_alone() {
    let mut bench = Bench::with(revived());
    bench.step(open(0));
    bench.step(want([acquire(0, 0, 0)]));
    bench.step(acquire(1, 0, 0));
    assert_eq!(
        bench.step(connect_failed(0, 1, exited())),
        [
            publish_error(0, 1, Failed, 0, exited()),
            Effect::Postpone { ticket: Ticket(0), error: exited() },
            refuse(1, exited()),
            status(0, 1, Spawning, Failed, "connect_failed"),
        ]
    );
    let due = due_in(&bench, 1_000);
    bench.wait_until(due);
    let other = Error::new(ErrorCode::SpawnFailed, "no such file");
    // Who looks sees why now, and so does who waits.
    assert_eq!(
        bench.step(connect_failed(0, 2, other.clone())),
        [
            publish_error(0, 2, Failed, 0, other.clone()),
            Effect::Postpone { ticket: Ticket(0), error: other },
        ]
    );
    let due = due_in(&bench, 4_000);
    bench.wait_until(due);
    let effects = bench.step(connected(0, 3, 1));
    assert!(effects.contains(&grant(0, 0, 0)), "{effects:?}");
    assert_eq!(bench.row(0).state, Active);
}

/// SPEC 8.1: with the last who wants it, nothing is tried any more.
#[test]
fn what_failed_ends_with_its_last_wish() {
    let mut bench = Bench::with(revived());
    bench.step(open(0));
    bench.step(want([acquire(0, 0, 0)]));
    bench.step(connect_failed(0, 1, exited()));
    bench.step(cancel(0));
    assert_eq!(bench.deadline(), None);
    assert!(bench.pool.entry(EntryId(0)).is_none());
}

/// SPEC 3.2, 8.1: an acquire makes it an attempt like any other, which all share.
#[test]
fn an_acquire_during_a_quiet_attempt_makes_it_a_loud_one() {
    let mut bench = held_with(revived());
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    let due = due_in(&bench, 1_000);
    bench.wait_until(due);
    assert_eq!(
        bench.step(acquire(1, 0, 0)),
        [
            publish_error(0, 2, Reconnecting, 0, exited()),
            status(0, 2, Failed, Reconnecting, "acquire"),
        ]
    );
    let effects = bench.step(connect_failed(0, 2, exited()));
    assert!(effects.contains(&failed(0, 0, 2, exited())), "{effects:?}");
}

/// SPEC 8.1: what each error of a failed server leads to. What only a person can mend waits for
/// that person.
#[test]
fn time_mends_some_failures_and_not_others() {
    for (code, is_tried) in [
        (ErrorCode::ConnectFailed, true),
        (ErrorCode::SpawnFailed, true),
        (ErrorCode::Exited, true),
        (ErrorCode::Timeout, true),
        (ErrorCode::Protocol, true),
        (ErrorCode::InvalidConfig, false),
        (ErrorCode::InvalidArgument, false),
        (ErrorCode::NotAdmitted, false),
        (ErrorCode::AuthRequired, false),
        (ErrorCode::Store, false),
    ] {
        let mut bench = held_with(revived());
        bench.step(disconnected_by(0, 1, Error::new(code, "it")));
        bench.step(closed(0, 1));
        assert_eq!(bench.deadline().is_some(), is_tried, "{code:?}");
        let mut bench = Bench::with(revived());
        bench.step(open(0));
        bench.step(want([acquire(0, 0, 0)]));
        let effects = bench.step(connect_failed(0, 1, Error::new(code, "it")));
        let waits = effects.iter().any(|effect| matches!(effect, Effect::Postpone { .. }));
        assert_eq!(waits, is_tried, "{code:?}");
    }
}

/// SPEC 8.2: what was lost too often is tried once each five minutes.
#[test]
fn a_crash_loop_is_tried_each_five_minutes() {
    let mut options = revived();
    options.reconnect.breaker_losses = 0;
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(bench.row(0).error, Some(crash_loop()));
    due_in(&bench, 300_000);
}

/// SPEC 9.5, 9.6: a quiet attempt takes no place that another has, and is made up for later.
#[test]
fn without_room_a_quiet_attempt_is_put_off() {
    let mut options = revived();
    options.limits.processes = 1;
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.step(acquire(1, 0, 1));
    bench.step(connected(1, 1, 1));
    let due = due_in(&bench, 1_000);
    assert_eq!(bench.wait_until(due), []);
    bench.step(release(1));
    let due = due_in(&bench, 1_000).max(bench.now + 1_000);
    bench.wait_until(due);
    assert_eq!(bench.row(0).state, Failed);
}

/// SPEC 8.1: a time of health forgives, and the first of the delays is the next again.
#[test]
fn health_forgives_quiet_attempts_too() {
    let mut bench = held_with(revived());
    for generation in [1, 3] {
        bench.step(disconnected(0, generation));
        bench.step(closed(0, generation));
        let due = due_in(&bench, 1_000);
        bench.wait_until(due);
        bench.step(connected(0, generation + 1, 1));
        if generation == 3 {
            break;
        }
        bench.now += 1_000;
        // Too short a time: the second delay is the next.
        bench.step(disconnected(0, 2));
        bench.step(closed(0, 2));
        let due = due_in(&bench, 4_000);
        bench.wait_until(due);
        bench.step(connected(0, 3, 1));
        bench.now += 30_000;
    }
}

/// SPEC 8.1: a remote server that is to be tried at once is so within a quarter of a second, and
/// not all at one moment.
#[test]
fn at_once_is_spread_for_remote_servers() {
    let mut waits = Vec::new();
    for seed in 0..50 {
        let mut options = options();
        options.reconnect.remote_delays = vec![ms(0)];
        let mut bench = Bench { pool: PoolState::new(options, seed), now: 0 };
        bench.step(open(0));
        bench.step(acquire_of(0, 0, 0, 0, Family::Remote));
        bench.step(connected(0, 1, 1));
        bench.step(disconnected(0, 1));
        waits.push(bench.deadline().unwrap());
    }
    assert!(waits.iter().all(|wait| *wait <= 250), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait < 30) && waits.iter().any(|wait| *wait > 220));
}
