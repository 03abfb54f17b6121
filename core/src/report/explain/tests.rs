//! What a session learns about a server that others have.

use std::time::Duration;

use serde_json::json;

use crate::api::scripted::SERVER;
use crate::folder::Folder;
use crate::{CallOptions, Pool, PoolOptions, Servers, SessionOptions};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// SPEC 11.6, 2.2: why a session has no connection of its own is what became of its own, whatever
/// others have.
#[tokio::test]
async fn a_session_hears_of_its_own_connection() {
    let folder = Folder::new();
    let (first, gate) = (folder.join("first"), folder.join("gate"));
    let waits = format!(
        "if ! mkdir {} 2>/dev/null; then while [ ! -e {} ]; do sleep 0.01; done; exit 7; fi\n{SERVER}",
        first.display(),
        gate.display()
    );
    let options = json!({ "cache": "off", "shared_transports": [], "exit_grace_ms": 50, "kill_grace_ms": 50 });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let servers = json!({ "s": { "command": "/bin/sh", "args": ["-c", waits] } });
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
    let has = pool.session(SessionOptions::new("has")).unwrap();
    has.ready(Some("s"), Some(HANG)).await.unwrap();
    let lacks = pool.session(SessionOptions::new("lacks")).unwrap();
    let explained = lacks.explain("s").unwrap();
    assert_eq!(explained["reason"], "connecting", "{explained}");
    std::fs::write(&gate, "").unwrap();
    let failed = lacks.ready(Some("s"), Some(HANG)).await.unwrap_err();
    let explained = lacks.explain("s").unwrap();
    assert_eq!(explained["reason"], "failed", "{explained}");
    let message = explained["message"].as_str().unwrap();
    assert!(message.contains(failed.message()), "{explained}");
    let called = lacks.call_tool("mcp__s__t", "{}", &CallOptions::default()).await.unwrap_err();
    assert_eq!(called.detail()["reason"], "failed", "{called}");
    assert_eq!(has.explain("s").unwrap()["available"], true);
    pool.close().await.unwrap();
}
