//! The page of the documentation: every goal and every workload, as the figures that are kept have
//! them.

use std::fmt::Write as _;

use serde_json::Value;

use super::figures::Figures;
use super::goals::Limit;
use super::peers::{PEERS, Peer};
use super::workloads::GROUPS;
use super::{goals, kept, plot, table};
use crate::machine::{Machine, write};
use crate::run::Stop;

/// Writes the page and its plot from the kept figures.
pub fn update(machine: &Machine) -> Result<(), Stop> {
    let file = machine.target.join(super::KEPT);
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Stop::Failed(format!("{}: {error}", file.display())))?;
    let kept: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut figures = Figures::default();
    figures.add_rows(&kept["figures"]);
    let under = kept::in_words(&kept["machine"]);
    write(&machine.root.join("docs/evidence/bench.svg"), &plot::draw(&figures, &under))?;
    write(&machine.root.join("docs/evidence/bench.md"), &page(&figures, &kept["machine"]))
}

fn page(figures: &Figures, machine: &Value) -> String {
    let mut page = String::from(HEAD);
    let _ = writeln!(
        page,
        "{}; {}, {}, Python {}, Node {}.\n",
        kept::in_words(machine),
        word(machine, "libc"),
        word(machine, "rustc"),
        last_word(machine, "python"),
        last_word(machine, "node")
    );
    page.push_str(
        "![Each goal, and how far what was measured is from it](bench.svg)\n\n## Goals\n\n",
    );
    row(&mut page, &["Row", "What", "Goal", "Measured", "Of the rounds", ""]);
    row(&mut page, &["---"; 6]);
    for goal in goals::all() {
        let rounds = goal.rounds(figures);
        let (measured, verdict) = match rounds.median() {
            Some(value) if goal.bound.is_met(value) => (goals::round(value), "met"),
            Some(value) => (goals::round(value), "**not met**"),
            None => ("unknown".to_owned(), "not measured"),
        };
        let name = format!("`{}`", goal.row);
        let unit = |figure: &str| format!("{figure} {}", goal.unit).trim_end().to_owned();
        let cells = [
            &name,
            goal.what,
            &unit(&goal.bound.shown()),
            &unit(&measured),
            &rounds.spread(),
            verdict,
        ];
        row(&mut page, &cells);
        if let Some(Limit { what, value, spread, word }) = goal.limit(figures) {
            row(&mut page, &["", what, "", &unit(&goals::round(value)), &spread, word]);
        }
    }
    page.push_str("\n## Workloads\n");
    let peers: Vec<&Peer> = PEERS.iter().collect();
    for workload in GROUPS.iter().flat_map(|group| group.workloads) {
        let lines = table::lines(figures, workload, &peers);
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n`{}`: {}.\n", workload.name, workload.title);
        let heads = table::heads(workload.unit);
        row(&mut page, &heads.each_ref().map(String::as_str));
        row(&mut page, &["---"; 8]);
        lines.iter().for_each(|line| row(&mut page, &line.each_ref().map(String::as_str)));
    }
    page
}

fn row(page: &mut String, cells: &[&str]) {
    // Writing to a string cannot fail, here and above.
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

fn word<'a>(machine: &'a Value, name: &str) -> &'a str {
    machine[name].as_str().unwrap_or("unknown")
}

fn last_word<'a>(machine: &'a Value, name: &str) -> &'a str {
    word(machine, name).rsplit(' ').next().unwrap_or_default()
}

const HEAD: &str = "# Benchmark

Written by `cargo xtask bench --page` from the figures of a run. The method, what stands in which group, and what is not claimed are in [performance.md](../internals/performance.md).
A goal is a bound on the median over the rounds; beside it are the least and the greatest of them. Microseconds are of this machine; ratios travel.
A line without a row's name is a program that does nothing else, measured beside the goal above it; within the bound it shows no limit.

";

#[cfg(test)]
mod tests {
    use super::page;
    use crate::bench::figures::{Figures, Round};
    use serde_json::json;

    #[test]
    fn a_goal_is_met_or_not_and_what_was_not_measured_is_no_pass() {
        let mut figures = Figures::default();
        let round = Round { run: 1, number: 0 };
        figures.add("rust", round, "{\"workload\":\"acquire\",\"p50_us\":0.5}");
        figures.add("python", round, "{\"workload\":\"acquire\",\"p50_us\":90}");
        let page = page(&figures, &json!({"cpu": "a processor", "cores": 2, "commit": "abc"}));
        let line = |row: &str| page.lines().find(|line| line.contains(row)).unwrap().to_owned();
        assert!(
            line("`rust-acquire`").ends_with("| at most 1 us | 0.5 us |  | met |"),
            "{}",
            line("`rust-acquire`")
        );
        assert!(line("`python-acquire`").contains("**not met**"));
        assert!(line("`node-acquire`").contains("not measured"));
        assert!(page.contains("a processor, 2 cores") && page.contains("| rust | 0.5 |"));
    }
}
