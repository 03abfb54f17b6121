//! Calls that outlive a connection: waiting for the next one, and being sent again through it.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};

use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{
    CallOptions, CallResult, DrainOptions, EntryState, Error, ErrorCode, HandlerKind, Handlers,
    Lease, Operation, Outcome, Result, Session, SessionOptions,
};

/// A pool whose lost servers come back after so many milliseconds.
fn rig_with_delays(delays_ms: &[u64]) -> Rig {
    Rig::new(json!({ "reconnect": { "delays_ms": { "local": delays_ms } } }))
}

const LONG: u64 = 600_000;

/// A call under way.
struct Under {
    operation: Operation,
    results: Receiver<Result<CallResult>>,
}

impl Under {
    fn result(&self) -> Result<CallResult> {
        self.results.recv_timeout(HANG).unwrap()
    }

    fn error(&self) -> Error {
        self.result().expect_err("it has to fail")
    }
}

fn start(lease: &Lease, tool: &str, arguments: Value, options: Value) -> Under {
    let options = CallOptions::from_json(&options.to_string()).unwrap();
    let (send, results) = mpsc::channel();
    let done = move |result| send.send(result).unwrap();
    let operation = lease.start_call_tool(tool, &arguments.to_string(), &options, done);
    Under { operation, results }
}

fn text_of(result: Result<CallResult>) -> String {
    let result: Value = serde_json::from_str(result.unwrap().json()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Ends the server, and waits until that is seen.
async fn crash(lease: &Lease) {
    let generation = lease.generation();
    let crashed = lease.call_tool("crash", "{}", &CallOptions::default()).await;
    assert_eq!(crashed.unwrap_err().code(), ErrorCode::CallInterrupted);
    until(|| lease.generation() > generation || !lease.state().is_connected());
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

fn trusting(rig: &Rig, id: &str) -> Session {
    rig.session_with(json!({ "id": id, "servers": [], "trust": { "s": true } }))
}

/// SPEC 5.8: the option `wait`.
#[test]
fn a_call_that_waits_is_sent_when_the_server_is_back() {
    let rig = rig_with_delays(&[2000]);
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        crash(&lease).await;
        let unwilling = start(&lease, "echo", json!({ "message": "x" }), json!({})).error();
        assert_eq!(unwilling.code(), ErrorCode::Unavailable);
        let waiting = start(&lease, "echo", json!({ "message": "back" }), json!({ "wait": true }));
        assert!(waiting.operation.call_number().is_some());
        assert_eq!(text_of(waiting.result()), "back");
        assert_eq!((lease.generation(), rig.starts().len()), (2, 2));
        let at_once = start(&lease, "echo", json!({ "message": "on" }), json!({ "wait": true }));
        assert_eq!(text_of(at_once.result()), "on");
    });
}

/// SPEC 5.8, 3.2: what comes back after it was given up has no lists on its way, and is
/// `unavailable` all the same.
#[test]
fn a_server_that_comes_back_from_a_failure_is_waited_for_as_after_a_loss() {
    let rig = rig_with_delays(&[]);
    host(async {
        let slow = rig.server(&["--initialize-delay-ms", "3000"]);
        rig.configure(json!({ "s": slow })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        crash(&lease).await;
        let again = tokio::spawn(async move { acquire(&session, "s").await });
        while lease.state() != EntryState::Reconnecting {
            tokio::task::yield_now().await;
        }
        let unwilling = start(&lease, "echo", json!({ "message": "x" }), json!({})).error();
        let said = (unwilling.code(), unwilling.outcome());
        assert_eq!(said, (ErrorCode::Unavailable, Some(Outcome::NotSent)));
        let waiting = start(&lease, "echo", json!({ "message": "back" }), json!({ "wait": true }));
        assert_eq!(text_of(waiting.result()), "back");
        again.await.unwrap();
    });
}

/// SPEC 5.8, 5.4, I-07: until the call's deadline, and no longer.
#[test]
fn a_call_waits_no_longer_than_its_time() {
    let rig = rig_with_delays(&[LONG]);
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        crash(&lease).await;
        for option in [json!({ "wait": true }), json!({ "retry": "not_sent" })] {
            let mut options = option;
            options["timeout_ms"] = 50.into();
            let error = start(&lease, "echo", json!({ "message": "x" }), options).error();
            assert_eq!(
                (error.code(), error.outcome()),
                (ErrorCode::Timeout, Some(Outcome::NotSent))
            );
            assert_eq!((&error.detail()["which"], error.server()), (&"total".into(), Some("s")));
        }
    });
}

