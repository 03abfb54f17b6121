//! The suites that need cargo alone.

use std::process::Command;

use crate::machine::{Machine, Reach};
use crate::run::{Run, Stop};
use crate::suites::programs;

pub fn fmt(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["fmt", "--all", "--check"]))
}

/// What is told by OTLP is built apart from the rest, which is to be looked at as it is without
/// that, and so are the models of threads. The benchmark is named with either: what they all stand
/// on has its features, and is looked at once.
pub fn clippy(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let all: &[&str] = &["--all-targets", "--workspace", "--exclude", OTLP];
    for looked_at in [all, &["--all-targets", "--package", OTLP, BENCHMARK], &MODELS] {
        let mut cargo = machine.cargo_beside(&["clippy", "--quiet"]);
        run.command(cargo.args(looked_at).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// The same packages as the lints look at, so that what they stand on is looked at once.
pub fn doc(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let all: &[&str] = &["--workspace", "--exclude", OTLP];
    for packages in [all, &["--package", "trunkline", "--package", OTLP, BENCHMARK]] {
        let mut cargo = machine.cargo_beside(&["doc", "--no-deps", "--quiet"]);
        run.command(cargo.args(packages).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

/// The tests of this crate, the tidy test among them.
pub fn tidy(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["test", "-p", "xtask"]))
}

/// The crates of a plain `cargo test`; with `--full`, the simulator and the stress tests in their
/// long forms.
///
/// They are built with the same features, so that nothing is compiled twice; but what is told by
/// OTLP and what fuzzers read, which they are without.
pub fn core(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.testserver(run)?;
    // Files tell of it, whatever the tests come to.
    if machine.reach == Reach::Full {
        crate::fuzz::note_searched(machine, run)?;
    }
    let calls: [&programs::Call; 2] =
        [&|| tests_of(machine, &CRATES), &|| tests_of(machine, &APART)];
    programs::run(machine, run, calls)
}

/// The tests of the pool's crate, its simulator among them.
pub fn simulator(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut tests_of(machine, &["trunkline-pool"]))
}

fn tests_of(machine: &Machine, crates: &[&str]) -> Command {
    let mut cargo = machine.cargo(&["test", "--no-fail-fast"]);
    for package in crates {
        cargo.args(["-p", package]);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cargo.env("RUST_TEST_THREADS", (cores * TESTS_PER_CORE).to_string());
    cargo.env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS);
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_STRESS", "full");
        cargo.env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS_FULL);
        cargo.env("TRUNKLINE_SIMULATOR_FIRST", "random");
    }
    cargo
}

pub fn header(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["test", "-p", "trunkline-header"]))
}

const CRATES: [&str; 5] =
    ["trunkline-pool", "trunkline", "trunkline-cli", "trunkline-ffi", "trunkline-testserver"];

/// The models are among the tests inside of the libraries.
const MODELS: [&str; 6] = [
    "--profile=test",
    "--lib",
    "--package=trunkline",
    "--package=trunkline-ffi",
    BENCHMARK,
    SCHEDULES,
];

const BENCHMARK: &str = "--package=trunkline-bench";

const SCHEDULES: &str = "--features=schedules";

/// The library with the feature `otlp`, and a receiver.
const OTLP: &str = "trunkline-otlp";

/// What is built with features that the rest is without: the library with `otlp` and `fuzzing`.
const APART: [&str; 2] = [OTLP, "trunkline-fuzz"];

/// Most of a test's time is waiting, for a process or a clock: a fifth of it was work.
const TESTS_PER_CORE: usize = 2;

/// Steps of the simulator in the default run: enough to meet every pair of its coverage.
const SIMULATOR_STEPS: &str = "3000000";

/// Steps of the simulator in the long form.
const SIMULATOR_STEPS_FULL: &str = "10000000";
