//! Wants that change between two looks of a call at them.

use std::time::Duration;

use serde_json::json;

use super::DemandStatus;
use crate::api::scripted::SERVER;
use crate::folder::Folder;
use crate::session::demand::{CacheProbe, DemandState};
use crate::{Pool, PoolOptions, Servers, SessionOptions};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// SPEC 14.1: a call that needs a server before it is known that something is kept of it begins the
/// server, and does not fail.
#[tokio::test]
async fn a_server_that_is_needed_before_something_is_found_kept_is_begun() {
    let options =
        json!({ "cache": "off", "start": "lazy", "exit_grace_ms": 50, "kill_grace_ms": 50 });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let servers = json!({ "s": { "command": "/bin/sh", "args": ["-c", SERVER] } });
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
    let session = pool.session(SessionOptions::new("a")).unwrap();
    tokio::time::timeout(HANG, session.ready(None, None)).await.unwrap().unwrap();
    let core = session.core();
    let need = core.need("s").expect("it is wanted");
    if let Some(want) = core.wants().servers.get_mut("s") {
        // As after a change to a configuration that was not looked for yet.
        (want.state, want.kept) = (DemandState::Looking, CacheProbe::Never);
    }
    core.show_kept();
    assert!(matches!(core.look_at(&need), DemandStatus::Gone));
    let again = core.need("s").expect("it is wanted");
    assert!(!matches!(core.look_at(&again), DemandStatus::Gone | DemandStatus::Over(_)));
    drop((need, again));
    pool.close().await.unwrap();
}

/// SPEC 14.1, 14.2: what is kept of servers that were configured before there is a session is
/// listed as soon as one opens.
#[tokio::test]
async fn what_is_kept_is_listed_as_soon_as_a_session_opens() {
    let folder = Folder::new();
    let pool_that_starts = |start: &str| {
        let options = json!({ "cache": folder.join("catalogs"), "start": start, "exit_grace_ms": 50, "kill_grace_ms": 50 });
        Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap()
    };
    let servers = json!({ "s": { "command": "/bin/sh", "args": ["-c", SERVER] } }).to_string();
    let first = pool_that_starts("eager");
    first.reconcile(Servers::from_json(&servers).unwrap()).await.unwrap();
    let session = first.session(SessionOptions::new("a")).unwrap();
    tokio::time::timeout(HANG, session.ready(None, None)).await.unwrap().unwrap();
    first.close().await.unwrap();
    for start in ["lazy", "eager"] {
        let pool = pool_that_starts(start);
        pool.reconcile(Servers::from_json(&servers).unwrap()).await.unwrap();
        pool.driver().catalogs.settled(HANG).await;
        let session = pool.session(SessionOptions::new("a")).unwrap();
        let tools = session.tools().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["mcp__s__t"], "{start}");
        pool.close().await.unwrap();
    }
}
