//! What servers listed outlives the pool: which lists are on the disk, under which key, and what is
//! not in them (SPEC 14.2).

use std::path::{Path, PathBuf};

use rig::{Rig, acquire, host, until};
use serde_json::{Value, json};
use trunkline::{PoolOptions, SourceName};

/// A pool that keeps catalogs in a folder of the test.
fn rig(options: Value) -> Rig {
    Rig::in_workspace_with(|workspace| {
        let mut options = options;
        options["workspace"] = json!(workspace);
        options["cache"] = json!(workspace.parent().unwrap().join("catalogs"));
        PoolOptions::from_json(&options.to_string()).unwrap()
    })
}

/// The catalogs that are kept, by the names of their files.
fn kept(rig: &Rig) -> Vec<(PathBuf, String)> {
    let Ok(entries) = std::fs::read_dir(rig.path("catalogs")) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(path).unwrap());
    files.map(read).collect()
}

/// The tools in such a text.
fn tools(text: &str) -> Vec<String> {
    let kept: Value = serde_json::from_str(text).unwrap();
    let tools = kept["kept"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// What is kept once a server with these flags was connected and the pool is closed.
fn kept_of(flags: &[&str]) -> Vec<(PathBuf, String)> {
    let rig = rig(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(flags) })).await;
        drop(acquire(&rig.session("a"), "s").await);
        rig.pool.close().await.unwrap();
        kept(&rig)
    })
}

/// SPEC 4.1, 14.2, S-48: a close leaves what was listed on the disk, and nothing that was
/// configured.
#[test]
fn what_was_listed_is_on_the_disk_when_the_pool_is_closed() {
    let rig = rig(json!({}));
    host(async {
        let mut server = rig.server(&["--tools", "2"]);
        server["env"] = json!({ "TOKEN": "hunter2" });
        rig.configure(json!({ "s": server })).await;
        drop(acquire(&rig.session("a"), "s").await);
        rig.pool.close().await.unwrap();
        let kept = kept(&rig);
        assert_eq!(kept.len(), 1);
        let (path, text) = &kept[0];
        assert!(tools(text).iter().any(|tool| tool == "tool_1"), "{text}");
        for secret in ["hunter2", "TOKEN", "--start-log"] {
            assert!(!text.contains(secret) && !path.to_str().unwrap().contains(secret));
        }
    });
}

/// SPEC 14.2, 7.5, S-47: what is `private`, or not fresh when it comes, is in no file; what is
/// fresh for a while says how long.
#[test]
fn what_the_server_would_not_have_kept_is_not() {
    let modern = |more: &[&str]| kept_of(&[&["--era", "modern", "--tools", "1"], more].concat());
    assert_eq!(modern(&["--cache-scope", "private"]), []);
    assert_eq!(modern(&["--ttl-ms", "0", "--cache-scope", "public"]), []);
    let fresh = modern(&["--ttl-ms", "60000", "--cache-scope", "public"]);
    assert_eq!(fresh.len(), 1);
    let text: Value = serde_json::from_str(&fresh[0].1).unwrap();
    assert_eq!(text["kept"]["ttlMs"], 60_000);
    assert_eq!(kept_of(&["--tools", "1"]).len(), 1);
}

/// SPEC 14.2: another value of a variable is the same server; another configuration is another.
#[test]
fn a_secret_that_was_rotated_is_no_miss() {
    let rig = rig(json!({ "trusted": true, "approvals": "memory" }));
    let workspace = rig.path("ws");
    let run = async |token: &str, more: &str| {
        std::fs::write(workspace.join("secrets.env"), format!("TOKEN={token}\n")).unwrap();
        let mut server = rig.server(&["--tools", "1", more]);
        server["envFile"] = json!(workspace.join("secrets.env"));
        let settings = json!({ "servers": { "s": server } }).to_string();
        let source: SourceName = "user:/srv/.vscode/mcp.json".parse().unwrap();
        rig.pool.set_source(&source, None).unwrap();
        rig.pool.set_source(&source, Some(&settings)).unwrap();
        let session = rig.session(&format!("{token}{more}"));
        let lease = acquire(&session, "s").await;
        let pid = rig::text(&lease, "pid", json!({})).await;
        (pid, kept(&rig).len())
    };
    host(async {
        let (first, _) = run("one", "--no-prompts").await;
        until(|| kept(&rig).len() == 1);
        let (second, count) = run("two", "--no-prompts").await;
        assert_ne!(first, second, "another token is another connection");
        assert_eq!(count, 1);
        run("two", "--no-resources").await;
        until(|| kept(&rig).len() == 2);
    });
}

/// SPEC 14.2: the folder that is in the way is nobody's error: servers connect and are called as
/// ever.
#[test]
fn a_cache_that_cannot_be_kept_is_nobodys_error() {
    let rig = rig(json!({}));
    host(async {
        std::fs::write(rig.path("catalogs"), "no folder").unwrap();
        rig.configure(json!({ "s": rig.server(&["--tools", "1"]) })).await;
        let events = rig.pool.subscribe(trunkline::EventMask::ALL).unwrap();
        let lease = acquire(&rig.session("a"), "s").await;
        assert!(!rig::text(&lease, "pid", json!({})).await.is_empty());
        let warned = async {
            loop {
                let event: Value =
                    serde_json::from_str(events.next().await.unwrap().json()).unwrap();
                if event["type"] == "warning" {
                    return event;
                }
            }
        };
        let warning = tokio::time::timeout(rig::HANG, warned).await.unwrap();
        assert_eq!(warning["code"], "cache", "{warning}");
        drop(lease);
        assert!(Path::new(&rig.path("catalogs")).is_file());
    });
}
