//! What `status` says, with real servers in every situation (SPEC 9.4).

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rig::{Folder, HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, DrainOptions, ErrorCode, Pool, PoolOptions, ServerSpec,
    StatusOptions,
};

fn server(rig: &Rig, name: &str) -> Value {
    rig.pool.status()["servers"][name].take()
}

/// The members of a row that this version of the interface has.
const SERVER: &[&str] = &[
    "configured",
    "admitted",
    "reason",
    "state",
    "scope",
    "transport",
    "era",
    "origin",
    "approval_state",
    "content",
    "auth_required",
    "pid_count",
    "entry_count",
    "counts",
    "error_code",
    "last_error",
    "hint",
    "entries",
];
const ENTRY: &[&str] = &[
    "entry_index",
    "refs",
    "state",
    "generation",
    "uptime_ms",
    "calls",
    "errors",
    "pid",
    "era",
    "unlisted",
    "noise",
    "ignored",
];

/// SPEC 9.4: every member is there whatever the situation.
#[test]
fn a_row_has_all_its_members_in_every_situation() {
    let rig = Rig::new(json!({}));
    host(async {
        let servers = json!({
            "up": rig.server(&[]),
            "unused": rig.server(&["--label", "unused"]),
            "gone": rig.server(&["--exit-at-start", "3"]),
            "off": { "command": "x", "disabled": true },
            "wrong": { "command": 7 },
        });
        rig.configure(servers).await;
        let session = rig.session("a");
        let lease = acquire(&session, "up").await;
        text(&lease, "echo", json!({ "message": "x" })).await;
        let options = AcquireOptions::default();
        session.acquire("gone", None, &options).await.err().unwrap();
        let status = rig.pool.status();
        let rows = status["servers"].as_object().unwrap();
        assert_eq!(rows.len(), 5);
        for (name, row) in rows {
            for member in SERVER {
                assert!(row.get(member).is_some(), "{name} has no {member}");
            }
        }
        for member in ENTRY {
            assert!(rows["up"]["entries"][0].get(member).is_some(), "no {member}");
        }
        assert_eq!((&rows["up"]["era"], &rows["up"]["admitted"]), (&json!("legacy"), &json!(true)));
        assert_eq!(status["totals"]["servers"], 5);
        assert_eq!(status["totals"]["connected"], 1);
        // What a gate leaves out is no failure.
        assert_eq!(
            (&status["totals"]["failed"], &status["totals"]["skipped"]),
            (&json!(2), &json!(1))
        );
        assert_eq!((&status["v"], &status["initialized"]), (&json!(1), &json!(true)));
    });
}

/// I-27, SPEC 9.4: no server is not ready without a reason, and none that is ready has one.
#[test]
fn every_server_that_is_not_ready_has_a_reason() {
    let rig = Rig::new(json!({ "reconnect": { "delays_ms": { "local": [60_000] } } }));
    host(async {
        let servers = json!({
            "up": rig.server(&[]),
            "unused": rig.server(&["--label", "unused"]),
            "coming": rig.server(&["--silent"]),
            "away": rig.server(&["--label", "away"]),
            "gone": rig.server(&["--exit-at-start", "3"]),
            "off": { "command": "x", "disabled": true },
            "wrong": { "command": 7 },
            "removed": rig.server(&["--label", "removed", "--ignore-eof", "--ignore-term"]),
        });
        rig.configure(servers.clone()).await;
        let session = rig.session("a");
        let options = AcquireOptions::default();
        let _up = acquire(&session, "up").await;
        let away = acquire(&session, "away").await;
        away.call_tool("crash", "{}", &CallOptions::default()).await.err().unwrap();
        session.acquire("gone", None, &options).await.err().unwrap();
        let _removed = acquire(&session, "removed").await;
        let coming = session.clone();
        let coming = tokio::spawn(async move {
            coming.acquire("coming", None, &AcquireOptions::default()).await.map(drop)
        });
        while server(&rig, "coming")["reason"] != "connecting" {
            tokio::task::yield_now().await;
        }
        let mut left = servers;
        left.as_object_mut().unwrap().remove("removed");
        rig.configure(left).await;
        until(|| server(&rig, "away")["reason"] == "reconnecting");
        let status = rig.pool.status();
        let rows = status["servers"].as_object().unwrap();
        let expected = json!({
            "up": null, "unused": "unused", "coming": "connecting", "away": "reconnecting",
            "gone": "failed", "off": "disabled", "wrong": "invalid_config", "removed": "removed",
        });
        for (name, row) in rows {
            assert_eq!(row["reason"], expected[name], "{name}");
            let ready = row["state"] == "connected" && row["admitted"] == true;
            assert_eq!(row["reason"].is_null(), ready, "{name}");
        }
        assert_eq!(rows.len(), 8);
        coming.abort();
    });
}

