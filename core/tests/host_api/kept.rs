//! Kept catalogs as sessions see them: in another process, and while something happens to their
//! folder (SPEC 14.2).
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rig::{Folder, HANG, Rig, apart, host, until};
use serde_json::{Value, json};
use trunkline::{
    CallOptions, EventMask, Pool, PoolOptions, Servers, Session, SessionOptions, WorkspaceTrust,
};

/// A pool of servers that run for calls only, which keeps its catalogs in `catalogs` of that
/// folder.
fn options(folder: &Path, workspace: &Path) -> PoolOptions {
    let options = json!({
        "workspace": workspace, "cache": folder.join("catalogs"), "approvals": "memory", "start": "lazy", "drain_delay_ms": 0,
    });
    PoolOptions::from_json(&options.to_string()).unwrap()
}

fn server(tools: usize, more: &[&str]) -> Value {
    let tools = tools.to_string();
    let args = [&["--tools", &tools], more].concat();
    json!({ "command": rig::testserver(), "args": args })
}

async fn configure(pool: &Pool, servers: Value) {
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
}

async fn open(pool: &Pool, id: &str) -> Session {
    let session = pool.session(SessionOptions::new(id)).unwrap();
    tokio::time::timeout(HANG, session.ready(None, None)).await.unwrap().unwrap();
    session
}

/// The generated tools that a session lists of a server without a live one.
fn deferred(session: &Session, server: &str) -> Vec<String> {
    let tools = session.tools().unwrap();
    let generated = tools.iter().filter(|tool| {
        &*tool.server == server && tool.own_name.starts_with("tool_") && tool.deferred
    });
    generated.map(|tool| tool.own_name.to_string()).collect()
}

async fn call(session: &Session, name: &str) {
    session.call_tool(name, "{}", &CallOptions::default()).await.unwrap();
}

fn starts(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("starts")).unwrap_or_default().lines().count()
}

/// A pool over that folder, with a server of the host's, and one of the project's that asks to be
/// approved.
async fn pool_in(folder: &Path) -> Pool {
    let pool = Pool::new(options(folder, &folder.join("ws"))).unwrap();
    let log = folder.join("starts");
    let log = ["--start-log", log.to_str().unwrap()];
    configure(&pool, json!({ "s": server(20, &log) })).await;
    let project = json!({ "mcpServers": { "p": server(1, &log) } }).to_string();
    pool.set_source(&"project".parse().unwrap(), Some(&project)).unwrap();
    pool
}

/// The hash of what the project's server asks for.
async fn asked(pool: &Pool) -> String {
    let requests = pool.approvals().await.unwrap()["requests"].clone();
    requests[0]["hash"].as_str().unwrap().to_owned()
}

/// SPEC 14.2, 11.4, 12.1, S-02: another process lists what was kept, without a server, and a call
/// starts one. Of what nobody let in there it lists nothing, whatever was kept while it was let in
/// here.
#[test]
fn another_process_lists_what_was_kept_of_what_is_admitted_there() {
    let test = rig::this_test!();
    if let Some(folder) = apart::given(test) {
        return host(list_what_was_kept(Path::new(folder.as_str().unwrap())));
    }
    let folder = Folder::new();
    std::fs::create_dir(folder.join("ws")).unwrap();
    host(async {
        let pool = pool_in(&folder).await;
        pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
        pool.approve("p", &asked(&pool).await).await.unwrap();
        let session = open(&pool, "a").await;
        until(|| deferred(&session, "s").len() == 20 && deferred(&session, "p").len() == 1);
        pool.close().await.unwrap();
    });
    assert_eq!(starts(&folder), 2);
    apart::passes(test, &mut apart::again(test, &json!(&*folder)));
    assert_eq!(starts(&folder), 3);
}

async fn list_what_was_kept(folder: &Path) {
    let pool = pool_in(folder).await;
    let session = open(&pool, "a").await;
    assert_eq!(deferred(&session, "s").len(), 20);
    assert_eq!(deferred(&session, "p"), [""; 0], "the workspace is not trusted");
    pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
    let hash = asked(&pool).await;
    assert_eq!(deferred(&open(&pool, "pending").await, "p"), [""; 0]);
    pool.approve("p", &hash).await.unwrap();
    for session in [&session, &open(&pool, "approved").await] {
        until(|| deferred(session, "p") == ["tool_1"]);
    }
    pool.reject("p", &hash).await.unwrap();
    for session in [&session, &open(&pool, "rejected").await] {
        assert_eq!(deferred(session, "p"), [""; 0]);
    }
    assert_eq!(starts(folder), 2, "nothing was started");
    call(&session, "mcp__s__tool_20").await;
    assert_eq!(starts(folder), 3);
    pool.close().await.unwrap();
}

