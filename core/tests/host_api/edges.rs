//! The pool at its edges: callbacks that call back, races of many callers, limits, and ends of
//! every kind.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use rig::{HANG, Rig, acquire, host, runs, text, until};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, DrainOptions, Error, ErrorCode, EventMask, Lease, Outcome,
    PoolOptions, ServerSpec, Servers, SessionOptions,
};

const SERVER_READY: EventMask = EventMask(1 << 19);

fn spec(server: &Value) -> ServerSpec {
    ServerSpec::from_value("s", server).unwrap()
}

fn drain(options: &str) -> DrainOptions {
    DrainOptions::from_json(options).unwrap()
}

/// SPEC 16.2: no lock is held while a wake function runs, so that it may open a session.
#[test]
fn a_wake_function_may_open_sessions() {
    let rig = Rig::new(json!({}));
    let pool = rig.pool.clone();
    let (send, opened) = mpsc::channel();
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let first = rig.session_with(json!({ "id": "first" }));
        first.ready(None, Some(HANG)).await.unwrap();
        let events = rig.pool.subscribe(SERVER_READY).unwrap();
        let (inner, number) = (pool.clone(), std::sync::atomic::AtomicU32::new(0));
        events.set_wake(move || {
            if number.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
                let _ = send.send(inner.session(SessionOptions::new("third")));
            }
        });
        // Granted at once, and told on the thread that asks.
        let second = std::thread::spawn(move || pool.session(SessionOptions::new("second")));
        let third = opened.recv_timeout(HANG).unwrap().unwrap();
        let second = second.join().unwrap().unwrap();
        for session in [&second, &third] {
            session.ready(Some("s"), Some(HANG)).await.unwrap();
        }
    });
}

/// SPEC 16.2: a wake function that blocks on the pool is refused, also on a thread of the host.
#[test]
fn a_blocking_call_inside_a_wake_function_is_refused() {
    let rig = Rig::new(json!({}));
    let pool = rig.pool.clone();
    let (send, results) = mpsc::channel();
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let first = rig.session_with(json!({ "id": "first" }));
        first.ready(None, Some(HANG)).await.unwrap();
        let events = rig.pool.subscribe(SERVER_READY).unwrap();
        let inner = pool.clone();
        events.set_wake(move || {
            let _ = send.send(inner.block_on(async { Ok(()) }).map_err(|error| error.code()));
        });
        let second = std::thread::spawn(move || pool.session(SessionOptions::new("second")));
        assert_eq!(results.recv_timeout(HANG).unwrap(), Err(ErrorCode::WrongThread));
        second.join().unwrap().unwrap();
    });
}

/// INTERFACE: `pool.acquire` opens the session that it names, although others ask for it at the
/// same time.
#[test]
fn acquires_that_name_one_new_session_share_it() {
    let rig = Rig::new(json!({}));
    let server = spec(&rig.server(&[]));
    for round in 0..20 {
        let id = format!("s{round}");
        let begin = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            let ask = || {
                let (pool, server, id) = (rig.pool.clone(), server.clone(), id.clone());
                begin.wait();
                rig.pool.block_on(async move {
                    pool.acquire("s", &server, &id, &AcquireOptions::default()).await
                })
            };
            let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            let leases: Vec<_> = asked.into_iter().map(|ask| ask.join().unwrap()).collect();
            leases.into_iter().for_each(|lease| assert!(lease.is_ok(), "{:?}", lease.err()));
        });
    }
}

/// SPEC 3.13: a second close counts from itself; what the first would have ended goes on.
#[test]
fn a_session_kept_twice_is_kept_for_the_second_time() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]), "t": rig.server(&[]) })).await;
        let (a, b) = (rig.session("a"), rig.session("b"));
        let (lease, _of_b) = (acquire(&a, "s").await, acquire(&b, "t").await);
        let entry = lease.entry_index();
        a.close(Some(Duration::from_millis(50)));
        rig.session("a").close(Some(Duration::from_secs(3600)));
        b.close(Some(Duration::from_millis(200)));
        until(|| rig.pool.status()["totals"]["sessions_kept"] == 1);
        let again = rig.session("a");
        assert_eq!(acquire(&again, "s").await.entry_index(), entry);
        again.close(Some(Duration::ZERO));
    });
    rig.wait_for_no_process();
}

