//! The C and C++ programs.

use std::path::Path;
use std::process::Command;

use crate::machine::Machine;
use crate::run::{Run, Stop};

pub fn c(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.needs("tests/c/Makefile")?;
    machine.testserver(run)?;
    let real = machine.real_servers(run).map(drop);
    run.command(&mut machine.cargo_build("trunkline-dist"))?;
    run.command(&mut make(machine, &["check"]))?;
    real
}

/// Programs of the Makefile, by its goals.
pub fn programs(machine: &Machine, run: &mut Run, goals: &[&str]) -> Result<(), Stop> {
    machine.testserver(run)?;
    run.command(&mut machine.cargo_build("trunkline-dist"))?;
    run.command(&mut make(machine, goals))
}

/// The same with the library that is in that folder.
pub fn programs_of(
    machine: &Machine,
    run: &mut Run,
    built: &Path,
    goals: &[&str],
) -> Result<(), Stop> {
    let testserver = machine.testserver(run)?;
    let mut make = make(machine, goals);
    let out = format!("OUT={}", built.join("c").display());
    make.arg(out).arg(format!("BUILT={}", built.display()));
    run.command(make.env("TRUNKLINE_TESTSERVER", testserver))
}

fn make(machine: &Machine, goals: &[&str]) -> Command {
    let mut make = machine.command("make");
    // The programs wait more than they compute; what each prints stays together.
    make.args(["-j", "3", "--output-sync=target", "-C", "tests/c"]).args(goals);
    make.env("TARGET", &machine.target);
    make
}
