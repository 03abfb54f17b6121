//! The suites of `cargo xtask test`, as one table.

pub mod real;

mod adapters;
mod ahead;
mod c;
mod elsewhere;
mod mach_o;
mod macos;
mod node;
mod platforms;
mod programs;
mod python;
mod runtimes;
mod rust;
mod supply;

pub use c::programs_of as c_programs_of;
pub use programs::programs;
pub use python::environment as python_environment;
pub use rust::simulator;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::children;
use crate::machine::{Machine, Reach};
use crate::report::{self, Row};
use crate::run::{Run, Stop};

/// One suite.
struct Suite {
    name: &'static str,
    what: &'static str,
    /// Minutes that it should take on two cores; it is killed after twice as many.
    minutes: u64,
    run: fn(&Machine, &mut Run) -> Result<(), Stop>,
}

impl Suite {
    fn is_beside(&self) -> bool {
        BESIDE.iter().any(|suite| suite.name == self.name)
    }
}

/// In the order of running: what fails fastest comes first. With those beside them the minutes add
/// up to 46.
static SUITES: [Suite; 12] = [
    Suite { name: "fmt", what: "the formatting", minutes: 1, run: rust::fmt },
    Suite {
        name: "tidy",
        what: "sizes, names, banned calls, xtask's own tests",
        minutes: 1,
        run: rust::tidy,
    },
    Suite {
        name: "core",
        what: "the Rust crates, the simulator, the behaviour cases",
        minutes: 9,
        run: rust::core,
    },
    Suite { name: "header", what: "include/trunkline.h is current", minutes: 1, run: rust::header },
    Suite {
        name: "c",
        what: "C99 and C++17: plain, sanitizers, valgrind, behaviour",
        minutes: 5,
        run: c::c,
    },
    Suite {
        name: "python",
        what: "pytest, mypy, stubtest, behaviour",
        minutes: 6,
        run: python::python,
    },
    Suite { name: "node", what: "node --test, tsc, behaviour", minutes: 4, run: node::node },
    Suite {
        name: "runtimes",
        what: "the Node package in Bun and Deno, and in single executables",
        minutes: 4,
        run: runtimes::runtimes,
    },
    Suite {
        name: "real",
        what: "servers that no one here wrote, from Rust",
        minutes: 2,
        run: real::real,
    },
    Suite {
        name: "conformance",
        what: "the official suite, against a client in C, Python and Node",
        minutes: 2,
        run: crate::conformance::suite,
    },
    Suite {
        name: "reap",
        what: "nothing survives a close or a killed host, in each language",
        minutes: 2,
        run: crate::reap::suite,
    },
    Suite {
        name: "examples",
        what: "the demo in each language, and whole hosts",
        minutes: 1,
        run: crate::demo::examples,
    },
];

/// What only compiles is done beside all others, in this order, with what these leave of the
/// processors: they wait for much of their time.
static BESIDE: [Suite; 3] = [
    Suite { name: "clippy", what: "the lints, warnings denied", minutes: 3, run: rust::clippy },
    Suite { name: "doc", what: "the documentation, warnings denied", minutes: 1, run: rust::doc },
    Suite {
        name: "platforms",
        what: "it compiles for other systems and for none; its package is whole",
        minutes: 4,
        run: platforms::platforms,
    },
];

/// What the long form has more; by name it runs in either.
static LONG: [Suite; 8] = [
    Suite {
        name: "plant",
        what: "planted bugs, which the simulator finds",
        minutes: 4,
        run: crate::plant::suite,
    },
    Suite {
        name: "supply",
        what: "licences and sources of what it is built of",
        minutes: 6,
        run: supply::supply,
    },
    Suite {
        name: "docs",
        what: "the documentation as a site: every page, link and public symbol",
        minutes: 3,
        run: crate::docs::suite,
    },
    Suite {
        name: "adapters",
        what: "agent frameworks from their registries, through the adapters",
        minutes: 5,
        run: adapters::adapters,
    },
    Suite {
        name: "arm",
        what: "64-bit ARM under qemu: the pool, and the library and C programs with servers of this machine",
        minutes: 20,
        run: elsewhere::arm,
    },
    Suite {
        name: "windows",
        what: "Windows under Wine: the pool, and C programs with servers of their own",
        minutes: 10,
        run: elsewhere::windows,
    },
    Suite {
        name: "macos",
        what: "everything for macOS, built and linked by zig; nothing of it runs",
        minutes: 10,
        run: macos::macos,
    },
    Suite {
        name: "dist",
        what: "what is published, each installed where nothing else is",
        minutes: 15,
        run: crate::dist::suite,
    },
];

