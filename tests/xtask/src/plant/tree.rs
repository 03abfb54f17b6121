//! The copy of the pure crate, as a workspace of its own in the build folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::text_of;
use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// The copy.
pub struct Tree {
    folder: PathBuf,
    target: PathBuf,
}

/// What the simulator said.
pub enum Outcome {
    Caught(Finding),
    Missed,
    /// It did not end within its time, or not with a finding.
    Hung,
    /// The copy does not compile.
    Broken,
}

/// The one line that a failing simulation says.
pub struct Finding {
    pub seed: u64,
    pub step: u64,
    /// The check that noticed.
    pub check: String,
    pub what: String,
}

impl Tree {
    /// Copies what has changed since the last time.
    pub fn copy(machine: &Machine) -> Result<Tree, Stop> {
        let base = machine.target.join("plant");
        let tree = Tree { folder: base.join("tree"), target: base.join("target") };
        let manifest = text_of(&machine.root, "Cargo.toml").map_err(Stop::Failed)?;
        tree.put("Cargo.toml", &workspace_of_one(&manifest))?;
        let lock = text_of(&machine.root, "Cargo.lock").map_err(Stop::Failed)?;
        tree.put("Cargo.lock", &lock)?;
        tree.put_folder(&machine.root, Path::new(CRATE))?;
        // The simulator has this one file in common with the tests of the whole.
        let shared = text_of(&machine.root, SHARED).map_err(Stop::Failed)?;
        tree.put(SHARED, &shared)?;
        Ok(tree)
    }

    /// Builds the copy as it is and runs its simulations in that order, until one finds something.
    pub fn simulate(
        &self,
        machine: &Machine,
        run: &mut Run,
        simulations: [&str; 3],
    ) -> Result<Outcome, Stop> {
        let bound = BUILD_BOUND + RUN_BOUND;
        let built = run.observe(self.cargo(machine).arg("--no-run"), bound)?;
        if !built.succeeded {
            return Ok(Outcome::Broken);
        }
        for simulation in simulations {
            let mut simulator = self.cargo(machine);
            simulator.args(["--", simulation]);
            simulator.env("TRUNKLINE_SIMULATOR_STEPS", STEPS).env("TRUNKLINE_SIMULATOR_BRIEF", "1");
            simulator.env("RUST_BACKTRACE", "0");
            let ran = run.observe(&mut simulator, RUN_BOUND)?;
            if !ran.succeeded {
                let found = ran.text.lines().find_map(finding);
                return Ok(found.map_or(Outcome::Hung, Outcome::Caught));
            }
        }
        Ok(Outcome::Missed)
    }

    /// The same with another text of one file, which is put back afterwards. First runs the
    /// simulation that is more likely to find what is wrong in that file.
    pub fn simulate_with(
        &self,
        machine: &Machine,
        run: &mut Run,
        file: &str,
        text: &str,
    ) -> Result<Outcome, Stop> {
        self.put(file, text)?;
        let [pool, plan, calls] = SIMULATIONS;
        let likely_first = match file {
            file if file.ends_with("plan.rs") => [plan, pool, calls],
            file if file.contains("in_flight") => [calls, pool, plan],
            _ => SIMULATIONS,
        };
        let outcome = self.simulate(machine, run, likely_first);
        let original = text_of(&machine.root, file).map_err(Stop::Failed)?;
        self.put(file, &original)?;
        outcome
    }

    fn cargo(&self, machine: &Machine) -> Command {
        let mut cargo = machine.cargo(&["test", "--offline", "--quiet"]);
        cargo.args(["-p", "trunkline-pool", "--test", "simulator"]);
        cargo.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        cargo.env("RUSTFLAGS", "-Awarnings").env_remove("TRUNKLINE_SEED");
        cargo
    }

    /// Copies a folder; what it no longer holds goes from the copy.
    fn put_folder(&self, root: &Path, folder: &Path) -> Result<(), Stop> {
        let failed = |error: std::io::Error| Stop::Failed(format!("{}: {error}", folder.display()));
        let copy = self.folder.join(folder);
        std::fs::create_dir_all(&copy).map_err(failed)?;
        for item in std::fs::read_dir(&copy).map_err(failed)? {
            let path = item.map_err(failed)?.path();
            let original = root.join(folder).join(path.file_name().unwrap_or_default());
            if path.is_dir() && !original.is_dir() {
                std::fs::remove_dir_all(&path).map_err(failed)?;
            } else if path.is_file() && !original.is_file() {
                std::fs::remove_file(&path).map_err(failed)?;
            }
        }
        for item in std::fs::read_dir(root.join(folder)).map_err(failed)? {
            let item = item.map_err(failed)?;
            let path = folder.join(item.file_name());
            if item.file_type().map_err(failed)?.is_dir() {
                self.put_folder(root, &path)?;
            } else {
                let path = path.to_string_lossy();
                self.put(&path, &text_of(root, &path).map_err(Stop::Failed)?)?;
            }
        }
        Ok(())
    }

