//! What is decided elsewhere or meanwhile: other hosts, other programs, lists of files, changes at
//! once (SPEC 10.5, 11.1, 11.5, 12.6, 13.2).

use std::io::Read;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use trunkline::{EventMask, SessionOptions, Switch, WorkspaceTrust};

/// What is asked for a server.
async fn hash_of(pool: &Pool, server: &str) -> String {
    let approvals = pool.approvals().await.unwrap();
    let requests = approvals["requests"].as_array().unwrap();
    let request = requests.iter().find(|one| one["server"] == server).unwrap();
    request["hash"].as_str().unwrap().to_owned()
}

/// Waits until what so many servers listed is kept with their approvals: nobody writes the file any
/// more then.
fn until_kept(file: &std::path::Path, servers: usize) {
    until(|| std::fs::read_to_string(file).unwrap().matches("\"tools\"").count() == servers);
}

pub(super) async fn approve(pool: &Pool, server: &str) -> String {
    let hash = hash_of(pool, server).await;
    pool.approve(server, &hash).await.unwrap();
    hash
}

/// SPEC 12.6, 11.5, S-13: a rejection by another host stops the next start here.
#[test]
fn a_rejection_by_another_host_stops_the_next_start() {
    let store = Folder::new();
    let options = json!({ "trusted": true, "approvals": store.join("approvals.json") });
    let one = Rig::in_workspace(options.clone());
    let workspace = one.path("ws");
    let mut options = options;
    options["workspace"] = json!(workspace);
    let other = Rig::new(options);
    host(async {
        let session = wanting(&one, "a");
        let servers = json!({ "s": one.server(&[]) });
        set(&one.pool, "project", servers.clone());
        set(&other.pool, "project", servers);
        let hash = approve(&one.pool, "s").await;
        settled(&one).await;
        // The other host learns of the approval, and takes it back.
        other.pool.approvals().await.unwrap();
        other.pool.reject("s", &hash).await.unwrap();
        assert_eq!(row(&one.pool, "s")["state"], "connected");
        let restarted = one.pool.restart("s", None).await.unwrap();
        assert_eq!(restarted["entries"][0]["restarted"], false, "{restarted}");
        until(|| row(&one.pool, "s")["reason"] == "rejected");
        one.wait_for_no_process();
        assert_eq!(one.starts().len(), 1);
        assert_eq!(tools(&session), 0);
        let error = one.pool.approve("s", "v1:00").await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
        one.pool.approve("s", &hash).await.unwrap();
        assert_eq!(settled(&one).await["s"]["state"], "ready");
    });
}

/// SPEC 10.5, 12.2, S-05, S-08: a command that leads to another file than the one that was approved
/// waits for approval again.
#[test]
fn a_command_that_leads_to_another_file_is_pending_again() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let tool = rig.path("tool");
        symlink(rig::testserver(), &tool).unwrap();
        let mut server = rig.server(&[]);
        server["command"] = json!(tool);
        set(&rig.pool, "project", json!({ "s": server }));
        let hash = approve(&rig.pool, "s").await;
        settled(&rig).await;
        let evil = rig.path("evil");
        std::fs::write(&evil, format!("#!/bin/sh\ntouch {}\n", rig.path("ran").display())).unwrap();
        std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        std::fs::remove_file(&tool).unwrap();
        symlink(&evil, &tool).unwrap();
        rig.pool.restart("s", None).await.unwrap();
        until(|| row(&rig.pool, "s")["reason"] == "pending_approval");
        let approvals = rig.pool.approvals().await.unwrap();
        let request = &approvals["requests"][0];
        assert_ne!(request["hash"], hash.as_str());
        assert_eq!(request["exact"]["program"], json!(evil));
        assert_eq!(
            rig.pool.approve("s", &hash).await.unwrap_err().code(),
            ErrorCode::StaleApproval
        );
        assert!(!rig.path("ran").exists());
        rig.wait_for_no_process();
    });
}

