//! Workloads of a start: ten servers, of which none, one or three answer `initialize` late. When a host has the tools of those that are fast, and
//! when all are ready.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use trunkline::{Pool, PoolOptions, Result, Servers, SessionOptions};

use crate::{cpu_time, report};

/// `start-first-N`: from the opening of a session until it lists the tools of all servers but the N slow ones. `start-ready-N`: until all are
/// ready. Each in a pool of its own.
pub async fn ten_servers(server: &str) -> Result<()> {
    for slow in SLOW {
        let (mut first, mut ready) = (Vec::new(), Vec::new());
        let (began, cpu) = (Instant::now(), cpu_time());
        for _ in 0..STARTS {
            let (one, all) = start(server, slow).await?;
            first.push(one);
            ready.push(all);
        }
        let (took, cpu) = (began.elapsed(), cpu_time() - cpu);
        report(&format!("start-first-{slow}"), &mut first, took, cpu);
        report(&format!("start-ready-{slow}"), &mut ready, took, cpu);
    }
    Ok(())
}

async fn start(server: &str, slow: usize) -> Result<(Duration, Duration)> {
    let pool = Pool::new(PoolOptions::default())?;
    let args = |number: usize| match number < slow {
        true => json!(["--initialize-delay-ms", SLOW_MS.to_string()]),
        false => json!([]),
    };
    let servers: Map<String, Value> = (0..SERVERS)
        .map(|number| (name(number), json!({ "command": server, "args": args(number) })))
        .collect();
    let servers = Servers::from_json(&Value::from(servers).to_string())?;
    pool.reconcile(servers).await?;
    let began = Instant::now();
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a"}"#)?)?;
    for number in slow..SERVERS {
        session.ready(Some(&name(number)), None).await?;
    }
    let tools = session.tools()?;
    let first = began.elapsed();
    let is_listed = |number| tools.iter().any(|tool| *tool.server == *name(number));
    assert!((slow..SERVERS).all(is_listed), "a server that is ready is listed");
    session.ready(None, None).await?;
    let ready = began.elapsed();
    pool.close().await?;
    Ok((first, ready))
}

fn name(number: usize) -> String {
    format!("s{number}")
}

const SERVERS: usize = 10;

/// How many of them are slow, in each run.
const SLOW: [usize; 3] = [0, 1, 3];

const SLOW_MS: u64 = 2000;

/// Starts of each kind in a round.
const STARTS: usize = 2;
