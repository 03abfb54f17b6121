//! The gates: nothing connects that they do not admit, whatever led there.

use trunkline_pool::explain::Reason;
use trunkline_pool::state::*;
use trunkline_pool::{Error, ErrorCode};

use crate::bench::*;

fn set(server: u32, gate: Gate) -> PoolInput {
    PoolInput::SetGates { names: vec![(ServerId(server), gate)], keys: Vec::new() }
}

fn shut(server: u32) -> PoolInput {
    set(server, Gate::Shut(GateReason::Untrusted))
}

fn not_admitted() -> Error {
    Error::new(
        ErrorCode::NotAdmitted,
        format!("the server {}", Reason::from_word("untrusted").unwrap().sentence()),
    )
    .with_detail("reason", "untrusted")
}

/// DESIGN 3 (4), SPEC 11.5: the first connect.
#[test]
fn a_server_that_is_not_admitted_does_not_start() {
    let mut bench = Bench::new();
    bench.step(open(0));
    assert_eq!(bench.step(shut(0)), []);
    assert_eq!(bench.step(acquire(0, 0, 0)), [refuse(0, not_admitted())]);
    let refusals: Vec<_> = bench.pool.refusals().map(|r| r.reason).collect();
    assert_eq!((refusals, bench.pool.entries().count()), (vec!["untrusted"], 0));
    bench.step(set(0, Gate::Open));
    assert!(bench.step(acquire(1, 0, 0)).contains(&connect(0, 1, 0)));
}

/// SPEC 8.5, 11.4: who holds it hears why, and that the tools are gone.
#[test]
fn a_server_that_loses_admission_is_closed() {
    let mut bench = held();
    assert_eq!(
        bench.step(shut(0)),
        [
            publish_error(0, 1, Closed, 0, not_admitted()),
            status(0, 1, Active, Draining, "gate"),
            lost(0, 0, 1, LossReason::Gate),
            changed(0, 0, 1, 1, 0),
            end(0, 1, CloseMode::Now),
        ]
    );
    assert_eq!(bench.step(release(0)), []);
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "gate")]);
}

/// SPEC 11.5, 3.2: the retry and the fresh attempt. One that waits to come back has no connection
/// whose end would be awaited.
#[test]
fn a_server_that_is_away_does_not_come_back_without_admission() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(shut(0)),
        [
            publish_error(0, 1, Closed, 0, not_admitted()),
            changed(0, 0, 1, 1, 0),
            status(0, 1, Reconnecting, Closed, "gate"),
        ]
    );
    assert_eq!(bench.deadline(), None);
    assert_eq!(bench.step(acquire(1, 0, 0)), [refuse(1, not_admitted())]);
}

/// SPEC 11.5, 9.1: the restart, and the attempt that it waits for.
#[test]
fn a_restart_under_way_ends_with_the_admission() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    let effects = bench.step(shut(0));
    let report = [(0, Err(RestartRefusal::NotAdmitted))];
    assert!(effects.contains(&restarted(1, &report)), "{effects:?}");
    assert_eq!(bench.step(closed(0, 1)), [status(0, 2, Reconnecting, Closed, "gate")]);
    assert_eq!(RestartRefusal::NotAdmitted.as_str(), "not_admitted");
}

/// SPEC 11.5, 3.3: a waiter for a first connect gets the reason.
#[test]
fn an_attempt_under_way_ends_with_the_admission() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    let effects = bench.step(shut(0));
    assert!(effects.contains(&end(0, 1, CloseMode::Now)), "{effects:?}");
    assert!(effects.contains(&refuse(0, not_admitted())), "{effects:?}");
    assert_eq!(
        bench.step(connect_failed(0, 1, exited())),
        [status(0, 1, Spawning, Closed, "gate")]
    );
}

/// SPEC 11.6
#[test]
fn every_reason_of_a_gate_has_its_word() {
    use GateReason::*;
    let words = [
        (Removed, "removed"),
        (InvalidConfig, "invalid_config"),
        (Untrusted, "untrusted"),
        (Excluded, "excluded"),
        (NotAllowed, "not_allowed"),
        (Disabled, "disabled"),
        (Rejected, "rejected"),
        (PendingApproval, "pending_approval"),
    ];
    for (reason, word) in words {
        assert_eq!(reason.as_str(), word);
    }
}
