//! The modern era over Streamable HTTP: no session, headers that repeat the body, answers on their own responses.

use rig::remote::{Remote, close, connected, failed, lists, refused, sockets_to};
use rig::{Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, Error, ErrorCode, HandlerKind, Handlers, Lease, Outcome, Session,
    SessionOptions,
};

const MODERN: [&str; 3] = ["--era", "modern", "--list-changes"];

fn requests_of(remote: &Remote, method: &str) -> Vec<Value> {
    remote.requests().into_iter().filter(|request| request["method"] == method).collect()
}

/// Two sessions with one connection.
async fn shared(rig: &Rig, remote: &Remote) -> [(Session, Lease); 2] {
    let mut config = remote.config();
    config["share"] = json!("pool");
    rig.configure(json!({ "s": config })).await;
    let (a, b) = (rig.session("a"), rig.session("b"));
    let (of_a, of_b) = (acquire(&a, "s").await, acquire(&b, "s").await);
    [(a, of_a), (b, of_b)]
}

/// SPEC 8.4, 7.1: a stream of changes is not asked for again before the server has time for it.
#[test]
fn a_stream_of_a_server_that_has_no_time_is_asked_for_once() {
    let rig = Rig::new(json!({}));
    let [busy, other] =
        [429, 503].map(|status| Remote::start(&rig, &format!("listen-status={status}"), &MODERN));
    host(async {
        rig.configure(json!({ "busy": busy.config(), "other": other.config() })).await;
        let session = rig.session("a");
        let _busy = acquire(&session, "busy").await;
        until(|| busy.count("POST", "subscriptions/listen") >= 1);
        // Of one that is asked later, and asks for no time, a second stream is asked for.
        let _other = acquire(&session, "other").await;
        until(|| other.count("POST", "subscriptions/listen") >= 2);
        assert_eq!(busy.count("POST", "subscriptions/listen"), 1);
    });
}

/// SPEC 4.8, PROTOCOL 1.2: every POST has its headers, and nothing of a session is there.
#[test]
fn a_modern_server_is_spoken_with_without_a_session() {
    for (faults, era) in
        [("", "modern"), ("json", "modern"), ("", "dual"), ("redirect-here", "dual")]
    {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &["--era", era, "--list-changes"]);
        host(async {
            let (session, lease) = connected(&rig, &remote).await;
            assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi", "{faults}");
            let options = CallOptions::default();
            lease.get_prompt("greet", "{}", &options).await.unwrap();
            lease.read_resource("test://one", &options).await.unwrap();
            assert!(session.tools().unwrap().len() > 3);
            let row = rig.pool.status()["servers"]["s"].clone();
            assert_eq!((&row["era"], &row["transport"]), (&json!("modern"), &json!("http")));
            assert_eq!(row["entries"][0]["protocol_version"], "2026-07-28");
        });
        close(&rig);
        until(|| sockets_to(&remote) == 0);
        let names =
            [("tools/call", "echo"), ("prompts/get", "greet"), ("resources/read", "test://one")];
        for request in remote.requests() {
            let (headers, method) = (&request["headers"], request["method"].as_str().unwrap());
            assert_eq!(request["http"], "POST", "{request}");
            assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
            assert_eq!(headers["mcp-method"], method);
            let name = names.iter().find(|(of, _)| *of == method).map(|(_, name)| *name);
            assert_eq!(headers["mcp-name"].as_str(), name, "{request}");
            assert!(headers["mcp-session-id"].is_null() && headers["last-event-id"].is_null());
            assert!(!["initialize", "notifications/initialized"].contains(&method));
        }
    }
}

/// SPEC 7.1, 7.4: changes come over a stream of their own, which is opened again.
#[test]
fn sessions_that_share_a_modern_server_hear_of_its_changes() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &MODERN);
    host(async {
        let [(a, la), (b, _lb)] = shared(&rig, &remote).await;
        text(&la, "change_list", json!({ "add": ["fresh"] })).await;
        until(|| lists(&a, "fresh") && lists(&b, "fresh"));
        for (how, tool) in [("result", "x"), ("cancelled", "y"), ("error", "z")] {
            text(&la, "end_listens", json!({ "how": how })).await;
            text(&la, "change_list", json!({ "add": [tool] })).await;
            until(|| lists(&a, tool) && lists(&b, tool));
        }
        assert_eq!(rig.pool.status()["servers"]["s"]["entry_count"], 1);
        assert_eq!(remote.count("GET", ""), 0);
    });
    close(&rig);
}

