//! The budget: how many names run, who waits for room, and which events say so.

use trunkline_pool::config::Share;
use trunkline_pool::options::{Budget, BudgetMode, OnToolChange, PoolOptions};
use trunkline_pool::state::*;
use trunkline_pool::{Error, ErrorCode};

use crate::bench::*;

fn of(limit: u32, mode: BudgetMode) -> PoolOptions {
    let mut options = options();
    options.reconnect.local_delays = vec![];
    options.budget = Some(Budget { limit, mode });
    options
}

fn enforce(limit: u32) -> PoolOptions {
    of(limit, BudgetMode::Enforce)
}

fn exhausted(limit: u32, live: u32, reserved: u32) -> Error {
    Error::new(ErrorCode::BudgetExhausted, format!("the budget of {limit} servers is used up"))
        .with_detail("budget", limit)
        .with_detail("live", live)
        .with_detail("reserved", reserved)
}

fn usage(live: u32, reserved: u32) -> Usage {
    Usage { live, reserved }
}

/// Wishes of one pass, by ticket, session and key.
fn want(asks: &[(u64, u64, u32)]) -> PoolInput {
    let ask = |&(ticket, session, key): &(u64, u64, u32)| Ask {
        ticket: Ticket(ticket),
        session: SessionId(session),
        key: KeyId(key),
        server: ServerId(key),
        fingerprint: fingerprint(key),
        on_tool_change: OnToolChange::Notify,
        family: Family::Local,
        share: Share::Pool,
        reconnect: None,
    };
    PoolInput::Want { asks: asks.iter().map(ask).collect() }
}

fn defer(ticket: u64, error: Error) -> Effect {
    Effect::Defer { ticket: Ticket(ticket), error }
}

fn everybody(notice: Notice) -> Effect {
    Effect::Notify { audience: Audience::Everybody, notice }
}

fn warning(budget: Budget, usage: Usage) -> Effect {
    everybody(Notice::BudgetWarning { budget, usage })
}

fn refused(limit: u32, usage: Usage, servers: &[u32]) -> Effect {
    let budget = Budget { limit, mode: BudgetMode::Enforce };
    let refused = servers.iter().map(|server| ServerId(*server)).collect();
    everybody(Notice::RefusedBatch { budget, usage, refused })
}

/// What of some effects is told to everybody.
fn told(effects: Vec<Effect>) -> Vec<Effect> {
    let to_all =
        |effect: &Effect| matches!(effect, Effect::Notify { audience: Audience::Everybody, .. });
    effects.into_iter().filter(to_all).collect()
}

/// A pool under this budget, whose sessions 0 to 3 all want the servers 0 to 2, and whatever could
/// begin connected.
fn four_sessions(options: PoolOptions) -> (Bench, Vec<Effect>) {
    let mut bench = Bench::with(options);
    let mut effects = Vec::new();
    for session in 0..4 {
        bench.step(open(session));
        let first = session * 10;
        effects.append(&mut bench.step(want(&[
            (first, session, 0),
            (first + 1, session, 1),
            (first + 2, session, 2),
        ])));
    }
    for entry in 0..bench.pool.entries().count() as u32 {
        effects.append(&mut bench.step(connected(entry, 1, 1)));
    }
    (bench, effects)
}

/// SPEC 9.5: three processes, not twelve, and a warning.
#[test]
fn four_sessions_with_three_servers_under_a_warning_budget_of_two() {
    let (bench, effects) = four_sessions(of(2, BudgetMode::Warn));
    assert_eq!(bench.pool.entries().filter(|row| row.state == Active).count(), 3);
    let budget = Budget { limit: 2, mode: BudgetMode::Warn };
    assert_eq!(told(effects), [warning(budget, usage(0, 3))]);
    assert_eq!(bench.pool.budget_usage(), usage(3, 0));
}

/// SPEC 9.5: two processes, and one event with the one server that is refused.
#[test]
fn four_sessions_with_three_servers_under_an_enforced_budget_of_two() {
    let (bench, effects) = four_sessions(enforce(2));
    assert_eq!(bench.pool.entries().filter(|row| row.state == Active).count(), 2);
    let deferred = effects.iter().filter(|effect| matches!(effect, Effect::Defer { .. }));
    assert_eq!(deferred.count(), 4);
    let budget = Budget { limit: 2, mode: BudgetMode::Enforce };
    assert_eq!(told(effects), [warning(budget, usage(0, 2)), refused(2, usage(0, 2), &[2])]);
    let refusals: Vec<_> = bench.pool.refusals().map(|r| (r.server, r.reason)).collect();
    assert_eq!(refusals, [(ServerId(2), "budget_exhausted")]);
    assert!(bench.pool.is_beyond_budget(ServerId(2)) && !bench.pool.is_beyond_budget(ServerId(0)));
}

/// SPEC 9.5
#[test]
fn a_budget_that_is_off_neither_warns_nor_refuses() {
    let (bench, effects) = four_sessions(of(1, BudgetMode::Off));
    assert_eq!((told(effects), bench.pool.budget_usage()), (vec![], usage(3, 0)));
}

