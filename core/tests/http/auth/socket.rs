//! Signing in to servers over websockets, whose credentials go with the request that opens one.

use rig::person::{
    self, assert_shows_no_secret, call, guarded_socket, options, refusal, sign_in, visit,
};
use rig::remote::{Remote, sockets_to};
use rig::{Rig, acquire, host, until};
use serde_json::{Value, json};
use trunkline::{ErrorCode, Session};

async fn start(rig: &Rig, ways: Value) -> (Remote, Session) {
    person::start(rig, guarded_socket(rig, &ways)).await
}

/// SPEC 15.3, 8.4: a refused upgrade is `auth_required` as over HTTP, and a sign-in opens the
/// websocket.
#[test]
fn a_person_signs_in_to_a_server_over_a_websocket() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, session) = start(&rig, json!({})).await;
        let error = refusal(&session).await;
        assert_eq!(
            (error.code(), &error.detail()["missing"]),
            (ErrorCode::AuthRequired, &json!("token"))
        );
        assert!(error.detail()["www_authenticate"].as_str().unwrap().contains("resource_metadata"));
        let state = || rig.pool.status()["servers"]["s"].clone();
        assert_eq!(state()["entries"][0]["state"], "auth_required");
        let before = remote.requests().len();
        refusal(&session).await;
        assert_eq!(remote.requests().len(), before, "nothing is tried again by itself");
        let begun = rig.pool.sign_in("s", &options()).await.unwrap();
        let url = begun["url"].as_str().unwrap();
        assert!(url.contains("resource=http%3A%2F%2F127.0.0.1"), "{url}");
        rig.pool.finish_sign_in(&visit(url)).await.unwrap();
        let lease = acquire(&session, "s").await;
        call(&lease).await.unwrap();
        assert_eq!(
            (&state()["auth_need"], &state()["transport"]),
            (&Value::Null, &json!("websocket"))
        );
        assert_shows_no_secret(&rig, Some(&error));
    });
}

/// SPEC 15.3: a websocket that stands would go on with what is forgotten; it ends with the
/// sign-out.
#[test]
fn a_sign_out_ends_a_websocket() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, session) = start(&rig, json!({})).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        call(&lease).await.unwrap();
        assert_eq!(rig.pool.sign_out("s").await.unwrap()["signed_out"], true);
        until(|| rig.pool.status()["servers"]["s"]["entries"][0]["state"] == "auth_required");
        // Its tools went with the connection, as after any loss that nothing tries to mend.
        call(&lease).await.unwrap_err();
        until(|| sockets_to(&remote) == 0);
        sign_in(&rig, "s").await.unwrap();
        until(|| lease.state().is_connected());
        call(&lease).await.unwrap();
    });
}

/// SPEC 15.3: what the upgrade is refused with is renewed once.
#[test]
fn a_websocket_is_opened_with_a_token_that_is_renewed() {
    let rig = Rig::new(json!({}));
    host(async {
        let (remote, session) = start(&rig, json!({ "token": { "expires_in": 20 } })).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        call(&acquire(&session, "s").await).await.unwrap();
        let issued = remote.requests().iter().filter(|request| request["path"] == "/token").count();
        assert_eq!(issued, 2);
    });
}