    /// Writes a file of the copy, unless it says the same already: cargo looks at the time of
    /// writing.
    fn put(&self, path: &str, text: &str) -> Result<(), Stop> {
        let path = self.folder.join(path);
        if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Stop::Failed(error.to_string()))?;
        }
        write(&path, text)
    }
}

/// The workspace's manifest with the pure crate as its one member, and a profile that builds fast.
fn workspace_of_one(manifest: &str) -> String {
    let from = manifest.find("[workspace.package]").unwrap_or(0);
    let to = manifest.find("[profile.").unwrap_or(manifest.len());
    let profile = "[profile.dev]\ndebug = false\n\n[profile.dev.package.sha2]\nopt-level = 2\n";
    let inherited = &manifest[from..to];
    format!("[workspace]\nresolver = \"3\"\nmembers = [\"{CRATE}\"]\n\n{inherited}{profile}")
}

/// Reads `caught: seed 3, step 4711, model: two entries of …`.
fn finding(line: &str) -> Option<Finding> {
    let (seed, rest) = line.strip_prefix("caught: seed ")?.split_once(", step ")?;
    let (step, rest) = rest.split_once(", ")?;
    let (check, what) = rest.split_once(": ").unwrap_or((rest, ""));
    let (seed, step) = (seed.parse().ok()?, step.parse().ok()?);
    Some(Finding { seed, step, check: check.to_string(), what: what.to_string() })
}

/// The pure crate.
const CRATE: &str = "core/pool";

/// What its simulator has from elsewhere.
const SHARED: &str = "core/tests/rig/score.rs";

/// The simulations, by parts of their names: of the pool, of the plan, and of the calls of a
/// connection.
pub const SIMULATIONS: [&str; 3] =
    ["every_invariant_holds", "every_edit_converges", "every_call_ends_once"];

/// Steps within which a plant must be found.
const STEPS: &str = "300000";

/// The most that one build may take beside its run: the first builds the dependencies.
const BUILD_BOUND: Duration = Duration::from_secs(300);

/// The most that one simulation may take.
const RUN_BOUND: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CRATE, Tree, finding, workspace_of_one};
    use crate::folder::Folder;

    #[test]
    fn a_finding_is_read_from_its_line() {
        let found = finding("caught: seed 3, step 47, at rest: left: x").unwrap();
        assert_eq!((found.seed, found.step), (3, 47));
        assert_eq!((&found.check[..], &found.what[..]), ("at rest", "left: x"));
        assert!(finding("test result: FAILED").is_none());
    }

    #[test]
    fn what_the_crate_no_longer_holds_goes_from_the_copy() {
        let base = Folder::new();
        let (root, tree) =
            (base.join("root"), Tree { folder: base.join("tree"), target: base.join("target") });
        let folder = root.join(CRATE);
        std::fs::create_dir_all(folder.join("old")).unwrap();
        for file in ["kept.rs", "gone.rs", "old/main.rs"] {
            std::fs::write(folder.join(file), "").unwrap();
        }
        tree.put_folder(&root, Path::new(CRATE)).unwrap();
        std::fs::remove_file(folder.join("gone.rs")).unwrap();
        std::fs::remove_dir_all(folder.join("old")).unwrap();
        tree.put_folder(&root, Path::new(CRATE)).unwrap();
        let there = std::fs::read_dir(tree.folder.join(CRATE)).unwrap();
        let there: Vec<_> = there.map(|item| item.unwrap().file_name()).collect();
        assert_eq!(there, ["kept.rs"]);
    }

    #[test]
    fn the_copy_is_a_workspace_of_the_pure_crate_alone() {
        let manifest = "[workspace]\nmembers = [\n    \"core\",\n]\n\n[workspace.package]\nx = 1\n\n[profile.dev]\ny = 2\n";
        let copy = workspace_of_one(manifest);
        assert!(copy.contains("members = [\"core/pool\"]") && copy.contains("x = 1"), "{copy}");
        assert!(!copy.contains("y = 2"), "{copy}");
    }
}
