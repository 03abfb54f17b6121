//! Tools that are held back, and their acceptance.

use trunkline_pool::acceptance::{Held, HeldTool};
use trunkline_pool::options::{OnToolChange, PoolOptions};
use trunkline_pool::state::*;
use trunkline_pool::{Error, ErrorCode};

use crate::bench::*;

fn quarantine() -> PoolOptions {
    let mut options = options();
    options.on_tool_change = OnToolChange::Quarantine;
    options
}

/// A held entry whose tool came with another definition, which is held back.
fn held_back() -> (Bench, Held) {
    let mut bench = held_with(quarantine());
    bench.step(stale(0, 1));
    let held = published(&bench.step(listed(0, 1, 1, 2)));
    (bench, held)
}

/// What is published as held back.
fn published(effects: &[Effect]) -> Held {
    let held = effects.iter().find_map(|effect| match effect {
        Effect::Publish { slot, .. } => Some(slot.held.clone()),
        _ => None,
    });
    held.expect("something is published")
}

fn digests(held: &Held) -> Vec<(u8, Option<u8>)> {
    let of = |tool: &HeldTool| {
        (tool.item.digest[0], tool.accepted.as_ref().map(|accepted| accepted.digest[0]))
    };
    held.tools().iter().map(of).collect()
}

fn accept(ticket: u64, tool: &str, version: u8) -> Input {
    let (ticket, server) = (Ticket(ticket), ServerId(0));
    Input::AcceptTool { ticket, server, tool: tool.into(), digest: [version; 32] }
}

fn accepted(ticket: u64) -> Effect {
    Effect::ToolAccepted { ticket: Ticket(ticket) }
}

fn publish_held(
    entry: u32,
    generation: u32,
    state: EntryState,
    version: u8,
    held: &Held,
) -> Effect {
    let Effect::Publish { entry, mut slot } = publish(entry, generation, state, version) else {
        unreachable!("a publish is one")
    };
    slot.held = held.clone();
    Effect::Publish { entry, slot }
}

fn quarantined(session: u64, entry: u32, generation: u32, held: &Held) -> Effect {
    let (entry, generation) = (EntryId(entry), Generation(generation));
    tell(session, Notice::ToolsQuarantined { entry, generation, held: held.clone() })
}

/// What is told when the tool comes back with a definition that was accepted by hand.
fn accepted_change(session: u64, entry: u32, generation: u32, version: u8) -> Effect {
    changed_and_renewed(session, entry, generation, 0, version)
}

fn refused(effects: &[Effect], ticket: u64) -> &Error {
    match effects {
        [Effect::Refuse { ticket: answered, error }] if *answered == Ticket(ticket) => error,
        other => panic!("it is no refusal: {other:?}"),
    }
}

/// SPEC 7.6, S-41: first the lists without the tool, then the news of it, then that it went; every holder hears both.
#[test]
fn a_changed_tool_is_taken_out_and_told_of() {
    let mut bench = held_with(quarantine());
    bench.step(open(1));
    bench.step(acquire(1, 1, 0));
    bench.step(stale(0, 1));
    let effects = bench.step(listed(0, 1, 1, 2));
    let held = published(&effects);
    assert_eq!(digests(&held), [(2, Some(1))]);
    assert_eq!(
        effects,
        [
            publish_held(0, 1, Active, 0, &held),
            quarantined(0, 0, 1, &held),
            quarantined(1, 0, 1, &held),
            changed(0, 0, 1, 1, 0),
            changed(1, 0, 1, 1, 0),
        ]
    );
}

/// SPEC 7.6: the same definition is told of once; the next one again, though no tool comes or goes.
#[test]
fn a_definition_is_told_of_once() {
    let (mut bench, _) = held_back();
    bench.now = 250;
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 2, 2)), []);
    bench.now = 500;
    bench.step(stale(0, 1));
    let effects = bench.step(listed(0, 1, 3, 3));
    let held = published(&effects);
    assert_eq!(digests(&held), [(3, Some(1))]);
    assert_eq!(effects, [publish_held(0, 1, Active, 0, &held), quarantined(0, 0, 1, &held)]);
}

/// SPEC 7.6
#[test]
fn an_accepted_tool_is_listed_for_every_holder_and_then_answered() {
    let (mut bench, _) = held_back();
    bench.step(open(1));
    bench.step(acquire(1, 1, 0));
    assert_eq!(
        bench.step(accept(9, "t", 2)),
        [
            publish(0, 1, Active, 2),
            accepted_change(0, 0, 1, 2),
            accepted_change(1, 0, 1, 2),
            accepted(9),
        ]
    );
    assert_eq!(bench.step(accept(10, "t", 2)), [accepted(10)], "again, it does nothing");
    bench.now = 250;
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 2, 2)), [], "it stays accepted");
}

/// SPEC 7.6: what is accepted is what was shown.
#[test]
fn a_definition_that_is_not_the_one_held_back_is_refused() {
    let (mut bench, _) = held_back();
    let effects = bench.step(accept(9, "t", 1));
    assert_eq!(refused(&effects, 9).code(), ErrorCode::StaleApproval);
    let effects = bench.step(accept(10, "u", 2));
    assert_eq!(refused(&effects, 10).code(), ErrorCode::ToolNotFound);
    bench.step(accept(11, "t", 2));
    let effects = bench.step(accept(12, "t", 3));
    assert_eq!(refused(&effects, 12).code(), ErrorCode::StaleApproval, "a listed one is asked for");
}

