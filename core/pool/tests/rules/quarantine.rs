//! What becomes of changed tools at several entries.

use std::sync::Arc;

use trunkline_pool::ErrorCode;
use trunkline_pool::acceptance::Recalled;
use trunkline_pool::catalog::{Catalog, Item};
use trunkline_pool::state::*;

use crate::bench::*;

/// More names than are remembered of one configuration.
const NAMES: usize = 20_000;

fn item(name: impl Into<Arc<str>>, version: u8) -> Item {
    Item { name: name.into(), definition: "{}".into(), digest: [version; 32] }
}

/// These tools are kept as accepted, by their versions.
fn keep_accepted(key: u32, tools: &[(&str, u8)], tool: Option<Item>) -> Effect {
    let accepted = tools.iter().map(|(name, version)| (Arc::from(*name), [*version; 32]));
    let (configuration, accepted) = (held_back_of(key, 0), Arc::new(accepted.collect()));
    Effect::KeepAccepted { configuration, accepted, tool }
}

fn accept(ticket: u64, tool: &str, version: u8) -> PoolInput {
    let (ticket, tool, digest) = (Ticket(ticket), Arc::from(tool), [version; 32]);
    PoolInput::AcceptTool { ticket, server: ServerId(0), tool, digest }
}

fn recall(key: u32, recalled: Recalled) -> PoolInput {
    PoolInput::Recall { configuration: held_back_of(key, 0), recalled }
}

/// SPEC 7.6: what is accepted is kept when it is another than before, and only where it holds
/// something back.
#[test]
fn what_is_accepted_is_kept() {
    let mut bench = Bench::with(options());
    bench.step(open(0));
    bench.step(acquire_held_back(0, 0, 0, 0));
    bench.step(acquire_of(1, 0, 1, 0, Family::Local));
    let kept = |effects: Vec<Effect>| -> Vec<Effect> {
        effects.into_iter().filter(|one| matches!(one, Effect::KeepAccepted { .. })).collect()
    };
    assert_eq!(kept(bench.step(connected(0, 1, 1))), [keep_accepted(0, &[("t", 1)], None)]);
    assert_eq!(kept(bench.step(connected(1, 1, 1))), []);
    for (number, version) in [(1, 1), (2, 2)] {
        bench.wait_until(250 * number);
        bench.step(stale(0, 1));
        assert_eq!(kept(bench.step(listed(0, 1, number, version))), []);
    }
    let accepted = kept(bench.step(accept(2, "t", 2)));
    assert_eq!(accepted, [keep_accepted(0, &[("t", 2)], Some(item("t", 2)))]);
    assert_eq!(kept(bench.step(accept(3, "t", 2))), []);
}

/// SPEC 7.6, 14.2: what is held back of a server that sleeps is shown, and can be accepted.
#[test]
fn what_is_held_back_is_accepted_without_an_entry() {
    let mut bench = Bench::with(options());
    bench.step(open(0));
    bench.step(recall(0, Recalled::Shown(tools(1))));
    bench.step(acquire_held_back(0, 0, 0, 0));
    let effects = bench.step(connected(0, 1, 2));
    let told = |effect: &Effect| {
        matches!(effect, Effect::Notify { notice: Notice::ToolsQuarantined { .. }, .. })
    };
    assert!(effects.iter().any(told), "{effects:?}");
    bench.step(PoolInput::CloseSession { session: SessionId(0), keep_for: ms(0) });
    bench.wait_until(2_000);
    bench.step(closed(0, 1));
    assert_eq!(bench.pool.entries().count(), 0);
    assert_eq!(bench.pool.held_of(ServerId(0)).tools()[0].item, item("t", 2));
    let code = |effects: Vec<Effect>| match &effects[..] {
        [Effect::Refuse { error, .. }] => Some(error.code()),
        _ => None,
    };
    assert_eq!(code(bench.step(accept(1, "t", 9))), Some(ErrorCode::StaleApproval));
    assert_eq!(code(bench.step(accept(2, "u", 2))), Some(ErrorCode::ToolNotFound));
    let kept = keep_accepted(0, &[("t", 2)], Some(item("t", 2)));
    let done = |ticket| Effect::ToolAccepted { ticket: Ticket(ticket) };
    assert_eq!(bench.step(accept(3, "t", 2)), [kept, done(3)]);
    assert_eq!(bench.step(accept(4, "t", 2)), [done(4)]);
    assert_eq!(code(bench.step(accept(5, "t", 1))), Some(ErrorCode::ToolNotFound));
    assert!(bench.pool.held_of(ServerId(0)).tools().is_empty());
}

/// SPEC 7.6: one configuration of a server has no room for the definition; what was accepted at
/// another is told all the same.
#[test]
fn an_acceptance_that_fails_at_one_entry_is_told_of_the_other() {
    let mut bench = Bench::with(options());
    bench.step(open(0));
    for key in [0, 1] {
        bench.step(acquire_held_back(u64::from(key), 0, key, 0));
    }
    bench.step(connected(0, 1, 1));
    let names = (0..NAMES).map(|number| item(format!("{number:05}"), 1)).collect();
    let catalog = Arc::new(Catalog { tools: names, ..Catalog::default() });
    bench.step(PoolInput::Connected { connection: id(1, 1), catalog });
    for entry in [0, 1] {
        bench.step(stale(entry, 1));
        bench.step(listed(entry, 1, 1, 2));
    }
    let (ticket, tool) = (Ticket(9), Arc::from("t"));
    let accept = PoolInput::AcceptTool { ticket, server: ServerId(0), tool, digest: [2; 32] };
    let effects = bench.step(accept);
    let [kept, published, told, refused] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(kept, &keep_accepted(0, &[("t", 2)], Some(item("t", 2))));
    assert_eq!(published, &publish(0, 1, Active, 2));
    assert_eq!(told, &changed_and_renewed(0, 0, 1, 0, 2));
    let is_limit = matches!(refused, Effect::Refuse { ticket: Ticket(9), error }
        if error.code() == ErrorCode::Limit);
    assert!(is_limit, "{refused:?}");
}
