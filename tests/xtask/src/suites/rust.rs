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
    let steps = if machine.reach == Reach::Full { SIMULATOR_STEPS_FULL } else { SIMULATOR_STEPS };
    let mut cargo = machine.cargo(&["test", "--no-fail-fast"]);
    for package in ["trunkline-pool", "trunkline", "trunkline-ffi", "trunkline-testserver"] {
        cargo.args(["-p", package]);
    }
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_STRESS", "full");
    }
    run.command(cargo.env("TRUNKLINE_SIMULATOR_STEPS", steps))
}

pub fn header(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["test", "-p", "trunkline-header"]))
}

/// Steps of the simulator in the default run: enough to meet every pair of its coverage.
const SIMULATOR_STEPS: &str = "3000000";

/// Steps of the simulator in the long form.
const SIMULATOR_STEPS_FULL: &str = "10000000";
