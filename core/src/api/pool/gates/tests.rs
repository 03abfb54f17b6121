//! Servers that run by what is decided of them: nothing starts that was refused, whenever that was.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::json;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::state::{EntryState, Gate, GateReason};

use crate::api::scripted::speaking;
use crate::driver::server_config::ResolvedServer;
use crate::driver::{Authority, Warrant};
use crate::folder::Folder;
use crate::host_env::FoundProgram;
use crate::platform::Expected;
use crate::runtime::blocking_pool::OneByOne;
use crate::session::demand::follow::follow_together;
use crate::{
    AcquireOptions, CallOptions, Error, ErrorCode, Lease, Pool, PoolOptions, Session,
    SessionOptions,
};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

const REJECTED: Gate = Gate::Shut(GateReason::Rejected);

/// What a test decides of a server.
#[derive(Default)]
struct Decided {
    gate: Mutex<Gate>,
    /// What the world says at the last moment.
    last: Mutex<Gate>,
    rechecks: AtomicUsize,
    /// How many answers are over by the time that they come: somebody decides otherwise meanwhile.
    late: AtomicUsize,
    turns: OneByOne,
    /// The program that was approved; any, when there is none.
    program: Mutex<Option<PathBuf>>,
    /// The programs that were shown.
    shown: Mutex<Vec<PathBuf>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Warrant for Decided {
    fn gate(&self) -> Gate {
        *lock(&self.gate)
    }

    fn recheck(&self) -> crate::Result<Gate> {
        self.rechecks.fetch_add(1, Ordering::Relaxed);
        let one_less = |late: usize| late.checked_sub(1);
        if self.late.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
            return Ok(REJECTED);
        }
        let last = *lock(&self.last);
        let gate = lock(&self.gate).and(last);
        *lock(&self.gate) = gate;
        Ok(gate)
    }

    fn rechecks(&self) -> Option<&OneByOne> {
        Some(&self.turns)
    }

    fn admits_program(&self, found: &FoundProgram) -> Option<Expected> {
        lock(&self.shown).push(found.program.clone());
        let is_it = lock(&self.program).as_ref().is_none_or(|approved| *approved == found.program);
        if !is_it {
            *lock(&self.gate) = Gate::Shut(GateReason::PendingApproval);
        }
        is_it.then(Expected::default)
    }
}

/// A pool, a session, and a file that is there once the server was started.
struct Rig {
    pool: Pool,
    session: Session,
    spec: ServerSpec,
    decided: Arc<Decided>,
    folder: Folder,
}

impl Rig {
    async fn new() -> Rig {
        let folder = Folder::new();
        let options = json!({ "reconnect": { "delays_ms": { "local": [0, 0] } }, "exit_grace_ms": 50, "cache": "off" });
        let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
        let script = format!("echo >> '{}'\n{SERVER}", folder.join("started").display());
        let spec = json!({ "command": "sh", "args": ["-c", script] });
        let spec = ServerSpec::from_value("s", &spec).unwrap();
        let session = session(&pool, "a");
        Rig { pool, session, spec, decided: Arc::default(), folder }
    }

    fn configured(&self) -> Arc<ResolvedServer> {
        let spec = Arc::new(self.spec.clone());
        let authority = Authority::Warrant(self.decided.clone());
        ResolvedServer::by(authority, spec, None, &self.pool.driver().options)
    }

    /// The server, by what is decided of it.
    async fn acquire(&self) -> Result<Lease, Error> {
        self.session.core().put_own("s", self.configured());
        self.session.acquire("s", None, &AcquireOptions::default()).await
    }

    fn starts(&self) -> usize {
        std::fs::read_to_string(self.folder.join("started")).unwrap_or_default().lines().count()
    }

    fn decide(&self, gate: Gate) {
        *lock(&self.decided.gate) = gate;
        self.pool.driver().review_keys();
    }

    fn rechecks(&self) -> usize {
        self.decided.rechecks.load(Ordering::Relaxed)
    }
}