/// SPEC 5.5, PROTOCOL 1.2: the end of the response takes a call back, and nothing is posted.
#[test]
fn a_call_is_taken_back_by_the_end_of_its_response() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &MODERN);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let options = CallOptions::from_json(r#"{"progress":true}"#).unwrap();
        let progress = r#"{"steps":100000,"interval_ms":20}"#;
        let call = lease.start_call_tool("progress", progress, &options, |_| {});
        until(|| requests_of(&remote, "tools/call").len() == 1);
        call.cancel();
        let begun = std::time::Instant::now();
        while text(&lease, "cancelled", json!({})).await == "0" {
            assert!(begun.elapsed() < rig::HANG, "the server does not hear of it");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(remote.count("POST", "notifications/cancelled"), 0);
    });
    close(&rig);
}

/// SPEC 5.6, PROTOCOL 1.2: a broken response loses its call alone, and nothing resumes it.
#[test]
fn a_broken_response_interrupts_its_call_alone() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "cut", &MODERN);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        for _ in 0..2 {
            let error = failed(&lease, "echo", json!({ "message": "x" })).await;
            let expected = (ErrorCode::CallInterrupted, Some(Outcome::Unknown));
            assert_eq!((error.code(), error.outcome()), expected);
        }
        assert_eq!(rig.pool.status()["servers"]["s"]["entries"][0]["generation"], 1);
        assert_eq!(remote.count("GET", ""), 0);
    });
    close(&rig);
}

/// SPEC 5.6: params that cannot be told apart are refused to their caller, and cost nobody else anything.
#[test]
fn a_member_that_is_there_twice_costs_its_own_request() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &["--era", "dual"]);
    host(async {
        let [(_a, la), (_b, lb)] = shared(&rig, &remote).await;
        let sleeping =
            la.start_call_tool("sleep", r#"{"ms":60000}"#, &CallOptions::default(), |ended| {
                assert_eq!(ended.unwrap_err().code(), ErrorCode::Cancelled);
            });
        until(|| remote.count("POST", "tools/call") == 1);
        for params in
            [r#"{"uri":"a","uri":"b"}"#, r#"{"uri":"a","\u0075ri":"b"}"#, r#"{"\ud800":1}"#]
        {
            let error =
                lb.request("resources/read", params, &CallOptions::default()).await.unwrap_err();
            assert_eq!(
                (error.code(), &error.detail()["path"]),
                (ErrorCode::InvalidArgument, &json!("params"))
            );
        }
        assert_eq!(text(&lb, "echo", json!({ "message": "on" })).await, "on");
        assert_eq!((la.generation(), remote.count("POST", "resources/read")), (1, 0));
        sleeping.cancel();
    });
    close(&rig);
}

/// SPEC 4.5, PROTOCOL 1.2, S-37: annotated arguments are in headers, and a tool whose annotation cannot be followed is left out.
#[test]
fn arguments_that_a_tool_wants_in_headers_are_there() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &MODERN);
    host(async {
        let (session, lease) = connected(&rig, &remote).await;
        let tool = |name: &str, kind: &str| {
            let region = json!({ "type": kind, "x-mcp-header": "Region" });
            let count = json!({ "type": "integer", "x-mcp-header": "Count" });
            let properties = json!({ "region": region, "count": count });
            json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } })
        };
        let define = [tool("sql", "string"), tool("bad", "number")];
        text(&lease, "change_list", json!({ "define": define })).await;
        let names = || {
            let tools = session.tools().unwrap();
            tools.iter().map(|tool| tool.own_name.to_string()).collect::<Vec<_>>()
        };
        until(|| names().contains(&"sql".to_owned()));
        assert!(!names().contains(&"bad".to_owned()));
        assert_eq!(rig.pool.status()["servers"]["s"]["counts"]["skipped"], 1);
        text(&lease, "sql", json!({ "region": "süd", "count": 7 })).await;
        text(&lease, "sql", json!({ "region": null })).await;
        let calls = requests_of(&remote, "tools/call");
        let [.., first, second] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!(first["headers"]["mcp-param-region"], "=?base64?c8O8ZA==?=");
        assert_eq!(first["headers"]["mcp-param-count"], "7");
        assert!(second["headers"]["mcp-param-region"].is_null());
    });
    close(&rig);
}