/// SPEC 5.5, 5.8, I-17: whatever ends a waiting call does so at once, and once.
#[test]
fn a_waiting_call_ends_at_once_when_it_is_cancelled_or_its_session_closes() {
    let rig = Rig::new(json!({
        "reconnect": { "delays_ms": { "local": [LONG] } },
        "limits": { "in_flight_per_session": 1 },
    }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        crash(&lease).await;
        let echo = || start(&lease, "echo", json!({ "message": "x" }), json!({ "wait": true }));
        let cancelled = echo();
        assert_eq!(echo().error().detail()["limit"], "in_flight_per_session");
        cancelled.operation.cancel();
        cancelled.operation.cancel();
        // Answered before `cancel` returned; and its place is free again.
        let error = cancelled.results.try_recv().unwrap().unwrap_err();
        assert_eq!((error.code(), error.outcome()), (ErrorCode::Cancelled, Some(Outcome::NotSent)));
        let closed = echo();
        session.close(None);
        assert_eq!(closed.results.try_recv().unwrap().unwrap_err().code(), ErrorCode::Cancelled);
        for under in [cancelled, closed] {
            assert!(under.results.recv().is_err(), "it was answered twice");
        }
    });
}

/// SPEC 9.7, I-17: every call under way gets an answer.
#[test]
fn a_drain_ends_a_waiting_call() {
    for forced in [true, false] {
        let rig = rig_with_delays(&[LONG]);
        host(async {
            rig.configure(json!({ "s": rig.server(&[]) })).await;
            let lease = acquire(&rig.session("a"), "s").await;
            crash(&lease).await;
            let waiting = start(&lease, "echo", json!({ "message": "x" }), json!({ "wait": true }));
            let options = json!({ "force": forced }).to_string();
            rig.pool.drain_all(&DrainOptions::from_json(&options).unwrap()).await.unwrap();
            let error = waiting.error();
            assert_eq!(
                (error.code(), error.outcome()),
                (ErrorCode::Closed, Some(Outcome::NotSent))
            );
        });
    }
}

/// SPEC 5.8, 8.1: a server that is given up is not waited for.
#[test]
fn a_waiting_call_ends_when_the_server_has_failed() {
    let rig = rig_with_delays(&[300]);
    host(async {
        let second_fails = script(&rig, "exit 7", "");
        rig.configure(json!({ "s": second_fails })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        crash(&lease).await;
        let waiting = start(&lease, "echo", json!({ "message": "x" }), json!({ "wait": true }));
        let error = waiting.error();
        assert_eq!(
            (error.code(), error.outcome()),
            (ErrorCode::Unavailable, Some(Outcome::NotSent))
        );
        assert_eq!(error.cause().unwrap().code(), ErrorCode::Exited);
        let late = start(&lease, "echo", json!({ "message": "x" }), json!({ "wait": true }));
        assert_eq!(late.error().code(), ErrorCode::Unavailable);
    });
}

/// SPEC 4.4, 7.3: what cannot be listed after a reconnect stays as the connection before listed it.
#[test]
fn a_list_that_fails_after_a_reconnect_stays_as_it_was() {
    let rig = rig_with_delays(&[100]);
    host(async {
        let second = "exec SERVER --tools-only --repeat-cursor";
        rig.configure(json!({ "s": script(&rig, second, "--tools-only") })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let names = || -> Vec<String> {
            session.tools().unwrap().iter().map(|tool| tool.name.to_string()).collect()
        };
        let before = names();
        crash(&lease).await;
        let waiting = start(&lease, "echo", json!({ "message": "x" }), json!({ "wait": true }));
        assert_eq!(text_of(waiting.result()), "x");
        assert!(!before.is_empty());
        assert_eq!(names(), before);
        let status = rig.pool.status();
        let unlisted = &status["servers"]["s"]["entries"][0]["unlisted"];
        assert_eq!(unlisted[0]["list"], "tools", "{status}");
    });
}

/// The reference server at the first start with the flags `first`; at the next ones `second` is
/// run.
fn script(rig: &Rig, second: &str, first: &str) -> Value {
    let server = rig.server(&[]);
    let log = server["args"][1].as_str().unwrap();
    let command = server["command"].as_str().unwrap();
    let run = format!("'{command}' --start-log '{log}'");
    let second = second.replace("SERVER", &run);
    let text = format!("if test -s '{log}'; then {second}; else exec {run} {first}; fi");
    json!({ "command": "/bin/sh", "args": ["-c", text] })
}

/// SPEC 5.7, 5.11: what never left is sent through the next connection, when its options say so;
/// what may have left is not.
#[test]
fn what_was_never_sent_is_sent_again_if_asked_for() {
    let rig = rig_with_delays(&[100]);
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        text(&lease, "stop_reading", json!({ "ms": LONG })).await;
        let fill = "x".repeat(300_000);
        let begun =
            start(&lease, "echo", json!({ "message": fill }), json!({ "retry": "not_sent" }));
        let echo = |options| start(&lease, "echo", json!({ "message": "queued" }), options);
        let (never, not_sent, safe) = (
            echo(json!({})),
            echo(json!({ "retry": "not_sent" })),
            echo(json!({ "retry": "safe" })),
        );
        kill(rig.starts()[0]);
        let outcome = |under: &Under| {
            let error = under.error();
            assert_eq!(error.code(), ErrorCode::CallInterrupted);
            (error.outcome().unwrap(), error.is_retryable())
        };
        assert_eq!(outcome(&begun), (Outcome::Unknown, false));
        assert_eq!(outcome(&never), (Outcome::NotSent, true));
        assert_eq!(text_of(not_sent.result()), "queued");
        assert_eq!(text_of(safe.result()), "queued");
        assert_eq!(text(&lease, "count", json!({})).await, "3");
    });
}

