//! What `status` shows.

use trunkline_pool::state::*;

use crate::bench::*;

/// SPEC 9.4
#[test]
fn a_row_shows_a_held_entry() {
    let mut bench = Bench::new();
    bench.now = 50;
    bench.step(open(0));
    bench.step(acquire(0, 0, 3));
    bench.step(acquire(1, 0, 3));
    assert_eq!((bench.row(0).waiters, bench.row(0).connected_at), (2, None));
    bench.now = 70;
    bench.step(connected(0, 1, 1));
    assert_eq!(
        bench.row(0),
        EntryStatus {
            entry: EntryId(0),
            index: 0,
            server: ServerId(3),
            key: KeyId(3),
            state: Active,
            situation: Situation::Connected,
            generation: Generation(1),
            living: Some(Generation(1)),
            refs: 1,
            waiters: 0,
            connected_at: Some(at(70)),
            due_at: None,
            list_at: None,
            losses: 0,
            error: None,
        }
    );
    bench.step(release(0));
    bench.step(release(1));
    assert_eq!((bench.row(0).refs, bench.row(0).due_at), (0, Some(at(1_070))));
}

/// SPEC 9.4
#[test]
fn a_row_shows_a_lost_entry() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    let row = bench.row(0);
    assert_eq!((row.state, row.situation), (Reconnecting, Situation::BackoffEnding));
    assert_eq!((row.losses, row.error, row.due_at), (1, Some(exited()), Some(at(1_000))));
    bench.step(closed(0, 1));
    assert_eq!(bench.row(0).situation, Situation::Backoff);
    assert_eq!(bench.row(0).living, None);
}

/// SPEC 9.4
#[test]
fn the_situation_tells_what_an_entry_does() {
    let mut bench = held();
    bench.step(stale(0, 1));
    assert_eq!(bench.row(0).situation, Situation::Listing);
    bench.step(stale(0, 1));
    assert_eq!(bench.row(0).situation, Situation::ListingOutdated);
    bench.step(restart(1, 0, None));
    assert_eq!(bench.row(0).situation, Situation::Replacing);
    bench.step(closed(0, 1));
    assert_eq!(bench.row(0).situation, Situation::Connecting);
    bench.step(connect_failed(0, 2, exited()));
    assert_eq!(bench.row(0).situation, Situation::Failed);
}

/// SPEC 9.4: it works with nothing there, and after everything.
#[test]
fn an_empty_pool_has_a_status() {
    let mut bench = Bench::new();
    assert_eq!(bench.pool.entries().count(), 0);
    assert_eq!((bench.pool.processes(), bench.pool.is_closing()), (0, false));
    assert_eq!(bench.pool.options(), &options());
    assert_eq!(bench.pool.entry(EntryId(0)), None);
    bench.step(drain(0, DrainMode::Force, 0));
    assert!(bench.pool.is_closing());
}

/// SPEC 9.4: a pool that never had an entry is told from one that has none any more.
#[test]
fn a_pool_has_started_once_it_had_an_entry() {
    let mut bench = Bench::new();
    bench.step(open(0));
    assert!(!bench.pool.has_started());
    bench.step(acquire(0, 0, 3));
    assert!(bench.pool.has_started());
    bench.step(connect_failed(0, 1, exited()));
    bench.step(close(0));
    assert!(bench.pool.has_started());
}

/// SPEC 1.8: what is printed of the pool never holds a fingerprint, since the pool never has one.
#[test]
fn ids_print_as_numbers() {
    assert_eq!(id(3, 2).to_string(), "3/2");
}

/// I-26: far moments do not overflow.
#[test]
fn a_moment_after_the_last_is_the_last() {
    assert_eq!(at(1).after(ms(2)), at(3));
    assert_eq!(Moment(u64::MAX).after(ms(1)), Moment(u64::MAX));
    assert_eq!(Moment(1).after(std::time::Duration::MAX), Moment(u64::MAX));
}

/// SPEC 3.1, 9.4
#[test]
fn every_state_has_its_word() {
    let states = [Spawning, Active, Draining, Reconnecting, AuthRequired, Failed, Closed];
    assert_eq!(
        states.map(EntryState::as_str),
        ["spawning", "active", "draining", "reconnecting", "auth_required", "failed", "closed"]
    );
    assert_eq!(
        states.map(EntryState::is_connected),
        [false, true, true, false, false, false, false]
    );
}

/// SPEC 8.5
#[test]
fn every_loss_has_its_word() {
    let reasons = [
        (LossReason::TransportClosed, "transport_closed"),
        (LossReason::TransportError, "transport_error"),
        (LossReason::Keepalive, "keepalive"),
        (LossReason::SessionLost, "session_lost"),
        (LossReason::Restart, "restart"),
        (LossReason::Gate, "gate"),
        (LossReason::Config, "config"),
        (LossReason::Shutdown, "shutdown"),
    ];
    for (reason, word) in reasons {
        assert_eq!(reason.as_str(), word);
    }
}

/// SPEC 9.1
#[test]
fn every_refusal_of_a_restart_has_its_word() {
    let refusals = [
        RestartRefusal::InFlight,
        RestartRefusal::Superseded,
        RestartRefusal::Failed(exited()),
        RestartRefusal::Closing,
    ];
    let words = refusals.each_ref().map(RestartRefusal::as_str);
    assert_eq!(words, ["in_flight", "superseded", "failed", "closing"]);
}
