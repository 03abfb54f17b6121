//! Servers that cannot be started, do not serve, or say what is no protocol (I-28).

use super::*;

/// SPEC 4.6, S-48.
#[tokio::test]
async fn a_missing_command_is_named_and_its_arguments_are_not() {
    let secret = "--token=canary";
    let server = Server::new(json!({ "command": "no-such-program", "args": [secret] }));
    let error = server.refused().await;
    assert_eq!((error.code(), error.is_retryable()), (ErrorCode::SpawnFailed, true));
    let detail = Value::Object(error.detail().clone());
    assert_eq!(detail, json!({ "command": "no-such-program", "errno": libc::ENOENT }));
    assert!(error.hint().is_some() && !format!("{} {detail}", error.to_json()).contains("canary"));
}

/// SPEC 4.6.
#[tokio::test]
async fn a_file_that_is_no_program_is_refused_with_the_reason() {
    let folder = Folder::new();
    std::fs::write(folder.join("text"), "not a program").unwrap();
    let command = folder.join("text").to_str().unwrap().to_owned();
    let error = Server::new(json!({ "command": command })).refused().await;
    assert_eq!(
        (error.code(), &error.detail()["errno"]),
        (ErrorCode::SpawnFailed, &libc::EACCES.into())
    );
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.join("text"), PermissionsExt::from_mode(0o755)).unwrap();
    let error = Server::new(json!({ "command": command })).refused().await;
    assert_eq!(error.detail()["errno"], libc::ENOEXEC, "{error}");
}

/// SPEC 10.6.
#[tokio::test]
async fn a_working_directory_that_does_not_exist_is_named() {
    let error = test_server(&[]).member("cwd", "/no/such/folder").refused().await;
    assert_eq!(
        (error.code(), &error.detail()["cwd"]),
        (ErrorCode::SpawnFailed, &"/no/such/folder".into())
    );
}

/// SPEC 4.6.
#[tokio::test]
async fn a_program_that_exits_at_once_tells_its_status_and_its_last_words() {
    let error =
        test_server(&["--exit-at-start", "3", "--stderr-text", "no \u{1b} luck"]).refused().await;
    assert_eq!((error.code(), error.is_retryable()), (ErrorCode::Exited, true));
    let detail = Value::Object(error.detail().clone());
    assert_eq!(detail, json!({ "status": 3, "stderr": [r"no \u{1b} luck"] }));
    assert_eq!(error.to_string(), "s: the server exited with status 3");
    let error = script("kill -9 $$").refused().await;
    assert_eq!((error.code(), &error.detail()["signal"]), (ErrorCode::Exited, &9.into()));
    let error = script("exec 2>&-; no-such-program").refused().await;
    assert_eq!((error.code(), &error.detail()["status"]), (ErrorCode::Exited, &127.into()));
}

/// In which a server has said what it says before it falls silent, on a busy machine too.
const LONG_ENOUGH_TO_START: Duration = Duration::from_secs(3);

/// SPEC 4.2, 4.6, I-07.
#[tokio::test]
async fn a_program_that_never_answers_times_out_and_is_gone() {
    let server = test_server(&["--silent"]).options(|it| it.timeout = Duration::from_millis(200));
    let error = server.refused().await;
    assert_eq!((error.code(), &error.detail()["which"]), (ErrorCode::Timeout, &"connect".into()));
    let server = test_server(&["--list-delay-ms", "60000"])
        .options(|options| options.timeout = LONG_ENOUGH_TO_START);
    let error = server.without_lists().await;
    assert_eq!((error.code(), &error.detail()["which"]), (ErrorCode::Timeout, &"list".into()));
}

/// SPEC 5.10.
#[tokio::test]
async fn lines_that_are_no_objects_are_noise_and_shown_when_nothing_else_comes() {
    let open = test_server(&["--noise"]).connect().await;
    open.call("echo", json!({ "message": "x" })).await.unwrap();
    open.close().await;
    let server = script("echo Starting; echo up; sleep 60")
        .options(|options| options.timeout = LONG_ENOUGH_TO_START);
    let error = server.refused().await;
    assert_eq!(
        (&error.detail()["noise"], &error.detail()["noise_lines"]),
        (&"Starting".into(), &2.into())
    );
    assert!(error.hint().unwrap().contains("stderr"));
}

/// SPEC 5.10, I-28.
#[tokio::test]
async fn garbage_in_the_form_of_an_object_ends_the_attempt_at_once() {
    // One that waited for its deadline hangs.
    let server = test_server(&["--garbage"]).options(|options| options.timeout = HANG * 10);
    assert_eq!(server.refused().await.code(), ErrorCode::Protocol);
}

/// SPEC 4.6.
#[tokio::test]
async fn a_server_that_dies_between_the_handshake_and_the_list_tells_how() {
    // Whether a write or the reader sees the end first is a matter of luck.
    for _ in 0..30 {
        let error = test_server(&["--die-before-list"]).refused().await;
        let detail = Value::Object(error.detail().clone());
        assert_eq!(error.code(), ErrorCode::Exited, "{error}");
        assert_eq!(detail, json!({ "status": 3, "stderr": ["dying before the list"] }));
    }
}

