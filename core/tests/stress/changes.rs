//! A server that announces changes faster than anybody could list them.

use std::time::Instant;

use rig::{Rig, acquire, host, text, until};
use serde_json::json;
use trunkline::ListedItem;

/// SPEC 7.2: listings begin 250 ms apart, however many changes are announced, and the last one is
/// seen.
#[test]
fn a_storm_of_notifications_costs_four_lists_a_second() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let begun = Instant::now();
        let last = text(&lease, "storm", json!({ "notifications": 1000 })).await;
        let end = format!("version {last}\"");
        let is_last =
            |tool: &ListedItem| &*tool.own_name == "version" && tool.definition.contains(&end);
        until(|| session.tools().unwrap().iter().any(is_last));
        let took = begun.elapsed();
        let lists: u128 =
            text(&lease, "seen", json!({ "method": "tools/list" })).await.parse().unwrap();
        println!("{lists} lists in {took:?}");
        // Beside those that were spaced: the first of the connection, and that of the first change.
        assert!(lists >= 3 && lists <= took.as_millis() / 250 + 2, "{lists} lists in {took:?}");
    });
}