/// SPEC 3.13, 5.2: what a session inherits it sees through its own filters.
#[test]
fn a_session_that_is_opened_again_sees_through_its_own_filters() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        acquire(&session, "s").await;
        let lease = acquire(&session, "s").await;
        session.close(Some(Duration::from_secs(3600)));
        drop((lease, session));
        let options = json!({ "id": "a", "servers": [], "exclude": { "s": ["echo"] } });
        let again = rig.session_with(options);
        let tools = again.tools().unwrap();
        assert!(tools.iter().any(|tool| &*tool.own_name == "add"));
        assert!(tools.iter().all(|tool| &*tool.own_name != "echo"));
        let hidden = again.call_tool("mcp__s__echo", "{}", &CallOptions::default()).await;
        assert_eq!(code(hidden), ErrorCode::ToolNotFound);
        again.close(Some(Duration::ZERO));
    });
}

fn code<T>(result: Result<T, Error>) -> ErrorCode {
    result.err().expect("it has to fail").code()
}

/// SPEC 9.6: calls in flight are limited per session, and one session's do not count for another.
#[test]
fn a_session_has_only_so_many_calls_in_flight() {
    let rig = Rig::new(json!({ "limits": { "in_flight_per_session": 2 } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let (a, b) = (rig.session("a"), rig.session("b"));
        let (of_a, of_b) = (acquire(&a, "s").await, acquire(&b, "s").await);
        let sleep =
            || of_a.start_call_tool("sleep", r#"{"ms":60000}"#, &CallOptions::default(), |_| {});
        let under_way = [sleep(), sleep()];
        let refused =
            of_a.call_tool("pid", "", &CallOptions::default()).await.expect_err("too many");
        assert_eq!((refused.code(), refused.outcome()), (ErrorCode::Limit, Some(Outcome::NotSent)));
        assert_eq!(refused.detail()["limit"], "in_flight_per_session");
        assert_eq!((refused.server(), refused.session()), (Some("s"), Some("a")));
        text(&of_b, "pid", json!({})).await;
        under_way[0].cancel();
        text(&of_a, "pid", json!({})).await;
        under_way[1].cancel();
    });
}

/// SPEC 16.2: what a host of Rust writes into its options has no text that a bound was kept for.
#[test]
fn no_time_of_a_host_is_too_long() {
    const LONGEST: Duration = Duration::MAX;
    let mut options = PoolOptions::default();
    (options.drain_delay, options.idle_cap, options.start_gate) = (LONGEST, LONGEST, LONGEST);
    (options.exit_grace, options.kill_grace, options.keepalive) = (LONGEST, LONGEST, LONGEST);
    (options.call_timeout, options.call_idle_timeout) = (LONGEST, LONGEST);
    (options.connect_timeout, options.handler_timeout) = (Some(LONGEST), LONGEST);
    options.reconnect.local_delays = vec![LONGEST];
    let rig = Rig::with(options);
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session_with(json!({ "id": "a" }));
        let started = session.started().await.unwrap();
        assert_eq!(started["servers"]["s"]["state"], "ready", "{started}");
        let mut of_call = CallOptions::default();
        (of_call.timeout, of_call.idle_timeout) = (Some(LONGEST), Some(LONGEST));
        let lease = acquire(&session, "s").await;
        lease.call_tool("pid", "{}", &of_call).await.unwrap();
        let mut timed = spec(&rig.server(&["--label", "t"]));
        (timed.connect_timeout, timed.call_timeout) = (Some(LONGEST), Some(LONGEST));
        let lease = session.acquire("t", Some(&timed), &AcquireOptions::default()).await.unwrap();
        lease.call_tool("pid", "{}", &CallOptions::default()).await.unwrap();
        let mut drain = DrainOptions::default();
        drain.timeout = Some(LONGEST);
        session.close(Some(LONGEST));
        let report = tokio::time::timeout(HANG, rig.pool.drain_all(&drain)).await.unwrap().unwrap();
        assert_eq!((&report["forced"], &report["errors"]), (&json!(0), &json!([])));
    });
}