/// PROTOCOL 1.1: disconnect when the revision is not supported.
#[tokio::test]
async fn only_revisions_that_are_spoken_here_are_accepted() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let open = test_server(&["--protocol-version", revision]).connect().await;
        assert_eq!(open.connection.server_facts().protocol_version, revision);
        open.close().await;
    }
    for revision in ["1999-01-01", "2026-07-28", ""] {
        let error = test_server(&["--protocol-version", revision]).refused().await;
        assert_eq!(
            (error.code(), &error.detail()["revision"]),
            (ErrorCode::Protocol, &revision.into())
        );
    }
}

/// PROTOCOL 1.1: and a server that speaks another is told nothing more.
#[tokio::test]
async fn a_server_of_an_unknown_revision_is_told_nothing_more() {
    let folder = Folder::new();
    let file = folder.join("told");
    let server = script(&format!(
        r#"while read -r line; do
            id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
            case $line in
                *'"method":"server/discover"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"?"}}}}\n' "$id";;
                *'"method":"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"1999-01-01","capabilities":{{}},"serverInfo":{{"name":"sh","version":"0"}}}}}}\n' "$id";;
                *) printf '%s\n' "$line" >> '{}';;
            esac
        done"#,
        file.display()
    ));
    assert_eq!(server.refused().await.detail()["revision"], "1999-01-01");
    assert!(!file.exists(), "{}", std::fs::read_to_string(&file).unwrap());
}

/// SPEC 4.6: a refusal of the handshake carries the server's own error.
#[tokio::test]
async fn a_refused_handshake_carries_the_refusal() {
    let refuse = r#"read -r line; printf '{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}\n'; sleep 60"#;
    let error = script(refuse).refused().await;
    assert_eq!(
        (error.code(), error.cause().unwrap().code()),
        (ErrorCode::Protocol, ErrorCode::ServerError)
    );
}

/// PROTOCOL 1.1, SPEC 18.2: without a revision nothing can be spoken; all else is understood or
/// left out.
#[tokio::test]
async fn what_an_answer_to_the_handshake_lacks_is_named() {
    for (result, said) in [
        ("7", "is not an object"),
        ("[]", "has no `protocolVersion`"),
        ("{}", "has no `protocolVersion`"),
        (r#"{"protocolVersion":null,"capabilities":{}}"#, "has no `protocolVersion`"),
    ] {
        let answer = format!(
            r#"read -r line; printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{result}}}'; sleep 60"#
        );
        let error = script(&answer).refused().await;
        assert_eq!(error.code(), ErrorCode::Protocol);
        assert_eq!(error.message(), format!("the server's answer to the handshake {said}"));
    }
}

/// SPEC 4.4.
#[tokio::test]
async fn a_server_that_lists_nothing_is_refused_unless_its_lists_change() {
    let nothing = ["--no-tools", "--no-prompts", "--no-resources"];
    let refused = |server: Server| server.options(|it| it.nothing_listed = NothingListed::Error);
    let error = refused(test_server(&nothing)).refused().await;
    assert_eq!((error.code(), error.server()), (ErrorCode::Protocol, Some("s")));
    let open = refused(test_server(&[&nothing[..], &["--list-changes"]].concat())).connect().await;
    assert!(open.catalog.tools.is_empty());
    open.close().await;
}

/// SPEC 4.3, 4.5.
#[tokio::test]
async fn a_cursor_that_comes_again_is_an_error_and_a_malformed_tool_is_not() {
    let error = test_server(&["--repeat-cursor", "--tools-only"]).without_lists().await;
    assert_eq!(error.code(), ErrorCode::Protocol);
    let open = test_server(&["--malformed-tools", "--tools-only"]).connect().await;
    assert!(open.catalog.tool("echo").is_some() && !open.catalog.skipped.is_empty());
    open.close().await;
}

/// SPEC 4.3: who does not know the method has no such list; who knew it for the first page has one
/// that failed.
#[tokio::test]
async fn a_later_page_that_nobody_knows_of_is_no_end_of_the_list() {
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let first = format!(r#"{{"tools":[{}],"nextCursor":"2"}}"#, tool("any"));
    let second = format!(r#"{{"tools":[{}]}}"#, tool("other"));
    let pages = format!(
        r#"*'"method":"tools/list"'*)
            lists=$((lists+1))
            case $lists in
                2) reply '{second}';;
                1|3|5|7) reply '{first}';;
                *) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"?"}}}}\n' "$id";;
            esac;;
        *'"method":"tools/call"'*)"#
    );
    let server = scripted("").replace(r#"*'"method":"tools/call"'*)"#, &pages);
    let server = server.replace(r#"*'"method":"tools/list"'*) reply"#, "*'no such'*) reply");
    let open = script(&server).connect().await;
    assert_eq!(open.catalog.tools.len(), 2);
    // The second pass ends as the first did; then, at its first page.
    for _ in 0..2 {
        let error = open.connection.list().await.unwrap_err();
        let said = (error.code(), &error.detail()["code"]);
        assert_eq!(said, (ErrorCode::ServerError, &(-32601).into()));
    }
    open.close().await;
}

/// SPEC 4.3.
#[tokio::test]
async fn a_list_of_more_than_fifty_pages_is_an_error() {
    let server = test_server(&["--tools", "60", "--page-size", "1", "--tools-only"]);
    let error = server.without_lists().await;
    assert_eq!(error.code(), ErrorCode::Protocol);
    assert!(error.message().contains("50 pages"), "{error}");
}

/// SPEC 5.12.
#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_server() {
    let open = test_server(&[]).connect().await;
    let error = open.call("nope", json!({})).await.unwrap_err();
    assert_eq!((error.code(), &error.detail()["code"]), (ErrorCode::ServerError, &(-32602).into()));
    open.close().await;
}