fn session(pool: &Pool, id: &str) -> Session {
    pool.session(
        SessionOptions::from_json(&json!({ "id": id, "servers": [] }).to_string()).unwrap(),
    )
    .unwrap()
}

#[track_caller]
fn assert_refused<T>(result: Result<T, Error>, reason: &str) {
    let error = result.err().expect("it is refused");
    let found = (error.code(), error.detail()["reason"].as_str(), error.server());
    assert_eq!(found, (ErrorCode::NotAdmitted, Some(reason), Some("s")), "{error}");
}

async fn until(what: impl Fn() -> bool) {
    let waited = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANG, waited).await.expect("it comes");
}

/// SPEC 12.3, S-04: nothing is asked at the last moment of what is known to be refused, and nothing
/// starts.
#[tokio::test]
async fn what_is_not_approved_does_not_start() {
    let rig = Rig::new().await;
    *lock(&rig.decided.gate) = Gate::Shut(GateReason::PendingApproval);
    assert_refused(rig.acquire().await, "pending_approval");
    assert_eq!((rig.starts(), rig.rechecks()), (0, 0));
    rig.decide(Gate::Open);
    rig.acquire().await.unwrap().call_tool("hi", "{}", &CallOptions::default()).await.unwrap();
    assert_eq!((rig.starts(), rig.rechecks()), (1, 1));
    let shown = lock(&rig.decided.shown).clone();
    assert!(shown.len() == 1 && shown[0].is_absolute() && shown[0].ends_with("sh"), "{shown:?}");
    rig.pool.close().await.unwrap();
}

/// S-13, SPEC 11.5: another host rejects it between the decision and the start. It is no failure of
/// the server.
#[tokio::test]
async fn a_rejection_at_the_last_moment_starts_nothing() {
    let rig = Rig::new().await;
    *lock(&rig.decided.last) = REJECTED;
    let both = tokio::join!(rig.acquire(), rig.acquire());
    assert_refused(both.0, "rejected");
    assert_refused(both.1, "rejected");
    assert_refused(rig.acquire().await, "rejected");
    assert_eq!((rig.starts(), rig.rechecks()), (0, 1));
    until(|| rig.pool.driver().entries().is_empty()).await;
    *lock(&rig.decided.last) = Gate::Open;
    rig.decide(Gate::Open);
    rig.acquire().await.unwrap();
    assert_eq!(rig.starts(), 1);
    rig.pool.close().await.unwrap();
}

/// S-13, SPEC 11.5: what was decided otherwise by the time that a refusal comes is asked about
/// again, and starts.
#[tokio::test]
async fn a_refusal_that_is_over_refuses_nothing() {
    let rig = Rig::new().await;
    rig.decided.late.store(1, Ordering::Relaxed);
    rig.acquire().await.unwrap();
    assert_eq!((rig.starts(), rig.rechecks()), (1, 2));
    rig.pool.close().await.unwrap();
}

/// S-08, SPEC 10.5: the name of its command leads to another program than the one that was
/// approved.
#[tokio::test]
async fn another_program_than_the_approved_one_is_not_started() {
    let rig = Rig::new().await;
    *lock(&rig.decided.program) = Some("/nowhere/sh".into());
    assert_refused(rig.acquire().await, "pending_approval");
    assert_refused(rig.acquire().await, "pending_approval");
    assert_eq!((rig.starts(), rig.rechecks(), lock(&rig.decided.shown).len()), (0, 1, 1));
    until(|| rig.pool.driver().entries().is_empty()).await;
    rig.pool.close().await.unwrap();
}

/// SPEC 11.5, 8.1, S-13: a retry and a restart ask again; a refusal ends the entry instead of being
/// tried again.
#[tokio::test]
async fn a_server_that_was_lost_does_not_come_back_rejected() {
    let rig = Rig::new().await;
    let lease = rig.acquire().await.unwrap();
    let report = rig.pool.restart("s", None).await.unwrap();
    assert_eq!(report["entries"][0]["restarted"], true, "{report}");
    assert_eq!((rig.starts(), rig.rechecks()), (2, 2));
    *lock(&rig.decided.last) = REJECTED;
    lease.call_tool("die", "{}", &CallOptions::default()).await.unwrap_err();
    until(|| rig.pool.driver().entries().is_empty()).await;
    assert_eq!((rig.starts(), rig.rechecks()), (2, 3));
    assert_refused(rig.acquire().await, "rejected");
    rig.pool.close().await.unwrap();
}

