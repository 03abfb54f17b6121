//! `cargo xtask conformance serve`: the suite's server mode, over TCP, against the reference server
//! with its fixtures.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use super::official::Official;
use super::reference::{Reference, SERVED};
use super::table::{Tallies, Tally};
use crate::machine::Machine;
use crate::run::{Run, Stop};

/// Runs both revisions; fails where a scenario passes fewer checks than is written down.
pub fn serve(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let reference = Reference::read_from(&machine.root, SERVED)?;
    let official = Official::install(machine, run)?;
    let server = Served::start(machine, run)?;
    let tallies = official.served(run, &server.url, &reference)?;
    let mut short = Vec::new();
    for revision in reference.scored.keys() {
        let reference = reference.of(revision);
        let missing = missing(&reference, &tallies);
        let all = reference.wanted().count();
        let (scenarios, checks) = (all - missing.len(), checks(&reference, &tallies));
        println!("    testserver, {revision}: {scenarios} of {all} scenarios, {checks} checks");
        run.note_passed(scenarios as u64);
        short.extend(missing);
    }
    if short.is_empty() {
        return Ok(());
    }
    let (count, list) = (short.len(), short.join("\n    "));
    Err(Stop::Failed(format!("{count} scenarios fall short:\n    {list}")))
}

/// The scenarios that passed fewer checks than are wanted, in words.
fn missing(reference: &Reference, tallies: &Tallies) -> Vec<String> {
    let missing = reference.wanted().filter_map(|(revision, scenario, wanted)| {
        let what = match tally(tallies, revision, scenario) {
            Some(tally) if tally.is_enough(wanted) => return None,
            Some(tally) => format!("{} of {wanted}", tally.passed),
            None => "did not run".to_string(),
        };
        Some(format!("{revision}, {scenario}: {what}"))
    });
    missing.collect()
}

/// How many checks of the wanted scenarios passed.
fn checks(reference: &Reference, tallies: &Tallies) -> u64 {
    let of = |(revision, scenario, _)| tally(tallies, revision, scenario);
    reference.wanted().filter_map(of).map(|tally| tally.passed).sum()
}

fn tally(tallies: &Tallies, revision: &str, scenario: &str) -> Option<Tally> {
    tallies.get(revision)?.get(scenario).copied()
}

/// A server under test, which ends with this.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(machine: &Machine, run: &mut Run) -> Result<Served, Stop> {
        let program = machine.testserver(run)?;
        let mut command = machine.command(program);
        command.args(["--http", "0", "--fixtures", "--era", "dual"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let failed = |error: std::io::Error| Stop::Failed(format!("the server: {error}"));
        let mut served = Served { child: command.spawn().map_err(failed)?, url: String::new() };
        let Some(out) = served.child.stdout.take() else {
            return Err(Stop::Failed("the server has no output".into()));
        };
        BufReader::new(out).read_line(&mut served.url).map_err(failed)?;
        served.url = served.url.trim().to_string();
        if served.url.is_empty() {
            return Err(Stop::Failed("the server ended before it named its address".into()));
        }
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    #[test]
    fn a_scenario_that_falls_short_or_did_not_run_is_named_and_checks_are_summed() {
        let reference = r#"{"scored": {"r": {"a": 3, "b": 2, "c": 1}}, "beside": {}}"#;
        let reference = Reference::parse(reference).unwrap();
        let rows = "✓ a: 3 passed, 0 failed\n✗ b: 1 passed, 1 failed";
        let tallies: Tallies = [("r".to_string(), table::read(rows))].into();
        assert_eq!(missing(&reference, &tallies), ["r, b: 1 of 2", "r, c: did not run"]);
        assert_eq!(checks(&reference, &tallies), 4);
    }

    #[test]
    fn all_that_the_suite_scores_is_written_down() {
        let machine = Machine::new(crate::machine::Reach::Default).unwrap();
        let reference = Reference::read_from(&machine.root, SERVED).unwrap();
        let count = |revision| reference.of(revision).wanted().count();
        assert_eq!((count("2025-11-25"), count("2026-07-28")), (33, 40));
    }
}