/// SPEC 5.7, I-17.
#[test]
fn a_safe_tool_is_repeated_on_a_trusted_server_and_no_other_is() {
    let rig = rig_with_delays(&[100]);
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let (trusting, wary) = (trusting(&rig, "a"), rig.session("b"));
        let (lease, other) = (acquire(&trusting, "s").await, acquire(&wary, "s").await);
        text(&lease, "stop_reading", json!({ "ms": LONG })).await;
        let safe = json!({ "retry": "safe" });
        let echo = start(&lease, "echo", json!({ "message": "again" }), safe.clone());
        let add = start(&lease, "add", json!({ "a": 1, "b": 2 }), safe.clone());
        let unsafe_one = start(&lease, "pid", json!({}), safe.clone());
        let method = lease.start_request("ping", "{}", &options(&safe), |result| {
            assert_eq!(result.unwrap_err().code(), ErrorCode::CallInterrupted);
        });
        let careful =
            start(&lease, "echo", json!({ "message": "x" }), json!({ "retry": "not_sent" }));
        let untrusted = start(&other, "echo", json!({ "message": "x" }), safe);
        kill(rig.starts()[0]);
        assert_eq!((text_of(echo.result()), text_of(add.result())), ("again".into(), "3".into()));
        for under in [unsafe_one, careful, untrusted] {
            let error = under.error();
            assert_eq!(
                (error.code(), error.outcome()),
                (ErrorCode::CallInterrupted, Some(Outcome::Unknown))
            );
            assert_eq!(error.detail()["generation"], 1);
        }
        drop(method);
        assert_eq!(text(&lease, "count", json!({})).await, "3", "two repetitions, and this");
        assert_eq!(text(&lease, "seen", json!({ "method": "ping" })).await, "0");
    });
}

/// SPEC 6.2, S-40: what a server says of its tools changes no rule for one of a project, which
/// cannot call it trusted either.
#[test]
fn annotations_of_a_server_of_a_project_repeat_nothing() {
    let rig = Rig::in_workspace(json!({
        "trusted": true, "approvals": "memory",
        "reconnect": { "delays_ms": { "local": [100] } },
    }));
    host(async {
        let mut server = rig.server(&[]);
        server["trust"] = json!(true);
        let text = json!({ "mcpServers": { "s": server } }).to_string();
        rig.pool.set_source(&"project".parse().unwrap(), Some(&text)).unwrap();
        let request = rig.pool.approvals().await.unwrap()["requests"][0].clone();
        rig.pool.approve("s", request["hash"].as_str().unwrap()).await.unwrap();
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let tools = session.tools().unwrap();
        let echo = tools.iter().find(|tool| &*tool.own_name == "echo").unwrap();
        let definition: Value = serde_json::from_str(&echo.definition).unwrap();
        assert_eq!(definition["annotations"]["readOnlyHint"], true);
        assert!(tools.iter().all(|tool| !tool.trust));
        self::text(&lease, "stop_reading", json!({ "ms": LONG })).await;
        let echo = start(&lease, "echo", json!({ "message": "x" }), json!({ "retry": "safe" }));
        kill(rig.starts()[0]);
        let error = echo.error();
        assert_eq!(
            (error.code(), error.outcome()),
            (ErrorCode::CallInterrupted, Some(Outcome::Unknown))
        );
    });
}

fn options(value: &Value) -> CallOptions {
    CallOptions::from_json(&value.to_string()).unwrap()
}

