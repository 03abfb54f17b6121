//! What is left when the task of an incarnation dies: an answer for everybody who waits, and no
//! process.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::{Value, json};
use trunkline_pool::state::{ConnectionId, EntryState, Generation, KeyId};

use super::events::{EarlyInputs, EventRelay, Gate};
use crate::api::scripted::speaking;
use crate::client::ConnectionEvents;
use crate::driver::{EntryCell, StartPriority};
use crate::{
    AcquireOptions, CallOptions, DrainOptions, ErrorCode, EventKind, EventMask, Lease, Outcome,
    Pool, PoolOptions, Servers, Session, SessionOptions,
};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// A pool with two servers that are one shell script, and a session.
async fn pool_with(script: &str, mut options: Value) -> (Pool, Session) {
    options["cache"] = "off".into();
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let server = |args: &[&str]| json!({ "command": "/bin/sh", "args": args });
    let servers = json!({ "s": server(&["-c", script]), "t": server(&["-c", script, "t"]) });
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
    let session = SessionOptions::from_json(r#"{ "id": "a", "servers": [] }"#).unwrap();
    let session = pool.session(session).unwrap();
    (pool, session)
}

/// An entry that fits, once there is one.
async fn cell_when(pool: &Pool, fits: impl Fn(&EntryCell) -> bool) -> Arc<EntryCell> {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < HANG, "it never came");
        let entries = pool.driver().entries();
        match entries.into_iter().find(|(_, cell)| fits(cell)) {
            Some((_, cell)) => return cell,
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(" Z"))
}