/// SPEC 5.10, I-28.
#[tokio::test]
async fn a_frame_that_cannot_be_read_fails_its_own_call_when_it_names_one() {
    let frames = [
        r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"a\":nope}}"#,
        r#"{\"jsonrpc\":\"2.0\",\"result\":{\"id\":1,\"a\":[tru]},\"id\":$id}"#,
        r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"a\":\"\377\376\"}}"#,
        r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{},\"error\":{}}"#,
        r#"{\"jsonrpc\":\"2.0\",\"id\":$id}"#,
        r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"id\":$id,\"result\":{}}"#,
        r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"a\":1"#,
    ];
    for frame in frames {
        let once = format!("case $calls in 1) printf \"{frame}\\n\";; *) reply '{{}}';; esac");
        let open = script(&scripted(&once)).connect().await;
        let error = open.call("any", json!({})).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Protocol, "{frame}: {error}");
        assert_eq!(error.outcome(), Some(crate::Outcome::Unknown));
        open.call("any", json!({})).await.expect("the connection lives");
        open.close().await;
    }
}

/// SPEC 5.10.
#[tokio::test]
async fn a_frame_that_cannot_be_read_and_names_no_call_ends_the_connection() {
    let open = script(&scripted(r#"printf '{"jsonrpc":"2.0",\n'"#)).connect().await;
    let error = open.call("any", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::CallInterrupted);
    let lost = open.recorder.wait_for("lost").await;
    assert!(lost.starts_with("lost TransportError protocol"), "{lost}");
    open.close().await;
    assert!(!lives(open.pid));
}

/// SPEC 5.10, S-24.
#[tokio::test]
async fn a_frame_above_the_limit_fails_its_call_and_is_passed_over() {
    let server = test_server(&[]).options(|options| options.frame_bytes = 100_000);
    let open = server.connect().await;
    let error = open.call("big", json!({ "bytes": 1_000_000 })).await.unwrap_err();
    assert_eq!((error.code(), &error.detail()["limit"]), (ErrorCode::Limit, &"frame_bytes".into()));
    open.call("big", json!({ "bytes": 90_000 })).await.unwrap();
    open.close().await;
}

/// SPEC 5.10, 9.6: no wait makes it shorter.
#[tokio::test]
async fn a_request_above_the_limit_is_not_to_be_repeated() {
    let server = test_server(&[]).options(|options| options.frame_bytes = 100_000);
    let open = server.connect().await;
    let error = open.call("echo", json!({ "message": "x".repeat(100_000) })).await.unwrap_err();
    assert_eq!((error.code(), error.outcome()), (ErrorCode::Limit, Some(crate::Outcome::NotSent)));
    assert_eq!(error.detail()["limit"], "frame_bytes");
    assert!(!error.is_retryable(), "{error:?}");
    open.close().await;
}

/// SECURITY finding 7: an answer that is nested without end is an answer.
#[tokio::test]
async fn a_deeply_nested_result_does_not_hang_or_overflow() {
    let open = test_server(&[]).connect().await;
    let result = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let answer = open.call("verbatim", json!({ "result": result })).await.unwrap();
    assert_eq!(answer.len(), 400_000);
    open.close().await;
}

/// SPEC 4.7, S-24.
#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_bounded() {
    let flood = "i=0; while [ $i -lt 3000 ]; do echo \"line $i of a long, long log\" >&2; i=$((i+1)); done; reply '{}'";
    let server = script(&scripted(flood)).options(|options| options.stderr_bytes = 1000);
    let open = server.connect().await;
    open.call("any", json!({})).await.unwrap();
    open.recorder.wait_for("stderr line 2999 of").await;
    let kept = open.connection.stderr_tail();
    let bytes: usize = kept.iter().map(String::len).sum();
    assert!(bytes <= 1000 && kept.last().unwrap().contains("line 2999"), "{kept:?}");
    open.close().await;
}