/// SPEC 12.1, 13.1: another configuration of what was approved waits, and what ran is let go.
#[test]
fn what_was_approved_is_let_go_when_its_configuration_is_another() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        approve(&rig.pool, "s").await;
        settled(&rig).await;
        set(&rig.pool, "project", json!({ "s": rig.server(&["--tools", "2"]) }));
        assert_eq!(tools(&session), 0);
        rig.wait_for_no_process();
        assert_eq!(rig.starts().len(), 1);
        // The first was approved, and is again.
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        assert_eq!(settled(&rig).await["s"]["state"], "ready");
    });
}

/// SPEC 11.1: what any source excludes is out, and what runs is on every list of those that may.
#[test]
fn lists_of_files_exclude_and_narrow() {
    let rig = rig(json!({ "trusted": true, "allowed": ["s", "t", "u"] }));
    host(async {
        let _session = wanting(&rig, "a");
        let server = || rig.server(&[]);
        let servers = json!({ "s": server(), "t": server(), "u": server(), "v": server() });
        set(&rig.pool, "user", servers);
        settled(&rig).await;
        assert_eq!(rig.running().len(), 3);
        let lists = json!({ "mcp": { "allowed": ["s", "t", "v"], "excluded": ["t"] } }).to_string();
        let source = name("workspace:/srv/.gemini/settings.json");
        rig.pool.set_source(&source, Some(&lists)).unwrap();
        let reason = |server: &str| row(&rig.pool, server)["reason"].clone();
        assert_eq!(reason("s"), Value::Null);
        assert_eq!(reason("t"), "excluded");
        assert_eq!(reason("u"), "not_allowed");
        assert_eq!(reason("v"), "not_allowed");
        until(|| rig.running().len() == 1);
        rig.pool.switch_source(&source, Switch::Off).unwrap();
        settled(&rig).await;
        assert_eq!(rig.running().len(), 3);
    });
}

/// SPEC 13.2: whatever comes at once, the newest state stands, and nothing waits for itself.
#[test]
fn changes_at_once_end_in_the_newest_state() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let servers: Vec<Value> =
            (0..3).map(|number| rig.server(&["--tools", &number.to_string()])).collect();
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let (pool, servers) = (&rig.pool, &servers);
                scope.spawn(move || {
                    for turn in 0..25_usize {
                        let server = &servers[(thread + turn) % 3];
                        match (thread + turn) % 4 {
                            0 => drop(set(pool, "user", json!({ "s": server }))),
                            1 => drop(set(pool, "launch", json!({ "s": server, "t": server }))),
                            2 => drop(pool.set_source(&name("launch"), None).unwrap()),
                            _ => {
                                host(pool.set_trusted(WorkspaceTrust::Untrusted)).unwrap();
                                host(pool.set_trusted(WorkspaceTrust::Trusted)).unwrap();
                            }
                        }
                    }
                });
            }
        });
        set(&rig.pool, "launch", json!({ "t": servers[2] }));
        set(&rig.pool, "user", json!({ "s": servers[1] }));
        let states = settled(&rig).await;
        assert_eq!([&states["s"]["state"], &states["t"]["state"]], ["ready", "ready"], "{states}");
        assert_eq!(states["s"]["source"], "user");
        for (server, tools) in [("s", "1"), ("t", "2")] {
            let row = row(&rig.pool, server);
            let entries = row["entries"].as_array().unwrap().iter();
            let held: Vec<&Value> = entries.filter(|entry| entry["refs"] == 1).collect();
            assert_eq!(held.len(), 1, "{row}");
            let arguments = format!("/proc/{}/cmdline", held[0]["pid"]);
            let arguments = std::fs::read_to_string(arguments).unwrap();
            assert!(arguments.contains(&format!("--tools\0{tools}\0")), "{arguments}");
        }
    });
}

/// SPEC 16.2: who is woken by a change may make another.
#[test]
fn who_hears_of_a_change_may_make_another() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let events = Arc::new(rig.pool.subscribe(EventMask::ALL).unwrap());
        let (pool, server, done) =
            (rig.pool.clone(), rig.server(&[]), Arc::new(AtomicBool::new(false)));
        let once = done.clone();
        events.set_wake(move || {
            if !once.swap(true, Ordering::SeqCst) {
                set(&pool, "launch", json!({ "t": server }));
            }
        });
        set(&rig.pool, "user", json!({ "s": rig.server(&[]) }));
        let states = settled(&rig).await;
        assert_eq!([&states["s"]["state"], &states["t"]["state"]], ["ready", "ready"], "{states}");
        assert!(done.load(Ordering::SeqCst));
    });
}

