//! What the environment of a host says: which certificates are trusted and which proxies are used
//! on the way to remote servers (SPEC 4.6, 5.12, S-48), where settings files are (SPEC 10.3), and
//! what their variables are (SPEC 10.5).
//!
//! Each test is done in a process of its own, whose environment is set before anything else is
//! there.

mod approved;
mod detect;
mod front;
mod proxies;
mod proxy;
mod signing_in;
mod trust;
mod withheld;

use std::net::SocketAddr;

use rig::remote::{Remote, TOKEN};
use rig::{Rig, acquire, text};
use serde_json::{Value, json};
use trunkline::EventMask;

/// Sets variables of this process.
fn set(variables: &[(&str, &str)]) {
    for (name, value) in variables {
        // SAFETY: whatever other threads there are read the environment through `std` alone, which
        // locks it.
        unsafe { std::env::set_var(name, value) };
    }
}

/// The port of a reference server, on the loopback.
fn address(remote: &Remote) -> SocketAddr {
    let authority = remote.url.split('/').nth(2).unwrap();
    authority.parse().unwrap()
}

/// The configuration of a reference server that is reached at another host and port.
fn config(remote: &Remote, scheme: &str, host: &str, port: u16) -> Value {
    let path = remote.url.splitn(4, '/').nth(3).unwrap();
    let mut config = remote.config();
    config["url"] = json!(format!("{scheme}://{host}:{port}/{path}"));
    assert_eq!(config["headers"]["Authorization"], TOKEN);
    config
}

/// Connects, calls, and hears of a change.
async fn use_it(rig: &Rig, config: Value) {
    rig.configure(json!({ "s": config })).await;
    let session = rig.session("a");
    let events = session.subscribe(EventMask::ALL).unwrap();
    let lease = acquire(&session, "s").await;
    assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
    text(&lease, "change_list", json!({"add": "fresh"})).await;
    let is_news = |text: &str| text.contains("tools_changed") && text.contains("fresh");
    while !is_news(events.next().await.unwrap().json()) {}
    lease.release();
    session.close(None);
}
