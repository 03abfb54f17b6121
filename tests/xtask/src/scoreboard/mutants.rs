//! Mutants: cargo-mutants changes the code in one place at a time, and a test has to notice.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::rows::written;
use crate::machine::Machine;
use crate::run::{Run, Stop};
use crate::tables::{list, word, words};

/// A part of the pure crate whose mutants are counted by themselves.
struct Part {
    name: &'static str,
    files: &'static [&'static str],
    /// The test programs that have to notice.
    tests: &'static [&'static str],
    /// Tests among them that are of other parts, and take long.
    aside: &'static [&'static str],
    /// How many runs the part is cut into: of some fifty mutants each.
    pieces: usize,
}

impl Part {
    fn of(row: &'static Value) -> Part {
        let [files, tests, aside] = ["files", "tests", "aside"].map(|member| words(row, member));
        let pieces = row["pieces"].as_u64().map_or(1, |pieces| pieces as usize);
        Part { name: word(row, "name"), files, tests, aside, pieces }
    }
}

/// Puts the mutants of each part to its tests. The whole takes hours, so what came of a piece is
/// kept in the build folder: the same command goes on where one was ended, as long as the crate is
/// the same.
pub fn mutants(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.preparation("cargo-mutants", &mut machine.cargo(&["mutants", "--version"]))?;
    let kept = kept(machine, run)?;
    let mut weak = Vec::new();
    for part in list(written("mutants"), "parts").iter().map(Part::of) {
        let mut tally = Tally::default();
        for piece in 0..part.pieces {
            tally.add(put_to_the_test(machine, run, &part, piece, &kept)?);
        }
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

/// Where what came of the pieces is kept: by what the crate holds. Of one that is being changed
/// nothing is.
fn kept(machine: &Machine, run: &mut Run) -> Result<PathBuf, Stop> {
    let mut git = machine.command("git");
    let tree = run.carry_out(git.args(["rev-parse", "HEAD:core/pool"]))?;
    let mut git = machine.command("git");
    let changes = run.carry_out(git.args(["status", "--porcelain", "--", "core/pool"]))?;
    let folder = machine.target.join("xtask/mutants");
    if changes.trim().is_empty() {
        return Ok(folder.join(tree.trim()));
    }
    let _ = std::fs::remove_dir_all(folder.join("changed"));
    Ok(folder.join("changed"))
}

fn put_to_the_test(
    machine: &Machine,
    run: &mut Run,
    part: &Part,
    piece: usize,
    kept: &Path,
) -> Result<Tally, Stop> {
    let whole = kept.join(format!("{}-{piece}", part.name));
    if !whole.exists() {
        let begun = kept.join("begun");
        let _ = std::fs::remove_dir_all(&begun);
        std::fs::create_dir_all(&begun).map_err(|error| not_kept(&begun, &error))?;
        run.observe(&mut command(machine, part, piece, &begun), Duration::MAX)?;
        // What failed or was cut short is not kept.
        Tally::read(&begun.join(OUTCOMES))?;
        std::fs::rename(&begun, &whole).map_err(|error| not_kept(&whole, &error))?;
    }
    Tally::read(&whole.join(OUTCOMES))
}

fn not_kept(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Failed(format!("{}: {error}", path.display()))
}

/// What puts a piece to its tests. They are named to each build as well, so that no other program
/// is made.
fn command(machine: &Machine, part: &Part, piece: usize, output: &Path) -> Command {
    let mut cargo = machine.cargo(&["mutants", "-p", "trunkline-pool", "--jobs", "1"]);
    cargo.args(["--timeout", "120", "--no-times", "--colors", "never"]);
    cargo.args(["-C=--config", "-C=profile.dev.package.trunkline-pool.opt-level=0"]);
    cargo.args(part.tests.iter().map(|test| format!("-C={test}")));
    for left in ["core/pool/src/state/invariants.rs", "**/tests.rs", "**/tests/**"] {
        cargo.args(["-e", left]);
    }
    for files in part.files {
        cargo.args(["-f", files]);
    }
    cargo.arg("--shard").arg(format!("{piece}/{}", part.pieces));
    cargo.arg("--output").arg(output).args(["--", "--"]);
    // Of no part are the tests that try much at random.
    let aside = words(written("mutants"), "aside").iter().chain(part.aside);
    cargo.args(aside.map(|tests| format!("--skip={tests}")));
    cargo.env("TRUNKLINE_SIMULATOR_STEPS", "30000").env("TRUNKLINE_SIMULATOR_BRIEF", "1");
    cargo
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
        // It is written after each mutant, and has its end when there is no more.
        if !outcomes["end_time"].is_string() {
            return Err(wrong("the mutants were ended before their end"));
        }
        let mut tally = Tally::default();
        for outcome in outcomes["outcomes"].as_array().ok_or_else(|| wrong("no outcomes"))? {
            let Some(name) = outcome["scenario"]["Mutant"]["name"].as_str() else {
                match outcome["summary"].as_str() {
                    Some("Success") => continue,
                    _ => return Err(wrong("the tests fail without a mutant")),
                }
            };
            match outcome["summary"].as_str() {
                // A mutant that never ends is noticed, since somebody waits for the tests.
                Some("CaughtMutant" | "Timeout") => tally.noticed += 1,
                Some("MissedMutant") => tally.missed.push(name.to_owned()),
                Some("Unviable") => {}
                _ => return Err(wrong("an outcome of no known kind")),
            }
        }
        Ok(tally)
    }

    fn add(&mut self, other: Tally) {
        self.noticed += other.noticed;
        self.missed.extend(other.missed);
    }

    fn all(&self) -> u64 {
        self.noticed + self.missed.len() as u64
    }

    /// Nine of ten, of one or more.
    fn is_enough(&self) -> bool {
        self.all() > 0 && self.noticed * 10 >= self.all() * 9
    }
}

/// Where cargo-mutants writes what became of each.
const OUTCOMES: &str = "mutants.out/outcomes.json";

#[cfg(test)]
mod tests {
    use super::Tally;
    use crate::folder::Folder;
    use crate::run::Stop;

    fn read(outcomes: &str) -> Result<Tally, Stop> {
        let folder = Folder::new();
        let file = folder.join("outcomes.json");
        let text = format!(r#"{{"outcomes":[{outcomes}],"end_time":"{ENDED}"}}"#);
        std::fs::write(&file, text).unwrap();
        Tally::read(&file)
    }

    const ENDED: &str = "2026-11-26T22:56:07Z";

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
    #[test]
    fn what_was_ended_before_its_time_shows_nothing() {
        let folder = Folder::new();
        let file = folder.join("outcomes.json");
        let caught = mutant("a", "CaughtMutant");
        std::fs::write(&file, format!(r#"{{"outcomes":[{caught}],"end_time":null}}"#)).unwrap();
        let cut = Tally::read(&file);
        assert!(matches!(cut, Err(Stop::Failed(why)) if why.ends_with("before their end")));
    }
}
