//! Sessions that change while they live.

use std::task::{Context, Poll, Waker};

use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, ConfigureOptions, DrainOptions, ErrorCode, EventKind, EventMask,
    Servers, SessionOptions,
};

fn change(options: Value) -> ConfigureOptions {
    ConfigureOptions::from_json(&options.to_string()).unwrap()
}

/// SPEC 9.1, 6.5: what is disabled everywhere is not restarted; what one session still holds is.
#[test]
fn a_restart_of_what_all_have_disabled_says_so() {
    let rig = Rig::new(json!({ "drain_delay_ms": 60_000 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let (one, other) = (rig.session("a"), rig.session("b"));
        let (lease, kept) = (acquire(&one, "s").await, acquire(&other, "s").await);
        one.disable("s").unwrap();
        let report = rig.pool.restart("s", None).await.unwrap();
        assert_eq!(report["entries"][0]["restarted"], true);
        kept.release();
        let refused = |index: Value| json!([{ "entry_index": index, "restarted": false, "reason": "disabled" }]);
        assert_eq!(rig.pool.restart("s", None).await.unwrap()["entries"], refused(json!(0)));
        assert_eq!(rig.pool.restart("s", Some(0)).await.unwrap()["entries"], refused(json!(0)));
        assert_eq!(rig.pool.restart("s", Some(1)).await.unwrap()["entries"], json!([]));
        assert_eq!(rig.pool.restart("other", None).await.unwrap()["entries"], json!([]));
        drop(lease);
    });
}

/// SPEC 6.5: a lease that is released while its server is disabled does not come back.
#[test]
fn a_lease_that_is_released_in_its_sleep_stays_released() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        session.disable("s").unwrap();
        lease.release();
        session.enable("s").unwrap();
        let error = lease.call_tool("pid", "", &CallOptions::default()).await.err().unwrap();
        assert_eq!(
            (error.code(), &error.detail()["reason"]),
            (ErrorCode::Closed, &json!("released"))
        );
        rig.wait_for_no_process();
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 6.5: a server that cannot be had again leaves its leases unavailable, with the reason.
#[test]
fn a_lease_says_why_it_did_not_come_back() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        let program = rig.path("once");
        std::os::unix::fs::symlink(rig::testserver(), &program).unwrap();
        let mut server = rig.server(&[]);
        server["command"] = json!(program);
        rig.configure(json!({ "s": server })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        session.disable("s").unwrap();
        rig.wait_for_no_process();
        std::fs::remove_file(&program).unwrap();
        session.enable("s").unwrap();
        assert_eq!(
            session.ready(Some("s"), None).await.unwrap_err().code(),
            ErrorCode::Unavailable
        );
        let error = lease.call_tool("pid", "", &CallOptions::default()).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::Unavailable);
        assert_eq!(error.cause().unwrap().code(), ErrorCode::SpawnFailed);
    });
}

/// SPEC 6.5, 13.2: however often and from however many threads it is switched, the last word
/// counts, and every going is told as often as every coming.
#[test]
fn the_last_of_many_switches_counts() {
    let rig = Rig::new(json!({ "drain_delay_ms": 60_000, "limits": { "event_backlog": 100_000 } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session_with(json!({ "id": "a", "include": { "s": ["pid"] } }));
        let lease = acquire(&session, "s").await;
        session.ready(None, None).await.unwrap();
        let events = session.subscribe(EventMask::ALL).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for turn in 0..50 {
                        session.disable("s").unwrap();
                        session
                            .configure(change(json!({ "trust": { "s": turn % 2 == 0 } })))
                            .unwrap();
                        session.enable("s").unwrap();
                    }
                });
            }
        });
        until(|| lease.state().is_connected() && !session.tools().unwrap().is_empty());
        session.ready(None, None).await.unwrap();
        text(&lease, "pid", json!({})).await;
        assert_eq!(rig.starts().len(), 1);
        let status = rig.pool.status();
        assert_eq!(status["servers"]["s"]["entries"][0]["refs"], 1);
        session.disable("s").unwrap();
        session.close(None);
        let (mut came, mut went) = (0, 0);
        while let Some(event) = events.next().await {
            let event: Value = serde_json::from_str(event.json()).unwrap();
            if event["type"] == "tools_changed" {
                came += event["added"].as_array().unwrap().len();
                went += event["removed"].as_array().unwrap().len();
            }
        }
        assert!(went > 0);
        assert_eq!(came + 1, went);
    });
}

