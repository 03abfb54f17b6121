//! What the environment of a host says: which certificates are trusted and which proxies are used on the way to remote servers
//! (SPEC 4.6, 5.12, S-48), where settings files are (SPEC 10.3), and what their variables are
//! (SPEC 10.5).
//!
//! Each scenario is a process of its own, whose environment is set before anything else is there.

#[path = "../http/remote.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod remote;
#[path = "../rig/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod rig;

#[path = "../http/auth/person.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod person;

mod approved;
mod detect;
mod front;
mod proxies;
mod proxy;
mod signing_in;
mod trust;
mod withheld;

use std::net::SocketAddr;
use std::process::Command;

use serde_json::{Value, json};
use trunkline::EventMask;

use crate::remote::{Remote, TOKEN};
use crate::rig::{Rig, acquire, text};

/// Names the scenario that a process is for.
const SCENARIO: &str = "TRUNKLINE_SCENARIO";

/// A scenario and its name.
const SCENARIOS: [(&str, fn()); 16] = [
    ("a_server_whose_authority_is_trusted_is_reached_over_tls", trust::trusted),
    ("a_certificate_that_is_not_trusted_says_why", trust::untrusted),
    ("without_any_authority_only_plain_addresses_are_reached", trust::no_authority),
    ("what_is_encrypted_goes_through_a_tunnel_of_the_proxy", proxies::tunnels),
    ("what_is_not_encrypted_is_passed_on_by_the_proxy", proxies::passes_on),
    ("no_proxy_is_used_where_none_is_to_be", proxies::no_proxy),
    ("a_proxy_that_refuses_or_is_gone_is_named", proxies::refuses),
    ("a_pipe_in_the_place_of_roots_holds_nothing_up", trust::pipe),
    ("a_proxy_that_cannot_be_read_is_no_way_around_it", proxies::misread),
    ("a_sign_in_goes_through_the_proxy", signing_in::through_the_proxy),
    ("a_sign_in_is_kept_off_the_proxy", signing_in::kept_off_the_proxy),
    ("no_proxy_is_asked_for_names_that_go_direct", signing_in::names_that_go_direct),
    ("no_proxy_is_asked_for_names_of_the_network", signing_in::names_that_no_proxy_is_asked_for),
    ("settings_files_that_exist_are_detected", detect::lists_what_exists),
    ("a_start_that_fails_names_what_the_server_was_not_given", withheld::names_what_it_lacks),
    ("another_value_of_a_variable_asks_for_approval_again", approved::another_value_asks_again),
];

fn main() {
    if let Some(wanted) = std::env::var_os(SCENARIO) {
        let (_, scenario) = SCENARIOS.iter().find(|(name, _)| *name == wanted).unwrap();
        return scenario();
    }
    let mut failed = 0;
    for (name, _) in SCENARIOS {
        let mut process = Command::new(std::env::current_exe().unwrap());
        for (variable, _) in std::env::vars_os() {
            let text = variable.to_string_lossy().to_ascii_lowercase();
            if text.ends_with("_proxy") || text.starts_with("ssl_cert_") {
                process.env_remove(variable);
            }
        }
        let passed = process.env(SCENARIO, name).status().unwrap().success();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += usize::from(!passed);
    }
    let (verdict, passed) = (if failed == 0 { "ok" } else { "FAILED" }, SCENARIOS.len() - failed);
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    std::process::exit(i32::from(failed > 0));
}

/// Sets variables of this process.
fn set(variables: &[(&str, &str)]) {
    for (name, value) in variables {
        // SAFETY: no other thread was started yet, or all of them read the environment through `std` alone, which locks it.
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
