//! Connects to remote servers, over each transport.

use rig::remote::{Remote, sockets_to};
use rig::{traces, until};
use trunkline::AcquireOptions;

use super::*;

/// SPEC 3.4, I-04: neither a socket nor, where there are such, a session with the server is left.
#[test]
fn an_acquire_over_a_socket_may_be_dropped_at_every_poll() {
    rig::alone!();
    let rig = rig();
    let (stream, modern) = (Remote::start(&rig, "", &[]), &["--era", "modern"]);
    assert_leaves_nothing(&rig, &stream);
    // Each session with the server that began has ended.
    let begun = stream.count("POST", "initialize");
    until(|| stream.count("DELETE", "") == begun);
    assert_leaves_nothing(&rig, &Remote::start(&rig, "", modern));
    assert_leaves_nothing(&rig, &Remote::start_events(&rig, "", &[]));
    assert_leaves_nothing(&rig, &Remote::start_socket(&rig, "", &[]));
}

fn assert_leaves_nothing(rig: &Rig, remote: &Remote) {
    host(rig.configure(json!({ "s": remote.config() })));
    let session = rig.session("a");
    let descriptors = traces::descriptors(std::process::id());
    at_every_poll("Session::acquire", |cut| {
        let lease = host(cut.of(session.acquire("s", None, &AcquireOptions::default())));
        let completed = lease.map(|lease| {
            host(text(&lease.unwrap(), "count", json!({})));
        });
        until(|| rig.pool.status()["totals"]["entries"] == 0 && sockets_to(remote) == 0);
        until(|| traces::descriptors(std::process::id()) <= descriptors);
        completed
    });
}
