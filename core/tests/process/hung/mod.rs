//! A file system that is away holds up those who wait for it, and nothing else of the pool (SPEC
//! 16.2).
#![cfg(target_os = "linux")]

mod away;
mod changed;
mod ending;
mod programs;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};

use away::{Away, asked_below, intercept};
use rig::{Folder, HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, ErrorCode, EventKind, EventMask, LoadOptions, Pool, PoolOptions, SourceName,
    WorkspaceTrust,
};

/// A rig with a folder that can be taken away.
fn rig() -> (Rig, PathBuf) {
    rig_with(json!({ "trusted": true, "approvals": "memory" }))
}

fn rig_with(options: Value) -> (Rig, PathBuf) {
    intercept();
    let rig = Rig::in_workspace(options);
    let folder = rig.path("share");
    std::fs::create_dir(&folder).unwrap();
    (rig, folder)
}

fn name(source: &str) -> SourceName {
    source.parse().unwrap()
}

/// Sets a source to these servers; the rows of the report.
fn set(pool: &Pool, source: &str, servers: Value) -> Value {
    let text = json!({ "mcpServers": servers }).to_string();
    pool.set_source(&name(source), Some(&text)).unwrap()["servers"].clone()
}

fn row(pool: &Pool, server: &str) -> Value {
    pool.status()["servers"][server].clone()
}

/// Does it on a thread of its own.
fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (send, receive) = channel();
    std::thread::spawn(move || send.send(work()));
    receive
}

/// What a thread that is done gave; one that waits for ever is told from it.
fn done<T>(receive: &Receiver<T>) -> T {
    receive.recv_timeout(HANG).expect("it waits for the file system")
}

/// That every other verb, a call and the end of the pool go on while something is away.
fn others_go_on(rig: &Rig) {
    let _session = rig.session_with(json!({ "id": "wants" }));
    let (pool, server, other) = (rig.pool.clone(), rig.server(&[]), rig.server(&["--tools", "2"]));
    let others = apart(move || {
        host(async {
            assert_eq!(set(&pool, "user", json!({ "u": server }))["u"]["action"], "added");
            assert_eq!(set(&pool, "project:b", json!({ "b": other }))["b"]["action"], "refused");
            exclude(&pool, &["nobody"]);
            approve(&pool, "b").await;
            let reported = pool.reconcile(trunkline::Servers::from_json("{}").unwrap()).await;
            reported.unwrap();
        });
    });
    done(&others);
    until(|| row(&rig.pool, "b")["state"] == "connected");
}

/// Lets a server run that waits for approval.
async fn approve(pool: &Pool, server: &str) {
    let requests = pool.approvals().await.unwrap()["requests"].clone();
    let request = requests.as_array().unwrap().iter().find(|one| one["server"] == server);
    let hash = request.unwrap()["hash"].as_str().unwrap();
    let decided = pool.approve(server, hash).await.unwrap();
    assert_eq!(decided["servers"][server]["action"], "added");
}

/// Asks for the server `a` on a thread of its own; why it does not come.
fn ask(rig: &Rig) -> Receiver<Option<ErrorCode>> {
    let session = rig.session("asks");
    apart(move || {
        host(async move {
            let asked = session.acquire("a", None, &AcquireOptions::default()).await;
            asked.err().map(|error| error.code())
        })
    })
}

/// That a server of the host's, which is changed so that it needs the share, fails in its time while that is away.
fn connects_apart(change: impl FnOnce(&mut Value, &Path)) {
    let (rig, share) = rig();
    let mut server = rig.server(&[]);
    change(&mut server, &share);
    server["connect_timeout_ms"] = 500.into();
    set(&rig.pool, "launch:a", json!({ "a": server }));
    let away = Away::new(&share);
    let asked = ask(&rig);
    away.until_asked();
    others_go_on(&rig);
    calls_go_on(&rig);
    assert_eq!(done(&asked), Some(ErrorCode::Timeout));
    closes(&rig);
    drop(away);
}

