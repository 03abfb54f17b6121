//! `cargo xtask demo`: the main job in each language that the machine has.

mod hosts;
pub mod languages;
mod real;
mod transcript;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::children::is_running;
use crate::machine::Machine;
use crate::run::{Run, Stop};
pub use languages::{
    LANGUAGES, Language, Profile, c_library, node_package, python_command, python_site,
};

/// Shows the demo in all languages, or in those that are named; `real` shows real servers.
pub fn demo(machine: &Machine, chosen: &[&str]) -> ExitCode {
    if chosen == ["real"] {
        let mut run = Run::new(machine.target.join("xtask/demo.log"), HANG_BOUND);
        return real::real(machine, &mut run);
    }
    if let Some(unknown) = chosen.iter().find(|name| LANGUAGES.iter().all(|l| l.name != **name)) {
        eprintln!("xtask: no language {unknown}; there are: rust c python node");
        return ExitCode::FAILURE;
    }
    println!("Two sessions share one server process, in each language of this machine.");
    let mut run = Run::new(machine.target.join("xtask/demo.log"), HANG_BOUND);
    let is_wanted = |language: &&Language| chosen.is_empty() || chosen.contains(&language.name);
    let mut outcomes = Vec::new();
    for language in LANGUAGES.iter().filter(is_wanted) {
        println!("\n{}", language.title);
        let outcome = show(machine, &mut run, language, Voice::Aloud);
        if let Err(Stop::Failed(_)) = outcome {
            println!("{}", run.why(TAIL_LINES));
        }
        outcomes.push((language, outcome));
    }
    println!();
    for (language, outcome) in &outcomes {
        match outcome {
            Ok(()) => println!("{:<8} ok", language.title),
            Err(Stop::NotRun(why)) => println!("{:<8} not shown: {why}", language.title),
            Err(Stop::Failed(why)) => println!("{:<8} FAILED: {why}", language.title),
        }
    }
    let failed = outcomes.iter().any(|(_, outcome)| matches!(outcome, Err(Stop::Failed(_))));
    let shown = outcomes.iter().any(|(_, outcome)| outcome.is_ok());
    if shown && !failed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The suite `examples`: the same, quietly, and every language has to run; and the hosts beside the
/// demo.
pub fn examples(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut missing = None;
    for language in &LANGUAGES {
        match show(machine, run, language, Voice::Quiet) {
            Ok(()) => run.counted += 1,
            Err(Stop::NotRun(why)) => missing = Some(format!("{}: {why}", language.name)),
            Err(Stop::Failed(why)) => {
                return Err(Stop::Failed(format!("{}: {why}", language.name)));
            }
        }
    }
    missing.map_or(Ok(()), |why| Err(Stop::NotRun(why)))?;
    hosts::hosts(machine, run)
}

/// Whether the steps are shown.
#[derive(Clone, Copy, PartialEq)]
enum Voice {
    Aloud,
    Quiet,
}

fn show(machine: &Machine, run: &mut Run, language: &Language, voice: Voice) -> Result<(), Stop> {
    machine.needs(language.program)?;
    let testserver = machine.testserver(run)?.to_path_buf();
    let mut command = (language.prepare)(machine, run)?;
    let log = fresh_start_log(machine, language.name);
    let servers = json!({"demo": {
        "command": testserver,
        "args": ["--list-changes", "--label", "demo", "--start-log", log],
    }});
    let printed = run.carry_out(command.arg(servers.to_string()));
    let told = printed.and_then(|text| transcript::check(&text, language.title));
    let left = settle(&log);
    let _ = std::fs::remove_file(&log);
    let told = told?;
    if voice == Voice::Aloud {
        told.iter().for_each(|line| println!("  {line}"));
    }
    match left {
        Left { starts: 1, running: 0 } => {}
        Left { starts, running: 0 } => {
            return Err(Stop::Failed(format!("{starts} servers were started instead of one")));
        }
        Left { running, .. } => return Err(Stop::Failed(format!("{running} processes are left"))),
    }
    if voice == Voice::Aloud {
        println!("  one server was started, and no process is left");
    }
    Ok(())
}

fn fresh_start_log(machine: &Machine, program: &str) -> PathBuf {
    let name = format!("demo-{program}-{}.starts", std::process::id());
    let path = machine.target.join("xtask").join(name);
    let _ = std::fs::remove_file(&path);
    path
}

/// What the start log says once the program has ended.
struct Left {
    starts: usize,
    running: usize,
}

/// Waits until no logged process runs, for at most the grace.
fn settle(log: &Path) -> Left {
    let deadline = Instant::now() + SETTLE_GRACE;
    loop {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let pids = text.lines().filter_map(|line| line.split(' ').next()?.parse::<u32>().ok());
        let running = pids.filter(|pid| is_running(*pid)).count();
        if running == 0 || Instant::now() >= deadline {
            let starts = text.lines().filter(|line| line.ends_with(" server")).count();
            return Left { starts, running };
        }
        std::thread::sleep(POLL);
    }
}

/// The demo in all languages, builds from nothing included.
const HANG_BOUND: Duration = Duration::from_secs(20 * 60);

/// How long a server may take to go after the program has ended.
const SETTLE_GRACE: Duration = Duration::from_secs(5);

const POLL: Duration = Duration::from_millis(20);

/// Lines of the log that are printed when a language fails.
const TAIL_LINES: usize = 40;