/// SPEC 9.4, S-24: what a server says when it refuses is in each status and in the events of its
/// holders, so that it has a bound there.
#[test]
fn the_words_of_a_refusal_have_a_bound() {
    const SERVER: &str = r#"
        long=$(head -c 3000000 /dev/zero | tr '\0' w)
        refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-5,"message":"%s","data":["%s"]}}\n' "$id" "$long" "$long"; }
        reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
        greet() { reply '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}'; }
        while read -r line; do
            id=$(expr "$line" : '.*"id":\([0-9]*\)')
            case "$line" in
                *'"method":"initialize"'*) GREET ;;
                *'"method":"tools/list"'*) refuse ;;
            esac
        done"#;
    let doing = |greet: &str| {
        let script = SERVER.replace("GREET", greet);
        json!({ "command": "/bin/sh", "args": ["-c", script], "era": "legacy" })
    };
    let rig = Rig::new(json!({}));
    host(async {
        let events = rig.pool.subscribe(EventMask::ALL).unwrap();
        let servers = [
            ("hand", doing("refuse"), "/last_error/cause/detail"),
            ("list", doing("greet"), "/entries/0/unlisted/0/error/detail"),
        ];
        rig.configure(servers.iter().map(|(name, it, _)| (*name, it.clone())).collect()).await;
        let _session = rig.session_with(json!({ "id": "a" }));
        for (name, _, path) in servers {
            let said = || rig.pool.status()["servers"][name].pointer(path).cloned();
            until(|| said().is_some());
            let said = said().unwrap();
            for (member, first) in [("message", "w"), ("data", "[\"w")] {
                let text = said[member].as_str().unwrap_or_else(|| panic!("{said:.2000}"));
                assert!(text.starts_with(&(first.to_owned() + &"w".repeat(1 << 10))));
                assert!(text.ends_with("w…") && text.len() < 4 << 10, "{}", text.len());
            }
        }
        let status = rig.pool.status().to_string();
        assert!(status.len() < 64 << 10, "{} bytes", status.len());
        while let Some(event) = events.try_next() {
            assert!(event.json().len() < 64 << 10, "{:.200}", event.json());
        }
    });
}

/// SPEC 9.7: the drain's deadline holds for a server that is still being connected, whatever its
/// graces.
#[test]
fn a_drain_kills_a_connect_at_its_deadline() {
    let graces = json!({ "exit_grace_ms": 60_000, "kill_grace_ms": 60_000 });
    let rig = Rig::new(graces);
    let server = rig.server(&["--silent", "--ignore-eof", "--ignore-term"]);
    host(async {
        rig.configure(json!({ "s": server })).await;
        let _session = rig.session_with(json!({ "id": "a" }));
        until(|| !rig.starts().is_empty());
        let report = rig.pool.drain_all(&drain(r#"{"timeout_ms":100}"#)).await.unwrap();
        assert_eq!((&report["forced"], &report["errors"]), (&json!(1), &json!([])));
    });
}

/// SPEC 9.7: a drain without patience ends the patience of one that is under way.
#[test]
fn a_forced_drain_cuts_a_patient_one_short() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let (send, cut) = mpsc::channel();
        lease.start_call_tool("sleep", r#"{"ms":60000}"#, &CallOptions::default(), move |result| {
            let _ = send.send(result.map(drop).map_err(|error| error.code()));
        });
        let (patient, forced) = (drain(r#"{"timeout_ms":3600000}"#), drain(r#"{"force":true}"#));
        let both =
            async { tokio::join!(rig.pool.drain_all(&patient), rig.pool.drain_all(&forced)) };
        let (first, second) = tokio::time::timeout(HANG, both).await.expect("it is forced");
        assert_eq!(first.unwrap(), second.unwrap());
        assert_eq!(cut.recv_timeout(HANG).unwrap(), Err(ErrorCode::CallInterrupted));
    });
}

