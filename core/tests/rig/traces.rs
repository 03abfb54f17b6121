//! Finding processes by what they carry.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::runs;

/// All processes of one server, marked by their arguments.
pub struct Family(String);

impl Family {
    /// A new one; its name is for people.
    pub fn new(name: &str) -> Family {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = name.replace(' ', "-");
        Family(format!("family-{}-{number}-{name}-", std::process::id()))
    }

    /// The one with this mark.
    pub fn of(mark: &str) -> Family {
        Family(mark.to_owned())
    }

    /// What each of its processes has in an argument.
    pub fn mark(&self) -> &str {
        &self.0
    }

    /// Those that live, the tests' own processes apart.
    pub fn members(&self) -> Vec<u32> {
        let table = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = table.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| self.has(*pid)).collect()
    }

    fn has(&self, pid: u32) -> bool {
        let carried = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        carried.windows(self.0.len()).any(|it| it == self.0.as_bytes()) && runs(pid)
    }
}

/// The parent of a process.
pub fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

/// Whether it is a supervisor or a keeper.
pub fn is_ours(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.starts_with("trunkline-")
}

/// How many children a process has.
pub fn children(pid: u32) -> usize {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    list.split_whitespace().count()
}

/// How many descriptors a process has open.
pub fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Sends a process a signal.
pub fn kill(signal: &str, pid: u32) {
    let kill = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status();
    assert!(kill.unwrap().success());
}
