//! Storms of announcements.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline::CallOptions;

use crate::follower::{Follower, newest, settle};
use crate::rig::text;
use crate::{host, rig, seen};

/// From the beginning of one listing to that of the next, at least.
const SPACING: Duration = Duration::from_millis(250);

/// SPEC 7.2, S-24: a thousand changes within about a second cost a few lists, however many sessions there are, and the last is
/// seen by all.
#[test]
fn a_storm_costs_a_few_lists_and_its_last_state_is_seen_by_all() {
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes", "--drift", "--tools", "1"]) }))
            .await;
        let mut followers = Vec::new();
        for number in 0..16 {
            followers.push(Follower::attach(&rig, &format!("s{number}")).await);
        }
        let lease = &followers[0].lease;
        let before = seen(lease, "tools/list").await;
        let begun = Instant::now();
        let arguments = json!({ "notifications": 1_000, "per_second": 2_000 }).to_string();
        let options = CallOptions::default();
        let storm = lease.call_tool("storm", &arguments, &options);
        // A storm does not stand in the way of calls.
        let call = text(&followers[1].lease, "echo", json!({ "message": "meanwhile" }));
        let (last, echoed) = tokio::join!(storm, call);
        assert_eq!(echoed, "meanwhile");
        let last: Value = serde_json::from_str(last.unwrap().json()).unwrap();
        let last: u64 = last["content"][0]["text"].as_str().unwrap().parse().unwrap();
        assert!(last >= 1_000, "{last}");

        let asked = seen(&followers[0].lease, "tools/list").await;
        let took = begun.elapsed();
        let most = 2 + (took.as_millis() / SPACING.as_millis()) as u64;
        assert!((1..=most).contains(&(asked - before)), "{} lists in {took:?}", asked - before);
        // The question for the truth is one more list.
        let truth = settle(&mut followers).await;
        assert_eq!(newest(&truth), (1, last));
        let after = seen(&followers[0].lease, "tools/list").await - 1;
        assert!(after - asked <= 2, "{} lists after the storm", after - asked);
    });
}
