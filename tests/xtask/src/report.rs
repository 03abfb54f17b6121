//! The table that ends a run of the suites.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::run::Stop;

/// One suite's line.
pub struct Row {
    pub suite: &'static str,
    pub result: Result<(), Stop>,
    pub counted: u64,
    /// How often its tests put which promise to the test, by the rows of the scoreboard.
    pub scores: BTreeMap<String, u64>,
    /// Its tests that are red, as their runners name them.
    pub failed: Vec<String>,
    pub took: Duration,
    pub budget: Duration,
}

/// Prints the table of a run that took so long.
pub fn print(rows: &[Row], took: Duration, is_ci: bool) {
    println!("\n{:<11} {:<8} {:>6} {:>8}", "suite", "result", "tests", "seconds");
    for row in rows {
        let word = match (&row.result, is_ci) {
            (Ok(()), _) => "ok",
            (Err(Stop::NotRun(_)), false) => "not run",
            (Err(_), _) => "FAILED",
        };
        let counted = if row.counted > 0 { row.counted.to_string() } else { "-".to_string() };
        let note = match &row.result {
            Err(Stop::Failed(why) | Stop::NotRun(why)) if row.failed.is_empty() => why.clone(),
            Err(Stop::Failed(why) | Stop::NotRun(why)) => {
                format!("{why}; failed: {}", row.failed.join(", "))
            }
            Ok(()) if row.took > row.budget => format!("over its {} s", row.budget.as_secs()),
            Ok(()) => String::new(),
        };
        let line = format!(
            "{:<11} {:<8} {:>6} {:>8.1}  {note}",
            row.suite,
            word,
            counted,
            row.took.as_secs_f64()
        );
        println!("{}", line.trim_end());
    }
    let counted: u64 = rows.iter().map(|row| row.counted).sum();
    let took = took.as_secs_f64();
    println!("{:<11} {:<8} {counted:>6} {took:>8.1}", "all", verdict(rows, is_ci));
}

/// Whether the run as a whole has passed.
pub fn has_passed(rows: &[Row], is_ci: bool) -> bool {
    rows.iter().all(|row| match row.result {
        Ok(()) => true,
        Err(Stop::NotRun(_)) => !is_ci,
        Err(Stop::Failed(_)) => false,
    })
}

fn verdict(rows: &[Row], is_ci: bool) -> &'static str {
    if has_passed(rows, is_ci) { "ok" } else { "FAILED" }
}

#[cfg(test)]
mod tests {
    use super::{Row, has_passed};
    use crate::run::Stop;
    use std::time::Duration;

    fn row(result: Result<(), Stop>) -> Row {
        let budget = Duration::from_secs(1);
        let (scores, failed) = Default::default();
        Row { suite: "x", result, counted: 1, scores, failed, took: budget, budget }
    }

    #[test]
    fn a_suite_that_could_not_run_fails_in_ci_alone() {
        let not_run = [row(Ok(())), row(Err(Stop::NotRun("no npm".to_string())))];
        assert!(has_passed(&not_run, false));
        assert!(!has_passed(&not_run, true));
        assert!(!has_passed(&[row(Err(Stop::Failed("broken".to_string())))], false));
    }
}