/// The files of kept catalogs.
fn kept(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

/// That sessions of this pool, and of one that comes after, have the right tools and call them,
/// whatever happened to the folder meanwhile. How many catalogs are kept then.
fn goes_on_after(fault: impl FnOnce(&Path)) -> usize {
    let rig = Rig::in_workspace_with(|ws| options(ws.parent().unwrap(), ws));
    let (workspace, folder) = (rig.path("ws"), rig.path("catalogs"));
    let events = rig.pool.subscribe(EventMask::ALL).unwrap();
    host(async {
        rig.configure(json!({ "s": server(2, &[]) })).await;
        let first = open(&rig.pool, "first").await;
        until(|| !kept(&folder).is_empty());
        fault(&folder);
        let second = open(&rig.pool, "second").await;
        rig.configure(json!({ "s": server(2, &[]), "t": server(3, &[]) })).await;
        for session in [&first, &second] {
            tokio::time::timeout(HANG, session.ready(None, None)).await.unwrap().unwrap();
            has_all(session).await;
        }
        let another = Pool::new(options(workspace.parent().unwrap(), &workspace)).unwrap();
        configure(&another, json!({ "s": server(2, &[]), "t": server(3, &[]) })).await;
        has_all(&open(&another, "another").await).await;
        another.close().await.unwrap();
        rig.pool.close().await.unwrap();
    });
    for event in std::iter::from_fn(|| events.try_next()) {
        let event: Value = serde_json::from_str(event.json()).unwrap();
        assert_ne!(event["type"], "failed", "{event}");
        assert!(event["type"] != "warning" || event["code"] == "cache", "{event}");
    }
    if folder.is_dir() {
        // So that it can be removed, whatever its mode was.
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
    }
    kept(&folder).len()
}

/// Both servers are listed and called.
async fn has_all(session: &Session) {
    for (server, tools) in [("s", 2), ("t", 3)] {
        until(|| deferred(session, server).len() == tools);
        call(session, &format!("mcp__{server}__tool_{tools}")).await;
    }
}

/// SPEC 14.2.
#[test]
fn a_folder_that_is_removed_while_a_pool_runs_is_made_again() {
    let kept = goes_on_after(|folder| std::fs::remove_dir_all(folder).unwrap());
    assert!(kept > 0);
}

/// SPEC 14.2: what a later pool cannot read it asks the servers.
#[test]
fn catalogs_that_are_damaged_while_a_pool_runs_count_as_none() {
    goes_on_after(|folder| {
        kept(folder).iter().for_each(|file| std::fs::write(file, "{\"v\":1,").unwrap());
    });
}

/// SPEC 14.2.
#[test]
fn a_file_in_the_place_of_the_folder_is_nobodys_error() {
    goes_on_after(|folder| {
        std::fs::remove_dir_all(folder).unwrap();
        std::fs::write(folder, "no folder").unwrap();
    });
}

/// SPEC 14.2: in a process without the right to write where it may not, which tests may run with.
#[test]
fn a_folder_that_turns_read_only_while_a_pool_runs_is_nobodys_error() {
    rig::alone!();
    give_up_overriding();
    goes_on_after(|folder| {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o500)).unwrap();
        assert!(std::fs::write(folder.join("x"), "").is_err(), "it can be written");
    });
}

/// SPEC 14.2: no file of this process may have a byte from then on.
#[test]
fn a_disk_that_is_full_while_a_pool_runs_is_nobodys_error() {
    rig::alone!();
    goes_on_after(|folder| {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the limit is read, and SIG_IGN is a valid disposition.
        let limited = unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const none)
        };
        assert_eq!(limited, 0);
        assert!(std::fs::write(folder.join("x"), "x").is_err(), "it can be written");
    });
}

/// Two pools over that folder, and a server whose first start fails.
fn two_pools(folder: &Path) -> ([Pool; 2], Value) {
    std::fs::create_dir(folder.join("ws")).unwrap();
    let pool = || Pool::new(options(folder, &folder.join("ws"))).unwrap();
    let log = folder.join("starts");
    let flags = ["--start-log", log.to_str().unwrap(), "--fail-starts", "1-1"];
    ([pool(), pool()], json!({ "s": server(2, &flags) }))
}

