//! Wants whose answer comes in the middle of a change.

use std::time::Duration;

use serde_json::{Value, json};

use crate::api::scripted::{SERVER, pool_with, reconcile};
use crate::folder::Folder;
use crate::runtime::deadline::Deadline;
use crate::{AcquireOptions, ErrorCode, Pool, ReloadOptions, ServerSpec, Session, SessionOptions};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

/// SPEC 6.5: a server that was there while the session did without it, and before that was carried
/// out, is asked for anew.
#[tokio::test]
async fn what_a_session_that_does_without_it_refused_is_wanted_when_it_is_enabled() {
    let folder = Folder::new();
    let gate = folder.join("gate");
    let waits = format!("while [ ! -e {} ]; do sleep 0.01; done", gate.display());
    let pool = pool_with(json!({}), json!({ "s": server(&waits) })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let core = session.core();
    // As far as `disable` is when another thread enables it again.
    core.disabled.servers().insert("s".into());
    std::fs::write(&gate, "").unwrap();
    let refused = async {
        loop {
            let mut settled = std::pin::pin!(core.settled.notified());
            settled.as_mut().enable();
            if !core.wants().servers.contains_key("s") {
                return;
            }
            settled.await;
        }
    };
    tokio::time::timeout(HANG, refused).await.expect("it is refused, and wanted no more");
    session.enable("s").unwrap();
    session.ready(Some("s"), Some(HANG)).await.unwrap();
    assert_eq!(session.tools().unwrap().len(), 1);
    pool.close().await.unwrap();
}

/// The plainest server, behind what the script does first.
fn server(script: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", format!("{script}\n{SERVER}")] })
}

async fn until(what: impl Fn() -> bool) {
    let waited = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANG, waited).await.expect("it comes");
}