/// A server of the project on the share, which was approved.
fn approved(rig: &Rig, share: &Path) {
    std::fs::write(share.join("program"), "").unwrap();
    let server = json!({ "command": share.join("program"), "connect_timeout_ms": 500 });
    set(&rig.pool, "project:a", json!({ "a": server }));
    host(approve(&rig.pool, "a"));
}

/// A call to a server that runs.
fn calls_go_on(rig: &Rig) {
    let session = rig.session("calls");
    let server = rig.server(&[]);
    host(async {
        set(&rig.pool, "launch", json!({ "c": server }));
        let lease = acquire(&session, "c").await;
        assert!(!text(&lease, "pid", json!({})).await.is_empty());
    });
}

/// The end of the pool.
fn closes(rig: &Rig) {
    let pool = rig.pool.clone();
    done(&apart(move || host(async move { pool.close().await.unwrap() })));
}

/// SPEC 16.2: the look-up of a program of one source, in a verb that waits.
#[test]
fn a_program_on_a_file_system_that_is_away_holds_up_its_own_server_alone() {
    rig::alone!();
    let (rig, share) = rig();
    let program = share.join("program");
    std::fs::write(&program, "").unwrap();
    let away = Away::new(&share);
    let (pool, command) = (rig.pool.clone(), program.to_str().unwrap().to_owned());
    let waits = apart(move || set(&pool, "project:a", json!({ "a": { "command": command } })));
    away.until_asked();
    others_go_on(&rig);
    calls_go_on(&rig);
    assert_eq!(row(&rig.pool, "a")["reason"], "waiting");
    drop(away);
    assert_eq!(done(&waits)["a"]["reason"], "pending_approval");
    closes(&rig);
}

/// SPEC 16.2, 10.5: the same of a file of variables, and of the end of the pool.
#[test]
fn a_file_of_variables_that_is_away_holds_up_its_own_server_alone() {
    rig::alone!();
    let (rig, share) = rig();
    std::fs::write(share.join("env"), "A=1\n").unwrap();
    let away = Away::new(&share);
    let mut server = rig.server(&[]);
    server["env_file"] = json!(share.join("env"));
    let pool = rig.pool.clone();
    let waits = apart(move || set(&pool, "launch:a", json!({ "a": server })));
    away.until_asked();
    others_go_on(&rig);
    calls_go_on(&rig);
    closes(&rig);
    drop(away);
    done(&waits);
}

/// SPEC 16.2, 4.2, I-07: the look-up right before a program is started, which takes of the time to connect.
#[test]
fn a_command_that_is_away_when_it_is_to_start_holds_up_its_own_server_alone() {
    rig::alone!();
    connects_apart(|server, share| {
        std::fs::write(share.join("program"), "").unwrap();
        server["command"] = json!(share.join("program"));
    });
}

/// SPEC 16.2, 13.6: the same where the host starts its servers itself, of a child that is on its way: while it is awaited, others start.
#[test]
fn a_child_that_cannot_enter_its_folder_holds_up_its_own_server_alone() {
    rig::alone!(("TRUNKLINE_SUPERVISION", "group"));
    let (rig, share) = rig();
    let mut server = rig.server(&[]);
    server["cwd"] = json!(share);
    set(&rig.pool, "launch:a", json!({ "a": server }));
    let away = Away::to_enter(&share);
    let asked = ask(&rig);
    away.until_asked();
    calls_go_on(&rig);
    assert!(asked.try_recv().is_err(), "the other one was given up first");
    drop(away);
    assert_eq!(done(&asked), None);
    closes(&rig);
}

/// SPEC 16.2, 4.2, I-07: the same of the folder that it is to start in.
#[test]
fn a_working_directory_that_is_away_holds_up_its_own_server_alone() {
    rig::alone!();
    connects_apart(|server, share| server["cwd"] = json!(share));
}

/// SPEC 16.2, 14.1, 11.5, I-07: who waits to hear whether it is approved still keeps nobody from connecting, and does not wait for ever.
#[test]
fn an_approved_program_that_is_away_takes_no_place_to_connect() {
    rig::alone!();
    let (rig, share) =
        rig_with(json!({ "trusted": true, "approvals": "memory", "start_parallel": 1 }));
    approved(&rig, &share);
    let away = Away::new(&share);
    let asked = ask(&rig);
    away.until_asked();
    others_go_on(&rig);
    calls_go_on(&rig);
    assert_eq!(done(&asked), Some(ErrorCode::Timeout));
    closes(&rig);
    drop(away);
}

