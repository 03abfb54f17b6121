//! The pool at work with real processes: what the shared behaviour cases cannot show, since only a
//! Rust host can do it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rig::{HANG, Rig, acquire, host, runs, text, until};
use serde_json::json;
use trunkline::{
    AcquireOptions, CallOptions, CompletionQueue, Error, ErrorCode, EventMask, Pool, PoolOptions,
    SessionOptions, WriteBatch,
};

fn code<T>(result: Result<T, Error>) -> ErrorCode {
    result.err().expect("it has to fail").code()
}

/// SPEC 2.1, 3.3: as many acquires as there are, one process.
#[test]
fn a_hundred_sessions_that_ask_at_once_share_one_process() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let sessions: Vec<_> = (0..100).map(|i| rig.session(&format!("s{i}"))).collect();
        let mut waiting = tokio::task::JoinSet::new();
        for session in &sessions {
            let session = session.clone();
            waiting
                .spawn(async move { text(&acquire(&session, "s").await, "pid", json!({})).await });
        }
        let mut pids = waiting.join_all().await;
        pids.dedup();
        assert_eq!(pids.len(), 1);
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 3.4, I-04: the only asker goes while the server starts; it goes too.
#[test]
fn a_dropped_acquire_leaves_no_process() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--silent"]) })).await;
        let session = rig.session("a");
        let acquiring = tokio::spawn({
            let session = session.clone();
            async move { session.acquire("s", None, &AcquireOptions::default()).await.map(drop) }
        });
        until_started(&rig).await;
        acquiring.abort();
        assert!(acquiring.await.unwrap_err().is_cancelled());
    });
    rig.wait_for_no_process();
}

async fn until_started(rig: &Rig) {
    while rig.starts().is_empty() {
        tokio::task::yield_now().await;
    }
}

/// SPEC 4.2: an acquire's own deadline ends that wait, and says so.
#[test]
fn an_acquire_that_waits_too_long_fails_with_timeout() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--silent"]) })).await;
        let options = AcquireOptions::from_json(r#"{"timeout_ms":50}"#).unwrap();
        let error = rig.session("a").acquire("s", None, &options).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::Timeout);
        assert_eq!(error.detail()["which"], "connect");
        assert_eq!((error.server(), error.session()), (Some("s"), Some("a")));
    });
}

/// SPEC 5.5: a dropped call is cancelled at the server.
#[test]
fn a_dropped_call_reaches_the_server_as_a_cancellation() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        let options = CallOptions::default();
        let mut call = Box::pin(lease.call_tool("sleep", r#"{"ms":60000}"#, &options));
        tokio::select! {
            biased;
            _ = &mut call => panic!("it sleeps for a minute"),
            () = std::future::ready(()) => drop(call),
        }
        while text(&lease, "cancelled", json!({})).await != "1" {
            tokio::task::yield_now().await;
        }
    });
}

/// SPEC 3.12: closing a session cancels its own calls, and no other's.
#[test]
fn closing_a_session_cancels_its_own_calls_alone() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let (a, b) = (rig.session("a"), rig.session("b"));
        let (of_a, of_b) = (acquire(&a, "s").await, acquire(&b, "s").await);
        let start = |lease: &trunkline::Lease, ms: u64| {
            let (send, result) = mpsc::channel();
            let arguments = json!({ "ms": ms }).to_string();
            let done = move |result: Result<_, Error>| {
                send.send(result.map(drop).map_err(|error| error.code())).unwrap();
            };
            lease.start_call_tool("sleep", &arguments, &CallOptions::default(), done);
            result
        };
        let (of_a_ended, of_b_ended) = (start(&of_a, 60_000), start(&of_b, 1_000));
        a.close(None);
        assert_eq!(of_a_ended.recv_timeout(HANG).unwrap(), Err(ErrorCode::Cancelled));
        assert_eq!(of_b_ended.recv_timeout(HANG).unwrap(), Ok(()));
        assert_eq!(
            code(of_a.call_tool("pid", "", &CallOptions::default()).await),
            ErrorCode::Closed
        );
    });
}