/// SPEC 9.5: a caller that insists gets a typed error, and nobody else hears of it.
#[test]
fn an_acquire_beyond_the_budget_is_refused() {
    let mut bench = held_with(enforce(1));
    assert_eq!(bench.step(acquire(1, 0, 1)), [refuse(1, exhausted(1, 1, 0))]);
    assert_eq!(bench.pool.entries().count(), 1);
    assert_eq!(bench.pool.refusals().count(), 1);
}

/// SPEC 9.5: the names count, and not their entries.
#[test]
fn another_entry_of_a_name_takes_no_further_place() {
    let mut bench = held_with(enforce(1));
    let effects = bench.step(acquire_of(1, 0, 7, 0, Family::Local));
    assert!(effects.contains(&connect(1, 1, 7)), "{effects:?}");
    bench.step(connected(1, 1, 1));
    assert_eq!(bench.pool.budget_usage(), usage(1, 0));
    // Of the two one going is no room.
    bench.step(release(0));
    bench.wait_until(1_000);
    bench.step(closed(0, 1));
    assert_eq!(bench.step(acquire(2, 0, 1)), [refuse(2, exhausted(1, 1, 0))]);
}

/// SPEC 9.5, I-03: the place of a name is taken until nothing of it is left.
#[test]
fn a_name_counts_while_it_connects_stands_drains_and_dies() {
    let mut bench = Bench::with(enforce(1));
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    assert_eq!(bench.step(acquire(1, 0, 1)), [refuse(1, exhausted(1, 0, 1))]);
    bench.step(connected(0, 1, 1));
    assert_eq!(bench.step(acquire(2, 0, 1)), [refuse(2, exhausted(1, 1, 0))]);
    bench.step(release(0));
    assert_eq!(bench.row(0).state, Draining);
    assert_eq!(bench.step(acquire(3, 0, 1)), [refuse(3, exhausted(1, 1, 0))]);
    bench.wait_until(1_000);
    assert_eq!(bench.row(0).situation, Situation::Ending);
    assert_eq!(bench.step(acquire(4, 0, 1)), [refuse(4, exhausted(1, 1, 0))]);
    bench.step(closed(0, 1));
    assert_eq!(bench.pool.budget_usage(), usage(0, 0));
    assert!(bench.step(acquire(5, 0, 1)).contains(&connect(1, 1, 1)));
}

/// SPEC 9.5: on the way back it counts, without a process as well; once it has failed it does not.
#[test]
fn a_name_counts_while_it_comes_back_and_not_when_it_failed() {
    let mut options = enforce(1);
    options.reconnect.local_delays = vec![ms(1_000)];
    let mut bench = held_with(options);
    bench.step(disconnected(0, 1));
    assert_eq!(bench.pool.budget_usage(), usage(1, 0));
    bench.step(closed(0, 1));
    assert_eq!(bench.pool.budget_usage(), usage(0, 1));
    assert_eq!(bench.step(acquire(1, 0, 1)), [refuse(1, exhausted(1, 0, 1))]);
    bench.wait_until(1_000);
    bench.step(connect_failed(0, 2, exited()));
    assert_eq!((bench.row(0).state, bench.pool.budget_usage()), (Failed, usage(0, 0)));
    assert!(bench.step(acquire(2, 0, 1)).contains(&connect(1, 1, 1)));
    // The failed one has to ask again, and its restart too.
    assert_eq!(bench.step(acquire(3, 0, 0)), [refuse(3, exhausted(1, 0, 1))]);
    let report = [(0, Err(RestartRefusal::BudgetWouldExceed))];
    assert_eq!(bench.step(restart(4, 0, None)), [restarted(4, &report)]);
    assert_eq!(RestartRefusal::BudgetWouldExceed.as_str(), "budget_would_exceed");
}

/// SPEC 3.3, 9.5, I-05: a failed attempt gives back what it took, and one that took nothing gives
/// nothing back.
#[test]
fn a_failed_connect_gives_back_only_what_it_took() {
    let mut bench = held_with(enforce(2));
    bench.step(acquire_of(1, 0, 7, 0, Family::Local));
    bench.step(connect_failed(1, 1, exited()));
    assert_eq!(bench.pool.budget_usage(), usage(1, 0));
    for entry in 2..5 {
        bench.step(acquire(u64::from(entry), 0, entry));
        assert_eq!(bench.pool.budget_usage(), usage(1, 1));
        bench.step(connect_failed(entry, 1, exited()));
        assert_eq!(bench.pool.budget_usage(), usage(1, 0));
    }
}

