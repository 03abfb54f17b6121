//! Requests and their answers.

use super::*;
use crate::transport::{Inbound, MayHaveRun, ServerLine, Via};

/// SPEC 4.1, 4.3.
#[tokio::test]
async fn a_server_connects_lists_answers_and_closes() {
    let open = test_server(&["--tools", "3", "--page-size", "2"]).connect().await;
    assert!(open.catalog.tool("tool_3").is_some() && open.catalog.tool("echo").is_some());
    let facts = open.connection.server_facts();
    assert_eq!((facts.protocol_version.as_str(), facts.name.is_empty()), ("2025-11-25", false));
    let answer = open.call("echo", json!({ "message": "hello" })).await.unwrap();
    assert!(answer.contains(r#""text":"hello""#), "{answer}");
    assert_eq!(open.close().await, CloseExit::Clean);
    assert!(!lives(open.pid));
    assert_eq!(open.recorder.told(), [""; 0]);
}

/// SPEC 5.3.
#[tokio::test]
async fn a_result_arrives_byte_for_byte() {
    let open = test_server(&[]).connect().await;
    let result =
        r#"{"z":1e400, "a": 12345678901234567890123,"content":[{"type":"unknown"}],"ü":"\u00fc"}"#;
    let answer = open.call("verbatim", json!({ "result": result })).await.unwrap();
    assert_eq!(answer, result);
    open.close().await;
}

/// SPEC 5.9, S-45.
#[tokio::test]
async fn a_thousand_calls_at_once_each_get_their_own_answer() {
    let open = test_server(&[]).connect().await;
    let calls: Vec<_> =
        (0..1000).map(|i| open.start("echo", json!({ "message": format!("<{i}>") })).1).collect();
    for (i, answer) in calls.into_iter().enumerate() {
        let answer = ended(answer).await.unwrap();
        assert!(answer.json.contains(&format!("\"<{i}>\"")), "{i}: {}", &*answer.json);
    }
    assert_eq!(open.connection.in_flight(), 0);
    open.close().await;
}

/// SPEC 5.5: the next round of a call that has ended meanwhile is not sent.
#[tokio::test]
async fn a_round_of_a_call_that_is_over_is_not_sent() {
    let open = test_server(&[]).connect().await;
    let link = &open.connection.0;
    let params = json!({ "name": "echo", "arguments": { "message": "late" } }).to_string();
    assert_eq!(link.put(link.calls.new_id(), ("tools/call", &params), None), None);
    open.call("echo", json!({ "message": "hi" })).await.unwrap();
    assert_eq!(link.ignored.replies.load(Ordering::Relaxed), 0);
    open.close().await;
}

/// SPEC 9.6.
#[tokio::test]
async fn a_call_above_the_limit_is_refused_and_was_not_sent() {
    let server = test_server(&[]).options(|options| options.in_flight = 2);
    let open = server.connect().await;
    let held =
        [open.start("sleep", json!({ "ms": 60000 })), open.start("sleep", json!({ "ms": 60000 }))];
    let error = open.call("echo", json!({ "message": "x" })).await.unwrap_err();
    assert_eq!((error.code(), error.outcome()), (ErrorCode::Limit, Some(crate::Outcome::NotSent)));
    assert_eq!(error.detail()["limit"], "in_flight_per_entry");
    for (id, answer) in held {
        open.connection.cancel(id);
        assert_eq!(ended(answer).await.unwrap_err().code(), ErrorCode::Cancelled);
    }
    open.call("echo", json!({ "message": "x" })).await.unwrap();
    open.close().await;
}

/// SPEC 5.5.
#[tokio::test]
async fn a_cancel_frees_the_call_at_once_and_reaches_the_server() {
    let open = test_server(&[]).connect().await;
    let (id, answer) = open.start("sleep", json!({ "ms": 60000 }));
    while !open.call("under_way", json!({})).await.unwrap().contains("\"1\"") {}
    open.connection.cancel(id);
    open.connection.cancel(id);
    let error = ended(answer).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert_eq!(error.outcome(), Some(crate::Outcome::Unknown));
    assert!(open.call("cancelled", json!({})).await.unwrap().contains("\"1\""));
    assert!(open.call("under_way", json!({})).await.unwrap().contains("\"0\""));
    open.close().await;
}

/// SPEC 15.1: what the server says of a call that was given up settles its doubt, in whatever form.
#[tokio::test]
async fn a_call_that_was_given_up_is_in_doubt_until_the_server_ends_it() {
    type Way<'a> = (&'static str, Box<dyn Fn(u64) + 'a>, Callers);
    let open = test_server(&[]).connect().await;
    let link = &open.connection.0;
    let session = SessionId(1);
    let refused = |doubt| move |id| link.refuse(id, errors::protocol(&"s".into(), "no"), doubt);
    let answered = |rest: &'static str| {
        move |id| {
            let frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}");
            link.take(ServerLine::Whole(frame.as_bytes()), Via::Common).unwrap();
        }
    };
    let ways: [Way<'_>; 5] = [
        ("a broken way", Box::new(refused(MayHaveRun::Open)), Callers::One(session)),
        ("a refusal", Box::new(refused(MayHaveRun::Settled)), Callers::Nobody),
        ("a result", Box::new(answered("\"result\":{}}")), Callers::Nobody),
        ("an error", Box::new(answered("\"error\":{}}")), Callers::Nobody),
        ("nonsense", Box::new(answered("\"result\":{}")), Callers::Nobody),
    ];
    for (what, said, expected) in ways {
        let params = r#"{"name":"sleep","arguments":{"ms":60000}}"#;
        let (id, answer) =
            open.request(OutgoingRequest { params, caller: Some(session), ..request() });
        open.connection.cancel(id);
        ended(answer).await.unwrap_err();
        said(id.0);
        assert_eq!(link.calls.log_callers(Via::Common, Instant::now()), expected, "{what}");
        link.calls.forget_abandoned(id.0);
    }
    open.close().await;
}