/// SPEC 5.6: the server dies; every call on it is answered at once, with what is known of it.
#[test]
fn a_lost_connection_answers_every_call_in_flight() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "local": [0] } } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let (send, results) = mpsc::channel();
        for _ in 0..20 {
            let send = send.clone();
            lease.start_call_tool(
                "sleep",
                r#"{"ms":60000}"#,
                &CallOptions::default(),
                move |result| {
                    send.send(result.map(drop)).unwrap();
                },
            );
        }
        let _ = lease.call_tool("crash", r#"{"code":3}"#, &CallOptions::default()).await;
        for _ in 0..20 {
            let error = results.recv_timeout(HANG).unwrap().unwrap_err();
            assert_eq!(error.code(), ErrorCode::CallInterrupted);
            assert_eq!(error.outcome(), Some(trunkline::Outcome::Unknown));
            assert_eq!(error.arguments(), Some(r#"{"ms":60000}"#));
            assert_eq!(error.detail()["tool"], "sleep");
            assert_eq!(error.detail()["generation"], 1);
            assert!(!format!("{error:?} {error} {}", error.to_json()).contains("60000"));
        }
    });
}

/// SPEC 5.8, 8.1, 8.5: the lease works again after the reconnect, and the session is told in order.
#[test]
fn a_lease_works_again_after_the_reconnect() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "local": [0] } } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let events = session.subscribe(EventMask::ALL).unwrap();
        let lease = acquire(&session, "s").await;
        let first = text(&lease, "pid", json!({})).await;
        let _ = lease.call_tool("crash", r#"{"code":3}"#, &CallOptions::default()).await;
        let mut told = Vec::new();
        while told.last().is_none_or(|kind| kind != "reconnected") {
            let event = events.next().await.unwrap();
            told.push(event.kind().name().to_owned());
        }
        assert_eq!(told, ["disconnected", "reconnected"]);
        assert_ne!(text(&lease, "pid", json!({})).await, first);
        assert_eq!((lease.generation(), lease.entry_index()), (2, 0));
    });
}

/// SPEC 3.13: a session that comes back in time finds its server.
#[test]
fn a_session_that_is_opened_again_in_time_keeps_its_server() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let first = text(&lease, "pid", json!({})).await;
        session.close(Some(Duration::from_secs(3600)));
        let again = rig.session("a");
        let second = text(&acquire(&again, "s").await, "pid", json!({})).await;
        assert_eq!(first, second);
        again.close(Some(Duration::ZERO));
    });
    rig.wait_for_no_process();
}

/// SPEC 3.13: one live session per id.
#[test]
fn a_second_live_session_of_one_id_is_refused() {
    let rig = Rig::new(json!({}));
    let first = rig.session("a");
    let options = || SessionOptions::new("a");
    let error = rig.pool.session(options()).err().unwrap();
    assert_eq!((error.code(), error.session()), (ErrorCode::InvalidArgument, Some("a")));
    drop(first);
    assert!(rig.pool.session(options()).is_ok());
}

/// SPEC 9.7, 16.4: a pool that is dropped without a close ends its servers in the background.
#[test]
fn a_dropped_pool_leaves_no_process() {
    let rig = Rig::new(json!({}));
    let pid = host(async {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let spec = trunkline::ServerSpec::from_value("s", &rig.server(&["--ignore-eof"])).unwrap();
        let lease = pool.acquire("s", &spec, "a", &AcquireOptions::default()).await.unwrap();
        text(&lease, "pid", json!({})).await.parse().unwrap()
    });
    until(|| !runs(pid));
}

/// SPEC 3.10, 9.7: what comes during and after the drain is refused, and everything under way is
/// answered.
#[test]
fn a_drain_answers_whoever_waits() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--silent"]) })).await;
        let session = rig.session("a");
        let options = AcquireOptions::default();
        let waiting = session.acquire("s", None, &options);
        let draining = trunkline::DrainOptions::from_json(r#"{"force":true}"#).unwrap();
        let (acquired, report) = tokio::join!(waiting, rig.pool.drain_all(&draining));
        assert_eq!(code(acquired), ErrorCode::Closing);
        assert_eq!(report.unwrap()["errors"], json!([]));
        assert_eq!(code(session.acquire("s", None, &options).await), ErrorCode::Closing);
        assert_eq!(code(rig.pool.session(SessionOptions::new("b"))), ErrorCode::Closing);
    });
}

/// SPEC 16.2: a completion may call back into the pool, and its panic hurts nobody.
#[test]
fn completions_may_call_the_pool_and_may_panic() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = Arc::new(acquire(&rig.session("a"), "s").await);
        let (send, results) = mpsc::channel();
        let (inner, pool) = (lease.clone(), rig.pool.clone());
        lease.start_call_tool("pid", "", &CallOptions::default(), move |_| {
            let status = pool.status();
            assert_eq!(status["servers"]["s"]["state"], "connected");
            inner.start_call_tool("pid", "", &CallOptions::default(), move |result| {
                send.send(result.is_ok()).unwrap();
                panic!("a host's mistake");
            });
        });
        assert!(results.recv_timeout(HANG).unwrap());
        assert!(text(&lease, "pid", json!({})).await.parse::<u32>().is_ok());
    });
}