/// A session whose server has failed to start, and starts from now on.
async fn mended(folder: &Folder) -> (Pool, Session) {
    let gate = folder.join("gate");
    let fails = format!("[ -e {} ] || exit 7", gate.display());
    let pool = pool_with(json!({ "drain_delay_ms": 0 }), json!({ "s": server(&fails) })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let failed = session.ready(Some("s"), Some(HANG)).await.unwrap_err();
    assert_eq!(failed.code(), ErrorCode::Exited, "{failed}");
    std::fs::write(&gate, "").unwrap();
    (pool, session)
}

fn is_listed(session: &Session) -> bool {
    session.tools().unwrap().len() == 1
}

/// SPEC 3.2, 14.1: what a session holds has not failed, and it keeps what it wants when its lease
/// goes.
#[tokio::test]
async fn a_failed_want_is_over_once_the_session_holds_the_server() {
    let folder = Folder::new();
    let (pool, session) = mended(&folder).await;
    let lease = session.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    session.ready(Some("s"), Some(HANG)).await.unwrap();
    assert_eq!(session.started().await.unwrap()["servers"]["s"]["state"], "ready");
    drop(lease);
    until(|| session.core().wants().servers["s"].hold().is_some()).await;
    assert!(is_listed(&session));
    assert_eq!(session.explain("s").unwrap()["available"], true);
    pool.close().await.unwrap();
}

/// SPEC 14.1: what the session holds connected is ready, whatever its want is at: who waits is
/// told, and who asks.
#[tokio::test]
async fn what_a_session_holds_by_its_own_configuration_is_ready() {
    // Nothing else than what the session holds wakes who waits.
    let options = json!({ "connect_timeout_ms": 300_000 });
    let pool = pool_with(options, json!({ "s": server("exec sleep 600") })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let ready = session.clone();
    let ready = tokio::spawn(async move { ready.ready(Some("s"), Some(HANG)).await });
    until(|| pool.driver().entries().iter().any(|(_, cell)| cell.pid().is_some())).await;
    let own = ServerSpec::from_json("s", &server("").to_string()).unwrap();
    let options = AcquireOptions::default();
    let lease = session.acquire("s", Some(&own), &options).await.unwrap();
    ready.await.unwrap().unwrap();
    session.ready(None, Some(HANG)).await.unwrap();
    assert_eq!(session.started().await.unwrap()["servers"]["s"]["state"], "ready");
    drop(lease);
    assert_eq!(session.core().unsettled(Some("s")).unwrap(), Some(vec!["s".to_owned()]));
    pool.close().await.unwrap();
}

/// SPEC 14.1, 5.9: also when it comes back while somebody waits.
#[tokio::test]
async fn what_a_session_holds_by_its_own_configuration_is_ready_when_it_is_back() {
    let folder = Folder::new();
    let [begun, gate] = ["begun", "gate"].map(|name| folder.join(name).display().to_string());
    let options =
        json!({ "connect_timeout_ms": 300_000, "reconnect": { "delays_ms": { "local": [1] } } });
    let pool = pool_with(options, json!({ "s": server("exec sleep 600") })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let again =
        format!("[ -e {begun} ] && while [ ! -e {gate} ]; do sleep 0.01; done; : > {begun}");
    let own = ServerSpec::from_json("s", &server(&again).to_string()).unwrap();
    let lease = session.acquire("s", Some(&own), &AcquireOptions::default()).await.unwrap();
    let pid = session.core().holds.lease_on("s").unwrap().cell().pid().unwrap();
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.unwrap().success());
    until(|| session.core().unsettled(Some("s")).unwrap().is_some()).await;
    let ready = session.clone();
    let ready = tokio::spawn(async move { ready.ready(Some("s"), Some(HANG)).await });
    tokio::task::yield_now().await;
    std::fs::write(&gate, "").unwrap();
    ready.await.unwrap().unwrap();
    drop(lease);
    pool.close().await.unwrap();
}

/// SPEC 3.3, 14.1: between what ends a failure and the plan that asks anew the server is still to
/// come, as status shows.
#[tokio::test]
async fn a_want_whose_failure_is_over_is_still_to_come() {
    let folder = Folder::new();
    let (pool, session) = mended(&folder).await;
    let core = session.core();
    let failed = core.wants().servers["s"].id;
    assert!(core.end_failed(|name, _| name == "s"));
    assert!(!core.end_failed(|_, _| true), "it is over already");
    assert_eq!(core.unsettled(Some("s")).unwrap(), Some(vec!["s".to_owned()]));
    assert_eq!(core.unsettled(None).unwrap(), Some(vec!["s".to_owned()]));
    assert_eq!(session.explain("s").unwrap()["reason"], "connecting");
    core.follow();
    assert_ne!(core.wants().servers["s"].id, failed);
    session.ready(Some("s"), Some(HANG)).await.unwrap();
    assert!(is_listed(&session));
    pool.close().await.unwrap();
}

/// SPEC 3.2, 8.1: who tries a server afresh keeps it until the session's own wish has it, by
/// whichever thread that asks anew.
#[tokio::test]
async fn who_tries_afresh_waits_for_the_wish_that_another_thread_ended() {
    let folder = Folder::new();
    let (pool, session) = mended(&folder).await;
    let core = session.core();
    let deadline = Deadline::after(Some(HANG));
    core.until_answered("s").await;
    assert!(
        core.end_failed(|name, _| name == "s"),
        "as another thread does that has not asked anew yet"
    );
    let waits = core.clone();
    let waits = tokio::spawn(async move { waits.until_answered("s").await });
    tokio::task::yield_now().await;
    assert!(!waits.is_finished());
    core.follow();
    waits.await.unwrap();
    assert!(core.wants().servers["s"].hold().is_some());
    core.try_afresh("s", deadline).await.unwrap();
    pool.close().await.unwrap();
}

/// SPEC 3.3, 14.1: a server that starts for another session is there for all that want it.
#[tokio::test]
async fn a_failed_want_is_over_once_the_server_starts_for_another() {
    let folder = Folder::new();
    let (pool, session) = mended(&folder).await;
    let other = SessionOptions::from_json(r#"{ "id": "b", "servers": [] }"#).unwrap();
    let other = pool.session(other).unwrap();
    let lease = other.acquire("s", None, &AcquireOptions::default()).await.unwrap();
    until(|| is_listed(&session)).await;
    drop(lease);
    session.ready(Some("s"), Some(HANG)).await.unwrap();
    pool.close().await.unwrap();
}

/// SPEC 9.1, 13.7: a restart, and a reload that reconnects, start what has failed and is wanted.
#[tokio::test]
async fn a_failed_want_is_started_by_a_restart_and_by_a_reload() {
    for reconnect in [None, Some(json!(["s"])), Some(json!("all"))] {
        let folder = Folder::new();
        let (pool, session) = mended(&folder).await;
        let rows = match reconnect {
            None => pool.restart("s", None).await.unwrap()["entries"].clone(),
            Some(which) => {
                let options = json!({ "reconnect": which }).to_string();
                let report = pool.reload(&ReloadOptions::from_json(&options).unwrap()).await;
                report.unwrap()["reconnected"]["s"].clone()
            }
        };
        assert_eq!(rows[0]["restarted"], true, "{rows}");
        session.ready(Some("s"), Some(HANG)).await.unwrap();
        assert!(is_listed(&session));
        pool.close().await.unwrap();
    }
}

/// SPEC 9.6, 13.2, 11.6: what is wanted and meets a limit waits for room, says so, and comes when
/// there is some.
#[tokio::test]
async fn a_want_that_meets_a_limit_waits_for_room() {
    let options = json!({ "limits": { "processes": 1 }, "drain_delay_ms": 0 });
    let pool = pool_with(options, json!({ "x": server("") })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    let lease = session.acquire("x", None, &AcquireOptions::default()).await.unwrap();
    reconcile(&pool, json!({ "x": server(""), "z": server("") })).await;
    let waits = session.ready(Some("z"), Some(HANG)).await.unwrap_err();
    assert_eq!(waits.code(), ErrorCode::Limit, "{waits}");
    assert_eq!(session.started().await.unwrap()["servers"]["z"]["state"], "waiting");
    let status = pool.status()["servers"]["z"].clone();
    assert_eq!((&status["reason"], &status["error_code"]), (&"budget".into(), &"limit".into()));
    for explained in [session.explain("z").unwrap(), pool.explain("z").unwrap()] {
        assert_eq!(explained["reason"], "budget", "{explained}");
        assert!(explained["message"].as_str().unwrap().contains("limits.processes"), "{explained}");
    }
    drop(lease);
    reconcile(&pool, json!({ "z": server("") })).await;
    until(|| session.tools().unwrap().iter().any(|tool| &*tool.server == "z")).await;
    pool.close().await.unwrap();
}

/// SPEC 11.6: one that cannot run is refused as an acquire refuses it, also when it is not wanted
/// for that.
#[tokio::test]
async fn ready_of_what_cannot_run_says_what_acquire_says() {
    let mut off = server("");
    off["disabled"] = true.into();
    let pool = pool_with(json!({}), json!({ "bad": { "command": 3 }, "off": off })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    for (name, code) in [("bad", ErrorCode::InvalidConfig), ("off", ErrorCode::NotAdmitted)] {
        let ready = session.ready(Some(name), Some(HANG)).await.unwrap_err();
        let acquired = session.acquire(name, None, &AcquireOptions::default()).await;
        let acquired = acquired.err().expect("it cannot run");
        assert_eq!(ready.code(), code, "{ready}");
        assert_eq!(ready.to_json(), acquired.to_json());
    }
    let unknown = session.ready(Some("nope"), Some(HANG)).await.unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::InvalidArgument, "{unknown}");
    pool.close().await.unwrap();
}
