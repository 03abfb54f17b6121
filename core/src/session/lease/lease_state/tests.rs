//! Tools that are hidden for more than one reason.

use trunkline_pool::acceptance::Accepted;
use trunkline_pool::catalog::{Catalog, Filter};
use trunkline_pool::options::OnToolChange;
use trunkline_pool::state::{Configuration, ServerId, Slot};

use super::*;

/// SPEC 11.6: a tool that the session leaves out is filtered, also while its definition is held
/// back.
#[test]
fn a_tool_that_is_left_out_and_held_back_is_filtered() {
    let list = |description: &str| {
        let tool = serde_json::json!({ "name": "x", "description": description, "inputSchema": { "type": "object" } });
        let mut catalog = Catalog::default();
        let page = serde_json::json!({ "tools": [tool] }).to_string();
        catalog.add_page(ListKind::Tools, &page).unwrap();
        catalog.finish();
        Arc::new(catalog)
    };
    let cell = EntryCell::listing("s", list("one"));
    let fingerprint = cell.spec.fingerprint("pool", &[]);
    let on_tool_change = OnToolChange::Quarantine;
    let configuration = Configuration { server: ServerId(0), fingerprint, on_tool_change };
    let mut accepted = Accepted::default();
    accepted.judge(configuration, list("one"));
    let judged = accepted.judge(configuration, list("another"));
    assert!(judged.held.tool("x").is_some());
    let slot = cell.load().slot.clone();
    cell.publish(Slot { catalog: judged.usable, held: judged.held, ..slot });
    for (exclude, reason) in [(vec![], "quarantined"), (vec!["x".into()], "filtered")] {
        let view = View { by_session: Filter { include: None, exclude }, ..View::default() };
        let seen = EntryView::new(cell.clone(), Arc::new(view));
        let held = LeaseState::new(seen, (ConfigOwner::Pool, HoldKind::Lease));
        let error = held.tool(&cell.load_full(), "x").unwrap_err();
        assert_eq!(error.detail()["reason"], reason, "{error}");
    }
}
