//! Settings files that are edited on disk, with real processes (SPEC 13).
#![cfg(target_os = "linux")]

use rig::edited::{Edited, labels};
use rig::{HANG, host, until};
use serde_json::{Value, json};
use trunkline::{EventMask, Subscription, WorkspaceTrust};

/// Waits for the next event of a kind.
fn next(events: &Subscription, kind: &str) -> Value {
    host(async {
        loop {
            let event = tokio::time::timeout(HANG, events.next()).await.expect("it never came");
            let event: Value = serde_json::from_str(event.unwrap().json()).unwrap();
            if event["type"] == *kind {
                return event;
            }
        }
    })
}

/// SPEC 13.1, 13.5: an edit becomes exactly the connections that changed.
#[test]
fn an_edit_replaces_what_changed_and_nothing_else() {
    let edited = Edited::new("settings.json");
    edited.begin(&labels([("kept", "1"), ("changed", "1"), ("removed", "1")]));
    let kept = edited.pid("kept");
    let now = labels([("kept", "1"), ("changed", "2"), ("added", "1")]);
    edited.save(&now);
    edited.settles(&now);
    assert_eq!(edited.pid("kept"), kept);
}

/// SPEC 13.1: the old process is gone before the new one begins, at each of many edits.
#[test]
fn a_changed_command_ends_the_old_process_first() {
    let edited = Edited::new("settings.json");
    edited.begin(&labels([("s", "0")]));
    for number in 1..10 {
        let now = labels([("s", &number.to_string())]);
        edited.save(&now);
        edited.settles(&now);
        assert_eq!(edited.overlaps(), Vec::<std::path::PathBuf>::new());
    }
}

