//! Workloads of configuration: what one changed server of a thousand costs. No session wants them,
//! so that no process starts: it is the pass that is measured.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use trunkline::{Pool, PoolOptions, Result, Servers, SourceName};

use crate::{cpu_time, report};

/// `reconcile` of servers as values, and `set_source` of the same as the text of a settings file,
/// its variables expanded. The text is made, and the values are parsed, before the clock starts.
pub async fn one_change_of_many() -> Result<()> {
    let pool = Pool::new(PoolOptions::default())?;
    let mut turns = Turns::new();
    for turn in 0..TURNS {
        let servers = Servers::from_json(&servers(turn))?;
        let before = Instant::now();
        let told = pool.reconcile(servers).await?;
        turns.add(before.elapsed());
        check(turn, &told["servers"]);
    }
    turns.report("reconcile-1000");
    pool.close().await?;

    // Settings of the user need a trusted workspace.
    let pool = Pool::new(PoolOptions::from_json(r#"{"trusted": true}"#)?)?;
    let user: SourceName = "user".parse()?;
    let mut turns = Turns::new();
    for turn in 0..TURNS {
        let text = format!(r#"{{"mcpServers":{}}}"#, servers(turn));
        let before = Instant::now();
        let told = pool.set_source(&user, Some(&text))?;
        turns.add(before.elapsed());
        check(turn, &told["servers"]);
    }
    turns.report("settings-1000");
    pool.close().await
}

/// A thousand servers; one is another in each turn.
fn servers(turn: usize) -> String {
    let mut out = String::from("{");
    for number in 0..SERVERS {
        let changed = if number == SERVERS / 2 { turn } else { 0 };
        let server = json!({
            "command": "/bin/true",
            "args": ["--turn", changed.to_string()],
            "env": { "A": "${HOME}" },
        });
        let comma = if number == 0 { "" } else { "," };
        write!(out, r#"{comma}"s{number:04}":{server}"#).expect("a string takes what is written");
    }
    out + "}"
}

/// Every turn but the first changes one server and no other.
fn check(turn: usize, rows: &serde_json::Value) {
    let rows = rows.as_object().into_iter().flatten();
    let changed = rows.filter(|(_, row)| row["action"] != "unchanged").count();
    assert_eq!(changed, if turn == 0 { SERVERS } else { 1 }, "turn {turn}");
}

/// The times of the turns but the first.
struct Turns {
    times: Vec<Duration>,
    begun: Instant,
    cpu: Duration,
}

impl Turns {
    fn new() -> Turns {
        Turns { times: Vec::with_capacity(TURNS), begun: Instant::now(), cpu: cpu_time() }
    }

    fn add(&mut self, took: Duration) {
        self.times.push(took);
    }

    fn report(mut self, workload: &str) {
        self.times.remove(0);
        report(workload, &mut self.times, self.begun.elapsed(), cpu_time() - self.cpu);
    }
}

const SERVERS: usize = 1000;

/// Changes, and one turn in which all servers come.
const TURNS: usize = 101;
