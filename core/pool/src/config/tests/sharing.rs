//! Whose a connection is.

use serde_json::{Value, json};

use crate::config::{ServerSpec, Share};

fn share(config: Value, shared_transports: &[&str]) -> Share {
    let shared: Vec<String> = shared_transports.iter().map(|one| one.to_string()).collect();
    ServerSpec::from_value("s", &config).unwrap().share(&shared)
}

/// SPEC 2.1: by transport, unless the server's configuration says something else.
#[test]
fn the_transport_decides_unless_the_server_does() {
    let (stdio, http) = (json!({"command": "c"}), json!({"url": "https://h", "type": "http"}));
    let default = ["stdio", "websocket"];
    assert_eq!(share(stdio.clone(), &default), Share::Pool);
    assert_eq!(share(json!({"url": "wss://h"}), &default), Share::Pool);
    assert_eq!(share(http.clone(), &default), Share::Session);
    assert_eq!(share(http, &["http"]), Share::Pool);
    assert_eq!(share(stdio, &["http"]), Share::Session);
    assert_eq!(share(json!({"command": "c", "share": "session"}), &default), Share::Session);
    assert_eq!(share(json!({"url": "https://h", "share": "pool"}), &default), Share::Pool);
}

/// SPEC 2.4: the switch of the whole pool beats what a server says.
#[test]
fn where_nothing_is_shared_no_server_is() {
    assert_eq!(share(json!({"command": "c"}), &[]), Share::Session);
    assert_eq!(share(json!({"command": "c", "share": "pool"}), &[]), Share::Session);
}