/// SPEC 5.7: the definition that counts is the one of the new connection.
#[test]
fn a_tool_is_repeated_by_the_definition_after_the_reconnect() {
    let cases = [("exec SERVER --hints none", "", false), ("exec SERVER", "--hints none", true)];
    for (second, first, repeated) in cases {
        let rig = rig_with_delays(&[100]);
        host(async {
            rig.configure(json!({ "s": script(&rig, second, first) })).await;
            let lease = acquire(&trusting(&rig, "a"), "s").await;
            text(&lease, "stop_reading", json!({ "ms": LONG })).await;
            let echo = start(&lease, "echo", json!({ "message": "x" }), json!({ "retry": "safe" }));
            kill(rig.starts()[0]);
            match repeated {
                true => assert_eq!(text_of(echo.result()), "x"),
                false => assert_eq!(echo.error().code(), ErrorCode::CallInterrupted),
            }
            let count = if repeated { "2" } else { "1" };
            assert_eq!(text(&lease, "count", json!({})).await, count);
        });
    }
}

/// SPEC 5.7, I-17: a call that ends every connection is not repeated for ever.
#[test]
fn a_call_that_no_connection_survives_is_given_up() {
    let rig = rig_with_delays(&[0, 0, 0, 0, 0, 0]);
    host(async {
        rig.configure(json!({ "s": rig.server(&["--hints", "all"]) })).await;
        let lease = acquire(&trusting(&rig, "a"), "s").await;
        let error = start(&lease, "crash", json!({}), json!({ "retry": "safe" })).error();
        assert_eq!(
            (error.code(), error.outcome()),
            (ErrorCode::CallInterrupted, Some(Outcome::Unknown))
        );
        assert_eq!(error.detail()["generation"], 4, "one attempt, and three repetitions");
    });
}

/// SPEC 5.4, 5.7: a repetition has what is left of the call's time, and its end does not hide that
/// a server may have seen it.
#[test]
fn a_repetition_has_only_what_is_left_of_the_time() {
    let rig = rig_with_delays(&[LONG]);
    host(async {
        rig.configure(json!({ "s": rig.server(&["--hints", "all"]) })).await;
        let lease = acquire(&trusting(&rig, "a"), "s").await;
        let call = json!({ "retry": "safe", "timeout_ms": 4000 });
        let error = start(&lease, "crash", json!({}), call).error();
        assert_eq!((error.code(), error.outcome()), (ErrorCode::Timeout, Some(Outcome::Unknown)));
        assert_eq!(error.cause().unwrap().code(), ErrorCode::CallInterrupted);
        assert_eq!(error.detail()["limit_ms"], 4000);
        let waiting = start(&lease, "echo", json!({ "message": "x" }), json!({ "wait": true }));
        waiting.operation.cancel();
        assert_eq!(waiting.error().code(), ErrorCode::Cancelled);
    });
}

/// SPEC 5.4, 5.7: what a person took before the loss is not taken from the time of a repetition.
#[test]
fn a_repetition_has_the_time_that_a_person_took_too() {
    const TIMES: &str = r#"{"timeout_ms":6000,"idle_timeout_ms":6000}"#;
    let rig = rig_with_delays(&[0]);
    host(async {
        let other = rig.server(&["--label", "other"]);
        rig.configure(json!({ "s": rig.server(&["--hints", "all"]), "other": other })).await;
        let other = Arc::new(acquire(&rig.session("b"), "other").await);
        let (asked, log) = (Arc::new(AtomicBool::new(false)), rig.path("starts"));
        let handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
            let is_first = !asked.swap(true, Ordering::SeqCst);
            let (other, log) = (other.clone(), log.clone());
            async move {
                if is_first {
                    // Another call's time is over, so this one's would be too. Then the server is.
                    let times = CallOptions::from_json(TIMES).unwrap();
                    other.call_tool("sleep", r#"{"ms":60000}"#, &times).await.unwrap_err();
                    let starts = std::fs::read_to_string(log).unwrap();
                    kill(
                        starts.lines().last().unwrap().split(' ').next().unwrap().parse().unwrap(),
                    );
                    std::future::pending::<()>().await;
                }
                Ok(r#"{"action":"accept"}"#.to_owned())
            }
        });
        let options = json!({ "id": "a", "servers": [], "trust": { "s": true } });
        let mut options = SessionOptions::from_json(&options.to_string()).unwrap();
        options.handlers = handlers;
        let lease = acquire(&rig.pool.session(options).unwrap(), "s").await;
        let mut call: Value = serde_json::from_str(TIMES).unwrap();
        call["retry"] = "safe".into();
        let ask = json!({ "method": "elicitation/create", "params": { "message": "m" } });
        assert_eq!(
            text_of(start(&lease, "ask", ask, call).result()),
            r#"{"result":{"action":"accept"}}"#
        );
        assert_eq!(lease.generation(), 2);
    });
}