/// SPEC 5.4, I-07.
#[tokio::test]
async fn a_deadline_ends_the_call_and_tells_the_server() {
    let open = test_server(&[]).connect().await;
    let params = json!({ "name": "sleep", "arguments": { "ms": 60000 } }).to_string();
    let short = Duration::from_millis(50);
    let cases = [(short, HANG, "total"), (HANG, short, "idle")];
    for (timeout, idle_timeout, which) in cases {
        let (_, answer) =
            open.request(OutgoingRequest { params: &params, timeout, idle_timeout, ..request() });
        let error = ended(answer).await.unwrap_err();
        // SPEC 18.12: it may have run.
        assert_eq!((error.code(), error.is_retryable()), (ErrorCode::Timeout, false));
        assert_eq!(error.detail()["which"], which);
    }
    assert!(open.call("cancelled", json!({})).await.unwrap().contains("\"2\""));
    open.close().await;
}

/// SPEC 5.4, 5.9.
#[tokio::test]
async fn progress_comes_in_order_before_the_result_and_holds_off_the_idle_deadline() {
    let open = test_server(&[]).connect().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let steps = seen.clone();
    // Longer than the idle deadline in all, and far shorter from one to the next.
    let arguments = json!({ "steps": 8, "interval_ms": 600 });
    let params = json!({ "name": "progress", "arguments": arguments }).to_string();
    let (answer, receiver) = oneshot::channel();
    let at_end = seen.clone();
    open.connection.start(
        OutgoingRequest {
            params: &params,
            idle_timeout: Duration::from_secs(3),
            progress: Some(Box::new(move |params| {
                let params: Value = serde_json::from_str(params).unwrap();
                steps.lock().unwrap().push(params["progress"].as_u64().unwrap());
            })),
            ..request()
        },
        Box::new(move |result| {
            let _ = answer.send(result.map(|_| at_end.lock().unwrap().len()));
        }),
    );
    let steps_before_result = tokio::time::timeout(HANG, receiver).await.unwrap().unwrap().unwrap();
    assert_eq!(
        (steps_before_result, seen.lock().unwrap().as_slice()),
        (8, &[1, 2, 3, 4, 5, 6, 7, 8][..])
    );
    open.close().await;
}

/// SPEC 16.2.
#[tokio::test]
async fn a_panic_in_a_completion_or_a_progress_receiver_harms_nobody() {
    let open = test_server(&[]).connect().await;
    let params = json!({ "name": "progress", "arguments": { "steps": 2 } }).to_string();
    let fail = || -> () { panic!("on purpose") };
    let progress: Option<OnProgress> = Some(Box::new(move |_| fail()));
    let panics = Box::new(move |_| fail());
    open.connection.start(OutgoingRequest { params: &params, progress, ..request() }, panics);
    open.call("echo", json!({ "message": "x" })).await.unwrap();
    assert_eq!(open.connection.in_flight(), 0);
    open.close().await;
}

/// SPEC 5.12.
#[tokio::test]
async fn an_error_of_the_server_keeps_its_code_message_and_particulars() {
    let open = test_server(&[]).connect().await;
    let arguments = json!({ "code": -32001, "message": "no\u{1b}", "data": { "k": 1 } });
    let error = open.call("error", arguments).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), (ErrorCode::ServerError, false));
    let detail = Value::Object(error.detail().clone());
    assert_eq!(detail, json!({ "code": -32001, "message": "no\u{1b}", "data": { "k": 1 } }));
    assert!(error.message().ends_with(r"no\u{1b}"), "{error}");
    open.close().await;
}