/// SPEC 16.2: a call that blocks is refused on a thread that must not block.
#[test]
fn a_blocking_call_inside_a_runtime_is_refused() {
    let rig = Rig::new(json!({}));
    let refused = host(async { rig.pool.block_on(async { Ok(()) }) });
    assert_eq!(code(refused), ErrorCode::WrongThread);
}

/// INTERFACE: the number of workers is the process's.
#[test]
fn pools_of_one_process_agree_on_the_workers() {
    let _rig = Rig::new(json!({}));
    let options = PoolOptions::from_json(r#"{"workers":2}"#).unwrap();
    let error = Pool::new(options).err().unwrap();
    assert_eq!(
        (error.code(), &error.detail()["path"]),
        (ErrorCode::InvalidArgument, &json!("workers"))
    );
}

/// SPEC 9.6: a subscriber that does not read is told what it missed, in its place.
#[test]
fn a_slow_subscriber_is_told_what_it_missed() {
    let rig = Rig::new(json!({ "limits": { "event_backlog": 2 } }));
    host(async {
        let events = rig.pool.subscribe(EventMask::ALL).unwrap();
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        for i in 0..3 {
            let watch = rig.pool.subscribe(EventMask(1 << 1)).unwrap();
            text(&lease, "change_list", json!({ "add": [format!("t{i}")] })).await;
            watch.next().await.unwrap();
        }
        let kinds: Vec<_> =
            std::iter::from_fn(|| events.try_next()).map(|e| e.kind().name()).collect();
        assert_eq!(kinds.len(), 3);
        assert_eq!(kinds[2], "lagged");
        assert!(events.try_next().is_none());
    });
}

/// I-16: nothing wakes a subscriber after its subscription is gone.
#[test]
fn no_wake_comes_after_the_subscription_is_dropped() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        let woken = Arc::new(AtomicUsize::new(0));
        let events = rig.pool.subscribe(EventMask::ALL).unwrap();
        let count = woken.clone();
        events.set_wake(move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
        let watch = rig.pool.subscribe(EventMask(1 << 1)).unwrap();
        text(&lease, "change_list", json!({ "add": ["x"] })).await;
        watch.next().await.unwrap();
        until(|| woken.load(Ordering::SeqCst) == 1);
        drop(events);
        text(&lease, "change_list", json!({ "add": ["y"] })).await;
        watch.next().await.unwrap();
        assert_eq!(woken.load(Ordering::SeqCst), 1);
    });
}

/// SPEC 6.2: trust and always-load are the session's own marks, on its own copy.
#[test]
fn two_sessions_never_see_each_other_s_marks() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let marked = rig.session_with(json!({
            "id": "a", "servers": [], "trust": { "s": true }, "always_load": { "s": ["ec*"] },
        }));
        let plain = rig.session("b");
        let (_a, _b) = (acquire(&marked, "s").await, acquire(&plain, "s").await);
        let marks = |session: &trunkline::Session| -> Vec<(bool, bool)> {
            let tools = session.tools().unwrap();
            let shown = tools.iter().filter(|tool| ["echo", "pid"].contains(&&*tool.own_name));
            shown.map(|tool| (tool.trust, tool.always_load)).collect()
        };
        assert_eq!(marks(&marked), [(true, true), (true, false)]);
        assert_eq!(marks(&plain), [(false, false), (false, false)]);
    });
}

/// A server that its configuration switches off is neither started nor handed out.
#[test]
fn a_disabled_server_is_not_started() {
    let rig = Rig::new(json!({}));
    host(async {
        let mut server = rig.server(&[]);
        server["disabled"] = true.into();
        rig.configure(json!({ "s": server })).await;
        let session = rig.session_with(json!({ "id": "a" }));
        session.ready(None, None).await.unwrap();
        let error = session.acquire("s", None, &AcquireOptions::default()).await.err().unwrap();
        assert_eq!(
            (error.code(), &error.detail()["reason"]),
            (ErrorCode::NotAdmitted, &json!("disabled"))
        );
        assert_eq!(rig.starts(), [0; 0]);
    });
}

