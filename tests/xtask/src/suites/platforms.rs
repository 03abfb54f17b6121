//! The systems and machines that this one is not: what compiles for them, and what a package of the
//! crate holds.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// Checked, never run, each with what is looked at there: one for each system, since no code is for
/// one kind of machine alone, and one that has another C library than this one on another kind of
/// machine. Where no linker is, the supervisor is left out, which must be no error.
const TARGETS: [(&str, &[&str]); 3] = [
    (
        "aarch64-apple-darwin",
        &["trunkline-pool", "trunkline", "trunkline-ffi", "trunkline-python", "trunkline-node"],
    ),
    ("x86_64-pc-windows-gnu", &["trunkline-pool", "trunkline", "trunkline-ffi"]),
    ("aarch64-unknown-linux-musl", &["trunkline-pool", "trunkline"]),
];

/// No system at all, for the pure crate.
const WASM: &str = "wasm32-unknown-unknown";

pub fn platforms(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut rustup = machine.command("rustup");
    rustup.args(["target", "add", WASM]).args(TARGETS.map(|(target, _)| target));
    run.preparation("targets", &mut rustup)?;
    run.command(&mut machine.cargo_beside(&["check", "-p", "trunkline-pool", "--target", WASM]))?;
    for (target, packages) in TARGETS {
        clippy(machine, run, target, packages)?;
    }
    packaged(machine, run)
}

/// One call for all packages of a target, so that what they stand on is built once.
fn clippy(machine: &Machine, run: &mut Run, target: &str, packages: &[&str]) -> Result<(), Stop> {
    let mut cargo = machine.cargo_beside(&["clippy", "--quiet", "--lib"]);
    cargo.args(["--example", "supervisor", "--target", target]);
    for package in packages {
        cargo.args(["-p", package]);
    }
    let no_compiler = no_compiler(machine)?;
    let target = target.replace('-', "_");
    cargo.env(format!("CC_{target}"), &no_compiler).env(format!("AR_{target}"), &no_compiler);
    // The packages are built against the stable ABI, which needs no Python to be there.
    run.command(cargo.args(["--", "-D", "warnings"]).env("PYO3_NO_PYTHON", "1"))
}

/// A stand-in for the C compilers of other systems, which this one has not: a dependency compiles C
/// in its build script, and a check of Rust alone never looks at the result.
fn no_compiler(machine: &Machine) -> Result<PathBuf, Stop> {
    let path = machine.target.join("xtask/no-compiler");
    let failed = |error: std::io::Error| Stop::Failed(format!("{}: {error}", path.display()));
    std::fs::write(&path, NO_COMPILER).map_err(failed)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(failed)?;
    Ok(path)
}

/// Makes an empty file of what it is to make.
const NO_COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        -o) shift; : > "$1" ;;
        *.a) : > "$1" ;;
    esac
    shift
done
"#;

/// Every source of the supervisor is in the package of the crate that compiles it.
fn packaged(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut cargo = machine.cargo(&["package", "-p", "trunkline", "--list", "--allow-dirty"]);
    let listed = run.carry_out(&mut cargo)?;
    let sources = run.carry_out(machine.command("git").args(["ls-files", "core/supervisor"]))?;
    for source in sources.lines().filter_map(|path| path.strip_prefix("core/")) {
        if !listed.lines().any(|line| line == source) {
            return Err(Stop::Failed(format!("{source} is not in the package")));
        }
    }
    Ok(())
}
