//! What is kept of a run: the machine, and all figures, as a file that later runs of other groups
//! add to.

use std::path::Path;

use serde_json::{Value, json};

use super::figures::Figures;
use super::goals;
use crate::machine::{Machine, write};
use crate::run::Stop;

/// Adds what an earlier run of the same program on the same machine kept. Of a program that was
/// changed since its commit, nobody knows whether it is the same.
pub fn add_earlier(figures: &mut Figures, file: &Path, named: &Value) {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let kept: Value = serde_json::from_str(&text).unwrap_or_default();
    if kept["machine"] == *named && named["changed_since"] == false {
        figures.add_rows(&kept["figures"]);
    }
}

/// Writes everything, the goals with what they came to.
pub fn write_all(figures: &Figures, file: &Path, named: &Value) -> Result<(), Stop> {
    let goal = |goal: &goals::Goal| {
        let rounds = goal.rounds(figures);
        let value = rounds.median();
        json!({
            "row": goal.row,
            "what": goal.what,
            "bound": goal.bound.shown(),
            "unit": goal.unit,
            "measured": value,
            "of_the_rounds": rounds.spread(),
            "met": value.map(|value| goal.bound.is_met(value)),
        })
    };
    let all = json!({
        "machine": named,
        "goals": goals::all().map(goal).collect::<Value>(),
        "figures": figures.to_rows(),
    });
    let text = serde_json::to_string_pretty(&all).unwrap_or_default();
    write(file, &(text + "\n"))
}

/// What the figures depend on: the machine, its programs, and the commit.
pub fn name(machine: &Machine) -> Value {
    let said = |program: &str, arguments: &[&str]| {
        let output = machine.command(program).args(arguments).output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_string()
    };
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (cpu, memory) = (file("/proc/cpuinfo"), file("/proc/meminfo"));
    let changed = said("git", &["status", "--porcelain", "--untracked-files=no"]);
    json!({
        "cpu": after(&cpu, "model name"),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": after(&memory, "MemTotal"),
        "kernel": file("/proc/sys/kernel/osrelease").trim(),
        "libc": said("getconf", &["GNU_LIBC_VERSION"]),
        "rustc": said("rustc", &["--version"]),
        "python": said("python3", &["--version"]),
        "node": said("node", &["--version"]),
        "commit": said("git", &["rev-parse", "--short", "HEAD"]),
        "changed_since": !changed.is_empty(),
    })
}

/// The machine and the commit, in a line.
pub fn in_words(named: &Value) -> String {
    let word = |name: &str| named[name].as_str().unwrap_or_default();
    let (cpu, cores, kernel, commit) =
        (word("cpu"), &named["cores"], word("kernel"), word("commit"));
    format!("{cpu}, {cores} cores, Linux {kernel}, commit {commit}")
}

/// What stands behind the colon of the first line that begins so.
fn after<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_once(':')).map_or("", |(_, rest)| rest.trim())
}
