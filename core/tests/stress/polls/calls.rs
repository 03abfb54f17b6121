//! Calls and other requests.

use rig::{acquire, until};
use trunkline::{CallOptions, CallResult};

use super::*;

/// SPEC 5.5, I-17: with and without the options that let a call outlive its connection.
#[test]
fn a_call_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let lease = host(acquire(&rig.session("a"), "s"));
    for options in ["{}", r#"{"wait":true}"#, r#"{"retry":"safe","progress":true}"#] {
        let options = CallOptions::from_json(options).unwrap();
        at_every_poll("Lease::call_tool", |cut| {
            let call = host(cut.of(lease.call_tool("sleep", r#"{"ms":50}"#, &options)));
            assert_nothing_is_under_way(&rig, &lease);
            call.map(Result::unwrap)
        });
    }
    drop(lease);
    base.returns(&rig);
}

/// SPEC 5.1, 5.5, I-17: and the requests that are no calls.
#[test]
fn a_request_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let lease = host(acquire(&rig.session("a"), "s"));
    let options = CallOptions::default();
    let level = r#"{"level":"info"}"#;
    let completion =
        r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"o"}}"#;
    let finish = |answered: Option<trunkline::Result<CallResult>>| {
        assert_nothing_is_under_way(&rig, &lease);
        answered.map(Result::unwrap)
    };
    at_every_poll("Lease::request", |cut| {
        finish(host(cut.of(lease.request("logging/setLevel", level, &options))))
    });
    at_every_poll("Lease::read_resource", |cut| {
        finish(host(cut.of(lease.read_resource("test://one", &options))))
    });
    at_every_poll("Lease::get_prompt", |cut| {
        finish(host(cut.of(lease.get_prompt("greet", "{}", &options))))
    });
    at_every_poll("Lease::complete", |cut| {
        finish(host(cut.of(lease.complete(completion, &options))))
    });
    drop(lease);
    base.returns(&rig);
}

/// SPEC 5.1, 5.5, I-17: and those of a session, which hold a lease of their own meanwhile.
#[test]
fn a_request_of_a_session_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let session = rig.session("a");
    let lease = host(acquire(&session, "s"));
    let options = CallOptions::default();
    let completion =
        r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"o"}}"#;
    let finish = |answered: Option<trunkline::Result<CallResult>>| {
        assert_nothing_is_under_way(&rig, &lease);
        answered.map(Result::unwrap)
    };
    at_every_poll("Session::request", |cut| {
        finish(host(cut.of(session.request("s", "prompts/list", "{}", &options))))
    });
    at_every_poll("Session::read_resource", |cut| {
        finish(host(cut.of(session.read_resource("s", "test://one", &options))))
    });
    at_every_poll("Session::get_prompt", |cut| {
        finish(host(cut.of(session.get_prompt("s", "greet", "{}", &options))))
    });
    at_every_poll("Session::complete", |cut| {
        finish(host(cut.of(session.complete("s", completion, &options))))
    });
    drop((lease, session));
    base.returns(&rig);
}

/// SPEC 5.5, 14.3, I-17: by the name that a session shows.
#[test]
fn a_call_by_its_exposed_name_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let session = rig.session_with(json!({ "id": "a" }));
    let lease = host(acquire(&session, "s"));
    let options = CallOptions::default();
    at_every_poll("Session::call_tool", |cut| {
        let call = host(cut.of(session.call_tool("mcp__s__sleep", r#"{"ms":50}"#, &options)));
        assert_nothing_is_under_way(&rig, &lease);
        call.map(Result::unwrap)
    });
    drop((lease, session));
    base.returns(&rig);
}

/// SPEC 5.5, 14.2, I-04: of a server that is started for it, and not without it.
#[test]
fn a_call_that_wakes_a_server_may_be_dropped_at_every_poll() {
    rig::alone!();
    let rig = rig();
    let mut server = rig.server(&[]);
    server["start"] = json!("lazy");
    host(rig.configure(json!({ "s": server })));
    let base = host(Base::new(&rig, "s"));
    let session = rig.session_with(json!({ "id": "a" }));
    host(session.ready(None, None)).unwrap();
    base.returns(&rig);
    let options = CallOptions::default();
    at_every_poll("Session::call_tool", |cut| {
        let called = host(cut.of(session.call_tool("mcp__s__pid", "{}", &options)));
        until(|| rig.pool.status()["servers"]["s"]["reason"] == "asleep");
        base.returns(&rig);
        called.map(Result::unwrap)
    });
    host(session.call_tool("mcp__s__pid", "{}", &options)).unwrap();
    drop(session);
    base.returns(&rig);
}
