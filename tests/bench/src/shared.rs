//! Workloads with servers that no one here wrote: twenty sessions with the same five, which they
//! share or have to themselves.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use trunkline::{Pool, PoolOptions, Result, Servers, SessionOptions};

use crate::cpu_time;

/// `shared`, `own`: from the opening of the first session until each has all of its servers; then
/// the server processes, and their memory, where each process has its share of what several use.
/// `file` is the map of the servers by name.
pub async fn twenty_sessions(file: &str) -> Result<()> {
    let text = fs::read_to_string(file).expect("the file of real servers can be read");
    let real: Value = serde_json::from_str(&text).expect("the file of real servers is JSON");
    for (name, share, processes) in
        [("shared", "pool", SERVERS.len()), ("own", "session", SERVERS.len() * SESSIONS)]
    {
        let measured = sessions(&servers(&real, share)?).await?;
        assert_eq!(measured.processes, processes, "server processes, {name}");
        let line = json!({
            "workload": name,
            "calls": SESSIONS,
            "p50_us": measured.ready.as_secs_f64() * 1e6,
            "cpu_us": measured.cpu.as_secs_f64() * 1e6,
            "processes": measured.processes,
            "pss_mib": measured.pss_kib as f64 / 1024.0,
        });
        println!("{line}");
    }
    Ok(())
}

/// Orphans come to this process, so that none is missed. Before the first pool, whose supervisor is
/// one.
pub fn adopt_orphans() {
    // SAFETY: prctl with this option only sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

struct Measured {
    ready: Duration,
    cpu: Duration,
    processes: usize,
    pss_kib: u64,
}

async fn sessions(servers: &str) -> Result<Measured> {
    let pool = Pool::new(PoolOptions::from_json(r#"{"cache": "off"}"#)?)?;
    pool.reconcile(Servers::from_json(servers)?).await?;
    let (began, cpu) = (Instant::now(), cpu_time());
    let mut open = Vec::new();
    for number in 0..SESSIONS {
        let options = json!({ "id": number.to_string() }).to_string();
        open.push(pool.session(SessionOptions::from_json(&options)?)?);
    }
    for session in &open {
        session.ready(None, Some(PATIENCE)).await?;
        let tools = session.tools()?;
        let is_listed = |(name, _): &(&str, &str)| tools.iter().any(|tool| *tool.server == **name);
        assert!(SERVERS.iter().all(is_listed), "a session has all of its servers");
    }
    let (ready, cpu) = (began.elapsed(), cpu_time() - cpu);
    let all = descendants();
    let pss_kib = all.iter().map(|pid| pss_kib(*pid)).sum();
    let processes = all.into_iter().filter(|pid| is_server(*pid)).count();
    pool.close().await?;
    Ok(Measured { ready, cpu, processes, pss_kib })
}

/// Five configurations that differ.
fn servers(real: &Value, share: &str) -> Result<String> {
    let mut servers = Map::new();
    for (name, kind) in SERVERS {
        let mut server = real[kind].clone();
        assert!(server.is_object(), "{kind} is installed");
        server["env"] = json!({ "BENCH_NAME": name });
        server["share"] = json!(share);
        servers.insert(name.into(), server);
    }
    Ok(Value::Object(servers).to_string())
}

/// All that descend from this process.
fn descendants() -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_string_lossy().parse();
        let stat = fs::read_to_string(entry.path().join("stat"));
        let (Ok(pid), Ok(stat)) = (pid, stat) else { continue };
        let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' '));
        let parent = fields.and_then(|mut fields| fields.nth(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut front = vec![std::process::id()];
    while let Some(pid) = front.pop() {
        let own = children.get(&pid).into_iter().flatten();
        front.extend(own.clone());
        found.extend(own);
    }
    found
}

/// The library has processes of its own: they are no servers, but their memory counts.
fn is_server(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    !name.starts_with("trunkline-super") && !name.starts_with("trunkline-keep")
}

/// The memory of a process, what it shares with others divided among them.
fn pss_kib(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or_else(|| panic!("the memory of process {pid} cannot be read"))
}

const SESSIONS: usize = 20;

/// What each session has: the name, and the kind.
const SERVERS: [(&str, &str); 5] = [
    ("one", "everything"),
    ("two", "everything"),
    ("three", "everything"),
    ("time", "time"),
    ("git", "git"),
];

/// A hundred interpreters that start on a busy machine take their time.
const PATIENCE: Duration = Duration::from_secs(600);
