//! Servers that no one here wrote: the first-time experience of a host (SPEC 2.1, 4.1, 4.8, 7.1,
//! 9.8).
//!
//! `TRUNKLINE_REAL_SERVERS` names a file with their configurations; `cargo xtask test real`
//! installs them and sets it. Without it there is nothing to run, and this program says so and has
//! no test.

mod eras;
mod examples;
mod remote;

use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, Lease, Pool, PoolOptions, Servers, Session, SessionOptions,
};

/// A server that starts an interpreter on a busy machine takes its time.
const HANG_BOUND: Duration = Duration::from_secs(90);

/// Between two looks at what has no signal of its own.
const POLL: Duration = Duration::from_millis(10);

/// The tools that the installed version has for a client without handlers: three more come with
/// sampling and elicitation.
const EVERYTHING_TOOLS: usize = 14;

type Scenario = fn(&BTreeMap<String, Value>);

/// One test and its name.
const SCENARIOS: [(&str, Scenario); 16] = [
    ("everything_is_shared_by_two_sessions_and_leaves_nothing", everything),
    ("everything_behind_npx_leaves_no_process", everything_npx),
    ("time_answers_in_a_time_zone", time),
    ("git_answers_about_a_repository", git),
    ("time_is_the_same_to_sessions_in_both_eras", eras::time),
    ("git_is_the_same_to_sessions_in_both_eras", eras::git),
    ("fetch_is_the_same_to_sessions_in_both_eras", eras::fetch),
    ("everything_announces_changes_over_streamable_http", remote::everything_http),
    ("everything_announces_changes_over_http_and_sse", remote::everything_events),
    ("everything_announces_changes_over_a_websocket", remote::everything_socket),
    ("python_announces_changes_over_streamable_http", remote::python),
    ("the_sdks_example_with_sessions_answers_and_notifies", examples::sessions),
    ("the_sdks_example_that_polls_is_resumed_until_its_answer", examples::polling),
    ("the_sdks_example_of_plain_json_answers", examples::json),
    ("the_sdks_stateless_example_answers", examples::stateless),
    ("the_sdks_example_of_unasked_changes_announces_them", examples::changes),
];

fn main() {
    let Some(path) = std::env::var_os("TRUNKLINE_REAL_SERVERS") else {
        println!("TRUNKLINE_REAL_SERVERS is not set: no real server, no test");
        return;
    };
    // SAFETY: prctl with this option only sets a flag of this process: orphans come to us, so that
    // none can hide by losing its parent.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let text = std::fs::read_to_string(path).unwrap();
    let servers: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let mut failed = 0;
    for (name, scenario) in SCENARIOS {
        let outcome = std::panic::catch_unwind(|| scenario(&servers));
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        failed += usize::from(outcome.is_err());
    }
    let (verdict, passed) = (if failed == 0 { "ok" } else { "FAILED" }, SCENARIOS.len() - failed);
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    std::process::exit(i32::from(failed > 0));
}

/// Two sessions of one pool on one server; what `work` does with them must leave no process.
fn with_two_sessions<W: Future<Output = ()>>(
    servers: &BTreeMap<String, Value>,
    (name, era): (&str, &str),
    work: impl FnOnce([Lease; 2], [Session; 2]) -> W,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = descendants();
    let run = async {
        let pool = Pool::new(PoolOptions::default()).unwrap();
        let map = json!({ name: servers[name] }).to_string();
        pool.reconcile(Servers::from_json(&map).unwrap()).await.unwrap();
        let (a, b) = (open(&pool, "a"), open(&pool, "b"));
        let options = AcquireOptions::default();
        let (first, second) =
            tokio::join!(a.acquire(name, None, &options), b.acquire(name, None, &options));
        let leases = [first.unwrap(), second.unwrap()];
        let status = pool.status()["servers"][name].clone();
        assert_eq!(status["era"], era, "{status}");
        let entries = status["entries"].clone();
        assert_eq!(entries.as_array().unwrap().len(), 1, "{entries}");
        assert_eq!(entries[0]["refs"], 2);
        work(leases, [a.clone(), b.clone()]).await;
        pool.close().await.unwrap();
    };
    runtime.block_on(async { tokio::time::timeout(HANG_BOUND, run).await.expect("no hang") });
    assert_eq!(descendants(), before, "processes are left");
}

