//! `cargo xtask fuzz`: the targets of `tests/fuzz` for longer than a submission takes.
//!
//! With a nightly compiler and cargo-fuzz libFuzzer looks for inputs, guided by which code they
//! reach. What it finds is put into the build folder; `--keep` takes over into the corpus what
//! reaches more. How long a target was searched adds up from run to run
//! (`docs/evidence/fuzz.json`). Without them the inputs of the tests are made, only more of them.

mod searched;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use searched::{Came, Reached, Searched};

use crate::children;
use crate::machine::{Machine, Reach};
use crate::run::{Observed, Run, Stop};

/// What is asked for on the command line.
struct Wish<'a> {
    targets: Vec<&'a str>,
    seconds: u64,
    /// How often each target has its turn.
    rounds: u32,
    keeps: bool,
}

/// The command.
pub fn fuzz(machine: &Machine, arguments: &[&str]) -> ExitCode {
    let wish = match wish(machine, arguments) {
        Ok(wish) => wish,
        Err(why) => {
            eprintln!("xtask fuzz: {why}");
            return ExitCode::FAILURE;
        }
    };
    let bound =
        BUILD_BOUND + Duration::from_secs(wish.seconds + MERGE_SECONDS) * TARGETS_MAX * wish.rounds;
    let mut run = Run::new(machine.target.join("xtask").join(log_name(&wish.targets)), bound);
    match search(machine, &mut run, &wish) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask fuzz: {why}\n{}", run.why(TAIL_LINES));
            eprintln!("    the whole log: {}", run.log().display());
            ExitCode::FAILURE
        }
    }
}

/// Searches of different targets may be under way at a time, each with a log of its own.
fn log_name(targets: &[&str]) -> String {
    let words: Vec<&str> = std::iter::once("fuzz").chain(targets.iter().copied()).collect();
    words.join("-") + ".log"
}

/// The targets are the folders of the corpus: the tests see to it that each has one.
fn wish<'a>(machine: &Machine, arguments: &[&'a str]) -> Result<Wish<'a>, String> {
    let mut wish = Wish { targets: Vec::new(), seconds: SECONDS, rounds: 1, keeps: false };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--seconds" => {
                let number = rest.next().and_then(|text| text.parse().ok());
                wish.seconds = number.ok_or("--seconds needs a number")?;
            }
            "--rounds" => {
                let number = rest.next().and_then(|text| text.parse().ok());
                wish.rounds = number.ok_or("--rounds needs a number")?;
            }
            "--keep" => wish.keeps = true,
            name if machine.root.join(CORPUS).join(name).is_dir() => wish.targets.push(name),
            name => return Err(format!("no target {name}; they are the folders of {CORPUS}")),
        }
    }
    Ok(wish)
}

fn search(machine: &Machine, run: &mut Run, wish: &Wish) -> Result<(), Stop> {
    let targets = match wish.targets.is_empty() {
        true => all(machine)?,
        false => wish.targets.iter().map(|name| (*name).to_owned()).collect(),
    };
    let guided = match guided(machine, run) {
        Ok(guided) => guided,
        Err(Stop::NotRun(why)) => {
            println!("not guided by coverage: {why}");
            return replay(machine, run, &wish.targets);
        }
        Err(failed) => return Err(failed),
    };
    let mut broken: Vec<&str> = Vec::new();
    for _ in 0..wish.rounds {
        for name in &targets {
            if broken.contains(&name.as_str()) {
                continue;
            }
            let target = Target { machine, guided: &guided, name };
            let came = target.search(run, wish.seconds)?;
            let before = searched::note(machine, name, &came)?;
            println!("{name:<10} {}", in_words(&came, before.as_ref()));
            match came {
                Came::Found => broken.push(name),
                Came::Nothing(_) if wish.keeps => target.keep(run)?,
                Came::Nothing(_) => {}
            }
        }
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Stop::Failed(format!("broken: {}", broken.join(", ")))),
    }
}

/// Row 15 of the scoreboard: the inputs of the tests and, in its long form, how long libFuzzer
/// searched.
pub fn replayed(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.testserver(run)?;
    let mut cargo = machine.cargo(&["test", "-p", "trunkline-fuzz", "--test", "replay"]);
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_STRESS", "full");
    }
    run.command(&mut cargo)?;
    if machine.reach == Reach::Full { note_searched(machine, run) } else { Ok(()) }
}

/// Writes down how many targets were searched for as long as they are to be, and prints which were
/// not.
pub fn note_searched(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let (mut enough, targets) = (0, all(machine)?);
    let seconds = searched::seconds(machine)?;
    for target in &targets {
        match seconds.get(target).copied().unwrap_or(0) {
            searched if searched >= searched::GOAL_SECONDS => enough += 1,
            searched => {
                println!("    {target}: searched for {searched} of {} s", searched::GOAL_SECONDS)
            }
        }
    }
    run.note_score("fuzz/searched", enough);
    Ok(())
}

/// A target in the program that libFuzzer drives.
struct Target<'a> {
    machine: &'a Machine,
    guided: &'a Path,
    name: &'a str,
}