/// A server that wants the message of `echo` in a header, and does not say so before it is asked again.
fn wants_header(rig: &Rig) -> Remote {
    Remote::start(rig, "wants-header=echo:Loud", &["--era", "modern"])
}

/// The tool as that server has it.
fn annotated() -> Value {
    let message = json!({ "type": "string", "x-mcp-header": "Loud" });
    json!({ "name": "echo", "inputSchema": { "type": "object", "properties": { "message": message } } })
}

fn echoes(remote: &Remote) -> usize {
    let calls = requests_of(remote, "tools/call");
    calls.iter().filter(|call| call["headers"]["mcp-name"] == "echo").count()
}

/// SPEC 5.1, PROTOCOL 1.2: a call that a server refuses for its headers is sent once more, by what the server lists then.
#[test]
fn a_call_whose_headers_do_not_fit_any_more_is_sent_again_after_a_listing() {
    let rig = Rig::new(json!({}));
    let remote = wants_header(&rig);
    host(async {
        let (session, lease) = connected(&rig, &remote).await;
        text(&lease, "change_list", json!({ "define": [annotated()] })).await;
        assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
        let calls = requests_of(&remote, "tools/call");
        assert_eq!(calls.last().unwrap()["headers"]["mcp-param-loud"], "hi");
        assert_eq!((echoes(&remote), remote.count("POST", "tools/list")), (2, 2));
        assert_eq!(text(&lease, "echo", json!({ "message": "ho" })).await, "ho");
        assert_eq!(echoes(&remote), 3);
        let tools = session.tools().unwrap();
        let echo = tools.iter().find(|tool| &*tool.own_name == "echo").unwrap();
        assert!(echo.definition.contains("x-mcp-header"), "{}", echo.definition);
    });
    close(&rig);
}

/// SPEC 5.12, PROTOCOL 1.2: once, and then it is the server's own error.
#[test]
fn a_call_whose_headers_never_fit_is_refused_with_the_error_of_the_server() {
    let rig = Rig::new(json!({}));
    let remote = wants_header(&rig);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let error = failed(&lease, "echo", json!({ "message": "hi" })).await;
        assert_eq!(error.code(), ErrorCode::ServerError, "{error}");
        assert_eq!(error.detail()["code"], -32020);
        assert_eq!((echoes(&remote), remote.count("POST", "tools/list")), (2, 2));
    });
    close(&rig);
}

/// SPEC 7.6: what changed meanwhile and waits to be accepted is not called by the way.
#[test]
fn a_call_is_not_sent_again_to_a_tool_that_is_held_back() {
    let rig = Rig::new(json!({ "on_tool_change": "quarantine" }));
    let remote = wants_header(&rig);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        text(&lease, "change_list", json!({ "define": [annotated()] })).await;
        let error = failed(&lease, "echo", json!({ "message": "hi" })).await;
        assert_eq!(error.code(), ErrorCode::ToolNotFound, "{error}");
        assert_eq!(echoes(&remote), 1);
    });
    close(&rig);
}

/// SPEC 15.1: what a server says after the end of a response is not about the call that it was of.
#[test]
fn a_call_that_was_taken_back_leaves_no_doubt_whose_messages_are() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &MODERN);
    host(async {
        let [(_a, la), (b, lb)] = shared(&rig, &remote).await;
        let events = b.subscribe(trunkline::EventMask::ALL).unwrap();
        let call = la.start_call_tool("sleep", r#"{"ms":60000}"#, &CallOptions::default(), |_| {});
        until(|| requests_of(&remote, "tools/call").len() == 1);
        call.cancel();
        let level = json!({ "level": "info" }).to_string();
        lb.request("logging/setLevel", &level, &CallOptions::default()).await.unwrap();
        text(&lb, "log", json!({ "text": "of b" })).await;
        until(|| {
            let told = std::iter::from_fn(|| events.try_next());
            told.into_iter().any(|event| event.json().contains("of b"))
        });
    });
    close(&rig);
}