/// SPEC 9.4: `processes` counts those that come up and those that are dying, until nothing is left.
#[test]
fn processes_are_counted_from_their_start_until_they_are_gone() {
    // Longer than the test: nothing of it ends by itself.
    let graces = json!({ "exit_grace_ms": 600_000, "kill_grace_ms": 600_000, "drain_delay_ms": 0 });
    let rig = Rig::new(graces);
    host(async {
        let servers = json!({
            "silent": rig.server(&["--silent"]),
            "stubborn": rig.server(&["--ignore-eof", "--ignore-term"]),
        });
        rig.configure(servers).await;
        assert_eq!(rig.pool.status()["processes"], 0);
        let session = rig.session("a");
        let connecting = session.clone();
        let connecting = tokio::spawn(async move {
            connecting.acquire("silent", None, &AcquireOptions::default()).await.map(drop)
        });
        let lease = acquire(&session, "stubborn").await;
        while rig.pool.status()["processes"] != 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(server(&rig, "silent")["pid_count"], 1);
        connecting.abort();
        drop(lease);
        // It is on its way out, and takes its time.
        assert_eq!(server(&rig, "stubborn")["pid_count"], 1);
        assert_eq!(rig.pool.status()["processes"], 2);
        rig.pool.drain_all(&DrainOptions::from_json(r#"{"force":true}"#).unwrap()).await.unwrap();
        assert_eq!(rig.pool.status()["processes"], 0);
    });
    assert_eq!(rig.running(), [0; 0]);
}

/// SPEC 9.4: discovery is not begun, under way, over.
#[test]
fn discovery_goes_from_not_started_to_completed() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--initialize-delay-ms", "1500"]) })).await;
        assert_eq!(rig.pool.status()["discovery"], "not_started");
        let session = rig.session_with(json!({ "id": "a" }));
        assert_eq!(rig.pool.status()["discovery"], "in_progress");
        session.ready(None, Some(HANG)).await.unwrap();
        assert_eq!(rig.pool.status()["discovery"], "completed");
    });
}

/// SPEC 9.4: with no session, while draining, when drained, with everything failed.
#[test]
fn status_always_works() {
    let rig = Rig::new(json!({ "exit_grace_ms": 2000 }));
    host(async {
        assert_eq!(rig.pool.status()["initialized"], true);
        let servers = json!({
            "s": rig.server(&["--ignore-eof"]),
            "t": { "command": "/nowhere/to/be/found" },
            "u": rig.server(&["--exit-at-start", "9"]),
        });
        rig.configure(servers).await;
        let session = rig.session("a");
        for name in ["t", "u"] {
            session.acquire(name, None, &AcquireOptions::default()).await.err().unwrap();
        }
        assert_eq!(rig.pool.status()["totals"]["failed"], 2);
        let lease = acquire(&session, "s").await;
        session.close(None);
        drop((lease, session));
        assert_eq!(rig.pool.status()["totals"]["sessions"], 0);
        let pool = rig.pool.clone();
        let draining = tokio::spawn(async move { pool.drain_all(&DrainOptions::default()).await });
        while rig.pool.status()["closing"] != true {
            tokio::task::yield_now().await;
        }
        let row = server(&rig, "s");
        assert_eq!((&row["pid_count"], &row["entries"][0]["refs"]), (&json!(1), &json!(0)));
        draining.await.unwrap().unwrap();
        let status = rig.pool.status();
        assert_eq!((&status["processes"], &status["closing"]), (&json!(0), &json!(true)));
        assert_eq!(status["servers"]["s"]["reason"], "closing");
        assert_eq!(status["servers"]["t"]["error_code"], "spawn_failed");
        assert_eq!(status["servers"]["t"]["reason"], "failed");
    });
    until(|| rig.running().is_empty());
}