/// SPEC 12.7: what is approved starts in every session that wants it, and in no other.
#[test]
fn an_approval_starts_the_server_in_the_sessions_that_want_it() {
    let rig = trusted();
    host(async {
        let wants = wanting(&rig, "a");
        let without =
            rig.pool.session(SessionOptions::from_json(r#"{"id":"b","servers":[]}"#).unwrap());
        let without = without.unwrap();
        set(&rig.pool, "workspace", json!({ "s": rig.server(&[]) }));
        approve(&rig.pool, "s").await;
        settled(&rig).await;
        assert!(tools(&wants) > 0);
        assert_eq!(tools(&without), 0);
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 10.7, 12.7: what goes on while its newest configuration is wrong ends with its approval.
#[test]
fn what_an_invalid_entry_keeps_ends_with_its_approval() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        approve(&rig.pool, "s").await;
        settled(&rig).await;
        set(&rig.pool, "project", json!({ "s": { "command": 5 } }));
        assert!(tools(&session) > 0);
        rig.pool.forget("s").await.unwrap();
        assert_eq!(tools(&session), 0);
        rig.wait_for_no_process();
        assert_eq!(row(&rig.pool, "s")["reason"], "invalid_config");
    });
}

/// SPEC 11.4: what drains when trust is lost ends at once, whether a source still names it or not.
#[test]
fn what_was_removed_ends_with_trust_all_the_same() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 600_000 }));
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "user", json!({ "s": rig.server(&[]), "t": rig.server(&[]) }));
        settled(&rig).await;
        set(&rig.pool, "user", json!({ "t": { "command": 5 } }));
        assert!(tools(&session) > 0);
        assert_eq!(rig.running().len(), 2);
        rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        rig.wait_for_no_process();
        assert_eq!(tools(&session), 0);
    });
}

/// Two hosts with one workspace and one file of decisions, whose folder goes after them.
pub(super) fn two_hosts() -> (Folder, Rig, Rig) {
    let store = Folder::new();
    let mut options = json!({ "trusted": true, "approvals": store.join("approvals.json") });
    let one = Rig::in_workspace(options.clone());
    options["workspace"] = json!(one.path("ws"));
    let other = Rig::new(options);
    (store, one, other)
}

/// SPEC 12.6: whatever another host decided is followed, also when it was read for the sake of
/// another server.
#[test]
fn every_decision_of_another_host_that_was_read_is_followed() {
    let (_store, one, other) = two_hosts();
    host(async {
        let _session = wanting(&one, "a");
        let servers = json!({ "x": one.server(&[]), "y": one.server(&["--tools", "1"]) });
        set(&one.pool, "project", servers.clone());
        set(&other.pool, "project", servers);
        approve(&one.pool, "x").await;
        let hash = approve(&one.pool, "y").await;
        settled(&one).await;
        other.pool.approvals().await.unwrap();
        other.pool.reject("y", &hash).await.unwrap();
        let restarted = one.pool.restart("x", None).await.unwrap();
        assert_eq!(restarted["entries"][0]["restarted"], true);
        one.pool.approvals().await.unwrap();
        assert_eq!(row(&one.pool, "y")["reason"], "rejected");
        until(|| one.running().len() == 1);
    });
}

