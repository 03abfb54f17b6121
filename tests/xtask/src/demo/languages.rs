//! How each language's demo is built and started.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// One language.
pub struct Language {
    /// The name on the command line.
    pub name: &'static str,
    pub title: &'static str,
    /// The program, in the repository.
    pub program: &'static str,
    /// Builds what it needs and says the command that runs it.
    pub prepare: fn(&Machine, &mut Run) -> Result<Command, Stop>,
}

pub const LANGUAGES: [Language; 4] = [
    Language { name: "rust", title: "Rust", program: "core/examples/demo.rs", prepare: rust },
    Language { name: "c", title: "C", program: "tests/c/demo.c", prepare: c },
    Language {
        name: "python",
        title: "Python",
        program: "bindings/python/examples/demo.py",
        prepare: python,
    },
    Language {
        name: "node",
        title: "Node",
        program: "bindings/node/examples/demo.mjs",
        prepare: node,
    },
];

fn rust(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    run.command(machine.cargo_build("trunkline").args(["--example", "demo"]))?;
    Ok(machine.command(machine.target.join("debug/examples/demo")))
}

fn c(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    c_library(machine, run, "demo")?;
    Ok(machine.command(machine.target.join("c/demo")))
}

/// Builds the C library, and a program of `tests/c/Makefile` with it.
pub fn c_library(machine: &Machine, run: &mut Run, program: &str) -> Result<(), Stop> {
    run.preparation("a C compiler (cc)", machine.command("cc").arg("--version"))?;
    run.preparation("make", machine.command("make").arg("--version"))?;
    run.command(&mut machine.cargo_build("trunkline-dist"))?;
    let mut make = machine.command("make");
    run.command(make.args(["-C", "tests/c", program]).env("TARGET", &machine.target))
}

fn python(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    python_command(machine, run, "bindings/python/examples/demo.py")
}

/// Builds the package; says the command that runs this program with it.
pub fn python_command(machine: &Machine, run: &mut Run, program: &str) -> Result<Command, Stop> {
    let site = python_site(machine, run, Profile::Dev)?;
    let mut command = machine.command("python3");
    command.arg(program).env("PYTHONPATH", site);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// How the native module is built.
#[derive(Clone, Copy)]
pub enum Profile {
    Dev,
    Release,
}

/// The package as it would be installed, put together from cargo's own output, so that no network
/// is needed; says the folder for `PYTHONPATH`.
pub fn python_site(machine: &Machine, run: &mut Run, profile: Profile) -> Result<PathBuf, Stop> {
    let supported = "import sys; sys.exit(sys.version_info < (3, 10))";
    let mut probe = machine.command("python3");
    run.preparation("Python 3.10 or later (python3)", probe.args(["-c", supported]))?;
    let (profile, folder) = match profile {
        Profile::Dev => ("dev", "debug"),
        Profile::Release => ("release", "release"),
    };
    let mut cargo = machine.cargo(&["build", "-p", "trunkline-python", "--profile", profile]);
    run.command(cargo.env("PYO3_BUILD_EXTENSION_MODULE", "1"))?;
    let site = machine.target.join(folder).join("python");
    copy_package(&machine.root.join("bindings/python/python/trunkline"), &site.join("trunkline"))?;
    let module = site.join("trunkline/_trunkline.abi3.so");
    copy(&machine.target.join(folder).join("lib_trunkline.so"), &module)?;
    Ok(site)
}

fn node(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    node_package(machine, run)?;
    let mut command = machine.command("node");
    command.arg("bindings/node/examples/demo.mjs");
    Ok(command)
}

/// Builds the package where it stands.
pub fn node_package(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let supported = "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";
    run.preparation("Node 20 or later (node)", machine.command("node").args(["-e", supported]))?;
    run.command(machine.command("node").arg("bindings/node/build.mjs"))
}

fn copy_package(from: &Path, to: &Path) -> Result<(), Stop> {
    let failed = |error: std::io::Error| Stop::Failed(format!("{}: {error}", from.display()));
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name() else { continue };
        if path.extension().is_some_and(|extension| extension == "py") {
            copy(&path, &to.join(name))?;
        } else if path.is_dir() && name != "__pycache__" {
            copy_package(&path, &to.join(name))?;
        }
    }
    write(&to.join("py.typed"), "")
}

fn copy(from: &Path, to: &Path) -> Result<(), Stop> {
    let _ = std::fs::remove_file(to);
    let copied = std::fs::copy(from, to).map(drop);
    copied.map_err(|error| Stop::Failed(format!("{}: {error}", from.display())))
}
