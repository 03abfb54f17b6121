//! Workloads of a start: ten servers, where none, one or three answer `initialize` late. When a
//! host has the tools of those that are fast, and when all are ready.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};
use trunkline::{Pool, PoolOptions, Result, Servers, SessionOptions};

use crate::{cpu_time, report};

/// `start-first-N`: from the opening of a session until it lists the tools of all servers but the N
/// slow ones. `start-late-N`: how much later that is than the moment at which the last of the fast
/// ones had listed, as it says itself. `start-ready-N`: until all are ready. Each in a pool of its
/// own.
pub async fn ten_servers(server: &str) -> Result<()> {
    for slow in SLOW {
        let mut starts = Starts::new(slow);
        for _ in 0..STARTS {
            let log = ListLog::empty();
            starts.add(start(server, slow, &log).await?);
        }
        starts.report();
    }
    Ok(())
}

/// What one start took, as moments of the monotonic clock.
pub struct Start {
    /// The session was opened.
    pub began: Duration,
    /// The last of the fast servers had answered its list.
    pub listed: Duration,
    /// Their tools were at hand.
    pub first: Duration,
    /// All were ready.
    pub ready: Duration,
}

/// The starts of one kind.
pub struct Starts {
    slow: usize,
    starts: Vec<Start>,
    began: Duration,
    cpu: Duration,
}

impl Starts {
    /// None yet, with so many slow servers.
    pub fn new(slow: usize) -> Starts {
        Starts { slow, starts: Vec::new(), began: monotonic(), cpu: cpu_time() }
    }

    /// One more.
    pub fn add(&mut self, start: Start) {
        self.starts.push(start);
    }

    /// Prints the three workloads.
    pub fn report(self) {
        let (took, cpu) = (monotonic() - self.began, cpu_time() - self.cpu);
        let show = |what: &str, time: fn(&Start) -> Duration| {
            let mut times: Vec<Duration> = self.starts.iter().map(time).collect();
            report(&format!("start-{what}-{}", self.slow), &mut times, took, cpu);
        };
        show("first", |start| start.first - start.began);
        show("late", |start| start.first.saturating_sub(start.listed));
        show("ready", |start| start.ready - start.began);
    }
}

async fn start(server: &str, slow: usize, log: &ListLog) -> Result<Start> {
    let pool = Pool::new(PoolOptions::from_json(r#"{"cache": "off"}"#)?)?;
    let config = |number| json!({ "command": server, "args": log.arguments(number, slow) });
    let servers: Map<String, Value> =
        (0..SERVERS).map(|number| (name(number), config(number))).collect();
    let servers = Servers::from_json(&Value::from(servers).to_string())?;
    pool.reconcile(servers).await?;
    let began = monotonic();
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a"}"#)?)?;
    for number in slow..SERVERS {
        session.ready(Some(&name(number)), None).await?;
    }
    let tools = session.tools()?;
    let first = monotonic();
    let listed = log.last_of(SERVERS - slow);
    let is_listed = |number| tools.iter().any(|tool| *tool.server == *name(number));
    assert!((slow..SERVERS).all(is_listed), "a server that is ready is listed");
    session.ready(None, None).await?;
    let ready = monotonic();
    pool.close().await?;
    Ok(Start { began, listed, first, ready })
}

fn name(number: usize) -> String {
    format!("s{number}")
}

/// Where the servers of one start write when they listed their tools.
pub struct ListLog(PathBuf);

impl ListLog {
    /// A log that nobody has written to.
    pub fn empty() -> ListLog {
        let name = format!("trunkline-bench-lists-{}", std::process::id());
        ListLog(std::env::temp_dir().join(name))
    }

    /// The arguments of a server when the first `slow` of them answer late.
    pub fn arguments(&self, number: usize, slow: usize) -> Vec<String> {
        let mut arguments = vec!["--list-log".to_owned(), self.0.to_string_lossy().into_owned()];
        if number < slow {
            arguments.extend(["--initialize-delay-ms".to_owned(), SLOW_MS.to_string()]);
        }
        arguments
    }

    /// The last moment of those that have listed, which are so many. Each writes it down after its
    /// answer, so that the last ones may still be about to.
    pub fn last_of(&self, count: usize) -> Duration {
        let mut moments = self.moments();
        for _ in 0..LOOKS {
            if moments.len() >= count {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
            moments = self.moments();
        }
        assert_eq!(moments.len(), count, "servers that listed");
        Duration::from_nanos(moments.into_iter().max().unwrap_or_default())
    }

    fn moments(&self) -> Vec<u64> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }
}

impl Drop for ListLog {
    fn drop(&mut self) {
        // Without a server that listed there is none.
        let _ = fs::remove_file(&self.0);
    }
}

/// The clock that all processes of the machine share.
pub fn monotonic() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to our own.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Servers that start together.
pub const SERVERS: usize = 10;

/// How many of them are slow, in each run.
pub const SLOW: [usize; 3] = [0, 1, 3];

const SLOW_MS: u64 = 2000;

/// How often, a millisecond apart, a log is looked at for what is about to be written.
const LOOKS: usize = 1000;

/// Starts of each kind in a round.
pub const STARTS: usize = 2;
