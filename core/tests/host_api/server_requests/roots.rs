//! The folders that servers are told of, and their changes.

use rig::{Rig, acquire, host, text};
use serde_json::{Value, json};
use trunkline::{ErrorCode, EventKind, EventMask, Handlers, Lease, Session};

use crate::server_requests::{ask_for, next, options};

/// The names of the roots that a server of the legacy era has for an answer.
async fn names(lease: &Lease) -> Vec<String> {
    names_in(&ask_for(lease, json!({ "method": "roots/list" })).await["result"])
}

fn names_in(result: &Value) -> Vec<String> {
    let here = std::env::current_dir().unwrap().canonicalize().unwrap();
    let names = result["roots"].as_array().unwrap().iter().map(|root| {
        let name = root["name"].as_str().unwrap();
        assert_eq!(root["uri"], format!("file://{}/{name}", here.display()));
        name.to_owned()
    });
    names.collect()
}

/// How often a server saw that its roots are others, and how often it listed its tools.
async fn seen(lease: &Lease) -> (u32, u32) {
    let count = async |method: &str| {
        text(lease, "seen", json!({ "method": method })).await.parse::<u32>().unwrap()
    };
    (count("notifications/roots/list_changed").await, count("tools/list").await)
}

async fn until_seen(lease: &Lease, wanted: (u32, u32)) {
    let reached = async { while seen(lease).await != wanted {} };
    let reached = tokio::time::timeout(rig::HANG, reached).await;
    assert!(reached.is_ok(), "{:?} and not {wanted:?}", seen(lease).await);
}

/// A pool with `src` for a root, and a session with a connection that is shared, one that is its
/// own, and a modern one.
async fn three(rig: &Rig, roots: &[&str]) -> (Session, [Lease; 3]) {
    let mut own = rig.server(&["--label", "own"]);
    own["share"] = "session".into();
    let modern = rig.server(&["--era", "modern"]);
    rig.configure(json!({ "shared": rig.server(&[]), "own": own, "modern": modern })).await;
    let mut options = options("chat", Handlers::new());
    options.roots = roots.iter().copied().map(Into::into).collect();
    let chat = rig.pool.session(options).unwrap();
    let leases = [
        acquire(&chat, "shared").await,
        acquire(&chat, "own").await,
        acquire(&chat, "modern").await,
    ];
    (chat, leases)
}

fn paths(roots: &[&str]) -> Vec<String> {
    roots.iter().copied().map(Into::into).collect()
}

/// SPEC 15.2, 15.4: a change is told to each connection once, but to those that ask anew each time,
/// and each lists again.
#[test]
fn a_change_of_the_pools_roots_is_told_and_listed_once() {
    let rig = Rig::new(json!({ "roots": ["src"] }));
    host(async {
        let (_chat, [shared, own, modern]) = three(&rig, &["tests"]).await;
        rig.pool.set_roots(&paths(&["tests", "examples", "tests"])).await.unwrap();
        until_seen(&shared, (1, 2)).await;
        until_seen(&own, (1, 2)).await;
        until_seen(&modern, (0, 2)).await;
        assert_eq!(names(&shared).await, ["tests", "examples"]);
        assert_eq!(names(&own).await, ["tests", "examples"]);
        let asked = json!({ "requests": { "folders": { "method": "roots/list" } } });
        let had: Value = serde_json::from_str(&text(&modern, "need", asked).await).unwrap();
        let responses: Value = serde_json::from_str(had["responses"].as_str().unwrap()).unwrap();
        assert_eq!(names_in(&responses["folders"]), ["tests", "examples"]);
        // Equal folders do nothing, nor does what a connection was told of already.
        rig.pool.set_roots(&paths(&["src/../tests", "examples"])).await.unwrap();
        rig.pool.set_roots(&paths(&["examples"])).await.unwrap();
        until_seen(&shared, (2, 3)).await;
        until_seen(&own, (2, 3)).await;
        rig.pool.set_roots(&paths(&["examples", "tests"])).await.unwrap();
        until_seen(&shared, (3, 4)).await;
        until_seen(&modern, (0, 4)).await;
        assert_eq!(seen(&own).await, (2, 3));
    });
}