/// SPEC 9.4, 3.5: a look at the pool is right while sessions come and go.
#[test]
fn a_subscription_is_made_while_sessions_end() {
    let rig = Rig::new(json!({}));
    let servers: serde_json::Map<String, Value> =
        (0..64).map(|number| (format!("s{number}"), rig.server(&[]))).collect();
    host(rig.configure(servers.into()));
    let pool = rig.pool.clone();
    let looks = std::thread::spawn(move || {
        for _ in 0..200 {
            drop(pool.subscribe(EventMask::ALL).unwrap());
        }
    });
    while !looks.is_finished() {
        drop(rig.session("a"));
    }
    looks.join().unwrap();
}

/// SPEC 9.7: what drains replaces no connection, also of a server that a session has disabled.
#[test]
fn a_pool_that_drains_restarts_nothing() {
    let rig = Rig::new(json!({ "drain_delay_ms": 60_000 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        session.disable("s").unwrap();
        rig.pool.drain_all(&DrainOptions::default()).await.unwrap();
        let refused = rig.pool.restart("s", None).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Closing);
        drop(lease);
    });
}

/// SPEC 6.5: the end of a want that was given up is not taken for the answer to the one that
/// followed it, also when it comes late.
#[test]
fn a_want_outlives_the_refusal_of_the_one_before() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        let slow = rig.server(&["--initialize-delay-ms", "1000"]);
        rig.configure(json!({ "slow": slow, "other": rig.server(&[]) })).await;
        let session = rig.session_with(json!({ "id": "a", "servers": ["slow"] }));
        let blocked = Blocked::new(&rig);
        session.disable("slow").unwrap();
        session.enable("slow").unwrap();
        blocked.end();
        session.ready(Some("slow"), None).await.unwrap();
        assert!(!session.tools().unwrap().is_empty());
    });
}

