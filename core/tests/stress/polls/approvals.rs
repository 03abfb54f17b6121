//! Decisions of people, which are kept in a file.

use rig::{Folder, HANG, acquire, until};
use trunkline::{CallOptions, ErrorCode};

use super::*;

/// A pool in a trusted workspace whose project has one server: approved, and not running.
fn one_project(flags: &[&str]) -> (Folder, Rig, Base) {
    let store = Folder::new();
    let rig = Rig::in_workspace(json!({
        "trusted": true, "approvals": store.join("approvals.json"), "drain_delay_ms": 0,
        "exit_grace_ms": 300, "limits": { "processes": 1 },
    }));
    let text = json!({ "mcpServers": { "s": rig.server(flags) } }).to_string();
    rig.pool.set_source(&"project".parse().unwrap(), Some(&text)).unwrap();
    let approvals = host(rig.pool.approvals()).unwrap();
    let hash = approvals["requests"][0]["hash"].as_str().unwrap();
    host(rig.pool.approve("s", hash)).unwrap();
    let base = host(Base::new(&rig, "s"));
    (store, rig, base)
}

/// What is decided of its server, and the configuration.
fn decided(rig: &Rig) -> Vec<(String, String)> {
    let approvals = host(rig.pool.approvals()).unwrap();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let decisions = approvals["decisions"].as_array().unwrap().iter();
    decisions.map(|row| (text(row, "decision"), text(row, "hash"))).collect()
}

/// SPEC 12.4, I-04: what was asked for again holds once, whatever became of it before.
#[test]
fn a_decision_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (_store, rig, base) = one_project(&[]);
    let session = rig.session("a");
    let approved = decided(&rig);
    let hash = approved[0].1.clone();
    let rejected = [("rejected".to_owned(), hash.clone())];
    at_every_poll("Pool::approvals", |cut| {
        let told = host(cut.of(rig.pool.approvals())).map(Result::unwrap);
        assert_eq!(decided(&rig), approved);
        told
    });
    at_every_poll("Pool::reject", |cut| {
        let lease = host(acquire(&session, "s"));
        let report = host(cut.of(rig.pool.reject("s", &hash))).map(Result::unwrap);
        host(rig.pool.reject("s", &hash)).unwrap();
        assert_eq!(decided(&rig), rejected);
        rig.wait_for_no_process();
        drop(lease);
        base.returns(&rig);
        host(rig.pool.approve("s", &hash)).unwrap();
        report
    });
    at_every_poll("Pool::forget", |cut| {
        let report = host(cut.of(rig.pool.forget("s"))).map(Result::unwrap);
        host(rig.pool.forget("s")).unwrap();
        assert!(decided(&rig).is_empty());
        let refused = host(session.acquire("s", None, &Default::default())).err().unwrap();
        assert_eq!(refused.code(), ErrorCode::NotAdmitted);
        host(rig.pool.approve("s", &hash)).unwrap();
        report
    });
    at_every_poll("Pool::approve", |cut| {
        host(rig.pool.forget("s")).unwrap();
        let report = host(cut.of(rig.pool.approve("s", &hash))).map(Result::unwrap);
        host(rig.pool.approve("s", &hash)).unwrap();
        assert_eq!(decided(&rig), approved);
        drop(host(acquire(&session, "s")));
        base.returns(&rig);
        report
    });
}

/// SPEC 7.6: accepted twice is accepted, and nothing else is.
#[test]
fn an_acceptance_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (_store, rig, base) = one_project(&["--tools", "1", "--drift"]);
    let lease = host(acquire(&rig.session("a"), "s"));
    let wait = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
    let held_back = || rig.pool.status()["servers"]["s"]["quarantined"].clone();
    let counted = || held_back().as_array().unwrap().len();
    at_every_poll("Pool::accept_tool", |cut| {
        host(rig.pool.restart("s", None)).unwrap();
        host(lease.call_tool("pid", "{}", &wait)).unwrap();
        until(|| counted() == 1);
        let to = held_back()[0]["difference"]["to"].as_str().unwrap().to_owned();
        let accepted = host(cut.of(rig.pool.accept_tool("s", "tool_1", &to)));
        host(rig.pool.accept_tool("s", "tool_1", &to)).unwrap();
        assert_eq!(counted(), 0);
        assert_eq!(host(text(&lease, "tool_1", json!({}))), "tool_1");
        accepted.map(Result::unwrap)
    });
    host(rig.pool.settled(Some(HANG))).unwrap();
    drop(lease);
    base.returns(&rig);
}
