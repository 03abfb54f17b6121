//! What later suites stand on, made while earlier ones run, so that none waits for a registry or a
//! compiler.
//!
//! What fails here fails nothing: the suite that needs it makes it again, and says why it cannot.

use std::time::Duration;

use super::{node, python, real, runtimes};
use crate::conformance::PACKAGES as CONFORMANCE;
use crate::machine::Machine;
use crate::run::{Run, Stop};

/// First what comes from registries, and once the library is there, what is made of it.
pub fn prepare(machine: &Machine) {
    install(machine);
    if *machine.library.wait() {
        let _ = build(machine, &mut under_way(machine, "build"));
    }
}

/// npm puts all into one folder, and is asked once.
fn install(machine: &Machine) {
    let mut run = under_way(machine, "install");
    let packages = [
        &real::NPM_PACKAGES[..],
        &node::PACKAGES,
        &node::FRAMEWORKS,
        &runtimes::PACKAGES,
        &CONFORMANCE,
    ];
    let _ = machine.npm_packages(&mut run, &packages.concat());
    let _ = machine.python_environment(&mut run, python::ENVIRONMENT, &python::PACKAGES);
    let _ = real::install(machine, &mut run);
}

/// The library for other languages.
fn build(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["test", "--no-run", "-p", "trunkline-header"]))?;
    run.command(&mut machine.cargo_build("trunkline-dist"))?;
    run.command(machine.command("node").arg("bindings/node/build.mjs"))?;
    python::environment(machine, run).map(drop)
}

fn under_way(machine: &Machine, name: &str) -> Run {
    Run::new(machine.target.join("xtask").join(format!("ahead-{name}.log")), BOUND)
}

/// Who needs it waits so long at most.
const BOUND: Duration = Duration::from_secs(15 * 60);