/// SPEC 9.5: a wish begins when there is room, with all who have it, and is granted as it would
/// have been.
#[test]
fn a_wish_that_was_refused_begins_when_there_is_room() {
    let mut bench = held_with(enforce(1));
    bench.step(open(1));
    let effects = bench.step(want(&[(1, 0, 1), (2, 0, 2)]));
    let full = || exhausted(1, 1, 0);
    assert_eq!(effects, [defer(1, full()), defer(2, full()), refused(1, usage(1, 0), &[1, 2])]);
    // The same names again are no news.
    assert_eq!(bench.step(want(&[(3, 1, 1)])), [defer(3, full())]);
    bench.step(release(0));
    bench.wait_until(1_000);
    assert_eq!(
        bench.step(closed(0, 1)),
        [
            status(0, 1, Draining, Closed, "drain_delay"),
            publish(1, 1, Spawning, 0),
            connect(1, 1, 1),
            status(1, 1, None, Spawning, "acquire"),
        ]
    );
    let effects = bench.step(connected(1, 1, 1));
    assert!(effects.contains(&grant(1, 1, 1)) && effects.contains(&grant(3, 2, 1)), "{effects:?}");
    // The other still waits.
    assert_eq!(bench.step(cancel(2)), [refuse(2, cancelled())]);
}

/// SPEC 9.5, 3.3
#[test]
fn a_wish_whose_server_cannot_start_makes_room_for_the_next() {
    let mut bench = held_with(enforce(1));
    bench.step(want(&[(1, 0, 1), (2, 0, 2)]));
    bench.step(open(1));
    bench.step(disconnected(0, 1));
    // The failed one is gone: the first in the queue begins within the same step.
    let effects = bench.step(closed(0, 1));
    assert!(effects.contains(&connect(1, 1, 1)), "{effects:?}");
    let effects = bench.step(connect_failed(1, 1, exited()));
    assert!(effects.contains(&refuse(1, exited())), "{effects:?}");
    assert!(effects.contains(&connect(2, 1, 2)), "{effects:?}");
}

/// SPEC 9.5, I-03: what is dying makes room for certain, so that no event tells of a refusal.
#[test]
fn a_wish_that_waits_for_a_dying_name_is_no_refusal() {
    let mut bench = held_with(enforce(1));
    bench.step(release(0));
    bench.wait_until(1_000);
    assert_eq!(bench.step(want(&[(1, 0, 1)])), [defer(1, exhausted(1, 1, 0))]);
    // There is room for one of two.
    let effects = bench.step(want(&[(2, 0, 2)]));
    assert_eq!(effects, [defer(2, exhausted(1, 1, 0)), refused(1, usage(1, 0), &[2])]);
    // The dying name is wanted again and takes its place back: then the wait is a refusal.
    let effects = bench.step(acquire(3, 0, 0));
    assert_eq!(told(effects), [refused(1, usage(1, 0), &[1])]);
}

/// SPEC 9.5, 3.5, 9.7
#[test]
fn a_wish_ends_with_its_session_and_with_the_pool() {
    let mut bench = held_with(enforce(1));
    bench.step(open(1));
    bench.step(want(&[(1, 1, 1), (2, 0, 1), (3, 0, 2)]));
    assert_eq!(bench.step(close(1)), [refuse(1, closed_session())]);
    let effects = bench.step(drain(9, DrainMode::Force, 5_000));
    let answers: Vec<_> =
        effects.iter().filter(|effect| matches!(effect, Effect::Refuse { .. })).collect();
    assert_eq!(answers, [&refuse(2, closing()), &refuse(3, closing())]);
    assert_eq!(bench.step(want(&[(4, 0, 1)])), [refuse(4, closing())]);
}

/// SPEC 9.5: one warning at three quarters, and the next only after less than half of that.
#[test]
fn the_warning_has_a_hysteresis() {
    let budget = Budget { limit: 8, mode: BudgetMode::Warn };
    let mut options = of(8, BudgetMode::Warn);
    options.drain_delay = ms(0);
    let mut bench = Bench::with(options);
    bench.step(open(0));
    let (mut warnings, mut next_entry) = (Vec::new(), 0);
    // Up to six names, down to three, up again, down to two, up again.
    for (from, to) in [(0_u32, 6_u32), (6, 3), (3, 8), (8, 2), (2, 6)] {
        for _ in from..to {
            let entry = next_entry;
            next_entry += 1;
            let mut effects = bench.step(acquire(u64::from(entry), 0, entry));
            effects.append(&mut bench.step(connected(entry, 1, 1)));
            warnings.extend(told(effects).into_iter().map(|effect| (from, effect)));
        }
        for _ in to..from {
            let entry = bench.pool.entries().map(|row| row.entry.0).min().unwrap();
            let mut effects = bench.step(release(u64::from(entry)));
            effects.append(&mut bench.step(closed(entry, 1)));
            assert_eq!(told(effects), []);
        }
        assert_eq!(bench.pool.budget_usage().live, to);
    }
    assert_eq!(warnings, [(0, warning(budget, usage(5, 1))), (2, warning(budget, usage(5, 1)))]);
}

/// SPEC 9.4: what `status` keeps of refusals is bounded, one per server.
#[test]
fn refusals_are_kept_within_bounds() {
    let mut bench = held_with(enforce(1));
    for ticket in 1..100 {
        bench.now = ticket;
        bench.step(acquire(ticket, 0, 1 + ticket as u32 % 50));
    }
    let refusals: Vec<&BudgetRefusal> = bench.pool.refusals().collect();
    assert_eq!(refusals.len(), 32);
    assert_eq!((refusals[31].server, refusals[31].at), (ServerId(50), at(99)));
}