/// SPEC 14.2: what another pool keeps later is found by a session that wants the server anew, and
/// by who waits for one whose first start failed.
#[test]
fn what_another_pool_keeps_later_is_found_without_a_start() {
    let folder = Folder::new();
    let ([first, second], servers) = two_pools(&folder);
    host(async {
        configure(&first, servers.clone()).await;
        let failed = open(&first, "failed").await;
        assert_eq!(failed.started().await.unwrap()["servers"]["s"]["state"], "failed");
        configure(&second, servers.clone()).await;
        let learned = open(&second, "learned").await;
        until(|| deferred(&learned, "s").len() == 2);
        second.close().await.unwrap();
        assert_eq!(starts(&folder), 2);
        let later = open(&first, "later").await;
        assert_eq!(deferred(&later, "s").len(), 2);
        assert_eq!(deferred(&failed, "s"), [""; 0], "it has not waited for it again");
        tokio::time::timeout(HANG, failed.ready(Some("s"), None)).await.unwrap().unwrap();
        assert_eq!(deferred(&failed, "s").len(), 2);
        assert_eq!(starts(&folder), 2, "nothing was started");
        call(&failed, "mcp__s__tool_2").await;
        assert_eq!(starts(&folder), 3);
        first.close().await.unwrap();
    });
}

/// SPEC 13.1, 14.2: what is found kept of a server that could not be started is seen by the
/// configuration that it has now.
#[test]
fn what_is_found_kept_is_seen_as_it_is_configured_now() {
    let folder = Folder::new();
    let ([first, second], servers) = two_pools(&folder);
    let mut filtered = servers.clone();
    filtered["s"]["exclude"] = json!(["tool_1"]);
    host(async {
        configure(&first, servers.clone()).await;
        let failed = open(&first, "failed").await;
        assert_eq!(failed.started().await.unwrap()["servers"]["s"]["state"], "failed");
        configure(&first, filtered).await;
        configure(&second, servers).await;
        let learned = open(&second, "learned").await;
        until(|| deferred(&learned, "s").len() == 2);
        second.close().await.unwrap();
        tokio::time::timeout(HANG, failed.ready(Some("s"), None)).await.unwrap().unwrap();
        assert_eq!(deferred(&failed, "s"), ["tool_2"]);
        assert_eq!(starts(&folder), 2, "nothing was started");
        first.close().await.unwrap();
    });
}

/// SPEC 14.2: a configuration that is held in another form than it was listed for is kept by that
/// too, as old as it is.
#[test]
fn each_form_of_a_configuration_keeps_what_was_listed_when_it_was() {
    let rig = Rig::in_workspace_with(|ws| options(ws.parent().unwrap(), ws));
    let (folder, ws) = (rig.path("catalogs"), rig.path("ws"));
    let form =
        |label: &str| json!({ "mcpServers": { "s": server(1, &["--label", label]) } }).to_string();
    let set = |label: &str| {
        rig.pool.set_source(&"user".parse().unwrap(), Some(&form(label))).unwrap();
    };
    let listed_at = || -> Vec<u64> {
        let texts = kept(&folder).into_iter().map(|file| std::fs::read(file).unwrap());
        let of = |text: Vec<u8>| -> Value { serde_json::from_slice(&text).unwrap() };
        texts.map(|text| of(text)["kept"]["listed_at_ms"].as_u64().unwrap()).collect()
    };
    host(async {
        rig.pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
        set("${workspaceFolder}");
        let options = SessionOptions::from_json(r#"{ "id": "a", "servers": [] }"#).unwrap();
        let session = rig.pool.session(options).unwrap();
        let lease = session.acquire("s", None, &Default::default()).await.unwrap();
        until(|| kept(&folder).len() == 1);
        let first = listed_at()[0];
        until(|| now_ms() > first);
        set(ws.to_str().unwrap());
        call(&open(&rig.pool, "b").await, "mcp__s__tool_1").await;
        until(|| kept(&folder).len() == 2);
        assert_eq!(listed_at(), [first, first]);
        drop(lease);
        rig.pool.close().await.unwrap();
    });
}

fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_millis().try_into().unwrap()
}

/// This thread, and those that it starts, may write no more than the modes of files say, no matter
/// which user runs them.
fn give_up_overriding() {
    // `_LINUX_CAPABILITY_VERSION_3`, of the calling thread.
    let mut header: [u32; 2] = [0x2008_0522, 0];
    let mut sets = [[0_u32; 3]; 2];
    // SAFETY: the kernel writes two sets of three words.
    let had = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    assert_eq!(had, 0);
    // CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
    sets[0].iter_mut().for_each(|set| *set &= !0b110);
    // SAFETY: the kernel reads them.
    let set = unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) };
    assert_eq!(set, 0);
}
