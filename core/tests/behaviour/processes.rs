//! The processes that the start log of the reference server names.

use std::path::Path;

/// How many servers the log says were started.
pub fn starts(log: &Path) -> usize {
    read(log).lines().filter(|line| line.ends_with(" server")).count()
}

/// How many of the log's processes are running, helpers included.
pub fn running(log: &Path) -> usize {
    let text = read(log);
    text.lines().filter_map(|line| line.split(' ').next()).filter(|pid| is_running(pid)).count()
}

fn read(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default()
}

/// A process that has ended but was never waited for is left behind if waiting is our duty.
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(") ") else { return false };
    let mut fields = rest.split(' ');
    let (state, parent) = (fields.next(), fields.next());
    state != Some("Z") || parent == Some(std::process::id().to_string().as_str())
}
