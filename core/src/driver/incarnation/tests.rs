//! What is left when the task of an incarnation dies: an answer for everybody who waits, and no process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline_pool::state::EntryState;

use crate::driver::EntryCell;
use crate::{
    AcquireOptions, CallOptions, DrainOptions, ErrorCode, Outcome, Pool, PoolOptions, Servers,
    Session, SessionOptions,
};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(20);

/// A pool with one server, a shell script, and a session.
async fn pool_with(script: &str, options: Value) -> (Pool, Session) {
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    let servers = json!({ "s": { "command": "/bin/sh", "args": ["-c", script] } });
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
    let session = SessionOptions::from_json(r#"{ "id": "a", "servers": [] }"#).unwrap();
    let session = pool.session(session).unwrap();
    (pool, session)
}

/// The only entry, once it fits.
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

/// SPEC 3.3, 9.7, I-17: everybody who waits for the attempt is answered, and the next acquire tries afresh.
#[tokio::test]
async fn an_attempt_whose_task_dies_fails_with_an_answer_and_leaves_no_process() {
    let options = json!({ "exit_grace_ms": 50, "kill_grace_ms": 50 });
    let (pool, session) = pool_with("exec sleep 600", options).await;
    for _ in 0..2 {
        let waits = AcquireOptions::default();
        let acquire = session.acquire("s", None, &waits);
        let die = async {
            let cell = cell_when(&pool, |cell| cell.pid().is_some()).await;
            let pid = cell.pid().unwrap();
            cell.kill_task();
            pid
        };
        let (acquired, pid) = tokio::join!(acquire, die);
        let error = acquired.err().expect("nothing is connected");
        assert_eq!((error.code(), error.server()), (ErrorCode::Exited, Some("s")), "{error}");
        until_gone(pid).await;
    }
    pool.close().await.unwrap();
}

/// SPEC 5.6, 8.1, 9.7, I-01, I-17: a call in flight ends, its server goes, the schedule brings another, and a drain is answered.
#[tokio::test]
async fn a_connection_whose_task_dies_is_lost_as_any_other() {
    let options = json!({ "reconnect": { "delays_ms": { "local": [0] } } });
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
    cell_when(&pool, again).await.kill_task();
    let force = DrainOptions::from_json(r#"{ "force": true }"#).unwrap();
    let report = tokio::time::timeout(HANG, pool.drain_all(&force)).await.expect("an answer");
    assert_eq!(report.unwrap()["errors"], json!([]));
}

/// Speaks just enough: a handshake, one tool, and no answer to a call.
const SERVER: &str = r#"
while read -r line; do
    id=$(expr "$line" : '.*"id":\([0-9]*\)')
    case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}' ;;
        *'"tools/list"'*) result='{"tools":[{"name":"hang","inputSchema":{"type":"object"}}]}' ;;
        *) continue ;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
"#;
