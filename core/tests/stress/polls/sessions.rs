//! Sessions: what they hold, wait for and are told.

use std::time::Duration;

use rig::{acquire, until};
use trunkline::{AcquireOptions, EventKind, EventMask, ServerSpec};

use super::*;

/// SPEC 3.4, I-04.
#[test]
fn an_acquire_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let session = rig.session("a");
    for options in ["{}", r#"{"timeout_ms":20000}"#] {
        let options = AcquireOptions::from_json(options).unwrap();
        at_every_poll("Session::acquire", |cut| {
            let lease = host(cut.of(session.acquire("s", None, &options)));
            let lease = lease.map(Result::unwrap);
            lease.iter().for_each(|lease| drop(host(text(lease, "pid", json!({})))));
            let completed = lease.map(drop);
            base.returns(&rig);
            completed
        });
    }
}

/// SPEC 3.4, I-04: a hold that is granted at once, to somebody who is gone.
#[test]
fn an_acquire_of_a_connected_server_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let held = host(acquire(&rig.session("holder"), "s"));
    let session = rig.session("a");
    let options = AcquireOptions::default();
    until_complete("Session::acquire", |cut| {
        let lease = host(cut.of(session.acquire("s", None, &options)));
        let completed = lease.map(drop);
        // Another thread may be carrying out the grant, and gives it back when it finds nobody.
        until(|| entry(&rig)["refs"] == 1);
        completed
    });
    drop((held, session));
    base.returns(&rig);
}

/// SPEC 3.4, I-04: with a session that is opened for it, and a server that it brings.
#[test]
fn an_acquire_through_the_pool_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let spec = ServerSpec::from_value("t", &rig.server(&["--tools", "1"])).unwrap();
    let options = AcquireOptions::default();
    at_every_poll("Pool::acquire", |cut| {
        let lease = host(cut.of(rig.pool.acquire("t", &spec, "a", &options)));
        let completed = lease.map(|lease| {
            assert_eq!(host(text(&lease.unwrap(), "tool_1", json!({}))), "tool_1");
        });
        until(|| rig.pool.status()["totals"]["sessions"] == 0);
        base.returns(&rig);
        completed
    });
}

/// SPEC 13.2, 14.1, I-04: a waiter for a session's servers may go, and they come all the same.
#[test]
fn a_wait_for_a_session_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    at_every_poll("Session::ready", |cut| {
        let session = rig.session_with(json!({ "id": "a" }));
        let ready = host(cut.of(session.ready(None, None))).map(Result::unwrap);
        host(session.ready(Some("s"), Some(rig::HANG))).unwrap();
        assert_eq!((rig.running().len(), &entry(&rig)["refs"]), (1, &json!(1)));
        drop(session);
        base.returns(&rig);
        ready
    });
    at_every_poll("Session::started", |cut| {
        let session = rig.session_with(json!({ "id": "a" }));
        let started = host(cut.of(session.started())).map(Result::unwrap);
        let again = host(session.started()).unwrap();
        assert_eq!(started.as_ref().unwrap_or(&again), &again);
        assert_eq!((rig.running().len(), &entry(&rig)["refs"]), (1, &json!(1)));
        drop(session);
        base.returns(&rig);
        started
    });
}

/// SPEC 7.9, I-04: lists are read to their end, no matter who waits for them.
#[test]
fn a_wait_for_lists_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&["--list-delay-ms", "20"]);
    at_every_poll("Session::refresh", |cut| {
        let session = rig.session_with(json!({ "id": "a" }));
        let refreshed = host(cut.of(session.refresh("s"))).map(Result::unwrap);
        host(session.refresh("s")).unwrap();
        assert_eq!((rig.running().len(), &entry(&rig)["refs"]), (1, &json!(1)));
        drop(session);
        base.returns(&rig);
        refreshed
    });
    let mut tools = 1_001_u32..;
    at_every_poll("Session::listed", |cut| {
        let session = rig.session_with(json!({ "id": "a" }));
        let tool = format!("tool_{}", tools.next().unwrap());
        let lease = host(acquire(&session, "s"));
        host(text(&lease, "change_list", json!({ "add": [&tool] })));
        let listed = host(cut.of(session.listed(None))).map(Result::unwrap);
        host(session.listed(Some("s"))).unwrap();
        let shown = session.tools().unwrap();
        assert!(shown.iter().any(|it| it.name.ends_with(&tool)), "{tool} is not listed");
        drop((lease, session));
        base.returns(&rig);
        listed
    });
}

/// SPEC 16.2: nothing is left of a shell that nobody waits for any more.
#[test]
fn a_shell_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    at_every_poll("::login_shell", |cut| {
        let shell = trunkline::login_shell("/bin/sh".into(), std::env::temp_dir());
        let told = host(cut.of(shell)).map(Result::unwrap);
        base.returns(&rig);
        told
    });
}

/// SPEC 7.3: what nobody took is taken by the next to ask, once.
#[test]
fn the_next_event_is_not_lost_at_any_poll() {
    let (rig, base) = (rig(), Duration::from_millis(20));
    host(rig.configure(json!({ "s": rig.server(&[]) })));
    let session = rig.session("a");
    let lease = host(acquire(&session, "s"));
    let events = session.subscribe(EventMask(EventKind::Log.bit())).unwrap();
    let mut number = 0;
    at_every_poll("Subscription::next", |cut| {
        number += 1;
        let log = json!({ "level": "error", "text": number.to_string() }).to_string();
        let after = json!({ "ms": base.as_millis() as u64 }).to_string();
        let options = Default::default();
        let told = host(async {
            lease.call_tool("sleep", &after, &options).await.unwrap();
            let call = lease.start_call_tool("log", &log, &options, |_| ());
            let told = cut.of(events.next()).await;
            drop(call);
            told
        });
        let completed = told.is_some();
        let told = told.unwrap_or_else(|| host(events.next())).unwrap();
        let told: Value = serde_json::from_str(told.json()).unwrap();
        assert_eq!(told["data"], number.to_string());
        assert!(events.try_next().is_none());
        completed.then_some(())
    });
}
