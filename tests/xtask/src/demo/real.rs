//! `cargo xtask demo real`: servers that no one here wrote, through each language's own programs
//! for them.

use std::process::ExitCode;

use crate::machine::{Machine, WITH_FEATURES};
use crate::run::{Run, Stop};
use crate::suites;

/// Runs one language's program against the real servers, and gives what it printed.
type Program = fn(&Machine, &mut Run) -> Result<String, Stop>;

const PROGRAMS: [(&str, Program); 4] =
    [("Rust", rust), ("C", c), ("Python", python), ("Node", node)];

/// Installs the servers and shows them in every language that the machine has.
pub fn real(machine: &Machine, run: &mut Run) -> ExitCode {
    println!("server-everything, also behind npx, mcp-server-time and mcp-server-git:");
    if let Err(stop) = machine.testserver(run).map(drop).and(machine.real_servers(run).map(drop)) {
        return outcome("the servers", Err(stop));
    }
    let mut failed = false;
    for (title, program) in PROGRAMS {
        println!("\n{title}");
        let printed = program(machine, run).map(|text| {
            text.lines().filter(|line| is_telling(line)).for_each(|line| println!("  {line}"));
        });
        failed |= outcome(title, printed) == ExitCode::FAILURE;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn outcome(title: &str, result: Result<(), Stop>) -> ExitCode {
    match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Stop::NotRun(why)) => println!("  {title} not shown: {why}"),
        Err(Stop::Failed(why)) => println!("  {title} FAILED: {why}"),
    }
    ExitCode::FAILURE
}

/// Whether a line says what was done, and not how the runner fared.
fn is_telling(line: &str) -> bool {
    ["test ", "ok ", "bindings/python", "✔", "  ✔"].iter().any(|start| line.starts_with(start))
}

fn rust(machine: &Machine, run: &mut Run) -> Result<String, Stop> {
    let mut cargo = machine.cargo(&["test", "-q", "-p", "trunkline", "--test", "real_servers"]);
    run.carry_out(cargo.args(WITH_FEATURES))
}

fn c(machine: &Machine, run: &mut Run) -> Result<String, Stop> {
    run.command(&mut machine.cargo_build("trunkline-dist"))?;
    let program = machine.target.join("c/real");
    let mut make = machine.command("make");
    make.args(["-s", "-C", "tests/c"]).arg(&program).env("TARGET", &machine.target);
    run.command(&mut make)?;
    run.carry_out(&mut machine.command(program))
}

fn python(machine: &Machine, run: &mut Run) -> Result<String, Stop> {
    let folder = suites::python_environment(machine, run)?;
    let mut pytest = machine.command(folder.join("bin/python"));
    run.carry_out(pytest.args(["-m", "pytest", "-v", "bindings/python/tests/test_real.py"]))
}

fn node(machine: &Machine, run: &mut Run) -> Result<String, Stop> {
    run.command(machine.command("node").arg("bindings/node/build.mjs"))?;
    let mut node = machine.command("node");
    node.args(["--test", "--test-reporter=spec", "bindings/node/test/real.test.mjs"]);
    run.carry_out(&mut node)
}