fn everything(servers: &BTreeMap<String, Value>) {
    with_two_sessions(servers, ("everything", "legacy"), |[a, b], sessions| async move {
        same_tools_after_the_burst(&sessions).await;
        for lease in [&a, &b] {
            let result = call(lease, "echo", json!({"message": "hi"})).await;
            assert_eq!(result["content"][0]["text"], "Echo: hi");
        }
        let options = CallOptions::default();
        let result =
            sessions[1].call_tool("mcp__everything__get-sum", r#"{"a":1,"b":2}"#, &options).await;
        assert!(result.unwrap().json().contains('3'));
    });
}

/// The server announces changes of its tools while it starts: when they are over, each session has
/// the same, all of them.
async fn same_tools_after_the_burst(sessions: &[Session; 2]) {
    let names = |session: &Session| -> Vec<String> {
        session.tools().unwrap().iter().map(|tool| tool.own_name.to_string()).collect()
    };
    let begun = Instant::now();
    while sessions.iter().any(|session| names(session).len() != EVERYTHING_TOOLS) {
        assert!(begun.elapsed() < HANG_BOUND, "{:?}", sessions.each_ref().map(names));
        tokio::time::sleep(POLL).await;
    }
    assert_eq!(names(&sessions[0]), names(&sessions[1]));
}

fn everything_npx(servers: &BTreeMap<String, Value>) {
    with_two_sessions(servers, ("everything_npx", "legacy"), |[a, _b], _sessions| async move {
        let result = call(&a, "echo", json!({"message": "npx"})).await;
        assert_eq!(result["content"][0]["text"], "Echo: npx");
    });
}

fn time(servers: &BTreeMap<String, Value>) {
    with_two_sessions(servers, ("time", "modern"), |[a, b], _sessions| async move {
        for lease in [&a, &b] {
            let result =
                call(lease, "get_current_time", json!({"timezone": "Europe/Vienna"})).await;
            assert!(result["content"][0]["text"].as_str().unwrap().contains("Europe/Vienna"));
        }
        let refused = call(&a, "get_current_time", json!({"timezone": "Nowhere/At_All"})).await;
        assert_eq!(refused["isError"], true, "{refused}");
    });
}

fn git(servers: &BTreeMap<String, Value>) {
    let args = servers["git"]["args"].as_array().unwrap().clone();
    let repository = args.last().unwrap().clone();
    with_two_sessions(servers, ("git", "modern"), |[a, _b], _sessions| async move {
        let result = call(&a, "git_status", json!({"repo_path": repository})).await;
        assert!(result["content"][0]["text"].as_str().unwrap().contains("note.txt"), "{result}");
    });
}

/// A session that wants nothing unasked.
fn open(pool: &Pool, id: &str) -> Session {
    let options = json!({"id": id, "servers": []}).to_string();
    pool.session(SessionOptions::from_json(&options).unwrap()).unwrap()
}

async fn call(lease: &Lease, tool: &str, arguments: Value) -> Value {
    let options = CallOptions::default();
    let result = lease.call_tool(tool, &arguments.to_string(), &options).await.unwrap();
    serde_json::from_str(result.json()).unwrap()
}

/// The processes below this one that are still running, but for the library's own: the supervisor
/// stays with its host, and a keeper says that nothing is left just before it ends.
fn descendants() -> Vec<u32> {
    let (mut parents, mut supervisors) = (BTreeMap::new(), Vec::new());
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if stat.contains("(trunkline-super)") || stat.contains("(trunkline-keep)") {
            supervisors.push(pid);
        }
        let fields = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split_once(' '));
        let running = fields.filter(|(state, _)| *state != "Z");
        let parent = running.and_then(|(_, rest)| rest.split(' ').next()?.parse::<u32>().ok());
        parents.extend(parent.map(|parent| (pid, parent)));
    }
    let is_ours = |pid: &u32| {
        let up = |pid: &u32| parents.get(pid).copied();
        std::iter::successors(up(pid), up).any(|ancestor| ancestor == std::process::id())
    };
    let servers = parents.keys().copied().filter(|pid| !supervisors.contains(pid));
    servers.filter(is_ours).collect()
}
