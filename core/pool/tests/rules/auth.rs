//! Servers that want credentials (SPEC 3.2, 8.4, 9.5, 15.3).

use trunkline_pool::options::{Budget, BudgetMode, PoolOptions};
use trunkline_pool::state::{CloseMode, EntryId, Family, PoolInput, RestartRefusal};

use crate::bench::*;

/// What opened session 0 and asked for a server that wants credentials.
fn refused() -> Bench {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(connect_failed(0, 1, unauthorized()));
    bench
}

/// SPEC 15.3
#[test]
fn a_first_connect_without_credentials_leaves_the_entry_waiting_for_them() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    assert_eq!(
        bench.step(connect_failed(0, 1, unauthorized())),
        [
            publish_error(0, 1, AuthRequired, 0, unauthorized()),
            refuse(0, unauthorized()),
            status(0, 1, Spawning, AuthRequired, "auth_required"),
            auth_required(0, 1, unauthorized()),
        ]
    );
}

/// SPEC 3.2
#[test]
fn asking_again_causes_no_attempt_while_nothing_changed() {
    let mut bench = refused();
    for ticket in 1..4 {
        assert_eq!(bench.step(acquire(ticket, 0, 0)), [refuse(ticket, unauthorized())]);
    }
}

/// SPEC 3.2
#[test]
fn asking_again_causes_one_attempt_after_the_credentials_changed() {
    let mut bench = refused();
    assert_eq!(bench.step(credentials_changed(0)), []);
    assert_eq!(
        bench.step(acquire(1, 0, 0)),
        [
            publish_error(0, 2, Reconnecting, 0, unauthorized()),
            connect(0, 2, 0),
            status(0, 2, AuthRequired, Reconnecting, "acquire"),
        ]
    );
    bench.step(connect_failed(0, 2, unauthorized()));
    assert_eq!(bench.step(acquire(2, 0, 0)), [refuse(2, unauthorized())]);
}

/// SPEC 15.3
#[test]
fn a_sign_in_brings_back_what_is_held() {
    let mut bench = held();
    bench.step(disconnected_by(0, 1, unauthorized()));
    bench.step(closed(0, 1));
    assert_eq!(
        bench.step(credentials_changed(0)),
        [
            publish_error(0, 2, Reconnecting, 0, unauthorized()),
            connect(0, 2, 0),
            status(0, 2, AuthRequired, Reconnecting, "credentials"),
        ]
    );
    assert_eq!(
        bench.step(connected(0, 2, 1)),
        [
            publish(0, 2, Active, 1),
            status(0, 2, Reconnecting, Active, "connected"),
            back(0, 0, 2, 1, 0),
            changed(0, 0, 2, 0, 1),
        ]
    );
}

/// What holds server 0, which wants credentials, while server 1 has the one place that these
/// options leave.
fn without_room(options: PoolOptions) -> Bench {
    let mut bench = held_with(options);
    bench.step(disconnected_by(0, 1, unauthorized()));
    bench.step(closed(0, 1));
    bench.step(acquire(1, 0, 1));
    bench.step(connected(1, 1, 1));
    assert_eq!(bench.step(credentials_changed(0)), []);
    bench
}

/// Options that leave one place, by the budget and by the processes.
fn with_one_place() -> [PoolOptions; 2] {
    let mut budget = options();
    budget.drain_delay = ms(0);
    let mut processes = budget.clone();
    budget.budget = Some(Budget { limit: 1, mode: BudgetMode::Enforce });
    processes.limits.processes = 1;
    [budget, processes]
}

/// SPEC 15.3, 9.5, 9.6
#[test]
fn a_sign_in_without_room_brings_back_what_is_held_once_there_is_some() {
    for options in with_one_place() {
        let mut bench = without_room(options);
        let refusals: Vec<u32> = bench.pool.refusals().map(|refusal| refusal.server.0).collect();
        assert_eq!(refusals, [0]);
        bench.step(release(1));
        let effects = bench.step(closed(1, 1));
        assert!(effects.contains(&connect(0, 2, 0)), "{effects:?}");
        assert_eq!(bench.row(0).state, Reconnecting);
    }
}

