//! The reference server and the processes that its start log names.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The reference server: the one that is named, or the one beside this test, built if need be.
pub fn testserver() -> PathBuf {
    if let Some(path) = std::env::var_os("TRUNKLINE_TESTSERVER") {
        return path.into();
    }
    let here = std::env::current_exe().unwrap();
    let folder = here.ancestors().nth(2).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built =
        Command::new(cargo).args(["build", "--quiet", "-p", "trunkline-testserver"]).status();
    assert!(built.unwrap().success(), "the reference server does not build");
    folder.join("trunkline-testserver")
}

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