/// SPEC 11.4, 12.7: what loses its approval ends at once, for every holder.
#[tokio::test]
async fn a_decision_ends_what_runs() {
    let rig = Rig::new().await;
    let lease = rig.acquire().await.unwrap();
    rig.decide(REJECTED);
    // Another thread may be carrying out the end: a call that comes before it is sent, and
    // interrupted.
    let mut error = lease.call_tool("hi", "{}", &CallOptions::default()).await.unwrap_err();
    if error.code() == ErrorCode::CallInterrupted {
        error = lease.call_tool("hi", "{}", &CallOptions::default()).await.unwrap_err();
    }
    assert_eq!(error.code(), ErrorCode::Closed, "{error}");
    assert_refused(rig.acquire().await, "rejected");
    rig.pool.close().await.unwrap();
}

/// SPEC 12.1, 12.3: a host that gives the same configuration itself has a connection of its own,
/// which no decision about the other ends.
#[tokio::test]
async fn the_hosts_own_word_admits_a_connection_of_its_own() {
    let rig = Rig::new().await;
    rig.acquire().await.unwrap();
    let own = session(&rig.pool, "b");
    let lease = own.acquire("s", Some(&rig.spec), &AcquireOptions::default()).await.unwrap();
    assert_eq!(rig.starts(), 2);
    rig.decide(REJECTED);
    lease.call_tool("hi", "{}", &CallOptions::default()).await.unwrap();
    assert_refused(rig.acquire().await, "rejected");
    own.close(None);
    rig.pool.close().await.unwrap();
}

/// SPEC 12.7, 13.1: a server of the pool's own goes with its approval and comes back with it where
/// it is wanted.
#[tokio::test]
async fn a_session_follows_what_is_decided() {
    let rig = Rig::new().await;
    rig.pool.0.config.running().put_warranted("s", rig.configured());
    *lock(&rig.decided.gate) = Gate::Shut(GateReason::PendingApproval);
    let all = SessionOptions::from_json(r#"{ "id": "w", "servers": ["s"] }"#).unwrap();
    let wants = rig.pool.session(all).unwrap();
    assert_refused(wants.ready(Some("s"), Some(HANG)).await, "pending_approval");
    let follow = |gate| {
        rig.decide(gate);
        follow_together(std::slice::from_ref(wants.core()));
    };
    for round in 1..=2 {
        follow(Gate::Open);
        wants.ready(Some("s"), Some(HANG)).await.unwrap();
        assert_eq!((wants.tools().unwrap().len(), rig.starts()), (2, round));
        follow(REJECTED);
        assert_eq!(wants.tools().unwrap().len(), 0);
        assert_refused(wants.ready(Some("s"), Some(HANG)).await, "rejected");
    }
    follow(Gate::Open);
    wants.ready(Some("s"), Some(HANG)).await.unwrap();
    // Shut and opened again before anybody follows: what was wanted is asked for again.
    rig.decide(REJECTED);
    follow(Gate::Open);
    wants.ready(Some("s"), Some(HANG)).await.unwrap();
    let active = |state: EntryState| state == EntryState::Active;
    until(|| rig.pool.driver().entries().iter().any(|(_, cell)| active(cell.load().slot.state)))
        .await;
    assert_eq!(rig.starts(), 4);
    rig.pool.close().await.unwrap();
}

/// Speaks just enough: a handshake, two tools, and an end when it is told so.
const SERVER: &str = speaking!(
    r#"        *'"tools/list"'*) result='{"tools":[{"name":"hi","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}]}' ;;
        *'"die"'*) exit 0 ;;
        *'"tools/call"'*) result='{"content":[]}' ;;"#
);