/// SPEC 9.7, INTERFACE: after the drain a lease says that it is over, not that its tools are
/// unknown.
#[test]
fn a_call_after_the_drain_says_closed() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        rig.pool.drain_all(&DrainOptions::default()).await.unwrap();
        let error = lease.call_tool("pid", "", &CallOptions::default()).await.err().unwrap();
        assert_eq!((error.code(), error.outcome()), (ErrorCode::Closed, Some(Outcome::NotSent)));
        assert_eq!((error.server(), error.session()), (Some("s"), Some("a")));
    });
}

/// SPEC 3.3, 8.1, 9.4: what failed and is wanted leaves its error behind, and an entry that is
/// tried again.
#[test]
fn status_tells_the_last_error_of_a_server_that_never_came() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": { "command": "/nowhere/to/be/found" } })).await;
        let session = rig.session_with(json!({ "id": "a" }));
        let failed = session.ready(Some("s"), Some(HANG)).await.err().unwrap();
        let status = rig.pool.status();
        let server = &status["servers"]["s"];
        let entries = server["entries"].as_array().unwrap();
        let states: Vec<_> = entries.iter().map(|entry| &entry["state"]).collect();
        assert_eq!((states, &server["state"]), (vec![&json!("failed")], &json!("disconnected")));
        assert_eq!(server["error_code"], failed.code().name());
        assert_eq!(server["last_error"]["message"], failed.message());
    });
}

/// SPEC 9.1, 9.3: a report names the index of an entry that went while the others restarted.
#[test]
fn a_restart_names_entries_that_are_gone_meanwhile() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        let (a, b) = (rig.session("a"), rig.session("b"));
        let options = AcquireOptions::default();
        let quick = a.acquire("s", Some(&spec(&rig.server(&[]))), &options).await.unwrap();
        let slow = spec(&rig.server(&["--initialize-delay-ms", "300"]));
        let _slow = b.acquire("s", Some(&slow), &options).await.unwrap();
        let events = rig.pool.subscribe(EventMask(1 << 5)).unwrap();
        let gone = async {
            events.next().await.unwrap();
            drop(quick);
        };
        let (report, ()) = tokio::join!(rig.pool.restart("s", None), gone);
        let report = report.unwrap();
        let indices: Vec<_> =
            report["entries"].as_array().unwrap().iter().map(|row| &row["entry_index"]).collect();
        assert_eq!(indices, [0, 1]);
    });
}

/// A server that goes on for a minute once its output is closed: until its exit is known, or for
/// 100 ms, the pool has not heard of a loss.
fn lingering(rig: &Rig) -> Value {
    let server = rig.server(&[]);
    let program = r#""$@"; exec >&-; exec sleep 60"#;
    let words = [json!("-c"), json!(program), json!("sh"), server["command"].clone()];
    let arguments: Vec<&Value> = words.iter().chain(server["args"].as_array().unwrap()).collect();
    json!({ "s": { "command": "/bin/sh", "args": arguments } })
}

async fn crash(lease: &Lease) {
    let crashed = lease.call_tool("crash", "{}", &CallOptions::default()).await;
    assert_eq!(crashed.unwrap_err().code(), ErrorCode::CallInterrupted);
}

/// SPEC 3.2: what is acquired right after a loss waits for the next connection.
#[test]
fn nobody_who_acquires_is_granted_a_connection_that_is_lost() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "local": [0] } } }));
    host(async {
        rig.configure(lingering(&rig)).await;
        let session = rig.session("a");
        let mut lease = acquire(&session, "s").await;
        for generation in 1..4 {
            assert_eq!(lease.generation(), generation);
            crash(&lease).await;
            // The lease before keeps the entry, so that it comes back.
            let again = acquire(&session, "s").await;
            assert_eq!(text(&again, "echo", json!({ "message": "on" })).await, "on");
            lease = again;
        }
    });
}

/// SPEC 3.2: no longer than the caller waits.
#[test]
fn who_acquires_what_is_lost_waits_as_long_as_it_says() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "local": [600_000] } } }));
    host(async {
        rig.configure(lingering(&rig)).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        crash(&lease).await;
        let mut short = AcquireOptions::default();
        short.timeout = Some(Duration::ZERO);
        let error = session.acquire("s", None, &short).await.map(drop).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout);
    });
}