/// SPEC 7.1, 4.7.
#[tokio::test]
async fn what_a_server_announces_reaches_the_driver_in_order() {
    let open = test_server(&["--list-changes"]).connect().await;
    open.call("change_list", json!({ "add": ["new"] })).await.unwrap();
    let (method, params) = ("resources/subscribe", r#"{"uri":"test://a"}"#);
    ended(open.request(OutgoingRequest { method, params, ..request() }).1).await.unwrap();
    open.call("touch_resource", json!({ "uri": "test://a" })).await.unwrap();
    open.call("log", json!({ "level": "info", "text": "hi" })).await.unwrap();
    let told = open.recorder.told();
    assert_eq!(told[..2], ["list_changed Tools", "updated test://a"], "{told:?}");
    assert!(told[2].starts_with("log {") && told[2].contains("hi"), "{told:?}");
    assert!(open.connection.list().await.unwrap().catalog.tool("new").is_some());
    open.call("stderr", json!({ "text": "\u{1b}[1mloud" })).await.unwrap();
    open.recorder.wait_for(r"stderr \u{1b}[1mloud").await;
    open.close().await;
}

/// SPEC 5.4, 5.9: some servers make a text of the token too.
#[tokio::test]
async fn progress_whose_token_comes_back_as_a_text_is_heard() {
    let told = r#"printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":1}}\n' "$id"; reply '{}'"#;
    let open = script(&scripted(told)).connect().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let steps = seen.clone();
    let progress: OnProgress =
        Box::new(move |params| steps.lock().unwrap().push(params.to_owned()));
    let params = json!({ "name": "any" }).to_string();
    let (_, answer) =
        open.request(OutgoingRequest { params: &params, progress: Some(progress), ..request() });
    ended(answer).await.unwrap();
    assert_eq!(seen.lock().unwrap().len(), 1);
    open.close().await;
}

/// PROTOCOL 1.1: a ping of the server is answered.
#[tokio::test]
async fn a_ping_of_the_server_is_answered() {
    let ask = r#"printf '{"jsonrpc":"2.0","id":"p1","method":"ping"}\n'; read -r pong; reply "{\"pong\":$pong}""#;
    let open = script(&scripted(ask)).connect().await;
    let answer: Value = serde_json::from_str(&open.call("any", json!({})).await.unwrap()).unwrap();
    assert_eq!(answer, json!({ "pong": { "jsonrpc": "2.0", "id": "p1", "result": {} } }));
    open.close().await;
}

/// SPEC 5.10, S-44.
#[tokio::test]
async fn replies_that_nobody_waits_for_change_nothing() {
    let open = test_server(&[]).connect().await;
    assert!(open.call("reply_twice", json!({})).await.unwrap().contains("first"));
    for line in [
        r#"{"jsonrpc":"2.0","id":99999999999,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/never-heard-of"}"#,
        "noise",
        "[]",
        "\r",
    ] {
        open.call("write", json!({ "line": line })).await.unwrap();
    }
    open.call("echo", json!({ "message": "x" })).await.unwrap();
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 5.11, I-07.
#[tokio::test]
async fn a_server_that_stops_reading_holds_up_no_deadline_no_cancel_and_no_close() {
    // It ends by the first signal: a close that waits longer hangs.
    let server = test_server(&[]).options(|options| options.kill_grace = HANG * 10);
    let open = server.connect().await;
    open.call("stop_reading", json!({ "ms": 60000 })).await.unwrap();
    let text = "x".repeat(300_000);
    let filling: Vec<_> =
        (0..3).map(|_| open.start("echo", json!({ "message": text })).1).collect();
    let params = json!({ "name": "echo", "arguments": { "message": "late" } }).to_string();
    let timeout = Duration::from_millis(50);
    let (_, late) = open.request(OutgoingRequest { params: &params, timeout, ..request() });
    let error = ended(late).await.unwrap_err();
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::Timeout, Some(crate::Outcome::NotSent))
    );
    let (id, unwanted) = open.start("echo", json!({ "message": "unwanted" }));
    open.connection.cancel(id);
    let error = ended(unwanted).await.unwrap_err();
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::Cancelled, Some(crate::Outcome::NotSent))
    );
    assert_eq!(open.close().await, CloseExit::Forced);
    let outcomes = filling.into_iter().map(|answer| async {
        let error = ended(answer).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::CallInterrupted);
        error.outcome().unwrap()
    });
    let mut seen = Vec::new();
    for outcome in outcomes {
        seen.push(outcome.await);
    }
    use crate::Outcome::{NotSent, Unknown};
    assert_eq!(seen, [Unknown, NotSent, NotSent]);
}

