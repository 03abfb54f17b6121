//! `cargo xtask bench --instructions`: how many instructions of ours a call takes, which no noise
//! of the machine changes.
//!
//! callgrind counts those of one process, the host's. Two runs that differ in nothing but the
//! number of calls differ in nothing but the instructions of those calls; what they should be is
//! written down in `tests/bench/instructions.json`.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// Counts, and compares with what is written down. `UPDATE_INSTRUCTIONS=1` writes it anew.
pub fn compare(machine: &Machine, run: &mut Run) -> ExitCode {
    match counted(machine, run).and_then(|counts| judge(machine, &counts)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why)) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
        Err(Stop::NotRun(why)) => {
            eprintln!("xtask: not counted: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Instructions of each of what is counted.
fn counted(machine: &Machine, run: &mut Run) -> Result<Vec<(&'static str, u64)>, Stop> {
    run.preparation("valgrind", machine.command("valgrind").arg("--version"))?;
    // One after the other, as the clients are built: together they would be built with other
    // features.
    for package in ["trunkline-testserver", "trunkline-bench"] {
        run.command(&mut machine.cargo(&["build", "--release", "-p", package]))?;
    }
    let mut counts = Vec::new();
    for (what, times) in WHAT {
        let once = total(machine, run, what, times)?;
        let twice = total(machine, run, what, 2 * times)?;
        counts.push((what, twice.saturating_sub(once) / times));
    }
    Ok(counts)
}

/// All instructions of a process that does it so often.
fn total(machine: &Machine, run: &mut Run, what: &str, times: u64) -> Result<u64, Stop> {
    let release = machine.target.join("release");
    let mut valgrind = machine.command("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(release.join("bench-instructions"));
    valgrind.args([what, &times.to_string()]).arg(release.join("trunkline-testserver"));
    let printed = run.carry_out(&mut valgrind)?;
    let nothing = || Stop::Failed("callgrind says nothing of instructions".to_string());
    collected(&printed).ok_or_else(nothing)
}

/// What callgrind says of the host; it says as much of each process that the host forked, which did
/// less.
fn collected(printed: &str) -> Option<u64> {
    let counts = printed.lines().filter_map(|line| line.split_once("Collected : "));
    counts.filter_map(|(_, number)| number.trim().parse().ok()).max()
}

fn judge(machine: &Machine, counts: &[(&'static str, u64)]) -> Result<(), Stop> {
    let file = machine.root.join(WRITTEN);
    if std::env::var_os("UPDATE_INSTRUCTIONS").is_some() {
        let counts: Value = counts.iter().map(|(what, count)| (*what, json!(count))).collect();
        let text = serde_json::to_string_pretty(&counts).unwrap_or_default();
        return write(&file, &(text + "\n"));
    }
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let written: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut beyond = Vec::new();
    for (what, count) in counts {
        let Some(before) = written[what].as_u64() else {
            return Err(Stop::Failed(format!("{WRITTEN} says nothing of {what}")));
        };
        let verdict = verdict(*count, before);
        println!("{what}: {count} instructions, written down {before}: {verdict:?}");
        if verdict != Verdict::Within {
            beyond.push(*what);
        }
    }
    let why = || format!("{}: more than {MARGIN_PERCENT} % from {WRITTEN}", beyond.join(", "));
    if beyond.is_empty() { Ok(()) } else { Err(Stop::Failed(why())) }
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Within,
    More,
    /// What is written down is to be renewed, or a loss as large as the gain would go unseen.
    Fewer,
}

fn verdict(count: u64, before: u64) -> Verdict {
    let margin = before * MARGIN_PERCENT / 100;
    match count {
        count if count > before + margin => Verdict::More,
        count if count + margin < before => Verdict::Fewer,
        _ => Verdict::Within,
    }
}

const WRITTEN: &str = "tests/bench/instructions.json";

/// Other compilers and libraries make slightly other code.
const MARGIN_PERCENT: u64 = 10;

/// What is counted, and how often the shorter run does it.
const WHAT: [(&str, u64); 2] = [("call", 2000), ("acquire", 2000)];

#[cfg(test)]
mod tests {
    use super::{Verdict, collected, verdict};

    #[test]
    fn the_count_of_the_host_is_taken_and_not_that_of_its_forks() {
        let printed =
            "==2== Collected : 1333438\n==1== Events    : Ir\n==1== Collected : 25993013\n";
        assert_eq!(collected(printed), Some(25_993_013));
        assert_eq!(collected("==1== Events    : Ir"), None);
    }

    #[test]
    fn a_count_may_be_a_tenth_more_or_less() {
        assert_eq!(
            [900, 1000, 1100].map(|count| verdict(count, 1000)),
            [const { Verdict::Within }; 3]
        );
        assert_eq!((verdict(1101, 1000), verdict(899, 1000)), (Verdict::More, Verdict::Fewer));
    }
}
