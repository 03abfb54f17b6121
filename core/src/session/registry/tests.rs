//! Sessions that are resumed when what they held is gone.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use trunkline_pool::state::PoolInput;

use crate::api::scripted::{pool_with, reconcile, server};
use crate::session::session_core::{PoolSessions, SessionHandle};
use crate::{AcquireOptions, ErrorCode, Pool, PoolOptions, ServerSpec, SessionOptions};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// SPEC 3.13: the reducer's time may be up before the host's is, and what it let go nobody has
/// again.
#[tokio::test]
async fn a_session_that_is_resumed_when_its_holds_are_gone_holds_nothing() {
    let pool = pool_with(json!({}), json!({ "s": server("") })).await;
    let options = || SessionOptions::from_json(r#"{ "id": "a", "servers": [] }"#).unwrap();
    for is_late in [false, true] {
        let session = pool.session(options()).unwrap();
        let lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
        let number = session.core().recipient.number;
        session.close(Some(HANG));
        drop(lease);
        if is_late {
            // As its timer does.
            let keep_for = Duration::ZERO;
            pool.driver().step(PoolInput::CloseSession { session: number, keep_for });
        }
        let again = pool.session(options()).unwrap();
        let held = usize::from(!is_late);
        assert_eq!(again.tools().unwrap().len(), held);
        assert_eq!(pool.driver().entries()[0].0.refs as usize, held);
        again.close(None);
    }
    pool.close().await.unwrap();
}

/// What the driver does for all sessions does not keep them open.
#[tokio::test]
async fn a_session_closes_with_its_last_handle_while_the_driver_works_for_it() {
    let pool = Pool::new(PoolOptions::from_json(r#"{ "cache": "off" }"#).unwrap()).unwrap();
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let at_work = pool.0.sessions.live_cores();
    drop(session);
    assert!(matches!(&at_work[..], [core] if core.is_closed()));
    let again = pool.session(SessionOptions::new("a")).unwrap();
    assert_eq!(again.id(), "a");
    assert_eq!(pool.0.sessions.live_cores().len(), 1);
    drop(again);
    pool.close().await.unwrap();
}

/// SPEC 3.13, S-49: a session has an id that can be shown, however it is opened.
#[tokio::test]
async fn an_acquire_for_a_session_opens_none_that_could_not_be_opened() {
    let pool = Pool::new(PoolOptions::from_json(r#"{ "cache": "off" }"#).unwrap()).unwrap();
    let spec = server("");
    let spec = ServerSpec::from_value("s", &spec).unwrap();
    let long = "a".repeat(10_000);
    for id in ["", &long, "a\nb", "a\x1b[31mb", "a\0b", "a\u{202e}b"] {
        let options = SessionOptions::from_json(&json!({ "id": id }).to_string());
        options.expect_err("nobody can have that id");
        let acquired = pool.acquire("s", &spec, id, &AcquireOptions::default()).await;
        let acquired = acquired.err().expect("nobody can have that id");
        let opened = pool.session(SessionOptions::new(id)).err().expect("nobody can have that id");
        for error in [acquired, opened] {
            let found = (error.code(), error.detail()["path"].as_str());
            assert_eq!(found, (ErrorCode::InvalidArgument, Some("id")), "{error}");
        }
    }
    assert_eq!(pool.status()["sessions"], json!([]));
    pool.close().await.unwrap();
}

/// SPEC 13.1, 3.13: what was removed or replaced is held by no session that may come back, unless
/// it keeps what it was opened with.
#[tokio::test]
async fn a_session_that_is_kept_lets_go_what_is_configured_no_more() {
    for follows in [true, false] {
        let servers = json!({ "gone": server(""), "new": server("1"), "same": server("") });
        let pool = pool_with(json!({ "drain_delay_ms": 0 }), servers).await;
        let options = json!({ "id": "a", "follow": follows }).to_string();
        let session = pool.session(SessionOptions::from_json(&options).unwrap()).unwrap();
        session.ready(None, Some(HANG)).await.unwrap();
        session.close(Some(HANG));
        let held = || {
            let rows = pool.driver().entries().into_iter().filter(|(row, _)| row.refs > 0);
            rows.map(|(_, cell)| cell.server.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(held().len(), 3);
        reconcile(&pool, json!({ "new": server("2"), "same": server("") })).await;
        assert_eq!(held().len(), if follows { 1 } else { 3 }, "{:?}", held());
        assert!(held().contains(&"same".to_owned()));
        pool.close().await.unwrap();
    }
}

/// SPEC 13.1, 3.13: what goes while a session is resumed is held by it no more, though the change
/// found neither who left it nor who holds it.
#[tokio::test]
async fn a_session_lets_go_what_goes_while_it_is_resumed() {
    let servers = json!({ "gone": server(""), "same": server("") });
    let pool = pool_with(json!({ "drain_delay_ms": 0 }), servers).await;
    let options = || SessionOptions::from_json(r#"{ "id": "a", "servers": [] }"#).unwrap();
    let session = pool.session(options()).unwrap();
    let all = AcquireOptions::default();
    let gone = session.acquire("gone", None, &all).await.unwrap();
    let same = session.acquire("same", None, &all).await.unwrap();
    session.close(Some(HANG));
    drop((gone, same));
    // As `open` does, with a change in the moment between.
    let sessions = &pool.0.sessions;
    let kept = sessions.sessions().kept.remove("a").unwrap();
    let resumed = Some((kept.number, kept.context.clone()));
    let (core, is_kept) = sessions.open_core((options(), Vec::new()), resumed);
    let again = SessionHandle::new(core, Arc::new(pool.clone()));
    assert!(is_kept);
    reconcile(&pool, json!({ "same": server("") })).await;
    again.core().inherit_holds(kept.take());
    let held = pool.driver().entries().into_iter().filter(|(row, _)| row.refs > 0);
    let held: Vec<_> = held.map(|(_, cell)| cell.server.to_string()).collect();
    assert_eq!(held, ["same"]);
    pool.close().await.unwrap();
}

/// SPEC 3.13: a session that opens with the same id resumes what a closed one left. If another
/// session has taken the id before that is kept, it is dropped.
#[tokio::test]
async fn what_a_session_left_is_dropped_where_its_id_is_anothers_by_then() {
    let pool = pool_with(json!({}), json!({ "s": server("") })).await;
    let options = || SessionOptions::from_json(r#"{ "id": "a", "servers": [] }"#).unwrap();
    let session = pool.session(options()).unwrap();
    let _lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let core = session.core();
    // As its close does, but for the moment between.
    let holds = core.holds.close();
    assert_eq!(holds.len(), 1);
    session.close(None);
    let other = pool.session(options()).unwrap();
    assert_ne!(other.core().recipient.number, core.recipient.number);
    pool.0.sessions.clone().session_closed(core, HANG, holds);
    assert_eq!(pool.0.sessions.sessions_seen().1, 0);
    pool.close().await.unwrap();
}