/// SPEC 1.2, 2.3, 7.5: who sends other credentials has another connection, and never sees what was listed for the first.
#[test]
fn a_private_list_is_shown_to_no_other_credentials() {
    let rig = Rig::new(json!({}));
    let flags = ["--era", "modern", "--cache-scope", "private", "--ttl-ms", "3600000"];
    let remote = Remote::start(&rig, "own-tools", &flags);
    host(async {
        let config = |who: &str| {
            let headers = json!({ "Authorization": format!("Bearer {who}") });
            json!({ "type": "http", "url": remote.url, "share": "pool", "headers": headers })
        };
        rig.configure(json!({ "s": config("pool") })).await;
        let acquire = async |id: &str, who: Option<&str>| {
            let session = rig.session(id);
            let own = who.map(|who| trunkline::ServerSpec::from_value("s", &config(who)).unwrap());
            let lease = session.acquire("s", own.as_ref(), &Default::default()).await.unwrap();
            (session, lease)
        };
        let all = [
            (acquire("a", None).await, "of_pool"),
            (acquire("b", Some("bob")).await, "of_bob"),
            (acquire("c", None).await, "of_pool"),
            (acquire("d", Some("dora")).await, "of_dora"),
        ];
        for ((session, _), own) in &all {
            let tools = session.tools().unwrap();
            let own_names = tools.iter().map(|tool| &*tool.own_name);
            let found: Vec<_> = own_names.filter(|name| name.starts_with("of_")).collect();
            assert_eq!(found, [*own]);
        }
        let [.., ((_, lease), _)] = &all;
        let error = failed(lease, "of_bob", json!({})).await;
        assert_eq!(error.code(), ErrorCode::ToolNotFound, "{error}");
        assert_eq!(rig.pool.status()["servers"]["s"]["entry_count"], 3);
    });
    close(&rig);
}

/// SPEC 4.8, 5.12: what a modern server refuses is an error of its own, whatever status carries it.
#[test]
fn a_refusal_by_status_is_the_error_in_its_body() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &MODERN);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        let options = CallOptions::default();
        let error = lease.request("no/such", "{}", &options).await.unwrap_err();
        assert_eq!(
            (error.code(), &error.detail()["code"]),
            (ErrorCode::ServerError, &json!(-32601))
        );
        assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
    });
    close(&rig);
}

/// SPEC 4.8, PROTOCOL 1.2: a refusal that names what is spoken is followed, to a revision with a handshake too.
#[test]
fn a_server_that_refuses_the_revision_is_spoken_with_in_one_that_it_names() {
    let rig = Rig::new(json!({}));
    let remote = Remote::start(&rig, "", &["--era", "dual", "--revisions", "2025-11-25"]);
    host(async {
        let (_session, lease) = connected(&rig, &remote).await;
        assert_eq!(text(&lease, "echo", json!({"message": "hi"})).await, "hi");
        assert_eq!(rig.pool.status()["servers"]["s"]["era"], "legacy");
        assert_eq!(remote.count("POST", "initialize"), 1);
    });
    close(&rig);
}

/// SPEC 4.8, 15.3: neither a modern server without a common revision nor one that wants credentials is taken for a legacy one.
#[test]
fn what_no_handshake_would_help_is_not_shaken_hands_with() {
    let check = |faults: &str, more: &[&str], code| -> Error {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &[&["--era", "modern"][..], more].concat());
        let error = host(refused(&rig, remote.config()));
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(remote.count("POST", "initialize"), 0);
        close(&rig);
        error
    };
    let error = check("", &["--revisions", "2031-01-01"], ErrorCode::Protocol);
    assert_eq!(error.detail()["supported"], json!(["2031-01-01"]));
    check("auth-challenge", &[], ErrorCode::AuthRequired);
}