impl Target<'_> {
    /// Looks for inputs for a while.
    fn search(&self, run: &mut Run, seconds: u64) -> Result<Came, Stop> {
        for folder in [&self.found(), &self.broken()] {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| Stop::Failed(format!("{}: {error}", folder.display())))?;
        }
        let before = children::processor_time();
        let mut searching = self.command();
        searching.arg(format!("-max_total_time={seconds}")).arg(self.found()).arg(self.corpus());
        let observed = run.observe(&mut searching, Duration::MAX)?;
        let processor = children::processor_time().saturating_sub(before);
        let searched = searched(processor, &observed.text);
        match breaking(&observed) {
            Breaking::None => Ok(Came::Nothing(searched)),
            Breaking::Input(input) if self.was_only_held_up(run, input)? => {
                Ok(Came::Nothing(searched))
            }
            Breaking::Input(_) => Ok(Came::Found),
            Breaking::Itself => {
                let why = format!("{}: libFuzzer failed by itself: {}", self.name, observed.ended);
                Err(Stop::Failed(why))
            }
        }
    }

    /// Whether an input took long for what the machine did meanwhile: by itself it takes no time.
    fn was_only_held_up(&self, run: &mut Run, input: &str) -> Result<bool, Stop> {
        let is_hang = input.rsplit('/').next().is_some_and(|name| name.contains("-timeout-"));
        if !is_hang {
            return Ok(false);
        }
        Ok(run.observe(self.command().arg(input), Duration::MAX)?.succeeded)
    }

    /// Takes over into the corpus what reaches more.
    fn keep(&self, run: &mut Run) -> Result<(), Stop> {
        let mut merging = self.command();
        run.carry_out(merging.arg("-merge=1").arg(self.corpus()).arg(self.found())).map(drop)
    }

    fn command(&self) -> Command {
        let mut command = self.machine.command(self.guided);
        command.env("TRUNKLINE_FUZZ_TARGET", self.name);
        let prefix = self.broken().join(format!("{}-", self.name));
        command.arg(format!("-artifact_prefix={}", prefix.display()));
        command.arg(format!("-max_len={INPUT_BYTES_MAX}")).args(BOUNDS);
        command
    }

    fn found(&self) -> PathBuf {
        self.machine.target.join("fuzz/found").join(self.name)
    }

    fn broken(&self) -> PathBuf {
        self.machine.target.join("fuzz/broken")
    }

    fn corpus(&self) -> PathBuf {
        self.machine.root.join(CORPUS).join(self.name)
    }
}

/// The program with the targets in it. What it needs and this machine lacks is no failure.
fn guided(machine: &Machine, run: &mut Run) -> Result<PathBuf, Stop> {
    let nightly = |args: &[&str]| {
        let mut command = machine.command("rustup");
        command.args(["run", "nightly", "cargo", "fuzz"]).args(args);
        command
    };
    run.preparation("a nightly compiler and cargo-fuzz", &mut nightly(&["--version"]))?;
    let target = machine.target.join("fuzz");
    let mut build = nightly(&["build", "guided", "--fuzz-dir", "tests/fuzz/guided"]);
    run.command(build.arg("--target-dir").arg(&target))?;
    let entries = std::fs::read_dir(&target).into_iter().flatten().flatten();
    let mut built = entries.map(|entry| entry.path().join("release/guided"));
    built
        .find(|path| path.is_file())
        .ok_or_else(|| Stop::Failed("cargo-fuzz built no program".into()))
}

/// The tests of the targets, in their long form.
fn replay(machine: &Machine, run: &mut Run, targets: &[&str]) -> Result<(), Stop> {
    let mut cargo = machine.cargo(&["test", "-p", "trunkline-fuzz", "--test", "replay", "--"]);
    let printed = run.carry_out(cargo.args(targets).env("TRUNKLINE_STRESS", "full"))?;
    println!("{printed}");
    Ok(())
}