/// SPEC 12.6: what another host decided is followed also when it was read for a decision that
/// cannot be kept.
#[test]
fn a_decision_that_cannot_be_kept_follows_those_that_it_read() {
    let (store, one, other) = two_hosts();
    host(async {
        let servers = json!({ "x": one.server(&[]), "y": one.server(&["--tools", "1"]) });
        set(&one.pool, "project", servers.clone());
        set(&other.pool, "project", servers);
        let (x, y) = (hash_of(&one.pool, "x").await, approve(&one.pool, "y").await);
        other.pool.approvals().await.unwrap();
        other.pool.reject("y", &y).await.unwrap();
        // A folder in the way of what a save writes first.
        let in_the_way = store.join("approvals.json.new");
        std::fs::create_dir(&in_the_way).unwrap();
        let error = one.pool.approve("x", &x).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Store);
        assert_eq!(row(&one.pool, "x")["approval_state"], "pending");
        assert_eq!(row(&one.pool, "y")["approval_state"], "rejected");
        std::fs::remove_dir(&in_the_way).unwrap();
        other.pool.approve("y", &y).await.unwrap();
        std::fs::create_dir(&in_the_way).unwrap();
        assert_eq!(one.pool.forget("y").await.unwrap_err().code(), ErrorCode::Store);
        assert_eq!(row(&one.pool, "y")["approval_state"], "approved");
    });
}

/// SPEC 12.6: while decisions cannot be read nothing begins, and what runs goes on; it comes back
/// by itself.
#[test]
fn decisions_that_cannot_be_read_for_a_while_end_nothing() {
    let (store, one, other) = two_hosts();
    drop(other);
    host(async {
        let _session = wanting(&one, "a");
        let servers = json!({ "x": one.server(&[]), "y": one.server(&["--tools", "1"]) });
        set(&one.pool, "project", servers);
        approve(&one.pool, "x").await;
        approve(&one.pool, "y").await;
        settled(&one).await;
        let events = one.pool.subscribe(EventMask(trunkline::EventKind::ApprovalNeeded.bit()));
        let events = events.unwrap();
        let y = row(&one.pool, "y")["entries"][0]["pid"].clone();
        let file = store.join("approvals.json");
        until_kept(&file, 2);
        let kept = std::fs::read(&file).unwrap();
        // What a later version wrote cannot be read, and is not touched.
        std::fs::write(&file, r#"{"v": 1000}"#).unwrap();
        let restarted = one.pool.restart("x", None).await.unwrap();
        assert_eq!(restarted["entries"][0]["restarted"], false, "{restarted}");
        assert_eq!(one.pool.approvals().await.unwrap_err().code(), ErrorCode::Store);
        set(&one.pool, "user", json!({ "u": one.server(&[]) }));
        until(|| row(&one.pool, "u")["state"] == "connected");
        assert_eq!(row(&one.pool, "y")["entries"][0]["pid"], y);
        assert_ne!(row(&one.pool, "x")["state"], "connected");
        std::fs::write(&file, kept).unwrap();
        until(|| row(&one.pool, "x")["state"] == "connected");
        assert_eq!(row(&one.pool, "y")["entries"][0]["pid"], y);
        assert!(events.try_next().is_none(), "nobody is asked");
    });
}

/// SPEC 12.6, 8.1: a server that is lost while decisions cannot be read is tried again, and its
/// leases stay; what is asked for meanwhile is told why it cannot begin.
#[test]
fn a_server_that_is_lost_while_decisions_cannot_be_read_comes_back() {
    let store = Folder::new();
    let delays = json!({ "delays_ms": { "local": [0, 1000, 1000, 1000, 1000, 1000] } });
    let file = store.join("approvals.json");
    let options = json!({ "trusted": true, "approvals": file, "reconnect": delays });
    let one = Rig::in_workspace(options);
    host(async {
        let session = one.session("a");
        let servers = json!({ "x": one.server(&[]), "y": one.server(&["--tools", "1"]) });
        set(&one.pool, "project", servers);
        approve(&one.pool, "x").await;
        approve(&one.pool, "y").await;
        let lease = rig::acquire(&session, "x").await;
        until_kept(&file, 1);
        let kept = std::fs::read(&file).unwrap();
        std::fs::write(&file, r#"{"v": 1000}"#).unwrap();
        let pid = one.running()[0].to_string();
        let killed = std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
        assert!(killed.success());
        until(|| row(&one.pool, "x")["last_error"]["code"] == "store");
        assert_eq!(refused(&session, "y").await.0, ErrorCode::Store);
        std::fs::write(&file, kept).unwrap();
        until(|| row(&one.pool, "x")["state"] == "connected");
        rig::text(&lease, "pid", json!({})).await;
        rig::acquire(&session, "y").await;
    });
}

/// SPEC 12.7: a decision is in force when its verb returns, whatever is decided elsewhere at that
/// moment.
#[test]
fn a_decision_is_in_force_when_its_verb_returns() {
    let rig = trusted();
    host(async {
        // So many that a pass takes a while, and others wait for it.
        let many = (0..300).map(|number| (format!("u{number}"), json!({ "command": "/bin/true" })));
        set(&rig.pool, "user", many.collect::<serde_json::Map<_, _>>().into());
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        let hash = approve(&rig.pool, "s").await;
        let is_over = Arc::new(AtomicBool::new(false));
        let others: Vec<_> = (0..4)
            .map(|_| {
                let (pool, is_over) = (rig.pool.clone(), is_over.clone());
                std::thread::spawn(move || {
                    host(async {
                        while !is_over.load(Ordering::Acquire) {
                            pool.forget("nobody").await.unwrap();
                        }
                    });
                })
            })
            .collect();
        let mut wrong = 0;
        for _ in 0..40 {
            rig.pool.reject("s", &hash).await.unwrap();
            wrong += usize::from(row(&rig.pool, "s")["approval_state"] != "rejected");
            rig.pool.approve("s", &hash).await.unwrap();
            wrong += usize::from(row(&rig.pool, "s")["approval_state"] != "approved");
        }
        is_over.store(true, Ordering::Release);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(wrong, 0);
    });
}

/// SPEC 11.6, 12.5: of a server that the lists keep out nobody is asked, and that is the reason
/// that is told.
#[test]
fn nobody_is_asked_about_a_server_that_is_excluded() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "s": rig.server(&[]) }));
        approve(&rig.pool, "s").await;
        settled(&rig).await;
        let events = rig.pool.subscribe(EventMask(trunkline::EventKind::ApprovalNeeded.bit()));
        let events = events.unwrap();
        let lists = |text: &str| trunkline::GateLists::from_json(text).unwrap();
        rig.pool.set_gates(lists(r#"{"excluded": ["s"]}"#)).unwrap();
        rig.pool.forget("s").await.unwrap();
        assert_eq!(settled(&rig).await["s"]["reason"], "excluded");
        assert_eq!(rig.pool.approvals().await.unwrap()["requests"], json!([]));
        assert!(events.try_next().is_none());
        rig.pool.set_gates(lists("{}")).unwrap();
        assert_eq!(settled(&rig).await["s"]["reason"], "pending_approval");
        assert!(events.try_next().is_some());
        rig.wait_for_no_process();
    });
}

