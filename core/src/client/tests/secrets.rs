//! What a server is given in its environment does not come back in what is shown (S-48).

use super::*;

const CANARY: &str = "canary-value \u{1b} with\\everything";

fn given(server: Server) -> Server {
    server.member("env", json!({ "TOKEN": CANARY, "SHORT": "seven77" }))
}

/// S-48, SPEC 4.7.
#[tokio::test]
async fn a_secret_on_stderr_is_neither_an_event_nor_kept() {
    let tell = r#"printf 'a %s b %s\n' "$TOKEN" "$SHORT" >&2; reply '{}'"#;
    let open = given(script(&scripted(tell))).connect().await;
    open.call("any", json!({})).await.unwrap();
    let event = open.recorder.wait_for("stderr").await;
    assert_eq!(event, "stderr a [redacted] b seven77");
    assert_eq!(open.connection.stderr_tail(), ["a [redacted] b seven77"]);
    open.close().await;
}

/// S-48: also where a line is cut.
#[tokio::test]
async fn a_secret_in_a_line_too_long_is_not_shown_in_part() {
    let tell = r#"printf '%04090d%s and more\n' 0 "$TOKEN" >&2; reply '{}'"#;
    let open = given(script(&scripted(tell))).connect().await;
    open.call("any", json!({})).await.unwrap();
    let event = open.recorder.wait_for("stderr").await;
    assert!(event.ends_with("000[redacted]"), "{event}");
    open.close().await;
}

/// S-48, SPEC 4.6.
#[tokio::test]
async fn a_secret_is_not_in_the_error_of_a_failed_connect() {
    let tell = r#"printf 'bad token %s\n' "$TOKEN" >&2; exit 3"#;
    let error = given(script(tell)).refused().await;
    assert_eq!(error.detail()["stderr"], json!(["bad token [redacted]"]));
    let tell = r#"printf 'token %s\n' "$TOKEN"; sleep 60"#;
    let silent = given(script(tell)).options(|it| it.timeout = Duration::from_secs(3));
    let error = silent.refused().await;
    assert_eq!(
        (error.code(), &error.detail()["noise"]),
        (ErrorCode::Timeout, &"token [redacted]".into())
    );
    assert!(!error.to_json().to_string().contains("canary"));
}

/// S-48, SPEC 5.12: nor in the error that a server answers with, whatever member it is in.
#[tokio::test]
async fn a_secret_is_not_in_the_error_of_a_call() {
    let open = given(test_server(&[])).connect().await;
    let arguments =
        json!({ "code": -32000, "message": CANARY, "data": { "of": [CANARY], CANARY: 1 } });
    let error = open.call("error", arguments).await.unwrap_err();
    assert_eq!(error.detail()["message"], "[redacted]");
    assert_eq!(error.detail()["data"], json!({ "of": ["[redacted]"], "[redacted]": 1 }));
    assert!(!format!("{error:?} {error} {}", error.to_json()).contains("canary"));
    open.close().await;
}

/// S-48: nor in a log message or in a report of progress. What the caller asked for, it gets.
#[tokio::test]
async fn a_secret_is_not_in_what_a_server_notifies() {
    let open = given(test_server(&[])).connect().await;
    open.call("log", json!({ "level": "info", "text": CANARY })).await.unwrap();
    assert!(open.recorder.wait_for("log").await.contains("[redacted]"));
    assert!(!open.recorder.told().join("|").contains("canary"));
    let told = Arc::new(Mutex::new(String::new()));
    let into = told.clone();
    let params = json!({ "name": "progress", "arguments": { "steps": 1, "canary": CANARY } });
    let progress: OnProgress = Box::new(move |params| *into.lock().unwrap() += params);
    let (_, answer) = open.request(OutgoingRequest {
        params: &params.to_string(),
        progress: Some(progress),
        ..request()
    });
    ended(answer).await.unwrap();
    assert!(
        told.lock().unwrap().contains("[redacted]") && !told.lock().unwrap().contains("canary")
    );
    let reply = open.call("env", json!({ "name": "TOKEN" })).await.unwrap();
    assert!(reply.contains("canary"));
    open.close().await;
}

/// S-48, SPEC 5.6.
#[tokio::test]
async fn a_secret_is_not_in_the_report_of_a_loss() {
    let tell = r#"printf 'died of %s\n' "$TOKEN" >&2; exit 3"#;
    let open = given(script(&scripted(tell))).connect().await;
    open.call("any", json!({})).await.unwrap_err();
    open.recorder.wait_for("lost").await;
    open.recorder.wait_for("died of [redacted]").await;
    assert!(!open.recorder.told().join("|").contains("canary"));
    open.close().await;
}
