//! Sessions that follow what changes while they are at it, and what they are told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline_pool::state::{Gate, GateReason, PoolInput};

use super::*;
use crate::api::scripted;
use crate::api::scripted::{SERVER, reconcile, server};
use crate::driver::server_config::ConfigOwner;
use crate::folder::Folder;
use crate::runtime::deadline::Deadline;
use crate::{
    AcquireOptions, CallOptions, ErrorCode, EventKind, EventMask, Pool, Session, SessionOptions,
};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// A pool with these options, and one server.
async fn pool_with(options: Value, server: Value) -> Pool {
    scripted::pool_with(options, json!({ "s": server })).await
}

/// A session that wants nothing unasked.
fn session(pool: &Pool) -> Session {
    let options = SessionOptions::from_json(r#"{ "id": "a", "servers": [] }"#).unwrap();
    pool.session(options).unwrap()
}

/// SPEC 13.1, 13.2: what is asked for after it was removed is not begun.
#[tokio::test]
async fn what_a_newer_change_let_go_is_not_begun() {
    let pool = pool_with(json!({}), server("")).await;
    reconcile(&pool, json!({})).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let core = session.core();
    core.disabled.servers().insert("s".into());
    reconcile(&pool, json!({ "s": server("new") })).await;
    core.disabled.servers().remove("s");
    // As far as one thread is when another has done all of the next change.
    let (_, added) = core.carry_out_plan();
    assert_eq!(added.len(), 1);
    reconcile(&pool, json!({})).await;
    ask_for_all(&added.into_iter().map(|added| (core.clone(), added)).collect::<Vec<_>>());
    assert_eq!(pool.driver().entries().len(), 0);
    pool.close().await.unwrap();
}

/// SPEC 13.1, 9.1: what is acquired by a configuration that has just gone is known to be old, and
/// is restarted for nobody.
#[tokio::test]
async fn what_is_begun_of_an_old_configuration_is_known_to_be_old() {
    let pool = pool_with(json!({}), server("")).await;
    let session = session(&pool);
    let core = session.core();
    let old = core.spec("s", ConfigOwner::Pool).unwrap();
    reconcile(&pool, json!({ "s": server("new") })).await;
    let deadline = Deadline::after(Some(HANG));
    drop(core.acquire("s", (ConfigOwner::Pool, &old), deadline).await.unwrap());
    let report = pool.restart("s", None).await.unwrap();
    assert_eq!(report["entries"][0]["reason"], "superseded", "{report}");
    pool.close().await.unwrap();
}

/// SPEC 13.1, 2.1: what a session brought itself is not old because the pool has another of that
/// name.
#[tokio::test]
async fn what_a_session_brought_is_not_old_for_the_pool_has_another() {
    let pool = pool_with(json!({}), server("")).await;
    let session = session(&pool);
    let own = crate::ServerSpec::from_value("s", &server("own")).unwrap();
    let lease = session.acquire("s", Some(&own), &AcquireOptions::default()).await.unwrap();
    drop(lease);
    let report = pool.restart("s", None).await.unwrap();
    assert_eq!(report["entries"][0]["restarted"], true, "{report}");
    pool.close().await.unwrap();
}

/// SPEC 8.5: the holder of a lease hears that it ends with its configuration, once and before
/// anything is released.
#[tokio::test]
async fn a_holder_hears_that_the_configuration_has_changed() {
    let pool = pool_with(json!({}), server("")).await;
    let session = session(&pool);
    let events = session.subscribe(EventMask(1 << EventKind::Disconnected as u8)).unwrap();
    for (index, newer) in [json!({ "s": server("new") }), json!({})].into_iter().enumerate() {
        let first = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
        let second = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
        reconcile(&pool, newer).await;
        let told: Vec<Value> = std::iter::from_fn(|| events.try_next())
            .map(|event| serde_json::from_str(event.json()).unwrap())
            .collect();
        let [told] = &told[..] else { panic!("{told:?}") };
        assert_eq!(
            (&told["reason"], &told["entry_index"], &told["generation"]),
            (&json!("config"), &json!(index), &json!(1))
        );
        drop((first, second));
    }
    // What the host gave up itself is no news.
    assert!(events.try_next().is_none());
    pool.close().await.unwrap();
}

/// SPEC 8.5: what a gate has ended is told as that, also while nothing of it is carried out yet.
#[tokio::test]
async fn what_a_gate_has_ended_is_not_told_as_a_change() {
    let pool = pool_with(json!({}), server("")).await;
    let session = session(&pool);
    let events = session.subscribe(EventMask(1 << EventKind::Disconnected as u8)).unwrap();
    let _lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let cell = pool.driver().entries().remove(0).1;
    let keys = vec![(cell.key, Gate::Shut(GateReason::Rejected))];
    // As while another thread is at what came before.
    pool.driver().step_only(PoolInput::SetGates { names: Vec::new(), keys });
    pool.driver().tell_of_configuration(&session.core().recipient, &cell);
    let told: Value = serde_json::from_str(events.try_next().unwrap().json()).unwrap();
    assert_eq!(told["reason"], "gate", "{told}");
    pool.close().await.unwrap();
}

/// SPEC 8.5: nothing is lost that the session still holds by another lease.
#[tokio::test]
async fn who_holds_the_same_by_another_lease_hears_of_no_loss() {
    let pool = pool_with(json!({}), server("")).await;
    let session = session(&pool);
    let events = session.subscribe(EventMask(1 << EventKind::Disconnected as u8)).unwrap();
    let own = crate::ServerSpec::from_value("s", &server("")).unwrap();
    let of_pool = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let of_session = session.acquire("s", Some(&own), &AcquireOptions::default()).await.unwrap();
    assert_eq!(pool.driver().entries().len(), 1);
    reconcile(&pool, json!({})).await;
    assert_eq!(of_pool.tools().unwrap_err().code(), ErrorCode::Closed);
    assert_eq!(of_session.tools().unwrap().len(), 1);
    assert!(events.try_next().is_none());
    pool.close().await.unwrap();
}

/// SPEC 4.2: the connect time that is configured now is that of the next attempt, no matter who was
/// the first to ask for the server.
#[tokio::test]
async fn a_restart_has_the_newest_connect_time() {
    let folder = Folder::new();
    let with = silent_from_the_second(&folder);
    let pool = pool_with(json!({}), with(300_000)).await;
    let session = session(&pool);
    let _lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    reconcile(&pool, json!({ "s": with(100) })).await;
    let report = tokio::time::timeout(HANG, pool.restart("s", None)).await;
    let report = report.expect("the newest time ends it").unwrap();
    assert_eq!(report["entries"][0]["error"]["code"], "timeout", "{report}");
    pool.close().await.unwrap();
}

/// SPEC 4.2: a change of another server leaves the connect time of who asked last.
#[tokio::test]
async fn a_change_of_another_server_takes_no_connect_time_away() {
    let folder = Folder::new();
    let with = silent_from_the_second(&folder);
    let pool = pool_with(json!({}), with(300_000)).await;
    let session = session(&pool);
    let own = crate::ServerSpec::from_value("s", &with(100)).unwrap();
    let options = AcquireOptions::default();
    let _of_pool = session.acquire("s", None, &options).await.unwrap();
    let _own = session.acquire("s", Some(&own), &options).await.unwrap();
    reconcile(&pool, json!({ "s": with(300_000), "t": server("other") })).await;
    let report = tokio::time::timeout(HANG, pool.restart("s", None)).await;
    let report = report.expect("the time of who asked last ends it").unwrap();
    assert_eq!(report["entries"][0]["error"]["code"], "timeout", "{report}");
    pool.close().await.unwrap();
}

/// SPEC 4.2, 14.1: the same of an attempt that a call begins.
#[tokio::test]
async fn a_call_begins_its_server_with_the_newest_connect_time() {
    let folder = Folder::new();
    let with = silent_from_the_second(&folder);
    let pool = pool_with(json!({ "start": "lazy", "drain_delay_ms": 0 }), with(300_000)).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    session.ready(Some("s"), Some(HANG)).await.unwrap();
    let begun = Instant::now();
    while !pool.driver().entries().is_empty() {
        assert!(begun.elapsed() < HANG, "it never sleeps");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    reconcile(&pool, json!({ "s": with(100) })).await;
    let options = CallOptions::default();
    let called = tokio::time::timeout(HANG, session.call_tool("mcp__s__t", "{}", &options)).await;
    let error = called.expect("the newest time ends it").expect_err("nobody answers");
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
    pool.close().await.unwrap();
}

/// A server whose second process never says a word, by its connect time.
fn silent_from_the_second(folder: &Folder) -> impl Fn(u64) -> Value {
    let marker = folder.join("started");
    let marker = marker.display();
    let script = format!("if [ -e {marker} ]; then exec sleep 600; fi; touch {marker}\n{SERVER}");
    move |ms| json!({ "command": "/bin/sh", "args": ["-c", script], "connect_timeout_ms": ms })
}

/// SPEC 3.1: a lease that can be used no more is closed, whatever becomes of the connection that it
/// was on.
#[tokio::test]
async fn a_lease_that_is_over_is_closed() {
    use trunkline_pool::state::EntryState::{Active, Closed};
    let pool = pool_with(json!({}), server("")).await;
    let keeps = SessionOptions::from_json(r#"{ "id": "keeps", "follow": false }"#).unwrap();
    let keeps = pool.session(keeps).unwrap();
    keeps.ready(Some("s"), Some(HANG)).await.unwrap();
    let session = session(&pool);
    let acquire =
        || async { session.acquire("s", None, &AcquireOptions::default()).await.unwrap() };
    let released = acquire().await;
    assert_eq!(released.state(), Active);
    released.release();
    let disabled = acquire().await;
    session.disable("s").unwrap();
    assert_eq!((released.state(), disabled.state()), (Closed, Closed));
    session.enable("s").unwrap();
    let revoked = acquire().await;
    reconcile(&pool, json!({ "s": server("new") })).await;
    assert_eq!(revoked.state(), Closed);
    let left = acquire().await;
    session.close(None);
    assert_eq!(left.state(), Closed);
    pool.close().await.unwrap();
}
