//! The suites that need cargo alone.

use crate::machine::{Machine, Reach};
use crate::run::{Run, Stop};

pub fn fmt(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["fmt", "--all", "--check"]))
}

pub fn clippy(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let args = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    run.command(&mut machine.cargo(&args))
}

pub fn doc(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut cargo = machine.cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    run.command(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}

/// The tests of this crate, the tidy test among them.
pub fn tidy(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["test", "-p", "xtask"]))
}

/// The crates of a plain `cargo test`; with `--full`, the simulator and the stress tests in their long forms.
pub fn core(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.testserver(run)?;
    simulator(machine, run)?;
    let mut cargo = machine.cargo(&["test", "--no-fail-fast"]);
    for package in ["trunkline", "trunkline-ffi", "trunkline-testserver", "trunkline-fuzz"] {
        cargo.args(["-p", package]);
    }
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_STRESS", "full");
    }
    run.command(&mut cargo)
}

/// The tests of the pool's crate, its simulator among them.
pub fn simulator(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut cargo = machine.cargo(&["test", "--no-fail-fast", "-p", "trunkline-pool"]);
    // The simulator says how many steps it made, and from which seed on.
    cargo.args(["--", "--nocapture"]).env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS);
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_SIMULATOR_STEPS", SIMULATOR_STEPS_FULL);
        cargo.env("TRUNKLINE_SIMULATOR_FIRST", "random");
    }
    run.command(&mut cargo)
}

pub fn header(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["test", "-p", "trunkline-header"]))
}

/// Steps of the simulator in the default run: enough to meet every pair of its coverage.
const SIMULATOR_STEPS: &str = "3000000";

/// Steps of the simulator in the long form.
const SIMULATOR_STEPS_FULL: &str = "10000000";
