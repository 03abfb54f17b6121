//! `cargo xtask bench --instructions`: how many instructions of ours a call takes, which no noise of the machine changes.
//!
//! callgrind counts those of one process, the host's. Two runs that differ in nothing but the number of calls differ in nothing but the
//! instructions of those calls; what they should be is written down in `tests/bench/instructions.json`.

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
    let packages = ["-p", "trunkline-bench", "-p", "trunkline-testserver"];
    run.command(machine.cargo(&["build", "--release"]).args(packages))?;
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
    let collected = printed.lines().find_map(|line| line.split_once("Collected : "));
    let number = collected.and_then(|(_, number)| number.trim().parse().ok());
    number.ok_or_else(|| Stop::Failed("callgrind says nothing of instructions".to_string()))
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
    use super::{Verdict, verdict};

    #[test]
    fn a_count_may_be_a_tenth_more_or_less() {
        assert_eq!(
            [900, 1000, 1100].map(|count| verdict(count, 1000)),
            [const { Verdict::Within }; 3]
        );
        assert_eq!((verdict(1101, 1000), verdict(899, 1000)), (Verdict::More, Verdict::Fewer));
    }
}