/// SPEC 9.4: a server of a session's own has its row, and says whose it is.
#[test]
fn a_session_s_own_server_is_of_that_origin() {
    let rig = Rig::new(json!({}));
    host(async {
        let spec = ServerSpec::from_value("s", &rig.server(&[])).unwrap();
        let session = rig.session("a");
        let _lease = session.acquire("s", Some(&spec), &AcquireOptions::default()).await.unwrap();
        let row = server(&rig, "s");
        assert_eq!((&row["origin"], &row["scope"]), (&json!("session"), &json!("session")));
        assert_eq!((&row["reason"], &row["configured"]), (&Value::Null, &json!(true)));
    });
}

/// SPEC 9.1: what has no entry says why, with no index; an unknown name or index is an empty list.
#[test]
fn a_restart_of_what_has_no_entry_says_why() {
    let rig = Rig::new(json!({}));
    host(async {
        let servers = json!({
            "s": rig.server(&[]), "off": { "command": "x", "disabled": true }, "wrong": { "command": 7 },
        });
        rig.configure(servers).await;
        let rows =
            async |name, index| rig.pool.restart(name, index).await.unwrap()["entries"].take();
        let off = json!([{ "entry_index": null, "restarted": false, "reason": "disabled" }]);
        assert_eq!(rows("off", None).await, off);
        let wrong = rows("wrong", None).await;
        assert_eq!(
            (&wrong[0]["entry_index"], &wrong[0]["reason"]),
            (&Value::Null, &json!("not_admitted"))
        );
        assert_eq!(wrong[0]["error"]["code"], "invalid_config");
        for (name, index) in [("nobody", None), ("s", Some(0)), ("off", Some(0)), ("s", None)] {
            assert_eq!(rows(name, index).await, json!([]), "{name} {index:?}");
        }
        let _lease = acquire(&rig.session("a"), "s").await;
        let row = rows("s", Some(0)).await;
        assert_eq!((&row[0]["entry_index"], &row[0]["restarted"]), (&json!(0), &json!(true)));
        assert!(row[0]["duration_ms"].is_u64() && row[0].get("reason").is_none());
        rig.pool.drain_all(&DrainOptions::default()).await.unwrap();
        assert_eq!(rig.pool.restart("s", None).await.err().unwrap().code(), ErrorCode::Closing);
    });
}

/// What stands in the file of the option `status_file`.
fn published(file: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()
}

fn with_status_file(file: &Path) -> trunkline::Result<Pool> {
    let options = json!({ "status_file": file, "cache": "off", "approvals": "memory" });
    Pool::new(PoolOptions::from_json(&options.to_string())?)
}

