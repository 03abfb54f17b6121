//! Lists that change under many sessions, with real servers: nothing lost, nothing stale, and told in order (SPEC 7).
//!
//! No server is looked at again unasked unless a test says so, since that would make up for what was lost. The long form of the
//! row "lists" is chosen by `TRUNKLINE_STRESS=full`.
#![cfg(target_os = "linux")]

mod follower;
mod moments;
mod order;
mod row;
mod storm;
mod subscriptions;
mod unannounced;

#[path = "../rig/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod rig;

use std::time::Duration;

use serde_json::{Value, json};
use trunkline::{CallOptions, Lease};

use rig::{HANG, Rig};

/// A host's own runtime, which has nothing to do with the library's.
fn host<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A pool that brings its servers back at once, however often they go, and never looks at them unasked.
fn rig() -> Rig {
    rig_with(json!({}))
}

/// The same with more options.
fn rig_with(more: Value) -> Rig {
    let mut options = json!({
        "drain_delay_ms": 0,
        "keepalive_ms": 0,
        "reconnect": {
            "delays_ms": { "local": [0, 0, 0] },
            "breaker": { "losses": 1_000 },
            "healthy_after_ms": 0,
        },
    });
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Rig::new(options)
}

/// How often the server was asked for this, counted by itself.
async fn seen(lease: &Lease, method: &str) -> u64 {
    rig::text(lease, "seen", json!({ "method": method })).await.parse().unwrap()
}

async fn change(lease: &Lease, arguments: Value) {
    assert_eq!(rig::text(lease, "change_list", arguments).await, "changed");
}

/// Ends the server from the inside; its loss has been reported when this returns.
async fn crash(lease: &Lease) {
    let ended = lease.call_tool("crash", r#"{"code":3}"#, &CallOptions::default()).await;
    assert!(ended.is_err(), "it cannot have answered");
}

/// Waits for what has no signal of its own, and lets the runtime work meanwhile.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let held = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(HANG, held).await.expect("it never came");
}
