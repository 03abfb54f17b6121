//! Servers that come and go under a budget, with their processes counted all the while (SECURITY
//! row 4).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rig::{Rig, score};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, ErrorCode, Servers};

use crate::{Raised, rounds};

const SERVERS: usize = 12;
const THREADS: usize = 6;
const ROOM: usize = 4;

/// A process that was seen to run, until it is reaped.
struct Seen {
    /// What it has that a later one with its number has not.
    started: String,
    /// The name of its server, whatever its configuration.
    server: String,
}

/// The processes seen so far that are still there, by number: one that has ended is, until somebody
/// waited for it.
#[derive(Default)]
struct Counted {
    /// How many lines of the start log were looked at.
    seen: usize,
    there: BTreeMap<u32, Seen>,
}

impl Counted {
    /// Looks at what was started since the last look and at what is gone. All that it finds was
    /// there at once: when it began.
    fn look(&mut self, rig: &Rig) {
        let starts = rig.starts();
        for pid in &starts[self.seen..] {
            let (started, label) = (started(*pid), label(*pid));
            if let (Some(started), Some(label)) = (started, label) {
                let server = label.split('/').next().unwrap().to_owned();
                self.there.insert(*pid, Seen { started, server });
            }
        }
        self.seen = starts.len();
        self.there.retain(|pid, seen| started(*pid).as_ref() == Some(&seen.started));
    }

    /// How many servers there are; each may have more processes than one.
    fn servers(&self) -> usize {
        self.there.values().map(|seen| &seen.server).collect::<BTreeSet<_>>().len()
    }

    fn processes(&self) -> usize {
        self.there.len()
    }
}

/// When a process began, in ticks of this machine's clock, also of one that has ended and was not
/// waited for.
fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit(')').next()?.split_whitespace().nth(19)?.to_owned())
}

/// The label among a process's arguments.
pub fn label(pid: u32) -> Option<String> {
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut arguments = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    arguments.find(|argument| argument == "--label")?;
    Some(arguments.next()?.into_owned())
}

/// Every server; some have another configuration in each round.
fn servers(rig: &Rig, round: usize) -> Servers {
    let server = |number: usize| {
        let label = format!("s{number}/{}", if number.is_multiple_of(3) { round } else { 0 });
        (format!("s{number}"), rig.server(&["--label", &label]))
    };
    let all: Value = (0..SERVERS).map(server).collect();
    Servers::from_json(&all.to_string()).unwrap()
}

/// While threads acquire and release at random, and configurations change under them, no look
/// counts more than there is room for, and what was refused was refused for that.
fn churn(part: &str, starts: usize, options: Value, count: fn(&Counted) -> usize, full: ErrorCode) {
    let rig = Rig::new(options);
    let (over, refused, looks) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let pool = rig.pool.clone();
    let reconcile = |round| {
        let (pool, servers) = (pool.clone(), servers(&rig, round));
        rig.pool.block_on(async move { pool.reconcile(servers).await }).unwrap();
    };
    reconcile(0);
    let mut most = 0;
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
                        Err(error) if error.code() == full => {
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                        // Its configuration was replaced while it connected.
                        Err(error) => assert_eq!(error.code(), ErrorCode::Unavailable, "{error}"),
                    }
                }
            });
        }
        let (mut counted, mut round) = (Counted::default(), 0);
        while counted.seen < starts && !over.load(Ordering::Relaxed) {
            counted.look(&rig);
            let found = count(&counted);
            most = most.max(found);
            assert!(found <= ROOM, "{found} {part}: {:?}", counted.there.keys());
            looks.fetch_add(1, Ordering::Relaxed);
            std::thread::park_timeout(Duration::from_millis(1));
            if counted.seen / 50 > round {
                round = counted.seen / 50;
                reconcile(round);
            }
        }
    });
    let (looks, refused) = (looks.into_inner(), refused.into_inner());
    println!("{looks} looks at {starts} starts, {most} {part} at most, {refused} acquires refused");
    assert!(refused > 0 && most == ROOM, "there was room all the while");
    score::done(&format!("budget/{part}"), starts as u64);
}

/// SPEC 9.5, I-03: a server counts while anything of it is there.
#[test]
fn no_more_servers_run_than_the_budget_has_room_for() {
    let options = json!({ "budget": { "limit": ROOM, "mode": "enforce" }, "drain_delay_ms": 0 });
    let starts = rounds(300, 40_000);
    churn("servers", starts, options, Counted::servers, ErrorCode::BudgetExhausted);
}

/// SPEC 9.6, I-03, I-05: each process counts until it is reaped, also beside another of its server,
/// and no longer: their places come back.
#[test]
fn no_more_processes_run_than_the_limit_has_room_for() {
    let options = json!({ "limits": { "processes": ROOM }, "drain_delay_ms": 0 });
    let starts = rounds(150, 10_000);
    churn("processes", starts, options, Counted::processes, ErrorCode::Limit);
}