/// SPEC 15.2: what is no folder is refused by its place, and nothing is different then.
#[test]
fn a_bad_change_of_roots_changes_nothing() {
    let rig = Rig::new(json!({ "roots": ["src"] }));
    host(async {
        let (chat, [shared, own, _modern]) = three(&rig, &["tests"]).await;
        let bad = paths(&["tests", "no/such/folder"]);
        let error = rig.pool.set_roots(&bad).await.unwrap_err();
        assert_eq!(
            (error.code(), &error.detail()["path"]),
            (ErrorCode::InvalidArgument, &json!("roots[1]"))
        );
        let change = json!({ "roots": bad, "include": { "own": [] } }).to_string();
        let error =
            chat.configure(trunkline::ConfigureOptions::from_json(&change).unwrap()).unwrap_err();
        assert_eq!(
            (error.code(), &error.detail()["path"]),
            (ErrorCode::InvalidArgument, &json!("roots[1]"))
        );
        assert_eq!(
            (names(&shared).await, names(&own).await),
            (paths(&["src"]), paths(&["src", "tests"]))
        );
        assert_eq!((seen(&shared).await, seen(&own).await), ((0, 1), (0, 1)));
        assert!(!chat.tools().unwrap().iter().all(|tool| &*tool.server != "own"));
        rig.pool.close().await.unwrap();
        assert_eq!(rig.pool.set_roots(&[]).await.unwrap_err().code(), ErrorCode::Closed);
    });
}

/// SPEC 15.2, 6.3, S-47: a session's change is told to its own connections alone, and shared ones
/// are warned of.
#[test]
fn a_change_of_a_sessions_roots_is_told_to_its_own_connections() {
    let rig = Rig::new(json!({ "roots": ["src"] }));
    host(async {
        let (chat, [shared, own, modern]) = three(&rig, &[]).await;
        let events = chat.subscribe(EventMask::ALL).unwrap();
        let configure = |change: Value| {
            let change = trunkline::ConfigureOptions::from_json(&change.to_string());
            chat.configure(change.unwrap()).unwrap();
        };
        configure(json!({ "roots": ["tests"] }));
        until_seen(&own, (1, 2)).await;
        assert_eq!(names(&own).await, ["src", "tests"]);
        let mut warned = vec![];
        for _ in 0..2 {
            let warning = next(&events, "warning").await;
            assert_eq!(warning["code"], "roots_not_shared");
            warned.push(warning["server"].clone());
        }
        warned.sort_by_key(Value::to_string);
        assert_eq!(warned, ["modern", "shared"]);
        // What is equal, and what is not named, does nothing.
        configure(json!({ "roots": ["tests"], "trust": { "own": true } }));
        configure(json!({ "trust": {} }));
        configure(json!({ "roots": [] }));
        until_seen(&own, (2, 3)).await;
        assert_eq!(names(&own).await, ["src"]);
        assert_eq!((seen(&shared).await, seen(&modern).await), ((0, 1), (0, 1)));
    });
}

/// SPEC 15.2: the holder of a shared connection hears of each change that it does not get, and
/// hears nothing of what is equal.
#[test]
fn each_change_of_roots_that_are_left_out_is_warned_of() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "shared": rig.server(&[]) })).await;
        let chat = rig.session("chat");
        let _lease = acquire(&chat, "shared").await;
        // Of nothing else: what the acquire tells may still be on its way.
        let events = chat.subscribe(EventMask(EventKind::Warning.bit())).unwrap();
        let configure = |roots: &[&str]| {
            let change = json!({ "roots": roots }).to_string();
            chat.configure(trunkline::ConfigureOptions::from_json(&change).unwrap()).unwrap();
        };
        let steps: [(&[&str], bool); 6] = [
            (&["tests"], true),
            (&["tests", "src/../tests"], false),
            (&["examples"], true),
            (&[], false),
            (&["examples"], true),
            (&["examples", "tests"], true),
        ];
        for (roots, is_news) in steps {
            configure(roots);
            assert_eq!(events.try_next().is_some(), is_news, "{roots:?}");
            assert!(events.try_next().is_none(), "{roots:?}");
        }
    });
}

