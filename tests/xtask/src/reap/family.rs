//! All processes of one server: found by the mark in their arguments, and by what they wrote into
//! their start log.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::children::is_running;

/// One server and all that descends from it. The mark is the path of its start log.
pub struct Family {
    log: PathBuf,
}

impl Family {
    pub fn new(log: PathBuf) -> Family {
        Family { log }
    }

    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The leader that was started first, once there are this many processes.
    pub fn leader(&self, members: usize) -> Result<u32, String> {
        let is_there = || self.reported().len() >= members;
        if !comes_true(HANG, is_there) {
            return Err(format!("{} of {members} processes came up", self.reported().len()));
        }
        self.reported().first().copied().ok_or_else(|| "no process came up".to_owned())
    }

    /// Those that run.
    pub fn alive(&self) -> Vec<u32> {
        let mut found = marked(&self.log.to_string_lossy());
        found.extend(
            self.reported().into_iter().filter(|pid| is_running(*pid) && words(*pid).is_empty()),
        );
        found
    }

    /// Those that still run when `within` has passed, in words.
    pub fn survivors(&self, within: Duration) -> Vec<String> {
        if comes_true(within, || self.alive().is_empty()) {
            return Vec::new();
        }
        let found: Vec<String> = self.alive().into_iter().map(described).collect();
        // Whether it was slow or is left for ever matters to a reader.
        let begun = Instant::now();
        let goes = comes_true(LATE, || self.alive().is_empty());
        let end = if goes { "gone" } else { "still there" };
        let late = format!("{end} {} ms later", begun.elapsed().as_millis());
        found.into_iter().map(|process| format!("{process}, {late}")).collect()
    }

    fn reported(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
    }
}

/// All running processes with this text in their arguments.
pub fn marked(mark: &str) -> Vec<u32> {
    let table = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = table.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| contains(&words(*pid), mark) && is_running(*pid)).collect()
}

/// The keeper and the supervisor of a server, if they hold it.
pub fn holders(leader: u32) -> Vec<u32> {
    let holders = [parent(leader), parent(leader).and_then(parent)];
    holders.into_iter().flatten().filter(|pid| is_holder(*pid)).collect()
}

pub fn is_holder(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.starts_with("trunkline-") && is_running(pid)
}

/// A process for a message: its pid, name, state, parent, and whether it is the keeper or
/// supervisor.
pub fn described(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let words: Vec<&str> = stat.split_whitespace().take(4).collect();
    words.join(" ")
}

/// Sends a signal to a process of this test.
pub fn signal(signal: i32, pid: u32) {
    // SAFETY: kill has no preconditions; the process is one that this test has started.
    unsafe { libc::kill(pid as i32, signal) };
}

/// Waits until it holds, for at most `within`; whether it did.
pub fn comes_true(within: Duration, holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + within;
    while !holds() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL);
    }
    true
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

fn words(pid: u32) -> Vec<u8> {
    std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

fn contains(bytes: &[u8], mark: &str) -> bool {
    bytes.windows(mark.len()).any(|part| part == mark.as_bytes())
}

/// What takes longer hangs.
pub const HANG: Duration = Duration::from_secs(30);

/// How long a survivor is watched.
const LATE: Duration = Duration::from_secs(10);

const POLL: Duration = Duration::from_millis(10);
