//! What becomes of changed tools at several entries.

use std::sync::Arc;

use trunkline_pool::ErrorCode;
use trunkline_pool::catalog::{Catalog, Item};
use trunkline_pool::options::OnToolChange;
use trunkline_pool::state::*;

use crate::bench::*;

/// More names than are remembered of one configuration.
const NAMES: usize = 20_000;

fn item(name: impl Into<Arc<str>>, version: u8) -> Item {
    Item { name: name.into(), definition: "{}".into(), digest: [version; 32] }
}

/// SPEC 7.6: one configuration of a server has no room for the definition; what was accepted at another is told all the same.
#[test]
fn an_acceptance_that_fails_at_one_entry_is_told_of_the_other() {
    let mut bench = Bench::with({
        let mut options = options();
        options.on_tool_change = OnToolChange::Quarantine;
        options
    });
    bench.step(open(0));
    for key in [0, 1] {
        bench.step(acquire_of(u64::from(key), 0, key, 0, Family::Local));
    }
    bench.step(connected(0, 1, 1));
    let names = (0..NAMES).map(|number| item(format!("{number:05}"), 1)).collect();
    let catalog = Arc::new(Catalog { tools: names, ..Catalog::default() });
    bench.step(Input::Connected { connection: id(1, 1), catalog });
    for entry in [0, 1] {
        bench.step(stale(entry, 1));
        bench.step(listed(entry, 1, 1, 2));
    }
    let (ticket, tool) = (Ticket(9), Arc::from("t"));
    let accept = Input::AcceptTool { ticket, server: ServerId(0), tool, digest: [2; 32] };
    let effects = bench.step(accept);
    let [published, told, refused] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(published, &publish(0, 1, Active, 2));
    assert_eq!(told, &changed_and_renewed(0, 0, 1, 0, 2));
    let is_limit = matches!(refused, Effect::Refuse { ticket: Ticket(9), error }
        if error.code() == ErrorCode::Limit);
    assert!(is_limit, "{refused:?}");
}