/// A pool that carries nothing out: its work stands still in an event of the server `other`.
struct Blocked {
    go_on: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Blocked {
    fn new(rig: &Rig) -> Blocked {
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let (stands, stood) = std::sync::mpsc::channel();
        let wait = std::sync::Mutex::new(Some(wait));
        let other = rig.session("other");
        let events = rig.pool.subscribe(EventMask(1 << EventKind::StatusChanged as u8)).unwrap();
        events.set_wake(move || {
            if let Some(wait) = wait.lock().unwrap().take() {
                stands.send(()).unwrap();
                wait.recv().unwrap();
            }
        });
        let thread = std::thread::spawn(move || {
            let servers = change(json!({ "servers": ["other"] }));
            other.configure(servers).unwrap();
            drop(events);
        });
        stood.recv().unwrap();
        Blocked { go_on, thread }
    }

    fn end(self) {
        self.go_on.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

/// SPEC 3.3: what is connected is had at once; while the pool carries something out its grant waits
/// for that, and goes with who asked.
#[test]
fn what_is_connected_is_granted_at_once_and_amid_other_work_in_its_turn() {
    let rig = Rig::new(json!({ "drain_delay_ms": 60_000 }));
    let refs = || rig.pool.status()["servers"]["s"]["entries"][0]["refs"].clone();
    host(async {
        let servers = json!({ "s": rig.server(&[]), "other": rig.server(&["--label", "other"]) });
        rig.configure(servers).await;
        let (session, options) = (rig.session("a"), AcquireOptions::default());
        let first = acquire(&session, "s").await;
        let ask = || Box::pin(session.acquire("s", None, &options));
        let mut context = Context::from_waker(Waker::noop());
        // The thread that granted the first may still be at the rest of its step; nothing else goes
        // on here.
        let at_once = async {
            loop {
                if let Poll::Ready(second) = ask().as_mut().poll(&mut context) {
                    break second;
                }
                tokio::task::yield_now().await;
            }
        };
        let second = tokio::time::timeout(HANG, at_once).await.expect("it waits for nobody");
        first.release();
        assert_eq!(refs(), json!(1));
        text(&second.unwrap(), "echo", json!({ "message": "x" })).await;
        assert_eq!(refs(), json!(0));

        let blocked = Blocked::new(&rig);
        let (mut third, mut dropped) = (ask(), ask());
        assert!(third.as_mut().poll(&mut context).is_pending());
        assert!(dropped.as_mut().poll(&mut context).is_pending());
        drop(dropped);
        blocked.end();
        let third = third.await.unwrap();
        text(&third, "echo", json!({ "message": "x" })).await;
        assert_eq!(refs(), json!(1));
        third.release();
        assert_eq!(refs(), json!(0));
    });
}

/// SPEC 7.6, 6.3: the one that lets a tool in that is held back hears of it, and once.
#[test]
fn a_wider_filter_tells_of_a_tool_that_is_held_back() {
    let rig = Rig::new(json!({ "on_tool_change": "quarantine" }));
    host(async {
        let server = rig.server(&["--list-changes", "--tools", "2"]);
        rig.configure(json!({ "s": server })).await;
        let all = rig.session("all");
        let lease = acquire(&all, "s").await;
        let some = rig
            .session_with(json!({ "id": "some", "servers": [], "exclude": { "s": ["tool_1"] } }));
        let kept = acquire(&some, "s").await;
        let kinds = EventMask(1 << EventKind::ToolQuarantined as u8);
        let (told, events) = (all.subscribe(kinds).unwrap(), some.subscribe(kinds).unwrap());
        text(&lease, "change_list", json!({ "change": "tool_1" })).await;
        told.next().await.unwrap();
        for hidden in [json!({}), json!({}), json!({ "s": ["tool_2"] })] {
            some.configure(change(json!({ "exclude": hidden }))).unwrap();
        }
        let event: Value = serde_json::from_str(events.next().await.unwrap().json()).unwrap();
        assert_eq!((&event["session"], &event["tool"]), (&json!("some"), &json!("tool_1")));
        assert!(events.try_next().is_none());
        drop(kept);
    });
}

/// SPEC 6.5, 5.8: a server that failed and was disabled is told when it is back.
#[test]
fn the_return_of_a_failed_server_is_told() {
    let rig =
        Rig::new(json!({ "drain_delay_ms": 0, "reconnect": { "delays_ms": { "local": [] } } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--tools", "2"]) })).await;
        let session = rig.session_with(json!({ "id": "a", "servers": ["s"] }));
        session.ready(Some("s"), None).await.unwrap();
        let kinds = 1 << EventKind::Failed as u8 | 1 << EventKind::ToolsChanged as u8;
        let events = session.subscribe(EventMask(kinds)).unwrap();
        drop(session.call_tool("mcp__s__crash", "{}", &CallOptions::default()).await);
        while events.next().await.unwrap().kind() != EventKind::ToolsChanged {}
        session.disable("s").unwrap();
        session.enable("s").unwrap();
        session.ready(Some("s"), None).await.unwrap();
        let event: Value = serde_json::from_str(events.next().await.unwrap().json()).unwrap();
        assert!(!event["added"].as_array().unwrap().is_empty(), "{event}");
    });
}

/// SPEC 3.13, 13.2: what a resumed session took over goes with its server.
#[test]
fn an_inherited_hold_ends_with_its_server() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        session.close(Some(std::time::Duration::from_secs(60)));
        let resumed = rig.session("a");
        assert!(!resumed.tools().unwrap().is_empty());
        rig.configure(json!({})).await;
        assert!(resumed.tools().unwrap().is_empty());
        rig.wait_for_no_process();
        drop(lease);
    });
}

/// SPEC 3.13, 16.2, I-18: a listener that hears of what a resumed session holds may look at the
/// pool.
#[test]
fn a_subscriber_may_look_at_the_pool_while_a_session_is_resumed() {
    let rig = Rig::new(json!({}));
    let options = || {
        let options = json!({ "id": "a", "servers": [], "roots": ["."] });
        SessionOptions::from_json(&options.to_string()).unwrap()
    };
    host(rig.configure(json!({ "s": rig.server(&[]) })));
    let session = rig.pool.session(options()).unwrap();
    host(acquire(&session, "s")).release();
    let _lease = host(acquire(&session, "s"));
    session.close(Some(HANG));
    // Of nothing else: the wake is for the first event in an empty backlog alone.
    let events = rig.pool.subscribe(EventMask(EventKind::Warning.bit())).unwrap();
    let pool = rig.pool.clone();
    events.set_wake(move || drop(pool.status()));
    let (told, opened) = std::sync::mpsc::channel();
    let pool = rig.pool.clone();
    std::thread::spawn(move || told.send(pool.session(options()).unwrap()));
    let resumed = opened.recv_timeout(HANG).expect("it is opened");
    let warned =
        || events.try_next().is_some_and(|event| event.json().contains("roots_not_shared"));
    until(warned);
    drop(resumed);
}

/// SPEC 3.13, 3.6: what a session asks for while it is being resumed it holds once, and gives up
/// once.
#[test]
fn what_a_resumed_session_holds_already_is_not_taken_over_as_well() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    let options = || {
        let options = json!({ "id": "chat", "roots": ["."] });
        SessionOptions::from_json(&options.to_string()).unwrap()
    };
    // Two servers: the pool is used when the first is told, before the second is taken over.
    let servers = json!({ "a": rig.server(&["--label", "a"]), "b": rig.server(&[]) });
    host(rig.configure(servers.clone()));
    let session = rig.pool.session(options()).unwrap();
    host(session.ready(None, None)).unwrap();
    session.close(Some(HANG));
    let events = rig.pool.subscribe(EventMask(1 << EventKind::Warning as u8)).unwrap();
    let (pool, servers) = (rig.pool.clone(), Servers::from_json(&servers.to_string()).unwrap());
    let servers = std::sync::Mutex::new(Some(servers));
    let (used, was_used) = std::sync::mpsc::channel();
    events.set_wake(move || {
        let Some(servers) = servers.lock().unwrap().take() else { return };
        let (tell, done) = std::sync::mpsc::channel();
        let reconciling = pool.clone();
        pool.start(async move { reconciling.reconcile(servers).await }, move |_| {
            let _ = tell.send(());
        });
        used.send(done.recv_timeout(HANG)).unwrap();
    });
    let resumed = rig.pool.session(options()).unwrap();
    was_used.recv_timeout(HANG).expect("it is told").expect("the pool can be used");
    let refs = || {
        let status = rig.pool.status();
        ["a", "b"].map(|name| status["servers"][name]["entries"][0]["refs"].clone())
    };
    assert_eq!(refs(), [json!(1), json!(1)]);
    resumed.configure(change(json!({ "servers": [] }))).unwrap();
    assert_eq!(resumed.tools().unwrap().len(), 0);
    rig.wait_for_no_process();
}

