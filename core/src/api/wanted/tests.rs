//! Wants whose answer comes in the middle of a change.

use std::time::Duration;

use serde_json::json;

use super::super::asleep::tests::SERVER;
use crate::folder::Folder;
use crate::{Pool, PoolOptions, Servers, SessionOptions};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// SPEC 6.5: a server that was there while the session did without it, and before that was carried out, is asked for anew.
#[tokio::test]
async fn what_a_session_that_does_without_it_refused_is_wanted_when_it_is_enabled() {
    let folder = Folder::new();
    let gate = folder.join("gate");
    let waits = format!("while [ ! -e {} ]; do sleep 0.01; done\n{SERVER}", gate.display());
    let options = json!({ "cache": "off", "exit_grace_ms": 50, "kill_grace_ms": 50 });
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let servers = json!({ "s": { "command": "/bin/sh", "args": ["-c", waits] } });
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let core = session.core();
    // As far as `disable` is when another thread enables it again.
    core.disabled.servers().insert("s".into());
    std::fs::write(&gate, "").unwrap();
    let refused = async {
        loop {
            let mut settled = std::pin::pin!(core.settled.notified());
            settled.as_mut().enable();
            if !core.wants().servers.contains_key("s") {
                return;
            }
            settled.await;
        }
    };
    tokio::time::timeout(HANG, refused).await.expect("it is refused, and wanted no more");
    session.enable("s").unwrap();
    session.ready(Some("s"), Some(HANG)).await.unwrap();
    assert_eq!(session.tools().unwrap().len(), 1);
    pool.close().await.unwrap();
}