/// SPEC 15.2, 6.5: a server that is enabled again by another connection is one more that is not
/// told.
#[test]
fn the_connection_of_a_server_that_is_enabled_again_is_warned_of() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "shared": rig.server(&[]) })).await;
        let mut options = options("chat", Handlers::new());
        options.roots = paths(&["tests"]);
        let chat = rig.pool.session(options).unwrap();
        let events = chat.subscribe(EventMask::ALL).unwrap();
        let lease = acquire(&chat, "shared").await;
        let first = next(&events, "warning").await;
        chat.disable("shared").unwrap();
        rig.wait_for_no_process();
        chat.enable("shared").unwrap();
        let second = next(&events, "warning").await;
        assert_eq!(second["code"], "roots_not_shared");
        assert_ne!(first["entry_index"], second["entry_index"]);
        drop(lease);
    });
}

/// SPEC 15.2, 3.13: who resumes a session with other roots has them told to what it left.
#[test]
fn a_session_that_is_resumed_with_other_roots_tells_them() {
    let rig = Rig::new(json!({ "roots": ["src"] }));
    host(async {
        let (chat, [_, own, _]) = three(&rig, &["tests"]).await;
        assert_eq!(names(&own).await, ["src", "tests"]);
        chat.close(Some(rig::HANG));
        drop(own);
        let mut options = options("chat", Handlers::new());
        options.roots = paths(&["examples"]);
        let chat = rig.pool.session(options).unwrap();
        let own = acquire(&chat, "own").await;
        until_seen(&own, (1, 2)).await;
        assert_eq!(names(&own).await, ["src", "examples"]);
    });
}

/// SPEC 15.2: a server that asked for its roots before they changed is told, also when it was still
/// being connected then.
#[test]
fn a_change_while_a_server_connects_is_not_lost() {
    let rig = Rig::new(json!({ "roots": ["src"] }));
    host(async {
        let log = rig.path("messages");
        let flags = ["--list-delay-ms", "300", "--message-log", log.to_str().unwrap()];
        rig.configure(json!({ "s": rig.server(&flags) })).await;
        let chat = rig.pool.session(options("chat", Handlers::new())).unwrap();
        let connecting = acquire(&chat, "s");
        let changing = async {
            let listed = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("/list"));
            while !listed() {
                tokio::task::yield_now().await;
            }
            rig.pool.set_roots(&paths(&["tests"])).await.unwrap();
        };
        let (lease, ()) = tokio::join!(connecting, changing);
        until_seen(&lease, (1, 2)).await;
        assert_eq!(names(&lease).await, ["tests"]);
    });
}

/// SPEC 15.2, S-47: the roots are the pool's, and a session's own beside them where the connection
/// is its own.
#[test]
fn roots_are_the_pools_and_on_an_own_connection_the_sessions_too() {
    let rig = Rig::new(json!({ "roots": ["src", "tests"] }));
    host(async {
        let mut own = rig.server(&["--label", "own"]);
        own["share"] = "session".into();
        rig.configure(json!({ "shared": rig.server(&[]), "own": own })).await;
        let mut options = options("chat", Handlers::new());
        options.roots = vec!["tests".into(), "examples".into()];
        let chat = rig.pool.session(options.clone()).unwrap();
        let events = chat.subscribe(EventMask::ALL).unwrap();
        let lease = acquire(&chat, "own").await;
        assert_eq!(names(&lease).await, ["src", "tests", "examples"]);
        let lease = acquire(&chat, "shared").await;
        assert_eq!(names(&lease).await, ["src", "tests"]);
        let warning = next(&events, "warning").await;
        assert_eq!(
            (&warning["code"], &warning["server"]),
            (&json!("roots_not_shared"), &json!("shared"))
        );
        options.id = "other".into();
        options.roots = vec!["no/such/folder".into()];
        let error = rig.pool.session(options).map(drop).unwrap_err();
        assert_eq!(error.detail()["path"], "roots[0]");
    });
}
