//! The Python package: its tests, its types, its stubs.

use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

use crate::machine::Machine;
use crate::run::{Run, Stop};

pub fn python(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.needs("bindings/python/tests")?;
    machine.testserver(run)?;
    let folder = environment(machine, run)?;
    let real = machine.real_servers(run).map(|_| machine.target.join(super::real::PYTHON_SERVERS));
    let within = |args: &[&str]| within(machine, &folder, args);
    run.command(within(&["-m", "pytest", "-q"]).args(ALONE))?;
    // The other tests wait more than they compute, and so do the cases, several at a time.
    let tests = |run: &mut Run| {
        let mut pytest =
            within(&["-m", "pytest", "-q", "bindings/python/tests", "--ignore", CASES]);
        run.command(pytest.args(ALONE.iter().flat_map(|module| ["--ignore", module])))
    };
    let others = |run: &mut Run| {
        run.command(&mut within(&["-m", "pytest", "-q", CASES]))?;
        run.command(&mut within(&["-m", "mypy", "--strict", "-p", "trunkline"]))?;
        let allowed = ["--allowlist", "bindings/python/tests/stubtest.txt"];
        run.command(within(&["-m", "mypy.stubtest", "trunkline"]).args(allowed))?;
        // The servers are made with the package `mcp`, whose users one of the adapters is for.
        let Ok(servers) = &real else { return Ok(()) };
        super::adapters::python(machine, run, servers, super::adapters::OF_MCP)
    };
    run.together([&tests, &others])?;
    real.map(drop)
}

/// The tests of one module.
pub fn tests(machine: &Machine, run: &mut Run, module: &str) -> Result<(), Stop> {
    machine.testserver(run)?;
    let folder = environment(machine, run)?;
    run.command(&mut within(machine, &folder, &["-m", "pytest", "-q", module]))
}

/// A virtual environment with the package installed from this tree; says its folder.
pub fn environment(machine: &Machine, run: &mut Run) -> Result<std::path::PathBuf, Stop> {
    let mut made = machine.python.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = &*made {
        return Ok(folder.clone());
    }
    let folder = machine.python_environment(run, ENVIRONMENT, &PACKAGES)?;
    let mut maturin = machine.command(folder.join("bin/maturin"));
    maturin.args(["develop", "--quiet", "-m", "bindings/python/Cargo.toml"]);
    run.command(maturin.env("VIRTUAL_ENV", &folder))?;
    *made = Some(folder.clone());
    Ok(folder)
}

fn within(machine: &Machine, folder: &Path, args: &[&str]) -> Command {
    let mut command = machine.command(folder.join("bin/python"));
    command.args(args).env("VIRTUAL_ENV", folder).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// What is measured is measured alone: threads that sleep, memory that is given back.
const ALONE: [&str; 4] = [
    "bindings/python/tests/test_alone.py",
    "bindings/python/tests/test_bytes.py",
    "bindings/python/tests/test_large.py",
    "bindings/python/tests/test_loops.py",
];

/// The behaviour cases.
const CASES: &str = "bindings/python/tests/test_behaviour.py";

/// The virtual environment of the tests.
pub const ENVIRONMENT: &str = "venv";

/// What the tests need beside the package itself.
pub const PACKAGES: [&str; 9] = [
    "maturin==1.16.0",
    PYTEST,
    "mypy==2.4.1",
    "pyright==1.1.414",
    "uvloop==0.23.0",
    "opentelemetry-sdk==1.45.2",
    "prometheus-client==0.26.0",
    "gevent==26.9.0",
    "trio==0.35.0",
];

/// What runs tests, in whichever environment.
pub const PYTEST: &str = "pytest==9.2.0";
