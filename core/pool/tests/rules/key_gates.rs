//! The gates of keys: a configuration that is not admitted runs nowhere, and others of its name run
//! on.

use trunkline_pool::explain::Reason;
use trunkline_pool::options::{Budget, BudgetMode};
use trunkline_pool::state::*;
use trunkline_pool::{Error, ErrorCode};

use crate::bench::*;

fn set(key: u32, gate: Gate) -> PoolInput {
    PoolInput::SetGates { names: Vec::new(), keys: vec![(KeyId(key), gate)] }
}

fn reject(key: u32) -> PoolInput {
    set(key, Gate::Shut(GateReason::Rejected))
}

fn not_admitted(reason: &str) -> Error {
    let sentence = Reason::from_word(reason).unwrap().sentence();
    Error::new(ErrorCode::NotAdmitted, format!("the server {sentence}"))
        .with_detail("reason", reason)
}

/// An acquire of another configuration of server 0.
fn acquire_other(ticket: u64, session: u64, key: u32) -> PoolInput {
    acquire_of(ticket, session, key, 0, Family::Local)
}

/// SPEC 11.5, 12.3, S-04: the first connect. Another configuration of the same name is another
/// matter.
#[test]
fn a_configuration_that_is_not_admitted_does_not_start() {
    let mut bench = Bench::new();
    bench.step(open(0));
    assert_eq!(bench.step(reject(0)), []);
    let is_shut = [0, 1].map(|key| bench.pool.is_shut(ServerId(0), KeyId(key)));
    assert_eq!(is_shut, [true, false]);
    assert_eq!(bench.step(acquire(0, 0, 0)), [refuse(0, not_admitted("rejected"))]);
    let refusals: Vec<_> = bench.pool.refusals().map(|refusal| refusal.reason).collect();
    assert_eq!((refusals, bench.pool.entries().count()), (vec!["rejected"], 0));
    assert!(bench.step(acquire_other(1, 0, 1)).contains(&connect(0, 1, 1)));
    bench.step(set(0, Gate::Open));
    assert!(bench.step(acquire(2, 0, 0)).contains(&connect(1, 1, 0)));
}

/// SPEC 11.6: of the reasons of the name and of the key, the first in the order of the list,
/// whichever was set first.
#[test]
fn the_first_reason_of_both_gates_is_given() {
    let both = [GateReason::Untrusted, GateReason::Excluded, GateReason::PendingApproval];
    for (name, key) in both.iter().flat_map(|name| both.iter().map(move |key| (*name, *key))) {
        let name_first = [
            PoolInput::SetGates { names: vec![(ServerId(0), Gate::Shut(name))], keys: Vec::new() },
            set(0, Gate::Shut(key)),
        ];
        let first = not_admitted(name.min(key).as_str());
        for mut order in [name_first.to_vec(), name_first.iter().rev().cloned().collect()] {
            let mut bench = Bench::new();
            bench.step(open(0));
            order.drain(..).for_each(|input| drop(bench.step(input)));
            assert_eq!(bench.step(acquire(0, 0, 0)), [refuse(0, first.clone())]);
        }
        let mut bench = held();
        let names = vec![(ServerId(0), Gate::Shut(name))];
        bench.step(restart(1, 0, None));
        bench.step(acquire(2, 0, 0));
        let effects =
            bench.step(PoolInput::SetGates { names, keys: vec![(KeyId(0), Gate::Shut(key))] });
        assert!(effects.contains(&refuse(2, first)), "{effects:?}");
    }
}

/// SPEC 12.3, 8.5: who holds it hears why, and that the tools are gone. Another configuration of
/// the name stays as it is.
#[test]
fn a_configuration_that_loses_admission_is_closed_and_another_runs_on() {
    let mut bench = held();
    bench.step(acquire_other(1, 0, 1));
    bench.step(connected(1, 1, 1));
    assert_eq!(
        bench.step(reject(0)),
        [
            publish_error(0, 1, Closed, 0, not_admitted("rejected")),
            status(0, 1, Active, Draining, "gate"),
            lost(0, 0, 1, LossReason::Gate),
            changed(0, 0, 1, 1, 0),
            end(0, 1, CloseMode::Now),
        ]
    );
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "gate")]);
    assert_eq!(bench.row(1).state, Active);
}

/// SPEC 11.5, 3.2: the retry, and the callers that wait for it.
#[test]
fn a_configuration_that_is_away_does_not_come_back_without_admission() {
    let mut bench = held();
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.step(acquire(1, 0, 0));
    let effects = bench.step(reject(0));
    assert!(effects.contains(&refuse(1, not_admitted("rejected"))), "{effects:?}");
    assert_eq!((bench.deadline(), bench.pool.entries().count()), (None, 0));
}

/// SPEC 11.5, 9.1: the restart that waits for the end of the old process.
#[test]
fn a_restart_under_way_ends_with_the_admission_of_its_configuration() {
    let mut bench = held();
    bench.step(restart(1, 0, None));
    let effects = bench.step(reject(0));
    let report = [(0, Err(RestartRefusal::NotAdmitted))];
    assert!(effects.contains(&restarted(1, &report)), "{effects:?}");
    assert_eq!(bench.step(closed(0, 1)), [status(0, 2, Reconnecting, Closed, "gate")]);
}

/// SPEC 11.5, 9.6: what waits for a process slot does not begin when one comes back.
#[test]
fn a_wait_for_a_process_ends_with_the_admission_of_its_configuration() {
    let mut options = options();
    options.limits.processes = 1;
    let mut bench = held_with(options);
    bench.step(release(0));
    bench.wait_until(1_000);
    bench.step(acquire(1, 0, 1));
    assert_eq!(bench.row(1).situation, Situation::Queued);
    let effects = bench.step(reject(1));
    assert!(effects.contains(&refuse(1, not_admitted("rejected"))), "{effects:?}");
    assert_eq!(bench.step(closed(0, 1)), [status(0, 1, Draining, Closed, "drain_delay")]);
}

/// SPEC 11.5, 9.5: of the wishes for a name that wait for room, those for the configuration that is
/// shut are over.
#[test]
fn a_wish_for_a_configuration_ends_with_its_admission() {
    let mut options = options();
    options.budget = Some(Budget { limit: 1, mode: BudgetMode::Enforce });
    let mut bench = held_with(options);
    let ask = |ticket, key| match acquire_of(ticket, 0, key, 1, Family::Local) {
        PoolInput::Acquire(ask) => ask,
        _ => unreachable!(),
    };
    bench.step(PoolInput::Want { asks: vec![ask(1, 1), ask(2, 2)] });
    assert_eq!(bench.step(reject(1)), [refuse(1, not_admitted("rejected"))]);
    bench.step(release(0));
    bench.wait_until(1_000);
    let effects = bench.step(closed(0, 1));
    assert!(effects.contains(&connect(1, 1, 2)), "{effects:?}");
}

/// S-04: the number of a key that nobody keeps stands for another configuration the next time,
/// whose gate is its own.
#[test]
fn the_gate_of_a_key_is_forgotten_with_it() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(reject(0));
    bench.step(reject(1));
    assert_eq!(bench.step(PoolInput::ForgetKeys { keys: vec![KeyId(0)] }), []);
    assert!(bench.step(acquire(0, 0, 0)).contains(&connect(0, 1, 0)));
    assert_eq!(bench.pool.key_gate(KeyId(1)), Gate::Shut(GateReason::Rejected));
}
