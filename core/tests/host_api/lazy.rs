//! Servers that run for calls only, when calls begin and end at the same moment.

use std::time::Duration;

use rig::{HANG, Rig, host, until};
use serde_json::json;
use trunkline::{CallOptions, ErrorCode, Session};

fn options(timeout_ms: Option<u64>) -> CallOptions {
    let text = timeout_ms.map_or(json!({}), |timeout| json!({ "timeout_ms": timeout }));
    CallOptions::from_json(&text.to_string()).unwrap()
}

/// Sessions that want one lazy server, which sleeps and whose tools are known.
async fn asleep(rig: &Rig, sessions: usize) -> Vec<Session> {
    rig.configure(json!({ "s": rig.server(&[]) })).await;
    let open = |number| rig.session_with(json!({ "id": format!("{number}"), "servers": "all" }));
    let sessions: Vec<Session> = (0..sessions).map(open).collect();
    for session in &sessions {
        tokio::time::timeout(HANG, session.ready(None, None)).await.unwrap().unwrap();
    }
    until(|| rig.running().is_empty());
    sessions
}

/// SPEC 14.2, 3.6: the end of the last call, and the beginning of the next, leave each other
/// nothing: no call fails, and no process stays.
#[test]
fn calls_that_begin_as_the_last_one_ends_find_the_server_or_begin_it_anew() {
    let rig = Rig::new(json!({ "start": "lazy", "drain_delay_ms": 0, "cache": "off" }));
    host(async {
        let sessions = asleep(&rig, 3).await;
        for round in 0..40 {
            let calls = sessions.iter().cycle().take(6).map(|session| async {
                let arguments = json!({ "message": "x" }).to_string();
                let called = session.call_tool("mcp__s__echo", &arguments, &options(None)).await;
                called.map(drop)
            });
            for called in futures_util::future::join_all(calls).await {
                called.unwrap_or_else(|error| panic!("round {round}: {error}"));
            }
        }
        until(|| rig.running().is_empty());
        assert!(sessions.iter().all(|session| session.tools().unwrap().iter().all(|t| t.deferred)));
    });
}

/// SPEC 14.1, 5.5: a call that is dropped while its server comes, at whatever moment, leaves no
/// hold and no process.
#[test]
fn a_call_that_goes_as_its_server_comes_leaves_nothing() {
    let rig = Rig::new(json!({ "start": "lazy", "drain_delay_ms": 0, "cache": "off" }));
    host(async {
        let sessions = asleep(&rig, 1).await;
        for round in 0..40_u64 {
            let options = options(None);
            let call = sessions[0].call_tool("mcp__s__pid", "{}", &options);
            let dropped = tokio::time::timeout(Duration::from_micros(round * 500), call).await;
            if let Ok(Err(error)) = dropped {
                assert_ne!(error.code(), ErrorCode::Internal, "{error}");
            }
        }
        until(|| rig.running().is_empty());
        sessions[0].call_tool("mcp__s__pid", "{}", &options(None)).await.unwrap();
        until(|| rig.running().is_empty());
    });
}
