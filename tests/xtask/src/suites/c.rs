//! The C and C++ programs.

use crate::machine::Machine;
use crate::run::{Run, Stop};

pub fn c(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.needs("tests/c/Makefile")?;
    machine.testserver(run)?;
    let real = machine.real_servers(run).map(drop);
    run.command(&mut machine.cargo(&["build", "-p", "trunkline-dist"]))?;
    let mut make = machine.command("make");
    // The programs wait more than they compute; what each prints stays together.
    make.args(["-j", "3", "--output-sync=target", "-C", "tests/c", "check"]);
    run.command(make.env("TARGET", &machine.target))?;
    real
}