/// SPEC 7.6, 9.7: nothing is accepted while the pool drains, and of a server that has no entry nothing is known.
#[test]
fn a_pool_that_drains_and_a_server_without_an_entry_accept_nothing() {
    let mut bench = Bench::with(quarantine());
    let effects = bench.step(accept(1, "t", 2));
    assert_eq!(refused(&effects, 1).code(), ErrorCode::ToolNotFound);
    let (mut bench, _) = held_back();
    bench.step(drain(2, DrainMode::Finish, 60_000));
    assert_eq!(bench.step(accept(3, "t", 2)), [refuse(3, closing())]);
}

/// SPEC 7.6: a tool that returns to its accepted definition is held back no longer, and is no changed one.
#[test]
fn the_accepted_definition_may_always_return() {
    let (mut bench, _) = held_back();
    bench.now = 250;
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 2, 1)), [publish(0, 1, Active, 1), changed(0, 0, 1, 0, 1)]);
    let effects = bench.step(accept(9, "t", 2));
    assert_eq!(refused(&effects, 9).code(), ErrorCode::StaleApproval);
}

/// SPEC 7.6: a name that goes while it is held back is held back no longer; when it comes again it is told of again.
#[test]
fn a_held_tool_that_goes_and_comes_is_told_of_again() {
    let (mut bench, held) = held_back();
    bench.now = 250;
    bench.step(stale(0, 1));
    assert_eq!(bench.step(listed(0, 1, 2, 0)), [publish(0, 1, Active, 0)]);
    assert_eq!(refused(&bench.step(accept(9, "t", 2)), 9).code(), ErrorCode::ToolNotFound);
    bench.now = 500;
    bench.step(stale(0, 1));
    assert_eq!(
        bench.step(listed(0, 1, 3, 2)),
        [publish_held(0, 1, Active, 0, &held), quarantined(0, 0, 1, &held)]
    );
}

/// SPEC 7.6, 8.5: `reconnected`, then what is held back, then what went, of one generation.
#[test]
fn a_server_that_comes_back_changed_is_held_back_after_reconnected() {
    let mut bench = held_with(quarantine());
    bench.step(disconnected(0, 1));
    bench.step(closed(0, 1));
    bench.wait_until(1_000);
    let effects = bench.step(connected(0, 2, 2));
    let held = published(&effects);
    assert_eq!(
        effects,
        [
            publish_held(0, 2, Active, 0, &held),
            status(0, 2, Reconnecting, Active, "connected"),
            back(0, 0, 2, 1, 1_000),
            quarantined(0, 0, 2, &held),
            changed(0, 0, 2, 1, 0),
        ]
    );
}

/// SPEC 7.6, 6.4: who attaches later is told of what is held back, and only that session; so is who waited for the connect.
#[test]
fn who_comes_later_is_told_of_what_is_held_back() {
    let (mut bench, held) = held_back();
    bench.step(open(1));
    assert_eq!(bench.step(acquire(1, 1, 0)), [grant(1, 1, 0), quarantined(1, 0, 1, &held)]);
    assert_eq!(bench.step(acquire(2, 1, 0)), [grant(2, 2, 0)], "a second hold is no news");
    for lease in [0, 1, 2] {
        bench.step(release(lease));
    }
    bench.wait_until(1_000);
    bench.step(closed(0, 1));
    bench.step(acquire(3, 1, 0));
    let effects = bench.step(connected(1, 1, 2));
    assert!(effects.contains(&quarantined(1, 1, 1, &held)), "{effects:?}");
    let to_other = effects.iter().any(|effect| *effect == quarantined(0, 1, 1, &held));
    assert!(!to_other, "{effects:?}");
}

/// SPEC 7.6, 2.3: an acceptance counts for every entry of the server that lists that definition, and for its configuration alone.
#[test]
fn an_acceptance_counts_where_that_definition_is_listed() {
    let mut bench = held_with(quarantine());
    bench.step(open(1));
    bench.step(acquire_of(1, 1, 5, 0, Family::Local));
    bench.step(connected(1, 1, 1));
    for entry in [0, 1] {
        bench.step(stale(entry, 1));
    }
    bench.step(listed(0, 1, 1, 2));
    bench.step(listed(1, 1, 1, 3));
    let effects = bench.step(accept(9, "t", 3));
    assert_eq!(
        effects,
        [publish(1, 1, Active, 3), accepted_change(1, 1, 1, 3), accepted(9)],
        "one of the two has it"
    );
    let effects = bench.step(accept(10, "t", 2));
    assert_eq!(effects, [publish(0, 1, Active, 2), accepted_change(0, 0, 1, 2), accepted(10)]);
}

/// SPEC 7.6: under `notify` nothing is held back, and a tool that comes back with another definition is told of as changed.
#[test]
fn by_default_another_definition_takes_the_place_of_the_old() {
    let mut bench = held();
    for (number, version) in [(1, 0), (2, 2)] {
        bench.now += 250;
        bench.step(stale(0, 1));
        let effects = bench.step(listed(0, 1, number, version));
        let told = match version {
            0 => changed(0, 0, 1, 1, 0),
            _ => changed_and_renewed(0, 0, 1, 0, 2),
        };
        assert_eq!(effects, [publish(0, 1, Active, version), told]);
    }
    assert_eq!(bench.step(accept(9, "t", 2)), [accepted(9)], "it is accepted already");
}
