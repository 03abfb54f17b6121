//! Servers that change and do not say so.

use serde_json::json;

use crate::follower::{Follower, settle};
use crate::rig::text;
use crate::{change, host, rig_with, seen, until};

/// SPEC 7.8: a server that says that its lists may change and never announces is read at the keep-alive, for every session.
#[test]
fn a_server_that_never_announces_is_read_at_the_keepalive() {
    let rig = rig_with(json!({ "keepalive_ms": 50 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes", "--tools", "1"]) })).await;
        let mut followers = [Follower::attach(&rig, "a").await, Follower::attach(&rig, "b").await];
        let unannounced = json!({ "notify": 0, "add": "new", "remove": "tool_1" });
        change(&followers[0].lease, unannounced).await;
        // The keep-alive is for a server of which nothing is heard, so that nothing may be asked here.
        until(async || followers.iter_mut().all(|f| f.look().contains_key("new"))).await;
        let truth = settle(&mut followers).await;
        assert!(!truth.contains_key("tool_1"));
    });
}

/// SPEC 7.8: one that says that its lists do not change is not.
#[test]
fn a_server_whose_lists_do_not_change_is_not_read_again() {
    let rig = rig_with(json!({ "keepalive_ms": 20 }));
    host(async {
        let log = rig.path("messages");
        let flags = ["--message-log", log.to_str().unwrap()];
        rig.configure(json!({ "s": rig.server(&flags) })).await;
        let follower = Follower::attach(&rig, "a").await;
        let pings = || {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            log.lines().filter(|line| line.contains("ping")).count()
        };
        until(async || pings() >= 5).await;
        assert_eq!(seen(&follower.lease, "tools/list").await, 1);
    });
}

/// SPEC 7.3, 7.8: lists that could not be read are read at the keep-alive, also of a server that announces.
#[test]
fn lists_that_could_not_be_read_are_made_up_for() {
    let rig = rig_with(json!({ "keepalive_ms": 50 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes", "--tools", "1"]) })).await;
        let mut followers = [Follower::attach(&rig, "a").await];
        text(&followers[0].lease, "fail_lists", json!({ "count": 4 })).await;
        change(&followers[0].lease, json!({ "add": "new" })).await;
        until(async || followers[0].look().contains_key("new")).await;
        settle(&mut followers).await;
    });
}
