//! Addresses that hold a user and a password.

use rig::remote::Remote;
use rig::{Rig, acquire, host, text, until};
use serde_json::json;

/// What a client makes of `user` and `p%40ss` in an address.
const BASIC: &str = "Basic dXNlcjpwQHNz";

/// Starts a server of one kind.
type Start = fn(&Rig, &str, &[&str]) -> Remote;

/// SPEC 2.1, S-32: every request names them, also where a redirect or the stream said where to go.
#[test]
fn the_user_of_an_address_goes_with_every_request_of_its_origin() {
    let kinds: [(Start, &str); 5] = [
        (Remote::start, ""),
        (Remote::start, "redirect-here"),
        (Remote::start_events, ""),
        (Remote::start_events, "redirect-here"),
        (Remote::start_socket, "redirect-here"),
    ];
    for (start, faults) in kinds {
        let rig = Rig::new(json!({}));
        let remote = start(&rig, faults, &[]);
        host(async {
            let mut config = remote.config();
            config["url"] = json!(remote.url.replace("://", "://user:p%40ss@"));
            config.as_object_mut().unwrap().remove("headers");
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            let lease = acquire(&session, "s").await;
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
        });
        rig::remote::close(&rig);
        until(|| rig::remote::sockets_to(&remote) == 0);
        let requests = remote.requests();
        assert!(!requests.is_empty());
        for request in requests {
            assert_eq!(request["headers"]["authorization"], BASIC, "{faults}: {request}");
        }
    }
}
