//! What the long form alone carries out: the models of threads in many orders.

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// The models in `schedules` modules, by shuttle.
pub fn schedules(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    for package in ["trunkline", "trunkline-ffi"] {
        let args = ["test", "-p", package, "--lib", "--features", "schedules", "schedules::"];
        run.command(machine.cargo(&args).env("TRUNKLINE_SCHEDULES", SCHEDULES))?;
    }
    Ok(())
}

/// Of each model; there are fourteen.
const SCHEDULES: &str = "72000";