/// SPEC 9.4, 9.5, 15.3: of two servers that one sign-in is for, with room for one, the other is
/// refused.
#[test]
fn a_sign_in_for_more_than_there_is_room_for_is_a_refusal_of_the_rest() {
    for options in with_one_place() {
        let mut bench = Bench::with(options);
        bench.step(open(0));
        for (ticket, server) in [(0, 0), (1, 1)] {
            bench.step(acquire(ticket, 0, server));
            bench.step(connected(server, 1, 1));
            bench.step(disconnected_by(server, 1, unauthorized()));
            bench.step(closed(server, 1));
        }
        let both = PoolInput::CredentialsChanged { entries: vec![EntryId(0), EntryId(1)] };
        assert!(bench.step(both).contains(&connect(0, 2, 0)));
        let refusals: Vec<u32> = bench.pool.refusals().map(|refusal| refusal.server.0).collect();
        assert_eq!(refusals, [1]);
    }
}

/// SPEC 15.3, 9.5: who has waited longer goes first, and what nobody holds any more is not
/// connected to.
#[test]
fn a_sign_in_without_room_is_made_good_for_who_holds_it_after_all_wishes() {
    let [budget, _] = with_one_place();
    let mut bench = without_room(budget.clone());
    let PoolInput::Acquire(wish) = acquire(2, 0, 2) else { unreachable!() };
    bench.step(PoolInput::Want { asks: vec![wish] });
    bench.step(release(1));
    assert!(bench.step(closed(1, 1)).contains(&connect(2, 1, 2)));
    assert_eq!(bench.row(0).state, AuthRequired);

    let mut bench = without_room(budget);
    bench.step(release(0));
    bench.step(release(1));
    bench.step(closed(1, 1));
    assert_eq!(bench.row(0).state, AuthRequired);
}

/// SPEC 15.3
#[test]
fn a_sign_in_lists_again_what_is_connected() {
    let mut bench = held();
    assert_eq!(bench.step(credentials_changed(0)), [list(0, 1, 1)]);
}

/// SPEC 15.3, 1.2: the credentials of one authorization context are nothing to the connections of
/// another.
#[test]
fn an_entry_of_other_credentials_is_left_alone() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire_of(0, 0, 0, 0, Family::Remote));
    bench.step(connect_failed(0, 1, unauthorized()));
    bench.step(acquire_of(1, 0, 1, 0, Family::Remote));
    bench.step(connect_failed(1, 1, unauthorized()));
    assert_eq!(bench.step(credentials_changed(0)), []);
    assert_eq!(
        bench.step(acquire_of(2, 0, 1, 0, Family::Remote)),
        [refuse(2, unauthorized())],
        "it was tried with what there is for it"
    );
    assert_eq!(bench.step(acquire_of(3, 0, 0, 0, Family::Remote))[1], connect(0, 2, 0));
}

/// SPEC 3.2: an attempt that began with the old ones says nothing of the new ones.
#[test]
fn credentials_that_come_during_an_attempt_are_tried_next() {
    let mut bench = Bench::new();
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(credentials_changed(0));
    assert_eq!(
        bench.step(connect_failed(0, 1, unauthorized())),
        [publish(0, 2, Spawning, 0), connect(0, 2, 0)]
    );
    assert_eq!(bench.step(connect_failed(0, 2, unauthorized()))[1], refuse(0, unauthorized()));
}

/// SPEC 8.4: with credentials that it was not tried with, a loss for lack of them is made good
/// once.
#[test]
fn a_loss_after_the_credentials_changed_is_tried_at_once() {
    let mut bench = held();
    bench.step(credentials_changed(0));
    bench.step(disconnected_by(0, 1, unauthorized()));
    assert_eq!((bench.row(0).state, bench.deadline()), (Reconnecting, Some(0)));
    bench.step(closed(0, 1));
    bench.wait_until(0);
    bench.step(connect_failed(0, 2, unauthorized()));
    assert_eq!((bench.row(0).state, bench.deadline()), (AuthRequired, None));
}

