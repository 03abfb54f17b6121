//! Who says that it sends: every request of the library.

use rig::person::{self, call, guarded, guarded_socket, refusal, sign_in};
use rig::remote::{Remote, close, sockets_to};
use rig::{Rig, acquire, host, until};
use serde_json::{Value, json};

/// The agent of everything that the library sends.
const OWN: &str = concat!("trunkline/", env!("CARGO_PKG_VERSION"));

/// What is asked of a server and its authorization server from the first refusal to the end of the
/// connection.
fn everything(prepared: impl Fn(&Rig) -> (Remote, Value), agent: Option<&str>) -> Vec<Value> {
    let rig = Rig::new(json!({}));
    let (remote, mut config) = prepared(&rig);
    if let Some(agent) = agent {
        config["headers"] = json!({ "User-Agent": agent });
    }
    let remote = host(async {
        let (remote, session) = person::start(&rig, (remote, config)).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        call(&acquire(&session, "s").await).await.unwrap();
        remote
    });
    close(&rig);
    until(|| sockets_to(&remote) == 0);
    remote.requests()
}

/// SPEC 18.6: messages, metadata, registration, tokens and the upgrade to a websocket say who sends
/// them, and that nothing coded is wanted. A server's own headers may say another name, to that
/// server.
#[test]
fn every_request_says_who_sends_it_and_how_it_is_to_be_answered() {
    type Prepared = fn(&Rig) -> (Remote, Value);
    let http: Prepared = |rig| guarded(rig, &json!({}), json!({}));
    let socket: Prepared = |rig| guarded_socket(rig, &json!({}));
    for (prepared, agent) in [(http, None), (socket, None), (http, Some("host/7"))] {
        let requests = everything(prepared, agent);
        for path in ["/.well-known/", "/register", "/token"] {
            let is_it = |request: &Value| request["path"].as_str().unwrap().starts_with(path);
            assert!(requests.iter().any(is_it), "{path}");
        }
        for request in requests {
            let path = request["path"].as_str().unwrap();
            // The person has a browser of their own.
            if path.starts_with("/authorize") {
                continue;
            }
            let is_message = path == "/mcp" || path == "/ws";
            let expected = agent.filter(|_| is_message).unwrap_or(OWN);
            assert_eq!(request["headers"]["user-agent"], expected, "{request}");
            assert_eq!(request["headers"]["accept-encoding"], "identity", "{request}");
        }
    }
}