/// SPEC 13.6: a verb that waited for the disk tells what came of it, also when another took it up
/// meanwhile.
#[test]
fn a_verb_tells_what_another_took_up_meanwhile() {
    let store = Folder::new();
    let file = store.join("approvals.json");
    // It is set aside under a lock, which is waited for.
    std::fs::write(&file, "damaged").unwrap();
    let mut holder = std::process::Command::new("flock");
    holder.arg(store.join("approvals.json.lock")).args(["sh", "-c", "echo held; cat"]);
    holder.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    holder.stdout.take().unwrap().read_exact(&mut [0; 5]).unwrap();
    let rig = Rig::in_workspace(json!({ "approvals": file }));
    set(&rig.pool, "project", json!({ "p": rig.server(&[]) }));
    set(&rig.pool, "user", json!({ "u": rig.server(&[]) }));
    let pool = rig.pool.clone();
    let waits =
        std::thread::spawn(move || host(pool.set_trusted(WorkspaceTrust::Trusted)).unwrap());
    until(|| {
        set(&rig.pool, "launch", json!({}));
        row(&rig.pool, "u")["reason"] != "untrusted"
    });
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let report = waits.join().unwrap();
    assert_eq!(report["servers"]["u"]["action"], "added", "{report}");
    assert_eq!(report["servers"]["p"]["reason"], "pending_approval", "{report}");
}
