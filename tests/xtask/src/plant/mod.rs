//! `cargo xtask plant`: bugs that real pools had, planted one at a time. The simulator must find
//! each.
//!
//! The plants are data, `tests/xtask/plants.json`. Each is applied to a copy of the pure crate in
//! the build folder; the working tree is never touched. `UPDATE_PLANTS=1` writes the table
//! `docs/evidence/plants.md`.

mod seed;
mod table;
mod tree;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};
use seed::Plant;
use table::Row;
use tree::{Outcome, SIMULATIONS, Tree};

/// The command. `chosen` are parts of the names of plants; all of them when it is empty.
pub fn plant(machine: &Machine, chosen: &[&str]) -> ExitCode {
    let mut run = Run::new(machine.target.join("xtask/plant.log"), BOUND);
    match sow(machine, &mut run, chosen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask plant: {why}\n    the whole log: {}", run.log().display());
            ExitCode::FAILURE
        }
    }
}

/// The suite: every plant.
pub fn suite(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    sow(machine, run, &[])
}

/// Plants and looks who notices.
fn sow(machine: &Machine, run: &mut Run, chosen: &[&str]) -> Result<(), Stop> {
    let plants = seed::read(&machine.root).map_err(Stop::Failed)?;
    let is_wanted =
        |plant: &&Plant| chosen.is_empty() || chosen.iter().any(|part| plant.name.contains(part));
    let wanted: Vec<&Plant> = plants.iter().filter(is_wanted).collect();
    let tree = Tree::copy(machine)?;
    let moved: Vec<String> =
        wanted.iter().filter_map(|plant| plant.applied(&machine.root).err()).collect();
    if !moved.is_empty() {
        return Err(Stop::Failed(moved.join("\n")));
    }
    let why = match tree.simulate(machine, run, SIMULATIONS)? {
        Outcome::Missed => None,
        Outcome::Caught(finding) => Some(format!("the simulator says: {}", finding.what)),
        Outcome::Hung => Some("the simulator does not end as it should".to_string()),
        Outcome::Broken => Some("the copy does not compile".to_string()),
    };
    if let Some(why) = why {
        return Err(Stop::Failed(format!("without any plant {why}")));
    }
    println!("{}", table::heading());
    let mut rows = Vec::new();
    for plant in wanted {
        let text = plant.applied(&machine.root).map_err(Stop::Failed)?;
        let started = Instant::now();
        let outcome = tree.simulate_with(machine, run, &plant.file, &text)?;
        let row = Row { plant, outcome, took: started.elapsed() };
        println!("{}", row.line());
        rows.push(row);
    }
    run.note_passed(rows.iter().filter(|row| row.is_caught()).count() as u64);
    let missed: Vec<&str> =
        rows.iter().filter(|row| !row.is_caught()).map(|row| row.plant.name.as_str()).collect();
    if !missed.is_empty() {
        return Err(Stop::Failed(format!("not found by the simulator: {}", missed.join(", "))));
    }
    if chosen.is_empty() && std::env::var_os("UPDATE_PLANTS").is_some() {
        write(&machine.root.join(PAGE), &table::page(&rows))?;
    }
    Ok(())
}

/// The text of a file of the repository.
fn text_of(root: &Path, path: &str) -> Result<String, String> {
    std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}

/// The table in the documentation.
const PAGE: &str = "docs/evidence/plants.md";

/// The most that all plants together may take.
const BOUND: Duration = Duration::from_secs(40 * 60);

#[cfg(test)]
mod tests {
    use super::{PAGE, seed, text_of};
    use std::path::{Path, PathBuf};

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// The code that a plant changes is still there, in one place.
    #[test]
    fn every_plant_fits_the_code() {
        let plants = seed::read(&root()).unwrap();
        let moved: Vec<String> =
            plants.iter().filter_map(|plant| plant.applied(&root()).err()).collect();
        assert!(moved.is_empty(), "{}", moved.join("\n"));
    }

    /// What the pure crate keeps of the design and of the promises has a plant, invariant by
    /// invariant.
    #[test]
    fn every_invariant_has_a_plant() {
        let plants = seed::read(&root()).unwrap();
        let design = (1..=11).map(|number| format!("DESIGN 3 ({number})"));
        let attacks = ["S-04", "S-41"].map(str::to_owned);
        let security = (2..=6).chain(9..=17).map(|number| format!("I-{number:02}"));
        for invariant in design.chain(attacks).chain(security) {
            let has_one = plants.iter().any(|plant| plant.breaks.contains(&invariant));
            assert!(has_one, "no plant breaks {invariant}");
        }
        assert!(plants.len() >= 20);
    }

    /// What the page says was written by a run of exactly these plants, and each was found.
    #[test]
    fn the_page_and_the_plants_name_the_same_bugs() {
        let page = text_of(&root(), PAGE).unwrap();
        let told = |line: &str| {
            let cells: Vec<&str> =
                line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
            let [name, breaks, check, _, why] = cells[..] else { return None };
            assert_ne!(check, "nothing", "{name}");
            Some([name, breaks, why].map(str::to_owned))
        };
        // The first line that reads like a row is the heading.
        let told: Vec<[String; 3]> = page.lines().filter_map(told).skip(1).collect();
        let plants = seed::read(&root()).unwrap();
        let planted =
            plants.into_iter().map(|plant| [plant.name, plant.breaks.join(", "), plant.why]);
        assert_eq!(
            told,
            planted.collect::<Vec<_>>(),
            "write the page anew: UPDATE_PLANTS=1 cargo xtask plant"
        );
    }
}