/// SPEC 13.1: one that still connects has ended first too, however soon the next change comes.
#[test]
fn a_server_that_still_connects_ends_before_its_replacement_begins() {
    let edited = Edited::new("settings.json");
    let slow = r#"exec "$@" --initialize-delay-ms 300"#;
    let noted = std::fs::read_to_string(edited.rig.path("noted.sh")).unwrap();
    std::fs::write(edited.rig.path("noted.sh"), noted.replace(r#"exec "$@""#, slow)).unwrap();
    let mut now = labels([]);
    for number in 0..10 {
        now = labels([("s", &number.to_string())]);
        edited.save(&now);
        edited.load_as(&edited.file, json!({}));
        // At every other change a process is there, at the rest it is only about to be.
        if number % 2 == 0 {
            until(|| edited.pids().contains_key("s"));
        }
    }
    edited.settles(&now);
    until(|| !edited.session.tools().unwrap().is_empty());
    assert_eq!(edited.overlaps(), Vec::<std::path::PathBuf>::new());
}

/// SPEC 13.1: one that may be idle for long ends at once when another takes its place.
#[test]
fn a_replaced_server_does_not_stay_for_the_drain_delay() {
    let options = json!({ "trusted": true, "exit_grace_ms": 2000 });
    let edited = Edited::with(options, "settings.json");
    edited.begin(&labels([("s", "0")]));
    until(|| !edited.session.tools().unwrap().is_empty());
    let now = labels([("s", "1")]);
    edited.save(&now);
    edited.settles(&now);
    assert_eq!(edited.overlaps(), Vec::<std::path::PathBuf>::new());
}

/// SPEC 10.7, 13.5: it is told where, what ran runs on, and the next good text counts.
#[test]
fn a_source_that_breaks_keeps_its_last_good_state_and_says_where() {
    let edited = Edited::new("settings.json");
    let mut now = labels([("s", "1"), ("t", "1")]);
    edited.begin(&now);
    let before = edited.pids();
    let events = edited.rig.pool.subscribe(EventMask::ALL).unwrap();
    let broken = edited.text(&now).replacen("\"mcpServers\": {", "\"mcpServers\": {\n @", 1);
    edited.replace(&broken);
    let told = next(&events, "source_error");
    assert_eq!(told["source"], format!("user:{}", edited.file.display()));
    assert_eq!(told["line"], 3, "{told}");
    assert_eq!(edited.pids(), before);
    now.insert("t".into(), "2".into());
    edited.save(&now);
    edited.settles(&now);
    assert_eq!(edited.pid("s"), before["s"]);
}

/// SPEC 10.7, 13.6: one entry that is wrong keeps what its server had, and the others follow.
#[test]
fn an_entry_that_breaks_keeps_what_it_had() {
    let edited = Edited::new("settings.json");
    let mut now = labels([("s", "1"), ("t", "1")]);
    edited.begin(&now);
    let before = edited.pid("s");
    now.insert("t".into(), "2".into());
    let mut text: Value = serde_json::from_str(&edited.text(&now)).unwrap();
    text["mcpServers"]["s"] = json!({ "command": "sh", "args": 7 });
    std::fs::write(&edited.file, text.to_string()).unwrap();
    edited.settles(&now);
    assert_eq!(edited.pid("s"), before);
}

/// SPEC 13.3, 13.5: a save that means the same is no change; another file that is saved with it
/// shows that it was read.
#[test]
fn a_save_that_means_the_same_does_nothing() {
    let edited = Edited::new("settings.json");
    let (first, mut second) = (labels([("s", "1")]), labels([("t", "1")]));
    edited.save(&first);
    edited.load();
    let other = edited.rig.path("other.json");
    std::fs::write(&other, edited.text(&second)).unwrap();
    edited.load_as(&other, json!({ "watch": true }));
    edited.settles(&labels([("s", "1"), ("t", "1")]));
    let before = edited.pid("s");
    let events = edited.rig.pool.subscribe(EventMask::ALL).unwrap();
    let text = edited.text(&first);
    edited.replace(&format!("// another look\n{}", text.replace('\n', " ")));
    second.insert("t".into(), "2".into());
    std::fs::write(&other, edited.text(&second)).unwrap();
    let told = next(&events, "reconciled");
    assert_eq!(told["servers"].as_object().unwrap().keys().collect::<Vec<_>>(), ["t"]);
    let told = next(&events, "source_changed");
    assert_eq!(told["source"], format!("user:{}", other.display()));
    edited.settles(&labels([("s", "1"), ("t", "2")]));
    assert_eq!((edited.pid("s"), edited.rig.starts().len()), (before, 3));
}

/// SPEC 13.5: a file and its folder that are not there yet; when they go, so do its servers, and
/// they come back with it.
#[test]
fn a_file_that_is_not_there_yet_counts_when_it_comes() {
    let edited = Edited::new("later/settings.json");
    edited.load();
    let now = labels([("s", "1")]);
    let folder = edited.file.parent().unwrap();
    for _ in 0..3 {
        std::fs::create_dir(folder).unwrap();
        edited.save(&now);
        edited.settles(&now);
        std::fs::remove_dir_all(folder).unwrap();
        edited.settles(&labels([]));
    }
}

/// SPEC 11.4, 13.5: what changes on disk while nothing is trusted counts when it is; a source that
/// needs no trust shows that the change was heard.
#[test]
fn a_file_that_changed_without_trust_counts_with_it() {
    let options = json!({ "trusted": false, "drain_delay_ms": 0, "exit_grace_ms": 2000 });
    let edited = Edited::with(options, "settings.json");
    edited.save(&labels([]));
    edited.load();
    let launch = edited.rig.path("launch.json");
    edited.load_as(&launch, json!({ "watch": true, "source": "launch" }));
    edited.save(&labels([("s", "2"), ("t", "1")]));
    let at_launch = labels([("l", "1")]);
    std::fs::write(&launch, edited.text(&at_launch)).unwrap();
    edited.settles(&at_launch);
    let pool = edited.rig.pool.clone();
    let trust = async move { pool.set_trusted(WorkspaceTrust::Trusted).await };
    edited.rig.pool.block_on(trust).unwrap();
    edited.settles(&labels([("l", "1"), ("s", "2"), ("t", "1")]));
}

/// SPEC 13.5: nothing watches for a pool that is closed.
#[test]
fn a_closed_pool_watches_nothing() {
    // Other tests have their own watchers.
    rig::alone!();
    let watchers = || {
        let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = threads.map(|thread| std::fs::read_to_string(thread.path().join("comm")));
        names.flatten().filter(|name| name.trim() == "trunkline-watch").count()
    };
    let edited = Edited::new("settings.json");
    edited.load();
    assert!(watchers() >= 1);
    drop(edited);
    until(|| watchers() == 0);
}