fn all(machine: &Machine) -> Result<Vec<String>, Stop> {
    let corpus = machine.needs(CORPUS)?;
    let entries = std::fs::read_dir(corpus).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// How much was searched, from what libFuzzer prints.
fn searched(processor: Duration, printed: &str) -> Searched {
    let number_behind = |mark: &str| {
        let (_, rest) = printed.rsplit_once(mark)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let number_before = |mark: &str| {
        let (rest, _) = printed.split_once(mark)?;
        rest.rsplit('(').next()?.parse().ok()
    };
    let inputs = number_behind("stat::number_of_executed_units:").unwrap_or(0);
    let edges = number_behind(" cov: ").unwrap_or(0);
    let counters = number_before(" inline 8-bit counters)").unwrap_or(0);
    Searched { processor, inputs, edges, counters }
}

/// What ended a search before its time.
#[derive(Debug, PartialEq)]
enum Breaking<'a> {
    /// Nothing did. An input that took long is written down then too, and breaks nothing.
    None,
    /// The input of this file.
    Input(&'a str),
    /// No input is known.
    Itself,
}

fn breaking(observed: &Observed) -> Breaking<'_> {
    if observed.succeeded {
        return Breaking::None;
    }
    match observed.text.rsplit_once("Test unit written to ") {
        Some((_, rest)) => Breaking::Input(rest.lines().next().unwrap_or_default().trim()),
        None => Breaking::Itself,
    }
}

/// A short search, or one that read little of the corpus, may reach fewer edges than one before:
/// that is said, and is no failure.
fn in_words(came: &Came, before: Option<&Reached>) -> String {
    let Came::Nothing(Searched { processor, inputs, edges, counters }) = came else {
        return "BROKEN".to_owned();
    };
    let fewer = match before {
        Some(before) if before.edges > *edges && before.counters == *counters => {
            format!(", FEWER than the {} before", before.edges)
        }
        Some(before) if before.edges > *edges => {
            format!(", {} before, by another program", before.edges)
        }
        _ => String::new(),
    };
    let seconds = processor.as_secs();
    format!("{seconds} s, {inputs} inputs, {edges} edges reached{fewer}, nothing broken")
}

const CORPUS: &str = "tests/fuzz/corpus";

/// How long each target is searched, unless it is said.
const SECONDS: u64 = 60;

/// Longer inputs say nothing new, and take their time.
const INPUT_BYTES_MAX: usize = 4 << 10;

/// What is a hang and what is too much memory; what is left at the end is the runtime of the
/// process. Without the names of functions no other program is started for them, which would
/// outlive the search on a busy machine.
const BOUNDS: [&str; 5] = [
    "-timeout=20",
    "-rss_limit_mb=2048",
    "-detect_leaks=0",
    "-print_funcs=0",
    "-print_final_stats=1",
];

/// The longest that a build takes from nothing.
const BUILD_BOUND: Duration = Duration::from_secs(40 * 60);

/// The longest that it takes to find out which of the inputs are kept.
const MERGE_SECONDS: u64 = 300;

/// More than there are.
const TARGETS_MAX: u32 = 20;

/// Lines of the log that are printed of a search that failed.
const TAIL_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Reach;

    #[test]
    fn searches_of_different_targets_have_logs_of_their_own() {
        assert_eq!(log_name(&[]), "fuzz.log");
        assert_eq!(log_name(&["json", "abi"]), "fuzz-json-abi.log");
    }

    #[test]
    fn targets_and_times_are_taken_from_the_command_line() {
        let machine = Machine::new(Reach::Default).unwrap();
        let said = ["json", "--seconds", "5", "frames", "--keep", "--rounds", "3"];
        let taken = wish(&machine, &said).unwrap();
        assert_eq!((taken.targets, taken.seconds, taken.keeps), (vec!["json", "frames"], 5, true));
        assert_eq!(taken.rounds, 3);
        let taken = wish(&machine, &[]).unwrap();
        assert_eq!((taken.targets.len(), taken.seconds, taken.keeps), (0, SECONDS, false));
        for wrong in [&["nothing"][..], &["--seconds"], &["--seconds", "soon"], &["--rounds"]] {
            assert!(wish(&machine, wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_last_of_what_is_printed_counts() {
        let printed = "INFO: Loaded 1 modules   (4321 inline 8-bit counters): 4321 [0x5, 0x6),\n\
                       #2 INITED cov: 10 ft: 11\n#9 DONE   cov: 250 ft: 600 corp: 3\n\
                       stat::number_of_executed_units: 9000\n";
        let processor = Duration::from_secs(5);
        let found = Searched { processor, inputs: 9_000, edges: 250, counters: 4_321 };
        assert_eq!(searched(processor, printed), found);
    }

    #[test]
    fn fewer_edges_are_said_and_by_the_same_program_loudly() {
        let processor = Duration::from_secs(5);
        let came = Came::Nothing(Searched { processor, inputs: 9, edges: 250, counters: 70 });
        let after = |edges, counters| in_words(&came, Some(&Reached { edges, counters }));
        assert!(after(251, 70).contains("250 edges reached, FEWER than the 251 before, nothing"));
        assert!(after(251, 71).contains("250 edges reached, 251 before, by another program"));
        assert!(after(250, 70).ends_with("250 edges reached, nothing broken"));
        assert_eq!(in_words(&Came::Found, None), "BROKEN");
    }

    #[test]
    fn an_input_that_was_only_slow_breaks_nothing() {
        let ended = |succeeded, text: &str| {
            let (text, ended) = (text.to_owned(), String::new());
            Observed { succeeded, ended, text }
        };
        let broken =
            "MS: 1\nartifact_prefix='/b/a-'; Test unit written to /b/a-crash-1\nBase64: \n";
        let slow = "artifact_prefix='/b/a-'; Test unit written to /b/a-slow-unit-2\nDone 9 runs\n";
        assert_eq!(breaking(&ended(false, broken)), Breaking::Input("/b/a-crash-1"));
        assert_eq!(breaking(&ended(true, slow)), Breaking::None);
        assert_eq!(breaking(&ended(false, "Done 9 runs\n")), Breaking::Itself);
    }
}
