//! What a pool is told to do: it goes on without its caller.

use rig::{HANG, acquire, until};
use trunkline::{CallOptions, DrainOptions, ServeOptions, Servers};

use super::*;

/// SPEC 9.2, I-04.
#[test]
fn a_restart_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let lease = host(acquire(&rig.session("a"), "s"));
    let wait = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
    at_every_poll("Pool::restart", |cut| {
        let generation = lease.generation();
        let report = host(cut.of(rig.pool.restart("s", None))).map(Result::unwrap);
        if let Some(report) = &report {
            assert_eq!(report["entries"][0]["restarted"], true, "{report}");
        }
        // A future that is never polled has asked for nothing.
        until(|| cut.polls == 0 || lease.generation() > generation);
        host(lease.call_tool("pid", "{}", &wait)).unwrap();
        assert_eq!((rig.running().len(), &entry(&rig)["refs"]), (1, &json!(1)));
        report
    });
    drop(lease);
    base.returns(&rig);
}

/// A pool of its own whose server has to be told to end.
fn reluctant() -> (Rig, Lease) {
    let options = json!({ "drain_delay_ms": 0, "exit_grace_ms": 30, "limits": { "processes": 1 } });
    let rig = Rig::new(options);
    host(rig.configure(json!({ "s": rig.server(&["--ignore-eof"]) })));
    let lease = host(acquire(&rig.session("a"), "s"));
    (rig, lease)
}

/// SPEC 9.7, I-04, I-08.
#[test]
fn a_drain_and_a_close_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (first, base) = one_server(&[]);
    for force in [false, true] {
        let options = DrainOptions::from_json(&format!(r#"{{"force":{force}}}"#)).unwrap();
        at_every_poll("Pool::drain_all", |cut| {
            let (rig, lease) = reluctant();
            let report = host(cut.of(rig.pool.drain_all(&options))).map(Result::unwrap);
            if cut.polls > 0 {
                rig.wait_for_no_process();
            }
            drop((lease, rig));
            base.returns(&first);
            report
        });
    }
    at_every_poll("Pool::close", |cut| {
        let (rig, lease) = reluctant();
        let closed = host(cut.of(rig.pool.close())).map(Result::unwrap);
        // It has begun when it was called.
        rig.wait_for_no_process();
        drop((lease, rig));
        base.returns(&first);
        closed
    });
    at_every_poll("Pool::close_with", |cut| {
        let (rig, lease) = reluctant();
        let options = DrainOptions::from_json(r#"{"force":true}"#).unwrap();
        let closed = host(cut.of(rig.pool.close_with(options))).map(Result::unwrap);
        rig.wait_for_no_process();
        drop((lease, rig));
        base.returns(&first);
        closed
    });
}

/// SPEC 13.2, I-04.
#[test]
fn a_reconcile_and_a_wait_for_all_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let servers = json!({ "s": rig.server(&[]) });
    at_every_poll("Pool::reconcile", |cut| {
        host(rig.configure(json!({})));
        let session = rig.session_with(json!({ "id": "a" }));
        let given = Servers::from_json(&servers.to_string()).unwrap();
        let changed = host(cut.of(rig.pool.reconcile(given))).map(Result::unwrap);
        host(rig.configure(servers.clone()));
        host(session.ready(Some("s"), Some(HANG))).unwrap();
        assert_eq!((rig.running().len(), &entry(&rig)["refs"]), (1, &json!(1)));
        drop(session);
        base.returns(&rig);
        changed
    });
    at_every_poll("Pool::settled", |cut| {
        let session = rig.session_with(json!({ "id": "a" }));
        let settled = host(cut.of(rig.pool.settled(None))).map(Result::unwrap);
        let again = host(rig.pool.settled(Some(HANG))).unwrap();
        assert_eq!(again["servers"]["s"]["state"], "ready");
        assert_eq!(settled.as_ref().unwrap_or(&again), &again);
        drop(session);
        base.returns(&rig);
        settled
    });
}

/// SPEC 15.2: of changes that were asked for the last one stands, no matter who waited for which.
#[test]
fn a_change_of_the_roots_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let lease = host(acquire(&rig.session("a"), "s"));
    let [first, last] = ["first", "last"].map(|name| {
        let folder = rig.path(name);
        std::fs::create_dir(&folder).unwrap();
        [folder.to_str().unwrap().to_owned()]
    });
    at_every_poll("Pool::set_roots", |cut| {
        let changed = host(cut.of(rig.pool.set_roots(&first))).map(Result::unwrap);
        host(rig.pool.set_roots(&last)).unwrap();
        let told = host(text(&lease, "ask", json!({ "method": "roots/list" })));
        assert!(told.contains("/last") && !told.contains("/first"), "{told}");
        assert_nothing_is_under_way(&rig, &lease);
        changed
    });
    drop(lease);
    base.returns(&rig);
}

/// SPEC 19.8.
#[test]
fn the_close_of_an_endpoint_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    at_every_poll("Serving::close", |cut| {
        let serving = rig.pool.serve(ServeOptions::default()).unwrap();
        let closed = host(cut.of(serving.close()));
        drop(serving);
        base.returns(&rig);
        closed
    });
}