/// SPEC 9.7: a close is as patient as it is told, else as the pool's option says; a second one
/// hurries the first.
#[test]
fn a_close_has_a_time_of_its_own() {
    let options = |text: &str| DrainOptions::from_json(text).unwrap();
    for (pool, close, hurried) in [
        (json!({ "close_timeout_ms": 100 }), "", ""),
        (json!({}), r#"{"timeout_ms":100}"#, ""),
        (json!({}), r#"{"force":true}"#, ""),
        (json!({ "close_timeout_ms": 3_600_000 }), "", r#"{"force":true}"#),
    ] {
        let rig = Rig::new(pool);
        host(async {
            rig.configure(json!({ "s": rig.server(&[]) })).await;
            let lease = acquire(&rig.session("a"), "s").await;
            let defaults = CallOptions::default();
            let call = lease.call_tool("sleep", r#"{"ms":600000}"#, &defaults);
            let closes = async {
                let first = rig.pool.close_with(options(close));
                let second = (!hurried.is_empty()).then(|| rig.pool.close_with(options(hurried)));
                first.await.unwrap();
                if let Some(second) = second {
                    second.await.unwrap();
                }
            };
            let (called, ()) = tokio::join!(call, closes);
            let error = called.expect_err("the close interrupts it");
            assert_eq!(error.code(), ErrorCode::CallInterrupted, "{close} {hurried}");
        });
    }
}
