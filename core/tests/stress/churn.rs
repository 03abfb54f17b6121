//! Servers that come and go under a budget, with their processes counted all the while (SECURITY row 4).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use trunkline::{AcquireOptions, ErrorCode, Servers};

use crate::rig::{Rig, runs, score};
use crate::{Raised, rounds};

const SERVERS: usize = 12;
const THREADS: usize = 6;
const BUDGET: usize = 4;

/// The processes seen so far that still run, by number, with the server that each is of.
#[derive(Default)]
struct Counted {
    /// How many lines of the start log were looked at.
    seen: usize,
    running: BTreeMap<u32, String>,
}

impl Counted {
    /// Looks at what was started since the last look and at what has ended; how many servers run by name.
    fn look(&mut self, rig: &Rig) -> usize {
        let starts = rig.starts();
        for pid in &starts[self.seen..] {
            if let Some(server) = server(*pid) {
                self.running.insert(*pid, server);
            }
        }
        self.seen = starts.len();
        self.running
            .retain(|pid, server| runs(*pid) && self::server(*pid).as_ref() == Some(server));
        let mut servers: Vec<&String> = self.running.values().collect();
        servers.sort();
        servers.dedup();
        servers.len()
    }
}

/// The name of a process's server, whatever its configuration.
fn server(pid: u32) -> Option<String> {
    Some(label(pid)?.split('/').next()?.to_owned())
}

/// The label among a process's arguments.
pub fn label(pid: u32) -> Option<String> {
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut arguments = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    arguments.find(|argument| argument == "--label")?;
    Some(arguments.next()?.into_owned())
}

/// Every server, of which some have another configuration in each round.
fn servers(rig: &Rig, round: usize) -> Servers {
    let server = |number: usize| {
        let label = format!("s{number}/{}", if number.is_multiple_of(3) { round } else { 0 });
        (format!("s{number}"), rig.server(&["--label", &label]))
    };
    let all: Value = (0..SERVERS).map(server).collect();
    Servers::from_json(&all.to_string()).unwrap()
}

/// SPEC 9.5, I-03: while threads acquire and release at random, and configurations change under them, no look finds more servers than
/// the budget has room for, and what was refused was refused for that.
#[test]
fn no_more_servers_run_than_the_budget_has_room_for() {
    let wanted = rounds(300, 50_000);
    let rig = Rig::new(json!({
        "budget": { "limit": BUDGET, "mode": "enforce" }, "drain_delay_ms": 0,
    }));
    let (over, refused, looks) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let pool = rig.pool.clone();
    let reconcile = |round| {
        let (pool, servers) = (pool.clone(), servers(&rig, round));
        rig.pool.block_on(async move { pool.reconcile(servers).await }).unwrap();
    };
    reconcile(0);
    std::thread::scope(|scope| {
        let _ends_the_threads = Raised(&over);
        for thread in 0..THREADS {
            let (session, pool) = (rig.session(&format!("t{thread}")), rig.pool.clone());
            let (over, refused) = (&over, &refused);
            scope.spawn(move || {
                // One that fails ends them all, and the looks.
                let _ends_the_others = Raised(over);
                let mut dice = thread as u64 + 1;
                while !over.load(Ordering::Relaxed) {
                    dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let server = format!("s{}", (dice >> 33) % SERVERS as u64);
                    let session = session.clone();
                    let acquired = pool.block_on(async move {
                        session.acquire(&server, None, &AcquireOptions::default()).await
                    });
                    match acquired {
                        Ok(lease) => lease.release(),
                        Err(error) if error.code() == ErrorCode::BudgetExhausted => {
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                        // Its configuration was replaced while it connected.
                        Err(error) => assert_eq!(error.code(), ErrorCode::Unavailable, "{error}"),
                    }
                }
            });
        }
        let (mut counted, mut round) = (Counted::default(), 0);
        while counted.seen < wanted && !over.load(Ordering::Relaxed) {
            let servers = counted.look(&rig);
            assert!(servers <= BUDGET, "{servers} servers run: {:?}", counted.running);
            looks.fetch_add(1, Ordering::Relaxed);
            std::thread::park_timeout(Duration::from_millis(1));
            if counted.seen / 50 > round {
                round = counted.seen / 50;
                reconcile(round);
            }
        }
    });
    let (looks, refused) = (looks.into_inner(), refused.into_inner());
    println!("{looks} looks at {wanted} starts, {refused} acquires refused");
    assert!(refused > 0, "the budget was never full");
    score::done("budget", wanted as u64);
}
