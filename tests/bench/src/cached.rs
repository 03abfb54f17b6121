//! Workloads of a host that has just begun, beside servers that do not run: what they listed is kept from before.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use trunkline::{EventKind, EventMask, Pool, PoolOptions, Result, Servers, SessionOptions};

use crate::{cpu_time, report};

/// `cached-lazy`, `cached-eager`: a process of its own, from its first statement until it lists the tools of ten servers. In the first no server
/// is started meanwhile, in the second all of them are.
pub async fn cold_hosts(server: &str) -> Result<()> {
    let folder = Folder::new();
    keep(&folder.0, server).await?;
    for start in STARTS {
        let (began, cpu) = (Instant::now(), cpu_time());
        let mut times: Vec<Duration> = (0..HOSTS).map(|_| cold(start, &folder.0, server)).collect();
        report(&format!("cached-{start}"), &mut times, began.elapsed(), cpu_time() - cpu);
    }
    Ok(())
}

/// Has it kept what ten servers list.
async fn keep(folder: &Path, server: &str) -> Result<()> {
    let pool = Pool::new(options("eager", folder)?)?;
    pool.reconcile(servers(server)?).await?;
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a"}"#)?)?;
    session.ready(None, None).await?;
    pool.close().await
}

/// Starts the host, and reads what it measured.
fn cold(start: &str, folder: &Path, server: &str) -> Duration {
    let program = std::env::current_exe().expect("the program knows its own path");
    let mut host = Command::new(program);
    let printed = host.args(["--cold", start]).arg(folder).arg(server).output();
    let printed = printed.expect("the program can be started again").stdout;
    let micros = String::from_utf8_lossy(&printed).trim().parse();
    Duration::from_micros(micros.unwrap_or_else(|_| panic!("the host printed {printed:?}")))
}

/// The host: its arguments are how servers start, the folder of kept catalogs, and the server.
pub fn host(arguments: &[String]) -> Result<()> {
    let began = Instant::now();
    let [start, folder, server] = arguments else { panic!("the host has three arguments") };
    let pool = Pool::new(options(start, Path::new(folder))?)?;
    let servers = servers(server)?;
    pool.clone().block_on(async move {
        pool.reconcile(servers).await?;
        let session = pool.session(SessionOptions::from_json(r#"{"id": "a"}"#)?)?;
        let events = session.subscribe(EventMask(EventKind::ToolsChanged.bit()))?;
        while session.tools()?.len() < SERVERS * TOOLS {
            events.next().await.expect("the session is open");
        }
        println!("{}", began.elapsed().as_micros());
        pool.close().await
    })
}

fn options(start: &str, folder: &Path) -> Result<PoolOptions> {
    PoolOptions::from_json(&json!({ "cache": folder, "start": start }).to_string())
}

fn servers(server: &str) -> Result<Servers> {
    let servers: Map<String, Value> =
        (0..SERVERS).map(|number| (format!("s{number}"), json!({ "command": server }))).collect();
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

/// Tools of the reference server.
const TOOLS: usize = 36;

const STARTS: [&str; 2] = ["lazy", "eager"];

/// Hosts of each kind in a round.
const HOSTS: usize = 20;