/// SPEC 16.2, 11.5: however often its start is begun and taken back, one of the threads that may wait waits for it.
#[test]
fn an_approved_program_that_is_away_is_waited_for_once() {
    rig::alone!();
    let (rig, share) = rig();
    approved(&rig, &share);
    let away = Away::new(&share);
    let session = rig.session_with(json!({ "id": "asks" }));
    for _ in 0..THREADS {
        until(|| row(&rig.pool, "a")["state"] == "connecting");
        exclude(&rig.pool, &["a"]);
        until(|| row(&rig.pool, "a")["state"] != "connecting");
        exclude(&rig.pool, &[]);
    }
    away.until_asked();
    drop(session);
    others_go_on(&rig);
    closes(&rig);
    drop(away);
}

/// Keeps these servers out, and no others.
fn exclude(pool: &Pool, servers: &[&str]) {
    let lists = json!({ "excluded": servers }).to_string();
    pool.set_gates(trunkline::GateLists::from_json(&lists).unwrap()).unwrap();
}

/// More than the threads that may wait.
const THREADS: usize = 70;

/// SPEC 16.2, 10.1: a file of settings that is being read, by a verb of the host and by two more.
#[test]
fn a_file_of_settings_that_is_away_holds_up_its_own_source_alone() {
    rig::alone!();
    let (rig, share) = rig();
    let (file, other) = (share.join("away.json"), rig.path("here.json"));
    std::fs::write(&file, r#"{"mcpServers": {}}"#).unwrap();
    let away = Away::new(&share);
    let (pool, path) = (rig.pool.clone(), file.clone());
    let waits = apart(move || host(async { pool.load(path, &LoadOptions::default()).await }));
    away.until_asked();
    let text = json!({ "mcpServers": { "h": rig.server(&[]) } }).to_string();
    std::fs::write(&other, text).unwrap();
    let pool = rig.pool.clone();
    let load = async move { pool.load(other, &LoadOptions::default()).await };
    let loaded = done(&apart(move || host(load))).unwrap();
    assert_eq!(loaded["servers"]["h"]["action"], "added");
    others_go_on(&rig);
    calls_go_on(&rig);
    drop(away);
    done(&waits).unwrap();
    let away = Away::new(&share);
    let pool = rig.pool.clone();
    let reloads = apart(move || host(async { pool.reload(&Default::default()).await }));
    away.until_asked();
    calls_go_on(&rig);
    closes(&rig);
    drop(away);
    done(&reloads).unwrap();
}

/// SPEC 16.2, 11.4: trust waits for the files that it lets in, and nothing else does, the thread that carries out all others included.
#[test]
fn trust_that_waits_for_a_file_holds_up_nobody() {
    rig::alone!();
    let (rig, share) = rig_with(json!({
        "approvals": "memory", "untrusted_sources": ["launch", "session", "runtime"],
    }));
    let file = share.join("away.json");
    std::fs::write(&file, r#"{"mcpServers": {}}"#).unwrap();
    host(async { rig.pool.load(&file, &LoadOptions::default()).await }).unwrap();
    let away = Away::new(&share);
    let pool = rig.pool.clone();
    let (send, waits) = channel();
    let trust = async move { pool.set_trusted(WorkspaceTrust::Trusted).await };
    let operation = rig.pool.start(trust, move |told| send.send(told).unwrap());
    away.until_asked();
    calls_go_on(&rig);
    drop(away);
    done(&waits).unwrap();
    drop(operation);
    closes(&rig);
}

/// SPEC 11.4: the last word about trust holds, also when what an earlier one waits for comes after it.
#[test]
fn trust_that_was_withdrawn_meanwhile_does_not_come_back_with_a_file() {
    rig::alone!();
    let (rig, share) = rig_with(json!({
        "approvals": "memory", "untrusted_sources": ["launch", "session", "runtime"],
    }));
    let file = share.join("away.json");
    let servers = json!({ "mcpServers": { "s": rig.server(&[]) } });
    std::fs::write(&file, servers.to_string()).unwrap();
    host(async { rig.pool.load(&file, &LoadOptions::default()).await }).unwrap();
    let session = rig.session_with(json!({ "id": "a", "servers": ["s"] }));
    let away = Away::new(&share);
    let (send, waits) = channel();
    let trust = rig.pool.set_trusted(WorkspaceTrust::Trusted);
    let operation = rig.pool.start(trust, move |told| send.send(told).unwrap());
    away.until_asked();
    host(rig.pool.set_trusted(WorkspaceTrust::Untrusted)).unwrap();
    drop(away);
    done(&waits).unwrap();
    drop(operation);
    host(rig.pool.settled(Some(HANG))).unwrap();
    assert_eq!(rig.pool.status()["servers"]["s"]["reason"], "untrusted");
    assert_eq!(rig.starts(), [0; 0]);
    drop(session);
    closes(&rig);
}

/// SPEC 16.2, 13.5: a file that changed, and cannot be read then, by the watcher.
#[test]
fn a_watched_file_that_is_away_does_not_hold_up_the_end_of_the_pool() {
    rig::alone!();
    let (rig, share) = rig();
    let file = share.join("watched.json");
    std::fs::write(&file, r#"{"mcpServers": {}}"#).unwrap();
    let watch = LoadOptions::from_json(r#"{"watch": true}"#).unwrap();
    host(async { rig.pool.load(&file, &watch).await }).unwrap();
    let opened = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    let away = Away::new(&share);
    opened.set_len(0).unwrap();
    drop(opened);
    away.until_asked();
    others_go_on(&rig);
    calls_go_on(&rig);
    closes(&rig);
}

/// SPEC 16.2: a verb that would wait for the file system, called where the library's own work is done, as in a callback: it tells what waits.
#[test]
fn a_thread_of_the_library_waits_for_no_look() {
    rig::alone!();
    let (rig, share) = rig();
    std::fs::write(share.join("program"), "").unwrap();
    let away = Away::new(&share);
    let server = json!({ "command": share.join("program") });
    let text = json!({ "mcpServers": { "p": server } }).to_string();
    let pool = rig.pool.clone();
    let verb = async move { pool.set_source(&name("project"), Some(&text)) };
    let (send, told) = channel();
    let operation = rig.pool.start(verb, move |told| send.send(told).unwrap());
    assert_eq!(done(&told).unwrap()["servers"]["p"]["action"], "waiting");
    away.until_asked();
    calls_go_on(&rig);
    drop((away, operation));
    until(|| row(&rig.pool, "p")["reason"] == "pending_approval");
    closes(&rig);
}

/// SPEC 12.5, 16.2: what was decided is not asked for any more, also while it is being looked up again what it leads to.
#[test]
fn what_was_decided_is_asked_for_no_more_while_it_is_looked_up() {
    rig::alone!();
    let (rig, share) = rig();
    std::fs::write(share.join("program"), "").unwrap();
    set(&rig.pool, "project", json!({ "p": { "command": share.join("program") } }));
    let requests = || host(rig.pool.approvals()).unwrap()["requests"].as_array().unwrap().clone();
    let hash = requests()[0]["hash"].as_str().unwrap().to_owned();
    let away = Away::new(&share);
    let (reloading, deciding) = (rig.pool.clone(), rig.pool.clone());
    let reloads = apart(move || host(async { reloading.reload(&Default::default()).await }));
    away.until_asked();
    assert_eq!(requests().len(), 1);
    let decides = apart(move || host(async { deciding.approve("p", &hash).await }));
    until(|| requests().is_empty());
    drop(away);
    // Whichever of the two is carried out first makes it run.
    let reports = [done(&reloads).unwrap(), done(&decides).unwrap()];
    assert!(reports.iter().any(|report| report["servers"]["p"]["action"] == "added"));
    closes(&rig);
}

/// SPEC 12.6, 16.2, I-07: the lock of the file of approvals, which another process holds.
#[test]
fn a_lock_of_another_host_is_waited_for_by_who_decides_alone() {
    rig::alone!();
    let store = Folder::new();
    let (rig, _share) =
        rig_with(json!({ "trusted": true, "approvals": store.join("approvals.json") }));
    let session = rig.session_with(json!({ "id": "wants" }));
    set(&rig.pool, "project", json!({ "p": rig.server(&[]) }));
    let mut holder = std::process::Command::new("flock");
    holder.arg(store.join("approvals.json.lock")).args(["sh", "-c", "echo held; cat"]);
    holder.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    holder.stdout.take().unwrap().read_exact(&mut [0; 5]).unwrap();
    let approvals = host(rig.pool.approvals()).unwrap();
    let hash = approvals["requests"][0]["hash"].as_str().unwrap().to_owned();
    let pool = rig.pool.clone();
    let waits = apart(move || host(async { pool.approve("p", &hash).await }));
    calls_go_on(&rig);
    assert_eq!(set(&rig.pool, "user", json!({ "u": rig.server(&[]) }))["u"]["action"], "added");
    until(|| row(&rig.pool, "u")["state"] == "connected");
    assert!(waits.try_recv().is_err(), "it waits for the lock");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(done(&waits).unwrap()["servers"]["p"]["action"], "added");
    drop(session);
    closes(&rig);
}

/// SPEC 16.2, 14.2: kept catalogs are nobody's to wait for: servers that sleep are started once instead, and the others go on as ever.
#[test]
fn a_cache_that_is_away_holds_up_no_session() {
    rig::alone!();
    intercept();
    let rig = Rig::in_workspace_with(|workspace| {
        let cache = workspace.parent().unwrap().join("share");
        let options = json!({ "workspace": workspace, "cache": cache, "start": "lazy" });
        PoolOptions::from_json(&options.to_string()).unwrap()
    });
    let share = rig.path("share");
    std::fs::create_dir(&share).unwrap();
    let away = Away::new(&share);
    host(rig.configure(json!({ "s": rig.server(&[]) })));
    for id in ["a", "b"] {
        let session = rig.session_with(json!({ "id": id }));
        away.until_asked();
        let calls = apart(move || {
            host(async move {
                session.ready(None, None).await.unwrap();
                let called = session.call_tool("mcp__s__pid", "{}", &Default::default()).await;
                called.unwrap();
            });
        });
        done(&calls);
    }
    closes(&rig);
    drop(away);
}

/// SPEC 13.1, 13.2: of a thousand servers that wait for approval one changed: what is looked up, told and asked about is of that one.
#[test]
fn one_change_of_a_thousand_servers_is_looked_up_and_told_alone() {
    rig::alone!();
    let (rig, share) = rig();
    let servers = |changed: usize| -> Value {
        let server = |number: usize| {
            let args: &[&str] = if number == changed { &["other"] } else { &[] };
            (
                format!("s{number:04}"),
                json!({ "command": share.join(format!("p{number:04}")), "args": args }),
            )
        };
        (0..1000).map(server).collect::<serde_json::Map<_, _>>().into()
    };
    set(&rig.pool, "project", servers(1000));
    let kinds = [EventKind::Reconciled, EventKind::SourceChanged, EventKind::ApprovalNeeded];
    let mask = kinds.into_iter().fold(0, |mask, kind| mask | kind.bit());
    let events = rig.pool.subscribe(EventMask(mask)).unwrap();
    let asked = asked_below(&share, || {
        set(&rig.pool, "project", servers(500));
        // Changes that have nothing to do with it look nothing up.
        set(&rig.pool, "user", json!({ "u": { "command": "/bin/true" } }));
        rig.pool.set_gates(Default::default()).unwrap();
    });
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), [share.join("p0500")]);
    let told: Vec<&str> =
        std::iter::from_fn(|| events.try_next()).map(|event| event.kind().name()).collect();
    assert_eq!(told, ["source_changed", "approval_needed", "reconciled", "source_changed"]);
}
