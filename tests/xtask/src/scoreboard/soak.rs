//! The soak, which may last as long as is asked.

use std::time::Duration;

use crate::machine::{Machine, Reach};
use crate::run::{Run, Stop};

/// The test alone, which asserts that everything is flat, and those of what comes and goes.
pub fn soak(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let asked = std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok());
    run.may_take(asked.map_or(Duration::ZERO, Duration::from_secs) + BESIDE);
    machine.testserver(run)?;
    let mut cargo = machine.cargo(&["test", "-p", "trunkline", "--test", "stress", "--"]);
    cargo.args(["soak::", "bytes::", "leaks::"]);
    if machine.reach == Reach::Full {
        cargo.env("TRUNKLINE_STRESS", "full");
    }
    run.command(&mut cargo)
}

/// Makes the long form longer: a day is the most that was promised.
const SECONDS: &str = "TRUNKLINE_SOAK_SECONDS";

/// What the building, the beginning and the end may take beside the seconds of a soak; as long as
/// those of a plain one as well.
const BESIDE: Duration = Duration::from_secs(60 * 60);