/// SPEC 4.8: a server that answers the question late is connected, whatever it makes of the handshake that was sent meanwhile, and
/// whenever.
#[test]
fn a_modern_server_that_is_slow_stays_connected_when_it_refuses_the_handshake() {
    for (kind, faults, era) in [
        (json!("http"), "no-handshake,late-discover=first", "modern"),
        (json!("http"), "no-handshake,late-discover=last", "modern"),
        (json!(null), "no-handshake,late-discover=last", "modern"),
        (json!("http"), "late-discover=first", "dual"),
    ] {
        let rig = Rig::new(json!({}));
        let remote = Remote::start(&rig, faults, &["--era", era]);
        host(async {
            // The handshake is sent after two thirds of it.
            let mut config = json!({ "url": remote.url, "connect_timeout_ms": 6_000 });
            if !kind.is_null() {
                config["type"] = kind.clone();
            }
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            let lease = acquire(&session, "s").await;
            assert_eq!(remote.count("POST", "initialize"), 1);
            // The answer to the handshake comes meanwhile.
            text(&lease, "sleep", json!({ "ms": 1_000 })).await;
            assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
            let row = rig.pool.status()["servers"]["s"].clone();
            assert_eq!((&row["era"], &row["transport"]), (&json!("modern"), &json!("http")));
            assert_eq!(row["entries"][0]["generation"], 1, "{faults}");
            // SPEC 18.6: the session that the handshake made is nobody's, and is ended by its id.
            until(|| remote.count("DELETE", "") == usize::from(era == "dual"));
        });
        close(&rig);
    }
}

/// SPEC 4.8, 10.4: where the question stays without an answer, the handshake has the last word, and in time.
#[test]
fn a_refused_handshake_counts_when_the_question_is_not_answered() {
    // As a status, or as the answer to the request.
    for status in ["404", "200"] {
        let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "remote": [] } } }));
        let faults = format!("no-handshake={status},late-discover=never");
        let remote = Remote::start(&rig, &faults, &["--era", "modern"]);
        host(async {
            let config = json!({ "type": "http", "url": remote.url, "connect_timeout_ms": 6_000 });
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            let acquired = session.acquire("s", None, &AcquireOptions::default()).await;
            let refused = acquired.err().unwrap();
            assert_ne!(refused.code(), ErrorCode::Timeout, "{status}: {refused:?}");
            let cause = refused.cause().map(trunkline::Error::code);
            assert_eq!(cause, Some(ErrorCode::ServerError), "{status}: {refused:?}");
            assert_eq!(remote.count("POST", "initialize"), 1);
        });
        close(&rig);
    }
}

/// SPEC 4.8: a server of the legacy era is found out by its refusal, and remembered.
#[test]
fn a_legacy_server_is_asked_once_and_then_known() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    let remote = Remote::start(&rig, "", &[]);
    host(async {
        for number in 1..=2 {
            let (_session, lease) = connected(&rig, &remote).await;
            assert_eq!(rig.pool.status()["servers"]["s"]["era"], "legacy");
            assert_eq!(remote.count("POST", "server/discover"), 1);
            assert_eq!(remote.count("POST", "initialize"), number);
            lease.release();
            drop(_session);
            until(|| sockets_to(&remote) == 0);
        }
    });
    close(&rig);
}

/// SPEC 5.6, 15.4, I-17: a call whose second round cannot be sent was sent, and is not sent again as if nothing of it had been.
#[test]
fn a_call_that_is_lost_between_two_rounds_may_have_had_its_effect() {
    let rig = Rig::new(json!({}));
    let mut remote = Remote::start(&rig, "", &MODERN);
    host(async {
        rig.configure(json!({ "s": remote.config() })).await;
        let (ask, asked) = tokio::sync::oneshot::channel();
        let (answer, answered) = tokio::sync::oneshot::channel::<()>();
        let parts = std::sync::Mutex::new(Some((ask, answered)));
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
            let (ask, answered) = parts.lock().unwrap().take().expect("a person is asked once");
            async move {
                ask.send(()).unwrap();
                answered.await.unwrap();
                Ok(r#"{"action":"accept","content":{}}"#.to_owned())
            }
        });
        let mut options = SessionOptions::from_json(r#"{"id":"a","servers":[]}"#).unwrap();
        options.handlers = handlers;
        let session = rig.pool.session(options).unwrap();
        let lease = acquire(&session, "s").await;
        let form = json!({ "f": { "method": "elicitation/create", "params": { "message": "?" } } });
        let arguments = json!({ "requests": form }).to_string();
        let options = CallOptions::from_json(r#"{"retry":"not_sent"}"#).unwrap();
        let calling = lease.call_tool("need", &arguments, &options);
        let interrupting = async {
            asked.await.unwrap();
            remote.kill();
            answer.send(()).unwrap();
        };
        let (called, ()) = futures_util::future::join(calling, interrupting).await;
        let error = called.unwrap_err();
        assert_eq!(error.outcome(), Some(Outcome::Unknown), "{error}");
    });
}
