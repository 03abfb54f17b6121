//! I-14's moments one by one: while the lists are being read, between two pages, at the first lists, in a reconnect, at an attach.

use std::process::Command;

use serde_json::{Value, json};
use trunkline::EventMask;

use crate::follower::{Definitions, Follower, definitions, settle};
use crate::rig::{HANG, Rig, acquire, runs, text};
use crate::{change, host, rig, seen, until};

/// SPEC 7.2, I-14: while the lists are read for one change the next one comes, and moves the pages.
#[test]
fn a_change_between_two_pages_is_seen() {
    let rig = rig();
    let flags = ["--list-changes", "--page-size", "10", "--list-delay-ms", "100"];
    host(async {
        rig.configure(json!({ "s": rig.server(&flags) })).await;
        let mut followers = [Follower::attach(&rig, "a").await];
        let before = seen(&followers[0].lease, "tools/list").await;
        assert!(before > 2, "a list of one page or two shows nothing");
        change(&followers[0].lease, json!({ "add": "last" })).await;
        // The second page is asked for: the first was answered with tools that are about to go.
        until(async || seen(&followers[0].lease, "tools/list").await == before + 2).await;
        // Every later tool moves up by two, so that two are on no page that is asked for from now on.
        change(&followers[0].lease, json!({ "remove": ["big", "structured"] })).await;
        let truth = settle(&mut followers).await;
        assert!(!truth.contains_key("big") && truth.contains_key("last"));
    });
}

/// A server that announces a change while its first lists are on their way, and lists `new` from then on. Each start has
/// another `new`.
fn slips(rig: &Rig) -> Value {
    let log = rig.path("starts");
    let script = r#"
        echo $$ >> "$0"; start=$(wc -l < "$0"); name=old
        while read -r line; do
            id=${line#*\"id\":}; id=${id%%[,\}]*}
            case $line in
            *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"slips","version":"1"}}}\n' "$id";;
            *'"tools/list"'*)
                if [ $name = old ]; then printf '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'; fi
                printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"%s","inputSchema":{"type":"object"}}]}}\n' "$id" "$name"
                name="new_$start";;
            esac
        done"#;
    json!({ "command": "/bin/sh", "args": ["-c", script, log] })
}

fn only(name: &str) -> Definitions {
    let definition = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    Definitions::from([(name.to_owned(), definition)])
}

/// SPEC 7.2, 6.4, I-14: what is announced before anybody holds the server, and before it is back, is looked at.
#[test]
fn a_change_during_the_first_lists_is_seen() {
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": slips(&rig) })).await;
        let mut follower = Follower::attach(&rig, "a").await;
        for start in 1..=3 {
            let truth = only(&format!("new_{start}"));
            until(async || follower.sees(&truth)).await;
            let pid = *rig.starts().last().unwrap();
            let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.unwrap().success());
            until(async || !runs(pid)).await;
        }
    });
}

/// SPEC 6.4, I-14: who attaches while the lists are being read sees the old ones at once, then the new ones, and is told of the
/// difference.
#[test]
fn who_attaches_while_the_lists_are_read_sees_both() {
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes", "--list-delay-ms", "300"]) }))
            .await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let old = definitions(&session);
        change(&lease, json!({ "add": "new" })).await;
        until(async || seen(&lease, "tools/list").await == 2).await;
        let attached = rig.session("b");
        let attach = tokio::time::timeout(HANG, acquire(&attached, "s"));
        let _hold = attach.await.expect("it is connected");
        assert_eq!(definitions(&attached), old);
        let mut followers = [Follower::attach(&rig, "c").await];
        assert_eq!(followers[0].look(), old);
        let truth = settle(&mut followers).await;
        assert!(truth.contains_key("new"));
        assert_eq!([definitions(&session), definitions(&attached)], [truth.clone(), truth]);
    });
}

/// SPEC 7.3: lists that cannot be read leave the old ones, which can be called, and the next change is read again.
#[test]
fn lists_that_cannot_be_read_leave_the_old_ones() {
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes", "--tools", "1"]) })).await;
        let mut followers = [Follower::attach(&rig, "a").await, Follower::attach(&rig, "b").await];
        let old = followers[0].look();
        let events = followers[0].session.subscribe(EventMask::ALL).unwrap();
        let lease = &followers[0].lease;
        text(lease, "fail_lists", json!({ "count": 4 })).await;
        change(lease, json!({ "remove": "tool_1", "add": "new" })).await;
        for list in ["tools", "prompts", "resources", "resources/templates"] {
            until(async || seen(lease, &format!("{list}/list")).await == 2).await;
        }
        text(lease, "echo", json!({ "message": "the answers to the lists are here" })).await;
        assert!(followers.iter_mut().all(|follower| follower.sees(&old)));
        assert!(events.try_next().is_none(), "what failed is no news");

        let lease = &followers[0].lease;
        text(lease, "fail_lists", json!({ "count": 0 })).await;
        change(lease, json!({})).await;
        let truth = settle(&mut followers).await;
        let told: Value = serde_json::from_str(events.next().await.unwrap().json()).unwrap();
        let names = (&told["added"], &told["removed"], &told["changed"]);
        assert_eq!(names, (&json!(["new"]), &json!(["tool_1"]), &json!([])), "and nothing before");
        assert!(truth.contains_key("new") && !truth.contains_key("tool_1"));
    });
}
