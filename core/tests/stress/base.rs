//! What there was before an attempt, and has to be there again after it.

use std::time::{Duration, Instant};

use rig::{HANG, Rig, acquire, traces, until};
use serde_json::{Value, json};
use trunkline::CallOptions;

/// With it the allocator of a process keeps nothing of what was freed apart by thread, where it
/// counts as allocated.
pub const NO_SPARES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");

/// What the process has of its allocator, without what that keeps for later.
pub fn allocated() -> usize {
    // SAFETY: it takes nothing, and asks the allocator alone.
    let all = unsafe { libc::mallinfo2() };
    all.uordblks + all.hblkhd
}

/// What is allocated once nothing changes any more.
pub fn at_rest() -> usize {
    let begun = Instant::now();
    let (mut last, mut since) = (allocated(), Instant::now());
    while since.elapsed() < Duration::from_millis(100) {
        assert!(begun.elapsed() < HANG, "it never rests");
        std::thread::park_timeout(Duration::from_millis(10));
        let now = allocated();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

/// A rig for attempts that leave nothing: one process at a time, so that the next attempt finds a
/// slot that leaked.
pub fn rig() -> Rig {
    Rig::new(json!({ "drain_delay_ms": 0, "exit_grace_ms": 300, "limits": { "processes": 1 } }))
}

/// The descriptors of this process and of its supervisor, when nothing is under way.
pub struct Base {
    supervisor: u32,
    descriptors: (usize, usize),
}

impl Base {
    /// After one server has come and gone, so that whatever stays is there. It has to be the first
    /// of its process.
    pub async fn new(rig: &Rig, server: &str) -> Base {
        let lease = acquire(&rig.session("base"), server).await;
        let pid = lease.call_tool("pid", "{}", &CallOptions::default()).await.unwrap();
        let pid: Value = serde_json::from_str(pid.json()).unwrap();
        let pid = pid["content"][0]["text"].as_str().unwrap().parse().unwrap();
        let supervisor = traces::parent(pid).and_then(traces::parent).unwrap();
        drop(lease);
        let base = Base { supervisor, descriptors: (usize::MAX, usize::MAX) };
        base.returns(rig);
        Base { descriptors: base.descriptors(), ..base }
    }

    /// Waits until nothing of the attempts is left: entries, references, calls, processes,
    /// descriptors.
    pub fn returns(&self, rig: &Rig) {
        until(|| rig.running().is_empty() && traces::children(self.supervisor) == 0);
        until(|| is_empty(&rig.pool.status()));
        let (own, supervisor) = self.descriptors;
        until(|| {
            let now = self.descriptors();
            now.0 <= own && now.1 <= supervisor
        });
    }

    fn descriptors(&self) -> (usize, usize) {
        (traces::descriptors(std::process::id()), traces::descriptors(self.supervisor))
    }
}

fn is_empty(status: &Value) -> bool {
    status["processes"] == 0 && status["totals"]["entries"] == 0
}
