//! What became of each plant, as lines for the terminal and as the page `docs/evidence/plants.md`.

use std::time::Duration;

use super::seed::Plant;
use super::tree::Outcome;

/// One plant's line.
pub struct Row<'a> {
    pub plant: &'a Plant,
    pub outcome: Outcome,
    /// Building and running.
    pub took: Duration,
}

/// The heading of the lines.
pub fn heading() -> String {
    format!(
        "{:<44} {:<26} {:<11} {:>5} {:>7} {:>6}  {}",
        "plant", "breaks", "caught by", "seed", "step", "ms", "saying"
    )
}

impl Row<'_> {
    pub fn is_caught(&self) -> bool {
        matches!(self.outcome, Outcome::Caught(_))
    }

    /// The line for the terminal.
    pub fn line(&self) -> String {
        let (check, seed, step, what) = match &self.outcome {
            Outcome::Caught(finding) => {
                let what: String = finding.what.chars().take(SAYING).collect();
                (finding.check.as_str(), finding.seed.to_string(), finding.step.to_string(), what)
            }
            Outcome::Missed => ("NOTHING", "-".into(), "-".into(), String::new()),
            Outcome::Hung => ("HANGS", "-".into(), "-".into(), String::new()),
            Outcome::Broken => ("NO BUILD", "-".into(), "-".into(), String::new()),
        };
        format!(
            "{:<44} {:<26} {check:<11} {seed:>5} {step:>7} {:>6}  {what}",
            self.plant.name,
            self.plant.breaks.join(" "),
            self.took.as_millis(),
        )
    }

    fn cells(&self) -> String {
        let (check, within) = match &self.outcome {
            Outcome::Caught(finding) => (finding.check.as_str(), within(finding.step)),
            Outcome::Missed | Outcome::Hung | Outcome::Broken => ("nothing", "never"),
        };
        let Plant { name, breaks, why, .. } = self.plant;
        format!("| {name} | {} | {check} | {within} | {why} |\n", breaks.join(", "))
    }
}

/// The page.
pub fn page(rows: &[Row<'_>]) -> String {
    let rows: String = rows.iter().map(Row::cells).collect();
    format!("{INTRODUCTION}{rows}")
}

/// A bound on the steps, in powers of ten: the exact number changes with every change of the
/// simulator.
fn within(step: u64) -> &'static str {
    match step {
        0..=100 => "100",
        101..=1_000 => "1,000",
        1_001..=10_000 => "10,000",
        10_001..=100_000 => "100,000",
        _ => "1,000,000",
    }
}

const INTRODUCTION: &str = "\
<!-- Written by `UPDATE_PLANTS=1 cargo xtask plant`; do not edit. -->

# Planted bugs

`cargo xtask plant` puts each of these bugs, alone, into a copy of the pure crate and runs the simulator alone. It fails unless the
simulator finds every one. The bugs are data, in `tests/xtask/plants.json`; the checks are described in [simulator.md](../internals/simulator.md).

| Plant | Breaks | Caught by | Within steps | What happens in a pool that has it |
|---|---|---|---|---|
";

/// Characters of a complaint that a line shows.
const SAYING: usize = 70;
