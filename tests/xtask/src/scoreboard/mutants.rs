//! Mutants: cargo-mutants changes the code in one place at a time, and a test has to notice.

use std::path::Path;

use serde_json::Value;

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// A part of the pure crate whose mutants are counted by themselves.
struct Part {
    name: &'static str,
    files: &'static [&'static str],
    /// The test programs that have to notice.
    tests: &'static [&'static str],
}

/// Puts the mutants of each part to its tests. `TRUNKLINE_MUTANTS=2/8` takes the third eighth of each part.
pub fn mutants(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.preparation("cargo-mutants", &mut machine.cargo(&["mutants", "--version"]))?;
    let shard = std::env::var("TRUNKLINE_MUTANTS").ok();
    let mut weak = Vec::new();
    for part in PARTS {
        let tally = put_to_the_test(machine, run, part, shard.as_deref())?;
        let line = format!("{}: {} of {} mutants noticed", part.name, tally.noticed, tally.all());
        println!("    {line}{}", if tally.missed.is_empty() { "" } else { "; not:" });
        tally.missed.iter().for_each(|name| println!("        {name}"));
        run.note_score("mutants", tally.all());
        if !tally.is_enough() {
            weak.push(line);
        }
    }
    if weak.is_empty() { Ok(()) } else { Err(Stop::Failed(weak.join("; "))) }
}

fn put_to_the_test(
    machine: &Machine,
    run: &mut Run,
    part: &Part,
    shard: Option<&str>,
) -> Result<Tally, Stop> {
    let output = machine.target.join("xtask").join(format!("mutants-{}", part.name));
    let mut cargo = machine.cargo(&["mutants", "-p", "trunkline-pool", "--jobs", "1"]);
    cargo.args(["--timeout", "120", "--no-times", "--colors", "never"]);
    cargo.args(["-C=--config", "-C=profile.dev.package.trunkline-pool.opt-level=0"]);
    cargo.args([
        "-e",
        "core/pool/src/state/invariants.rs",
        "-e",
        "**/tests.rs",
        "-e",
        "**/tests/**",
    ]);
    for files in part.files {
        cargo.args(["-f", files]);
    }
    if let Some(shard) = shard {
        cargo.args(["--shard", shard]);
    }
    cargo.arg("--output").arg(&output).arg("--").args(part.tests);
    cargo.env("TRUNKLINE_SIMULATOR_STEPS", "30000").env("TRUNKLINE_SIMULATOR_BRIEF", "1");
    let _ = std::fs::remove_dir_all(&output);
    run.observe(&mut cargo, std::time::Duration::MAX)?;
    Tally::read(&output.join("mutants.out/outcomes.json"))
}

/// What became of the mutants that compile.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    noticed: u64,
    missed: Vec<String>,
}

impl Tally {
    fn read(file: &Path) -> Result<Tally, Stop> {
        let wrong = |why: &str| Stop::Failed(format!("{}: {why}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| wrong(&error.to_string()))?;
        let outcomes: Value =
            serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
        let mut tally = Tally::default();
        for outcome in outcomes["outcomes"].as_array().ok_or_else(|| wrong("no outcomes"))? {
            let Some(name) = outcome["scenario"]["Mutant"]["name"].as_str() else {
                match outcome["summary"].as_str() {
                    Some("Success") => continue,
                    _ => return Err(wrong("the tests fail without a mutant")),
                }
            };
            match outcome["summary"].as_str() {
                // A mutant that never ends is noticed by whoever waits for the tests.
                Some("CaughtMutant" | "Timeout") => tally.noticed += 1,
                Some("MissedMutant") => tally.missed.push(name.to_owned()),
                Some("Unviable") => {}
                _ => return Err(wrong("an outcome of no known kind")),
            }
        }
        Ok(tally)
    }

    fn all(&self) -> u64 {
        self.noticed + self.missed.len() as u64
    }

    /// Nine of ten, of one or more.
    fn is_enough(&self) -> bool {
        self.all() > 0 && self.noticed * 10 >= self.all() * 9
    }
}

const RULES: &[&str] = &["--lib", "--test", "rules"];

/// The pool, the gates, what a change of the configuration makes of what runs, and what two servers are the same by.
const PARTS: &[Part] = &[
    Part {
        name: "state",
        files: &["core/pool/src/state/**"],
        tests: &["--lib", "--test", "rules", "--test", "simulator"],
    },
    Part { name: "gates", files: &["core/pool/src/gates/**"], tests: RULES },
    Part {
        name: "reconcile",
        files: &["core/pool/src/plan.rs", "core/pool/src/layers/**"],
        tests: RULES,
    },
    Part {
        name: "key",
        files: &["core/pool/src/config/**", "core/pool/src/cached/key.rs"],
        tests: RULES,
    },
];

#[cfg(test)]
mod tests {
    use super::Tally;
    use crate::folder::Folder;
    use crate::run::Stop;

    fn read(outcomes: &str) -> Result<Tally, Stop> {
        let folder = Folder::new();
        let file = folder.join("outcomes.json");
        std::fs::write(&file, format!("{{\"outcomes\":[{outcomes}]}}")).unwrap();
        Tally::read(&file)
    }

    fn mutant(name: &str, summary: &str) -> String {
        format!(r#"{{"scenario":{{"Mutant":{{"name":"{name}"}}}},"summary":"{summary}"}}"#)
    }

    #[test]
    fn what_nobody_noticed_is_named_and_what_does_not_compile_does_not_count() {
        let baseline = r#"{"scenario":"Baseline","summary":"Success"}"#;
        let all = [
            baseline.to_owned(),
            mutant("a", "CaughtMutant"),
            mutant("b", "Timeout"),
            mutant("c", "MissedMutant"),
            mutant("d", "Unviable"),
        ];
        let tally = read(&all.join(",")).unwrap();
        assert_eq!(tally, Tally { noticed: 2, missed: vec!["c".to_owned()] });
        assert!(!tally.is_enough());
        assert!(Tally { noticed: 9, missed: vec!["c".to_owned()] }.is_enough());
        assert!(!read("").unwrap().is_enough());
    }

    #[test]
    fn tests_that_fail_by_themselves_notice_nothing() {
        let failed = read(r#"{"scenario":"Baseline","summary":"Failure"}"#);
        assert!(matches!(failed, Err(Stop::Failed(why)) if why.ends_with("without a mutant")));
        assert!(read(&mutant("a", "Otherwise")).is_err());
    }
}
