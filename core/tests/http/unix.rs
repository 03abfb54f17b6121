//! Streamable HTTP over a Unix socket.

use std::os::unix::net::UnixListener;

use rig::remote::{Remote, TOKEN, close, connected, failed, lists, refused};
use rig::{Rig, host, text, until};
use serde_json::json;
use trunkline::ErrorCode;

/// SPEC 2.1, 5.1, 7.1: what the socket leads to is the server, in a folder or in none, in either
/// era.
#[test]
fn a_server_over_a_unix_socket_answers_and_tells_of_changes() {
    for (is_named, era) in [(false, "legacy"), (true, "legacy"), (true, "modern")] {
        let rig = Rig::new(json!({}));
        let path = rig.path("socket");
        let place = if is_named { "@" } else { path.to_str().unwrap() };
        let remote = Remote::start_unix(&rig, place, &["--list-changes", "--era", era]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
            text(&lease, "change_list", json!({"add": "fresh"})).await;
            until(|| lists(&session, "fresh"));
            let row = rig.pool.status()["servers"]["s"].clone();
            assert_eq!((&row["transport"], &row["era"]), (&json!("http"), &json!(era)));
        });
        close(&rig);
        for request in remote.requests() {
            assert_eq!(request["headers"]["host"], "localhost", "{request}");
            assert_eq!(request["headers"]["authorization"], TOKEN, "{request}");
        }
        assert_eq!(remote.count("DELETE", ""), usize::from(era == "legacy"));
    }
}

/// SPEC 4.6, 5.12: a socket that is not there, or that nobody serves any more, is said to be what
/// is wrong.
#[test]
fn a_unix_socket_that_leads_nowhere_says_why() {
    for (kind, words) in
        [("nothing", "nothing is there"), ("stale", "refused"), ("file", "refused")]
    {
        let rig = Rig::new(json!({}));
        let path = rig.path("socket");
        match kind {
            "stale" => drop(UnixListener::bind(&path).unwrap()),
            "file" => std::fs::write(&path, "").unwrap(),
            _ => {}
        }
        let config = json!({ "url": "http://localhost/mcp", "socket_path": path });
        let error = host(refused(&rig, config));
        assert_eq!(error.code(), ErrorCode::ConnectFailed, "{kind}: {error}");
        assert_eq!(error.detail()["kind"], "socket", "{kind}: {error}");
        assert!(error.message().contains(words), "{kind}: {error}");
        assert!(error.hint().unwrap().contains("socket_path"), "{error}");
        let row = rig.pool.status()["servers"]["s"].clone();
        assert_eq!(row["last_error"]["message"], error.message(), "{row}");
    }
}

/// SPEC 5.6: a server that is gone interrupts the call of that moment.
#[test]
fn a_call_over_a_unix_socket_to_a_server_that_is_gone_is_interrupted() {
    let rig = Rig::new(json!({}));
    let mut remote = Remote::start_unix(&rig, "@", &[]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        text(&lease, "echo", json!({"message": "hi"})).await;
        remote.kill();
        let error = failed(&lease, "echo", json!({"message": "hi"})).await;
        assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
    });
}

/// SPEC 15.3: nothing that such a server leads to is known to be its own.
#[test]
fn nobody_signs_in_to_a_server_over_a_unix_socket() {
    let rig = Rig::new(json!({}));
    let config = json!({ "url": "http://localhost/mcp", "socket_path": "/run/none" });
    host(async {
        rig.configure(json!({ "s": config })).await;
        let options =
            trunkline::SignInOptions::from_json(r#"{"redirect_uri":"http://localhost:1/"}"#);
        let error = rig.pool.sign_in("s", &options.unwrap()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{error}");
    });
}