async fn until_gone(pid: u32) {
    let begun = Instant::now();
    while runs(pid) {
        assert!(begun.elapsed() < HANG, "process {pid} is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// SPEC 3.3, 9.6, 9.7, I-05, I-17: everybody who waits for the attempt is answered, and the next
/// acquire tries afresh, in the only place that there is for a process.
#[tokio::test]
async fn an_attempt_whose_task_dies_fails_with_an_answer_and_leaves_no_process() {
    let options = json!({ "exit_grace_ms": 50, "kill_grace_ms": 50, "limits": { "processes": 1 } });
    let (pool, session) = pool_with("exec sleep 600", options).await;
    for server in ["s", "s", "t", "s"] {
        let waits = AcquireOptions::default();
        let acquire = session.acquire(server, None, &waits);
        let die = async {
            let cell = cell_when(&pool, |cell| cell.pid().is_some()).await;
            let pid = cell.pid().unwrap();
            cell.kill_task();
            pid
        };
        let (acquired, pid) = tokio::join!(acquire, die);
        let error = acquired.err().expect("nothing is connected");
        assert_eq!((error.code(), error.server()), (ErrorCode::Exited, Some(server)), "{error}");
        until_gone(pid).await;
    }
    pool.close().await.unwrap();
}

/// SPEC 5.6, 8.1, 9.6, 9.7, I-01, I-05, I-17: a call in flight ends, its server goes, the schedule
/// brings another in the only place that there is for a process, which another server has once
/// nobody holds this one; and a drain is answered.
#[tokio::test]
async fn a_connection_whose_task_dies_is_lost_as_any_other() {
    let options =
        json!({ "reconnect": { "delays_ms": { "local": [0] } }, "limits": { "processes": 1 } });
    let (pool, session) = pool_with(SERVER, options).await;
    let lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let calls = CallOptions::default();
    let call = lease.call_tool("hang", "{}", &calls);
    let die = async {
        let cell = cell_when(&pool, |cell| {
            cell.live_connection().is_some_and(|(_, connection)| connection.in_flight() == 1)
        });
        let cell = cell.await;
        let pid = cell.pid().unwrap();
        cell.kill_task();
        pid
    };
    let (called, pid) = tokio::join!(call, die);
    let error = called.expect_err("nobody answers it");
    assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
    assert_eq!(error.outcome(), Some(Outcome::Unknown));
    until_gone(pid).await;

    let again = |cell: &EntryCell| {
        let published = cell.load();
        published.slot.generation.0 == 2 && published.slot.state == EntryState::Active
    };
    let cell = cell_when(&pool, again).await;
    lease.release();
    cell.kill_task();
    let _other = acquired_when_there_is_room(&session, "t").await;
    cell_when(&pool, |cell| cell.live_connection().is_some()).await.kill_task();
    let force = DrainOptions::from_json(r#"{ "force": true }"#).unwrap();
    let report = tokio::time::timeout(HANG, pool.drain_all(&force)).await.expect("an answer");
    assert_eq!(report.unwrap()["errors"], json!([]));
}

/// SPEC 14.1: what a session always loads goes first also when another asked for it before.
#[tokio::test]
async fn a_server_that_waits_goes_first_once_somebody_always_loads_it() {
    let (pool, late) = pool_with(SERVER, json!({ "start_parallel": 1 })).await;
    let starts = &pool.driver().starts;
    let first = starts.queue(StartPriority::Late, NOBODY);
    let before = starts.queue(StartPriority::Late, NOBODY);
    let early = json!({ "id": "b", "servers": [], "always_load": { "s": ["*"] } });
    let early = pool.session(SessionOptions::from_json(&early.to_string()).unwrap()).unwrap();
    let waits = AcquireOptions::default();
    let (late, early) = (late.acquire("s", None, &waits), early.acquire("s", None, &waits));
    let hastened = async {
        until_waiting(&pool, 2).await;
        let mut early = std::pin::pin!(early);
        assert!(early.as_mut().now_or_never().is_none());
        drop(first);
        early.await
    };
    let both = tokio::time::timeout(HANG, async { tokio::join!(late, hastened) });
    let (late, early) = both.await.expect("it goes first");
    let (_late, _early) = (late.unwrap(), early.unwrap());
    drop(before);
    pool.close().await.unwrap();
}

/// SPEC 14.1: who has lost what it uses does not wait behind what nobody has used yet.
#[tokio::test]
async fn a_server_in_use_connects_again_before_what_is_new() {
    let options = json!({ "start_parallel": 1, "reconnect": { "delays_ms": { "local": [0] } } });
    let (pool, session) = pool_with(SERVER, options).await;
    let _lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let starts = &pool.driver().starts;
    let first = starts.queue(StartPriority::Late, NOBODY);
    let new = starts.queue(StartPriority::Late, NOBODY);
    cell_when(&pool, |cell| cell.load().slot.state == EntryState::Active).await.kill_task();
    until_waiting(&pool, 2).await;
    drop(first);
    let again = |cell: &EntryCell| {
        let published = cell.load();
        published.slot.generation.0 == 2 && published.slot.state == EntryState::Active
    };
    cell_when(&pool, again).await;
    drop(new);
    pool.close().await.unwrap();
}

/// SPEC 14.1: servers that never answer, as many as may connect at one time, delay neither a lost
/// one that is used nor a new one.
#[tokio::test]
async fn servers_that_never_answer_hold_up_nobody_else() {
    let options = json!({
        "exit_grace_ms": 50, "kill_grace_ms": 50, "reconnect": { "delays_ms": { "local": [0] } },
    });
    let (pool, session) = pool_with(SERVER, options).await;
    let _lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let silent =
        |number| (format!("silent{number}"), json!({ "command": "sleep", "args": ["600"] }));
    let mut servers: serde_json::Map<_, _> =
        (0..pool.driver().starts.places()).map(silent).collect();
    let silent: Vec<String> = servers.keys().cloned().collect();
    let fast = |more: &str| json!({ "command": "/bin/sh", "args": ["-c", SERVER, more] });
    servers.extend([("s".into(), fast("")), ("t".into(), fast("t"))]);
    servers["s"]["args"].as_array_mut().unwrap().pop();
    let servers = Value::from(servers).to_string();
    pool.reconcile(Servers::from_json(&servers).unwrap()).await.unwrap();
    let wants = json!({ "id": "b", "servers": silent }).to_string();
    let _wants = pool.session(SessionOptions::from_json(&wants).unwrap()).unwrap();
    cell_when(&pool, |cell| cell.load().slot.state == EntryState::Active).await.kill_task();
    let again = |cell: &EntryCell| {
        let published = cell.load();
        published.slot.generation.0 == 2 && published.slot.state == EntryState::Active
    };
    cell_when(&pool, again).await;
    let new = AcquireOptions::default();
    tokio::time::timeout(HANG, session.acquire("t", None, &new)).await.unwrap().unwrap();
    let connecting = pool.driver().entries().into_iter().filter(|(_, cell)| cell.pid().is_some());
    assert_eq!(connecting.count(), pool.driver().starts.places() + 2, "the silent ones wait on");
    pool.close().await.unwrap();
}

/// SPEC 8.5: what a new connection says of resources comes behind `reconnected`, and is not lost.
#[tokio::test]
async fn what_is_said_of_resources_waits_until_the_connection_is_announced() {
    let (pool, session) = pool_with(SERVER, json!({})).await;
    let _lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    let cell = cell_when(&pool, |cell| cell.live_connection().is_some()).await;
    let core = pool.driver().core().sessions.values().find_map(Weak::upgrade).unwrap();
    let _asking = cell.resources.want("test://one", &core);
    let events = pool.subscribe(EventMask::ALL).unwrap();
    let told = || {
        let told = std::iter::from_fn(|| events.try_next());
        told.filter(|event| event.kind() == EventKind::ResourceUpdated).count()
    };
    let says: [fn(&EventRelay); 2] =
        [|events| events.resource_updated("test://one"), |events| events.resources_missed()];
    for say in says {
        let events = EventRelay {
            driver: Arc::downgrade(pool.driver()),
            cell: cell.clone(),
            id: ConnectionId { entry: cell.entry, generation: Generation(2) },
            gate: Mutex::new(Gate::Waiting(EarlyInputs::default())),
        };
        (0..2).for_each(|_| say(&events));
        assert_eq!(told(), 0);
        events.announce();
        assert_eq!(told(), 1);
        say(&events);
        assert_eq!(told(), 1);
    }
    pool.close().await.unwrap();
}

/// SPEC 3.4: what waits for its turn is dropped with the last that wanted it, and nothing of it is
/// started.
#[tokio::test]
async fn what_waits_for_its_turn_goes_with_who_wanted_it() {
    let (pool, session) = pool_with(SERVER, json!({ "start_parallel": 1 })).await;
    let first = pool.driver().starts.queue(StartPriority::Late, NOBODY);
    let wants = |server: &str| {
        let wants = json!({ "id": server, "servers": [server] }).to_string();
        pool.session(SessionOptions::from_json(&wants).unwrap()).unwrap()
    };
    let sessions = ["s", "t"].map(wants);
    let waits = AcquireOptions::default();
    let mut acquire = Box::pin(session.acquire("t", None, &waits));
    assert!(acquire.as_mut().now_or_never().is_none());
    until_waiting(&pool, 2).await;
    sessions.into_iter().for_each(drop);
    until_waiting(&pool, 1).await;
    drop(acquire);
    until_waiting(&pool, 0).await;
    let entries = || pool.driver().entries();
    assert!(entries().iter().all(|(_, cell)| cell.pid().is_none()), "started for nobody");
    drop(first);
    session.acquire("t", None, &waits).await.expect("who comes later is served");
    assert_eq!(entries().iter().filter(|(_, cell)| cell.pid().is_some()).count(), 1);
    pool.close().await.unwrap();
}

/// A lease on a server once there is a place for its process.
async fn acquired_when_there_is_room(session: &Session, server: &str) -> Lease {
    let begun = Instant::now();
    loop {
        match session.acquire(server, None, &AcquireOptions::default()).await {
            Ok(lease) => return lease,
            Err(error) => assert_eq!(error.code(), ErrorCode::Limit, "{error}"),
        }
        assert!(begun.elapsed() < HANG, "the place is lost");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until so many wait for a place.
async fn until_waiting(pool: &Pool, number: usize) {
    let begun = Instant::now();
    while pool.driver().starts.waiting() != number {
        assert!(begun.elapsed() < HANG, "it never waits");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A key that no server has.
const NOBODY: KeyId = KeyId(u32::MAX);

/// Speaks just enough: a handshake, one tool, and no answer to a call.
const SERVER: &str = speaking!(
    r#"        *'"tools/list"'*) result='{"tools":[{"name":"hang","inputSchema":{"type":"object"}}]}' ;;"#
);
