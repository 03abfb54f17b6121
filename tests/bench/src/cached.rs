//! Workloads of a host that has just begun, beside servers that do not run: what they listed is
//! kept from before.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use trunkline::{EventKind, EventMask, Pool, PoolOptions, Result, Servers, SessionOptions};

use crate::{cpu_time, report};

/// `cached-lazy`, `cached-eager`: a process of its own, from its first statement after the import
/// until it has a list with the tools of ten servers. In the first no server is started meanwhile,
/// in the second all of them are. `-pool`, `-reconcile`, `-session` and `-listed` are the parts of
/// that: each is the time since the one before.
pub async fn cold_hosts(server: &str) -> Result<()> {
    let folder = Folder::new();
    keep(&folder.0, server).await?;
    for start in STARTS {
        let (began, cpu) = (Instant::now(), cpu_time());
        let hosts: Vec<Moments> = (0..HOSTS).map(|_| cold(start, &folder.0, server)).collect();
        let (took, cpu) = (began.elapsed(), cpu_time() - cpu);
        let show = |name: String, time: &dyn Fn(&Moments) -> Duration| {
            report(&name, &mut hosts.iter().map(time).collect::<Vec<_>>(), took, cpu);
        };
        show(format!("cached-{start}"), &|moments| moments[PARTS.len() - 1]);
        for (number, part) in PARTS.iter().enumerate() {
            show(format!("cached-{start}-{part}"), &|moments| match number {
                0 => moments[0],
                _ => moments[number] - moments[number - 1],
            });
        }
    }
    Ok(())
}

/// When each part was over.
type Moments = [Duration; PARTS.len()];

/// Has it kept what ten servers list.
async fn keep(folder: &Path, server: &str) -> Result<()> {
    let pool = Pool::new(options("eager", folder)?)?;
    pool.reconcile(servers(server)?).await?;
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a"}"#)?)?;
    session.ready(None, None).await?;
    pool.close().await
}

/// Starts the host, and reads what it measured.
fn cold(start: &str, folder: &Path, server: &str) -> Moments {
    let program = std::env::current_exe().expect("the program knows its own path");
    let mut host = Command::new(program);
    let printed = host.args(["--cold", start]).arg(folder).arg(server).output();
    let printed = printed.expect("the program can be started again").stdout;
    let micros: Option<[u64; PARTS.len()]> = serde_json::from_slice(&printed).ok();
    micros.unwrap_or_else(|| panic!("the host printed {printed:?}")).map(Duration::from_micros)
}

/// The host: its arguments are how servers start, the folder of kept catalogs, and the server.
pub fn host(arguments: &[String]) -> Result<()> {
    let began = Instant::now();
    let [start, folder, server] = arguments else { panic!("the host has three arguments") };
    let pool = Pool::new(options(start, Path::new(folder))?)?;
    let made = began.elapsed();
    let servers = servers(server)?;
    pool.clone().block_on(async move {
        pool.reconcile(servers).await?;
        let reconciled = began.elapsed();
        let session = pool.session(SessionOptions::from_json(r#"{"id": "a"}"#)?)?;
        let opened = began.elapsed();
        let events = session.subscribe(EventMask(EventKind::ToolsChanged.bit()))?;
        while session.tools()?.len() < SERVERS * TOOLS {
            events.next().await.expect("the session is open");
        }
        let moments: Moments = [made, reconciled, opened, began.elapsed()];
        println!("{:?}", moments.map(|moment| moment.as_micros()));
        pool.close().await
    })
}

fn options(start: &str, folder: &Path) -> Result<PoolOptions> {
    PoolOptions::from_json(&json!({ "cache": folder, "start": start }).to_string())
}

fn servers(server: &str) -> Result<Servers> {
    let label = "words ".repeat(LABEL_WORDS);
    let args = json!(["--generated-only", "--tools", TOOLS.to_string(), "--label", label]);
    let servers: Map<String, Value> = (0..SERVERS)
        .map(|number| (format!("s{number}"), json!({ "command": server, "args": args })))
        .collect();
    Servers::from_json(&Value::from(servers).to_string())
}

/// A folder that ends with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        Folder(std::env::temp_dir().join(format!("trunkline-bench-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SERVERS: usize = 10;

/// Tools of each.
const TOOLS: usize = 20;

/// Words in the description of each tool: with them its definition has 400 bytes, as those of
/// servers in use have.
const LABEL_WORDS: usize = 50;

/// What a host does until it has its list.
const PARTS: [&str; 4] = ["pool", "reconcile", "session", "listed"];

const STARTS: [&str; 2] = ["lazy", "eager"];

/// Hosts of each kind in a round.
const HOSTS: usize = 20;