/// SPEC 3.7: it stays for the idle cap, so that callers meanwhile are answered, and not for ever.
#[test]
fn an_entry_that_nobody_holds_waits_for_credentials_as_long_as_the_idle_cap() {
    let mut bench = refused();
    assert_eq!(bench.deadline(), Some(5_000));
    assert_eq!(
        bench.wait_until(5_000),
        [publish(0, 1, Closed, 0), status(0, 1, AuthRequired, Closed, "idle_cap"),]
    );
    assert_eq!(bench.step(acquire(1, 0, 0))[1], connect(1, 1, 0));
}

/// SPEC 3.7
#[test]
fn the_last_release_of_an_entry_without_credentials_starts_its_time() {
    let mut bench = held();
    bench.step(disconnected_by(0, 1, unauthorized()));
    bench.step(closed(0, 1));
    bench.now = 2_000;
    assert_eq!(bench.step(release(0)), []);
    assert_eq!((bench.row(0).state, bench.deadline()), (AuthRequired, Some(7_000)));
}

/// SPEC 3.7
#[test]
fn without_an_idle_cap_nothing_stays_that_nobody_holds() {
    let mut options = options();
    options.idle_cap = ms(0);
    let mut bench = Bench::with(options);
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(connect_failed(0, 1, unauthorized()));
    assert_eq!(bench.pool.entries().count(), 0);
    assert_eq!(bench.pool.last_error(trunkline_pool::state::ServerId(0)), Some(unauthorized()));
}

/// SPEC 9.6: what waits for credentials and is held by nobody takes no place from anybody.
#[test]
fn what_nobody_holds_makes_way_for_another_entry_of_its_name() {
    let mut options = options();
    options.limits.entries_per_name = 1;
    let mut bench = Bench::with(options);
    bench.step(open(0));
    bench.step(acquire_of(0, 0, 0, 0, Family::Remote));
    bench.step(connect_failed(0, 1, unauthorized()));
    assert_eq!(
        bench.step(acquire_of(1, 0, 1, 0, Family::Remote)),
        [
            publish(0, 1, Closed, 0),
            status(0, 1, AuthRequired, Closed, "limit"),
            publish(1, 1, Spawning, 0),
            connect(1, 1, 1),
            status(1, 1, None, Spawning, "acquire"),
        ]
    );
}

/// SPEC 9.5
#[test]
fn a_name_that_waits_for_credentials_has_no_place_in_the_budget() {
    let mut options = options();
    options.budget = Some(Budget { limit: 1, mode: BudgetMode::Enforce });
    let mut bench = Bench::with(options);
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(connect_failed(0, 1, unauthorized()));
    assert_eq!(bench.step(acquire(1, 0, 1))[1], connect(1, 1, 1));
}

/// SPEC 9.1
#[test]
fn a_restart_that_lacks_credentials_says_so_and_leaves_the_entry() {
    let mut bench = refused();
    bench.step(restart(1, 0, None));
    let refusal = RestartRefusal::Failed(unauthorized());
    let effects = bench.step(connect_failed(0, 2, unauthorized()));
    assert!(effects.contains(&restarted(1, &[(0, Err(refusal))])), "{effects:?}");
    assert_eq!(bench.row(0).state, AuthRequired);
}

/// SPEC 11.5
#[test]
fn a_sign_in_starts_nothing_once_the_pool_drains() {
    let mut bench = held();
    bench.step(drain(1, trunkline_pool::state::DrainMode::Force, 10_000));
    assert_eq!(bench.step(credentials_changed(0)), []);
    assert!(!bench.step(closed(0, 1)).contains(&end(0, 1, CloseMode::Now)));
}