/// SPEC 13.1: a server that is gone from the configuration, or another one now, takes its leases
/// along.
#[test]
fn a_lease_ends_with_the_configuration_that_it_stands_for() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        let (first, second) = (rig.server(&[]), rig.server(&["--label", "new"]));
        rig.configure(json!({ "s": first })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        rig.configure(json!({ "s": second })).await;
        let error = lease.call_tool("pid", "", &CallOptions::default()).await.err().unwrap();
        assert_eq!(
            (error.code(), &error.detail()["reason"]),
            (ErrorCode::Closed, &json!("config"))
        );
        assert_eq!(session.tools().unwrap().len(), 0);
        let lease = acquire(&session, "s").await;
        rig.configure(json!({})).await;
        assert_eq!(
            code(lease.call_tool("pid", "", &CallOptions::default()).await),
            ErrorCode::Closed
        );
        assert_eq!(session.tools().unwrap().len(), 0);
        let error = session.acquire("s", None, &AcquireOptions::default()).await.err().unwrap();
        assert_eq!(
            (error.code(), &error.detail()["reason"]),
            (ErrorCode::NotAdmitted, &json!("removed"))
        );
    });
}

/// The example is built with the tests; `trunkline-testserver` is found in `PATH`, as the pages
/// have it.
#[test]
fn the_quick_start_runs_as_the_pages_have_it() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let block = |page: &str, language: &str| {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let example = include_str!("../../examples/quick_start.rs");
    let (_, code) = example.split_once("\n\n").unwrap();
    assert_eq!(block("docs/guide/first-program.md", "rust"), code);
    assert_eq!(block("docs/guide/quickstart/rust.md", "rust"), code);

    let exe = std::env::current_exe().unwrap();
    let program = exe.ancestors().nth(2).unwrap().join("examples/quick_start");
    let folder = rig::testserver().parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path =
        std::env::join_paths([folder.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let done = std::process::Command::new(program).env("PATH", path.unwrap()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let shown = String::from_utf8(done.stdout).unwrap();
    assert_eq!(shown.trim_end(), r#"{"content":[{"type":"text","text":"hi"}]}"#);
    assert_eq!(shown, block("docs/guide/quickstart/rust.md", "text"));
}

/// SPEC 5.3: a thread that holds requests back, and waits for one of them, has its answer.
#[test]
fn a_thread_that_holds_requests_back_can_wait_for_one() {
    let rig = Rig::new(json!({}));
    let host = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lease = host.block_on(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        acquire(&rig.session("a"), "s").await
    });
    let mut options = CallOptions::default();
    options.reads_here = true;
    let start = |send: tokio::sync::oneshot::Sender<bool>| {
        lease.start_call_tool("echo", r#"{"message":"m"}"#, &options, move |result| {
            let _ = send.send(result.is_ok());
        })
    };
    let joined = WriteBatch::begin();
    let (send, ended) = tokio::sync::oneshot::channel();
    start(send).read_here();
    assert!(ended.blocking_recv().unwrap());
    let (send, ended) = tokio::sync::oneshot::channel();
    start(send);
    assert!(rig.pool.block_on(async move { Ok(ended.await.unwrap()) }).unwrap());
    drop(joined);
}

/// SPEC 16.2: answers that were read together are one wake-up of who hears of them by one queue.
#[test]
fn answers_that_arrive_together_wake_their_queue_once() {
    const CALLS: usize = 20;
    let rig = Rig::new(json!({}));
    let lease = host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        acquire(&rig.session("a"), "s").await
    });
    let (sent, woken) = mpsc::channel();
    let queue = Arc::new_cyclic(|queue: &std::sync::Weak<CompletionQueue<bool>>| {
        let queue = queue.clone();
        CompletionQueue::new(move || {
            let _ = queue.upgrade().map(|queue| sent.send(queue.len()));
        })
    });
    let joined = WriteBatch::begin();
    for _ in 0..CALLS {
        let queue = queue.clone();
        let done = move |result: trunkline::Result<_>| queue.push(result.is_ok());
        lease.start_call_tool("echo", r#"{"message":"m"}"#, &CallOptions::default(), done);
    }
    // The server reads them together, and answers in one piece.
    drop(joined);
    assert_eq!(woken.recv_timeout(HANG), Ok(CALLS), "when all of them were told");
    assert_eq!((queue.drain(CALLS), woken.try_recv().is_err()), (vec![true; CALLS], true), "once");
}
