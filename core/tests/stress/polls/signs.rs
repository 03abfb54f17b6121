//! Signing in, and out.

use rig::person::{guarded, options, refusal, sign_in, visit};
use rig::remote::{Remote, sockets_to};
use rig::{acquire, until};
use trunkline::ErrorCode;

use super::*;

/// SPEC 15.3, I-04: what was given up stands in nobody's way, and leaves no socket.
#[test]
fn a_sign_in_may_be_dropped_at_every_poll() {
    rig::alone!();
    // What was refused is not remembered longer than somebody holds it.
    let rig = Rig::new(json!({ "drain_delay_ms": 0, "idle_cap_ms": 0 }));
    let (remote, config) = guarded(&rig, &json!({}), json!({}));
    host(rig.configure(json!({ "s": config })));
    assert_may_sign_in_and_out(&rig, &remote);
    at_every_poll("Pool::sign_in", |cut| {
        let begun = host(cut.of(rig.pool.sign_in("s", &options()))).map(Result::unwrap);
        assert_may_sign_in_and_out(&rig, &remote);
        begun
    });
    at_every_poll("Pool::finish_sign_in", |cut| {
        let begun = host(rig.pool.sign_in("s", &options())).unwrap();
        let back = visit(begun["url"].as_str().unwrap());
        let finished = host(cut.of(rig.pool.finish_sign_in(&back))).map(Result::unwrap);
        // What was begun goes on, and signs nobody in who signed out meanwhile.
        host(rig.pool.sign_out("s")).unwrap();
        assert_eq!(host(refusal(&rig.session("b"))).code(), ErrorCode::AuthRequired);
        assert_may_sign_in_and_out(&rig, &remote);
        finished
    });
    at_every_poll("Pool::sign_out", |cut| {
        host(sign_in(&rig, "s")).unwrap();
        let lease = host(acquire(&rig.session("b"), "s"));
        let report = host(cut.of(rig.pool.sign_out("s"))).map(Result::unwrap);
        host(rig.pool.sign_out("s")).unwrap();
        drop(lease);
        assert_eq!(host(refusal(&rig.session("b"))).code(), ErrorCode::AuthRequired);
        assert_may_sign_in_and_out(&rig, &remote);
        report
    });
}

fn assert_may_sign_in_and_out(rig: &Rig, remote: &Remote) {
    host(sign_in(rig, "s")).unwrap();
    let lease = host(acquire(&rig.session("a"), "s"));
    host(text(&lease, "count", json!({})));
    drop(lease);
    assert_eq!(host(rig.pool.sign_out("s")).unwrap()["signed_out"], true);
    until(|| rig.pool.status()["totals"]["entries"] == 0 && sockets_to(remote) == 0);
}