/// SPEC 16.6: every consumer of a stream gets its events and its end.
#[test]
fn two_consumers_of_one_subscription_both_see_the_end() {
    let rig = Rig::new(json!({}));
    host(async {
        let events = std::sync::Arc::new(rig.pool.subscribe(EventMask::ALL).unwrap());
        let consumers: Vec<_> = (0..2)
            .map(|_| {
                let events = events.clone();
                tokio::spawn(async move { while events.next().await.is_some() {} })
            })
            .collect();
        tokio::task::yield_now().await;
        rig.pool.close().await.unwrap();
        for consumer in consumers {
            tokio::time::timeout(HANG, consumer).await.expect("the stream has ended").unwrap();
        }
    });
}

/// SPEC 7.7: the wire sees the first and the last, a release counts as the last, and a reconnect
/// renews.
#[test]
fn resource_subscriptions_follow_their_subscribers() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "local": [0] } } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let (a, b) = (rig.session("a"), rig.session("b"));
        let (of_a, of_b) = (acquire(&a, "s").await, acquire(&b, "s").await);
        let uri = a.resources().unwrap()[0].own_name.to_string();
        let touch = async || text(&of_b, "touch_resource", json!({ "uri": uri })).await;
        let unknown = "not subscribed";
        assert_eq!(touch().await, unknown);
        of_a.subscribe_resource(&uri).await.unwrap();
        let events = a.subscribe(EventMask(1 << 4 | 1 << 6)).unwrap();
        assert_ne!(touch().await, unknown);
        let updated: Value = serde_json::from_str(events.next().await.unwrap().json()).unwrap();
        assert_eq!((&updated["type"], &updated["uri"]), (&json!("resource_updated"), &json!(uri)));
        let _ = of_b.call_tool("crash", r#"{"code":3}"#, &CallOptions::default()).await;
        assert_eq!(events.next().await.unwrap().kind().name(), "reconnected");
        while touch().await == unknown {
            tokio::task::yield_now().await;
        }
        of_a.release();
        while touch().await != unknown {
            tokio::task::yield_now().await;
        }
    });
}

/// SPEC 5.3, 5.11: requests that the library's thread sends after answers which came together are
/// written together, but not later for a task that then keeps the thread to itself: here until its
/// call has had its effect.
#[test]
fn a_task_that_keeps_the_librarys_thread_after_a_call_delays_no_call() {
    let rig = Rig::new(json!({}));
    let pool = rig.pool.clone();
    let server = rig.server(&[]);
    let servers = Servers::from_json(&json!({ "s": server }).to_string()).unwrap();
    let outcome = rig.pool.block_on(async move {
        pool.reconcile(servers).await?;
        let session = pool.session(SessionOptions::from_json(r#"{"id":"a","servers":[]}"#)?)?;
        let lease = Arc::new(acquire(&session, "s").await);
        let pid: u32 = text(&lease, "pid", json!({})).await.parse().unwrap();
        let lanes: Vec<_> = (0..32)
            .map(|number| {
                let lease = lease.clone();
                tokio::spawn(async move {
                    let options = CallOptions::default();
                    // As many batches as it takes to have them written together, and more.
                    for _ in 0..500 {
                        lease.call_tool("echo", r#"{"message":"m"}"#, &options).await?;
                    }
                    if number == 0 {
                        lease.start_call_tool("crash", "{}", &options, drop);
                        until(|| !runs(pid));
                    }
                    Ok::<_, Error>(())
                })
            })
            .collect();
        // The other calls are answered, or were interrupted by the end of the server.
        for (number, lane) in lanes.into_iter().enumerate() {
            let ended = lane.await.map_err(|panicked| assert!(!panicked.is_panic(), "{panicked}"));
            assert!(number > 0 || ended.is_ok_and(|ended| ended.is_ok()));
        }
        Ok(())
    });
    outcome.unwrap();
}