/// Runs all suites, or those that are named, and prints the table.
pub fn test(machine: &Machine, chosen: &[&str]) -> ExitCode {
    if let Some(unknown) = chosen.iter().find(|name| all().all(|suite| suite.name != **name)) {
        eprintln!("xtask: no suite {unknown}; there are:");
        list();
        return ExitCode::FAILURE;
    }
    let is_long = |suite: &Suite| LONG.iter().any(|long| long.name == suite.name);
    let is_wanted = |suite: &&Suite| match chosen.is_empty() {
        true => machine.reach == Reach::Full || !is_long(suite),
        false => chosen.contains(&suite.name),
    };
    let began = Instant::now();
    let mut rows = carried_out(machine, &all().filter(is_wanted).collect::<Vec<_>>());
    rows.extend(crate::scoreboard::of_suites(machine, &rows));
    report::print(&rows, began.elapsed(), machine.is_ci());
    if report::has_passed(&rows, machine.is_ci()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn all() -> impl Iterator<Item = &'static Suite> {
    SUITES.iter().chain(&BESIDE).chain(&LONG)
}

/// One after another, and what is done beside them meanwhile.
fn carried_out(machine: &Machine, suites: &[&Suite]) -> Vec<Row> {
    let (beside, others): (Vec<&Suite>, Vec<&Suite>) =
        suites.iter().partition(|suite| suite.is_beside());
    std::thread::scope(|scope| {
        if machine.is_whole {
            scope.spawn(|| {
                children::let_others_go_first();
                ahead::prepare(machine);
            });
        }
        let beside = scope.spawn(|| {
            children::let_others_go_first();
            beside.into_iter().map(|suite| run(machine, suite)).collect::<Vec<_>>()
        });
        let mut rows: Vec<Row> = others.into_iter().map(|suite| run(machine, suite)).collect();
        // Nobody waits for what was never built.
        let _ = machine.library.set(false);
        rows.extend(beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        rows
    })
}

/// The program that abuses the C ABI, plain, with sanitizers and under valgrind.
pub fn abuse(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    c::programs(machine, run, &["plain-abuse", "sanitized-abuse", "valgrind-abuse"])
}

/// The hosts with signals, forks and ends of their own, in each language: of the suites `c`,
/// `python` and `node`.
pub fn hosts(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let signals = ["plain-signals", "sanitized-signals", "valgrind-signals"];
    c::programs(machine, run, &[&["plain-fork", "plain-exit"], &signals[..]].concat())?;
    python::tests(machine, run, "bindings/python/tests/test_hosts.py")?;
    node::tests(machine, run, "bindings/node/test/process.test.mjs")
}

/// The callbacks that misbehave, in each language.
pub fn callbacks(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let goals = [
        "plain-callbacks",
        "sanitized-callbacks",
        "valgrind-callbacks",
        "plain-throws",
        "sanitized-throws",
        "plain-exit_inside",
        "sanitized-exit_inside",
    ];
    c::programs(machine, run, &goals)?;
    python::tests(machine, run, "bindings/python/tests/test_callbacks.py")?;
    node::tests(machine, run, "bindings/node/test/callbacks.test.mjs")
}

/// Secrets in what a host configures, and a search for each in what is shown, in each language.
pub fn canaries(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.testserver(run)?;
    run.command(machine.cargo(&["test", "-p", "trunkline", "--test", "process"]).arg("no_secret"))?;
    c::programs(machine, run, &["plain-canaries"])?;
    python::tests(machine, run, "bindings/python/tests/test_canaries.py")?;
    node::tests(machine, run, "bindings/node/test/canaries.test.mjs")
}

/// Prints the suites.
pub fn list() {
    for suite in all() {
        println!("  {:<11} {}", suite.name, suite.what);
    }
}

fn run(machine: &Machine, suite: &Suite) -> Row {
    println!("{}: {}", suite.name, suite.what);
    let factor = if machine.reach == Reach::Full { FULL_FACTOR } else { 1 };
    // Beside others it takes what these leave it.
    let minutes = if suite.is_beside() { minutes_of_all() } else { suite.minutes };
    let budget = Duration::from_secs(minutes * 60 * factor);
    let log = machine.target.join("xtask").join(format!("{}.log", suite.name));
    let mut run = Run::new(log, budget * HANG_FACTOR);
    let started = Instant::now();
    let result = (suite.run)(machine, &mut run).and_then(|()| run.leaves_nothing());
    for line in &run.closing {
        println!("    {line}");
    }
    if let Err(Stop::Failed(_)) = result {
        let (why, log) = (run.why(TAIL_LINES), run.log().display());
        println!("{} failed:\n{why}\n    the whole log: {log}", suite.name);
    }
    let (counted, scores) = (run.counted, run.scores());
    let failed = std::mem::take(&mut run.failed);
    Row { suite: suite.name, result, counted, scores, failed, took: started.elapsed(), budget }
}

fn minutes_of_all() -> u64 {
    SUITES.iter().chain(&BESIDE).map(|suite| suite.minutes).sum()
}

/// The long forms may take this much longer.
const FULL_FACTOR: u64 = 6;

/// A suite that takes this many times its budget hangs.
const HANG_FACTOR: u32 = 2;

/// Lines of a failed suite's log that are printed beside those that tell of a failure.
const TAIL_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use super::minutes_of_all;

    #[test]
    fn the_default_run_stays_within_its_budget() {
        assert!(minutes_of_all() <= 46);
    }
}