/// SPEC 5.11, 9.6.
#[tokio::test]
async fn a_blocked_pipe_queues_up_to_its_bound_and_then_says_so() {
    let open = test_server(&[]).connect().await;
    open.call("stop_reading", json!({ "ms": 60000 })).await.unwrap();
    let text = "x".repeat(5 << 20);
    let started: Vec<_> =
        (0..5).map(|_| open.start("echo", json!({ "message": text })).1).collect();
    let last = ended(started.into_iter().next_back().unwrap()).await.unwrap_err();
    assert_eq!((last.code(), last.outcome()), (ErrorCode::Limit, Some(crate::Outcome::NotSent)));
    let close = open.connection.close(Kill::Now);
    tokio::time::timeout(HANG, close).await.unwrap();
    assert!(!lives(open.pid));
}

/// SPEC 5.6.
#[tokio::test]
async fn a_loss_answers_every_call_in_flight_at_once_and_before_it_is_reported() {
    let open = test_server(&[]).connect().await;
    let calls: Vec<_> = (0..100).map(|_| open.start("sleep", json!({ "ms": 60000 })).1).collect();
    while !open.call("under_way", json!({})).await.unwrap().contains("\"100\"") {}
    let (_, crashing) = open.start("crash", json!({ "code": 7 }));
    let lost = open.recorder.wait_for("lost").await;
    assert_eq!(lost, "lost TransportClosed exited s: the server exited with status 7");
    for answer in calls.into_iter().chain([crashing]) {
        // Answered already: nothing is awaited here.
        let error = { answer }.try_recv().unwrap().unwrap_err();
        assert_eq!((error.code(), error.server()), (ErrorCode::CallInterrupted, Some("s")));
        assert_eq!((error.outcome(), error.is_retryable()), (Some(crate::Outcome::Unknown), false));
    }
    let error = open.call("echo", json!({ "message": "x" })).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), (ErrorCode::CallInterrupted, true));
    assert_eq!(open.close().await, CloseExit::Clean);
    assert_eq!(open.recorder.told().len(), 1);
}

/// SPEC 5.6, 5.10: half a frame at the end is the loss's, not a fault of its own.
#[tokio::test]
async fn a_server_that_dies_amid_a_frame_is_reported_by_its_exit() {
    let open = script(&scripted(r#"printf '{"jsonrpc":"2.0","id":%s,"resu' $id; exit 4"#));
    let open = open.connect().await;
    let error = open.call("any", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::CallInterrupted);
    let lost = open.recorder.wait_for("lost").await;
    assert_eq!(lost, "lost TransportClosed exited s: the server exited with status 4");
    open.close().await;
}

/// SPEC 3.12: what a drain waits for.
#[tokio::test]
async fn quiet_comes_when_the_last_call_has_ended() {
    let open = test_server(&[]).connect().await;
    tokio::time::timeout(HANG, open.connection.quiet()).await.unwrap();
    let (id, answer) = open.start("sleep", json!({ "ms": 60000 }));
    let mut quiet = Box::pin(open.connection.quiet());
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut quiet).await.is_err());
    open.connection.cancel(id);
    tokio::time::timeout(HANG, quiet).await.unwrap();
    ended(answer).await.unwrap_err();
    open.close().await;
}

/// SPEC 5.5, 5.11: others may have filled the queue; a server that reads again still hears of the
/// cancellation.
#[tokio::test]
async fn a_full_queue_loses_no_cancellation() {
    let open = test_server(&[]).options(|options| options.in_flight = 1 << 20).connect().await;
    let (cancelled, ended_by_us) = open.start("sleep", json!({ "ms": 600_000 }));
    open.call("stop_reading", json!({ "ms": 500 })).await.unwrap();
    let mut queued = Vec::new();
    let refused = loop {
        let mut answer = open.start("echo", json!({ "message": "x" })).1;
        match answer.try_recv() {
            Ok(end) => break end,
            Err(_) => queued.push(answer),
        }
    };
    assert_eq!(refused.unwrap_err().code(), ErrorCode::Limit);
    open.connection.cancel(cancelled);
    assert_eq!(ended(ended_by_us).await.unwrap_err().code(), ErrorCode::Cancelled);
    for answer in queued {
        let _ = ended(answer).await;
    }
    let under_way = open.call("under_way", json!({})).await.unwrap();
    assert!(under_way.contains("\"0\""), "{under_way}");
    open.close().await;
}