/// SPEC 9.4, 11.6: the newest entry is the one that came last, whatever ended before it.
#[test]
fn what_is_said_of_a_server_is_said_of_its_newest_entry() {
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        let passing = rig.server(&["--label", "passing"]);
        rig.configure(json!({ "passing": passing, "s": rig.server(&[]) })).await;
        let first = rig.session_with(json!({ "id": "a", "servers": [], "follow": false }));
        let gone = acquire(&first, "passing").await;
        let _old = acquire(&first, "s").await;
        gone.release();
        until(|| server(&rig, "passing")["entries"].as_array().unwrap().is_empty());
        rig.configure(json!({ "s": rig.server(&["--tools", "1"]) })).await;
        let second = rig.session("b");
        let _new = acquire(&second, "s").await;
        let row = server(&rig, "s");
        let indices = row["entries"].as_array().unwrap().iter().map(|row| &row["entry_index"]);
        assert_eq!(indices.collect::<Vec<_>>(), [0, 1]);
        let counts = |session: &trunkline::Session| session.tools().unwrap().len();
        assert_eq!(row["counts"]["tools"], counts(&second));
        assert_ne!(counts(&first), counts(&second));
        assert_eq!(rig.pool.explain("mcp__s__tool_1").unwrap()["available"], true);
    });
}

/// SPEC 11.6: a tool is there though another entry of its server is still being started.
#[test]
fn a_tool_of_a_connected_entry_is_there_while_another_is_started() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let first = rig.session_with(json!({ "id": "a", "servers": [], "follow": false }));
        let _held = acquire(&first, "s").await;
        rig.configure(json!({ "s": { "command": "sleep", "args": ["60"] } })).await;
        let second = rig.session_with(json!({ "id": "b", "servers": ["s"] }));
        until(|| server(&rig, "s")["entry_count"] == 2);
        assert_eq!(rig.pool.explain("mcp__s__echo").unwrap()["available"], true);
        drop(second);
    });
}

/// SPEC 9.4: the file is there at once, follows the pool, is the user's alone, and goes with the
/// pool.
#[test]
fn the_status_can_be_read_from_a_file() {
    let rig = Rig::in_workspace_with(|workspace| {
        let options = json!({ "status_file": workspace.join("made/status.json") });
        PoolOptions::from_json(&options.to_string()).unwrap()
    });
    let file = rig.path("ws").join("made/status.json");
    let first = published(&file).unwrap();
    assert_eq!(
        (first["v"].as_u64(), first["pid"].as_u64()),
        (Some(1), Some(std::process::id().into()))
    );
    assert_eq!(first["status"]["totals"]["servers"], 0);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    host(async {
        rig.configure(json!({ "up": rig.server(&[]) })).await;
        let _lease = acquire(&rig.session("a"), "up").await;
        let is_up = |now: &Value| now["status"]["servers"]["up"]["state"] == "connected";
        until(|| published(&file).as_ref().is_some_and(is_up));
        let now = published(&file).unwrap();
        assert!(now["written_at_ms"].as_u64() > first["written_at_ms"].as_u64());
        rig.pool.close().await.unwrap();
    });
    assert!(!file.exists());
}

/// SPEC 9.4, 4.7: what servers wrote to stderr is in the file too, however many there are.
#[test]
fn a_status_with_much_stderr_is_written_whole() {
    const TAIL: usize = 64 << 10;
    let rig = Rig::in_workspace_with(|workspace| {
        let options = json!({ "status_file": workspace.join("status.json") });
        PoolOptions::from_json(&options.to_string()).unwrap()
    });
    let file = rig.path("ws").join("status.json");
    host(async {
        let name = |number: usize| format!("s{number}");
        let servers: serde_json::Map<String, Value> =
            (0..18).map(|number| (name(number), rig.server(&["--label", &name(number)]))).collect();
        rig.configure(servers.into()).await;
        let session = rig.session("a");
        let line = "x".repeat(1_000) + "\n";
        for number in 0..18 {
            let lease = acquire(&session, &name(number)).await;
            text(&lease, "stderr", json!({ "text": line.repeat(TAIL / line.len() + 1) })).await;
        }
        let is_full = |now: &Value| {
            let rows = now["status"]["servers"].as_object().unwrap().values();
            let lines = |row: &Value| row["entries"][0]["stderr"].as_array().map_or(0, Vec::len);
            rows.filter(|row| lines(row) >= TAIL / line.len() - 1).count() == 18
        };
        until(|| published(&file).as_ref().is_some_and(is_full));
        assert_eq!(published(&file).unwrap()["left_out"], json!([]));
    });
}

