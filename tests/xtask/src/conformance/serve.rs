//! `cargo xtask conformance serve`: the suite's server mode, over TCP, against the reference server
//! with its fixtures, and against an endpoint in front of it in all four cells of eras.

use serde_json::json;

use super::official::Official;
use super::reference::Reference;
use super::speaker::Speaker;
use super::table::{Tallies, Tally};
use crate::machine::Machine;
use crate::run::{Run, Stop};

/// Runs both revisions against each; fails where a scenario passes fewer checks than is written
/// down.
pub fn serve(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let references = Reference::served(&machine.root)?;
    let official = Official::install(machine, run)?;
    run.command(machine.cargo_build("trunkline").args(["--example", "endpoint"]))?;
    let mut short = Vec::new();
    for (of, reference) in &references {
        let served = match of.as_str() {
            "direct" => Served::alone(machine, run)?,
            era => Served::behind(machine, run, &official, era)?,
        };
        let tallies = official.served(run, &served.url, reference)?;
        for revision in reference.scored.keys() {
            let reference = reference.of(revision);
            let missing = missing(&reference, &tallies);
            let all = references["direct"].of(revision).wanted().count();
            let passed = reference.wanted().count() - missing.len();
            let checks = checks(&reference, &tallies);
            println!("    {of}, {revision}: {passed} of {all} scenarios, {checks} checks");
            run.note_passed(passed as u64);
            short.extend(missing.into_iter().map(|what| format!("{of}, {what}")));
        }
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

/// What the suite speaks to, and the programs of it, which end with this.
struct Served {
    url: String,
    _programs: Vec<Speaker>,
}

impl Served {
    /// The reference server itself.
    fn alone(machine: &Machine, run: &mut Run) -> Result<Served, Stop> {
        let mut command = machine.command(machine.testserver(run)?);
        command.args(["--http", "0", "--fixtures", "--era", "dual"]);
        let server = Speaker::start(&mut command)?;
        Ok(Served { url: server.said.clone(), _programs: vec![server] })
    }

    /// An endpoint in front of the reference server of that era.
    fn behind(
        machine: &Machine,
        run: &mut Run,
        official: &Official,
        era: &str,
    ) -> Result<Served, Stop> {
        let mut relay = machine.command(official.node());
        relay.arg("tests/conformance/with_token.mjs");
        let mut relay = Speaker::start(&mut relay)?;
        let origin = format!("http://127.0.0.1:{}", relay.said);
        let server = json!({
            "command": machine.testserver(run)?, "args": ["--fixtures", "--era", era], "era": era,
        });
        let mut endpoint = machine.command(machine.target.join("debug/examples/endpoint"));
        endpoint.arg(json!({ "s": server }).to_string());
        // The suite's own page asks too.
        let options = json!({ "allowed_hosts": ["127.0.0.1"], "allowed_origins": [origin] });
        endpoint.arg(options.to_string());
        let endpoint = Speaker::start(&mut endpoint)?;
        relay.tell(&endpoint.said)?;
        // The way to the endpoint ends before it does.
        Ok(Served { url: format!("{origin}/mcp/s"), _programs: vec![relay, endpoint] })
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

    /// A modern client of a legacy server falls short of the rest, by scenarios of questions.
    #[test]
    fn what_is_written_down_is_all_that_the_suite_scores_but_for_one_cell() {
        let machine = Machine::new(crate::machine::Reach::Default).unwrap();
        let references = Reference::served(&machine.root).unwrap();
        let count = |of: &str, revision: &str| references[of].of(revision).wanted().count();
        for (of, legacy, modern) in [("direct", 33, 40), ("legacy", 33, 29), ("modern", 33, 40)] {
            assert_eq!(
                (count(of, "2025-11-25"), count(of, "2026-07-28")),
                (legacy, modern),
                "{of}"
            );
        }
    }
}
