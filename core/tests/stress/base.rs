//! What there was before an attempt, and has to be there again after it.

use serde_json::{Value, json};
use trunkline::CallOptions;

use crate::rig::{Rig, acquire, until};
use crate::traces;

/// A rig for attempts that leave nothing: one process at a time, so that the next attempt finds a slot that leaked.
pub fn rig() -> Rig {
    Rig::new(json!({ "drain_delay_ms": 0, "exit_grace_ms": 300, "limits": { "processes": 1 } }))
}

/// The descriptors of this process and of its supervisor, when nothing is under way.
pub struct Base {
    supervisor: u32,
    descriptors: (usize, usize),
}

impl Base {
    /// After one server has come and gone, so that whatever stays is there. It has to be the first of its process.
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

    /// Waits until nothing of the attempts is left: entries, references, calls, processes, descriptors.
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