/// SPEC 9.4: the file goes also with the last pool of a process, which nobody closed.
#[test]
fn the_file_of_the_last_pool_goes_with_it() {
    // No other test keeps the runtime alive there.
    rig::alone!();
    for _ in 0..100 {
        let folder = Folder::new();
        let file = folder.join("status.json");
        drop(with_status_file(&file).unwrap());
        until(|| !file.exists());
    }
}

/// SPEC 9.4: what cannot be had is refused when the pool is made, by an error that names the
/// option.
#[test]
fn a_status_file_that_cannot_be_had_is_refused() {
    let rig = Rig::new(json!({}));
    let file = rig.path("status.json");
    let refused = |path: &Path| with_status_file(path).err().unwrap();
    let relative = refused(Path::new("status.json"));
    assert_eq!(relative.code(), ErrorCode::InvalidArgument);
    assert_eq!(relative.to_json()["detail"]["path"], "status_file");
    let inside_a_file = refused(Path::new("/dev/null/status.json"));
    assert_eq!(inside_a_file.code(), ErrorCode::Store);
    let pool = with_status_file(&file).unwrap();
    let taken = refused(&file);
    assert_eq!(
        (taken.code(), taken.to_json()["detail"]["option"].as_str()),
        (ErrorCode::Store, Some("status_file"))
    );
    drop(pool);
    until(|| !file.exists());
    until(|| with_status_file(&file).is_ok());
    until(|| !file.exists());
}

/// SPEC 16.7: memory and processor time are those of the whole tree, and are looked up when that is
/// asked for.
#[test]
#[cfg(target_os = "linux")]
fn what_the_processes_of_a_server_take_is_told_when_it_is_asked_for() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]), "unused": rig.server(&["--label", "u"]) }))
            .await;
        let lease = acquire(&rig.session("a"), "s").await;
        let asked = StatusOptions::from_json(r#"{"processes":true}"#).unwrap();
        let memory = || rig.pool.status_with(&asked)["servers"]["s"]["memory_bytes"].as_u64();
        let alone = memory().unwrap();
        assert!(alone > 100_000, "{alone} bytes");
        for setsid in [false, true] {
            let before = memory().unwrap();
            text(&lease, "spawn_child", json!({ "setsid": setsid })).await;
            until(|| memory().unwrap() > before + alone / 4);
        }
        let status = rig.pool.status_with(&asked);
        assert!(status["servers"]["s"]["cpu_ms"].is_u64(), "{status}");
        assert!(status["servers"]["unused"]["memory_bytes"].is_null(), "{status}");
        assert!(server(&rig, "s")["memory_bytes"].is_null());
        let metrics = rig.pool.metrics(&asked).unwrap();
        assert!(metrics.contains("trunkline_server_memory_bytes{server=\"s\"} "), "{metrics}");
        assert!(metrics.contains("trunkline_server_cpu_seconds{server=\"s\"} "), "{metrics}");
        let metrics = rig.pool.metrics(&StatusOptions::default()).unwrap();
        assert!(!metrics.contains("memory"), "{metrics}");
    });
}

/// SPEC 16.7: the host's own subscriber is the only one that there ever is.
#[test]
fn no_subscriber_of_logs_is_installed_unasked() {
    rig::alone!();
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        text(&lease, "echo", json!({ "message": "x" })).await;
        rig.pool.close().await.unwrap();
    });
    // It fails where there is one.
    tracing::subscriber::set_global_default(tracing::subscriber::NoSubscriber::default()).unwrap();
    // What is logged is that one's from now on.
    let refused = trunkline::LogFeed::start("info", || {}).err().unwrap();
    assert_eq!(refused.code(), ErrorCode::InvalidArgument);
}
