//! The Node package in other runtimes, and in single executables.

use std::path::{Path, PathBuf};

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// A runtime of JavaScript that is not Node: its package, its program in that, and the words before
/// a file.
struct Runtime {
    package: &'static str,
    program: &'static str,
    before: &'static [&'static str],
}

/// The packages have the programs themselves: the ones around them want an install script.
const BUN: Runtime = Runtime {
    package: "@oven/bun-linux-x64@1.4.5",
    program: "@oven/bun-linux-x64/bin/bun",
    before: &[],
};

const DENO: Runtime = Runtime {
    package: "@deno/linux-x64-glibc@2.9.6",
    program: "@deno/linux-x64-glibc/deno",
    before: &["run", "--allow-all", "--node-modules-dir=manual"],
};

/// What makes one file of a program, and what puts that into a copy of Node.
const BUILDERS: [&str; 2] = ["esbuild@0.28.0", "postject@1.0.0-alpha.6"];

/// All that comes from npm.
pub const PACKAGES: [&str; 4] = [BUN.package, DENO.package, BUILDERS[0], BUILDERS[1]];

/// Programs that end in ways of their own, each with its arguments and what it prints last.
const ENDINGS: [(&str, &[&str], &str); 8] = [
    ("imported", &[], "end"),
    ("alone", &[], "end"),
    ("unclosed", &[], "end"),
    ("idle-pool", &[], "end"),
    ("pending", &[], "slept"),
    ("workers", &["2", "2", "natural"], "end"),
    ("workers", &["2", "2", "terminate"], "end"),
    ("workers", &["2", "2", "exit"], "end"),
];

/// What a single executable does.
const PROGRAM: &str = "bindings/node/testing/executable.mjs";

/// What it prints.
const ANSWER: &str = "carried";

pub fn runtimes(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return Err(Stop::NotRun("the runtimes are those of 64-bit Linux with glibc".into()));
    }
    machine.testserver(run)?;
    run.command(machine.command("node").arg("bindings/node/build.mjs"))?;
    let modules = machine.npm_packages(run, &PACKAGES)?;
    let bun = |run: &mut Run| {
        suite(machine, run, &modules, &BUN)?;
        by_bun(machine, run, &modules)
    };
    let deno = |run: &mut Run| {
        suite(machine, run, &modules, &DENO)?;
        of_node(machine, run, &modules)
    };
    run.together([&bun, &deno])
}

/// The shared cases, by the runner of the Node package; and programs that each end by themselves and
/// well, and say all that they have to say.
fn suite(machine: &Machine, run: &mut Run, modules: &Path, runtime: &Runtime) -> Result<(), Stop> {
    let mut program = machine.command(modules.join(runtime.program));
    run.command(program.args(runtime.before).arg("bindings/node/testing/behaviour/run.mjs"))?;
    let server = serde_json::json!({ "command": machine.testserver(run)?, "args": [] }).to_string();
    for (name, arguments, last) in ENDINGS {
        let mut program = machine.command(modules.join(runtime.program));
        program.args(runtime.before);
        program.arg(format!("bindings/node/testing/scenarios/{name}.mjs"));
        says(run, program.arg(&server).args(arguments), last)?;
        run.counted += 1;
    }
    Ok(())
}

/// `bun build --compile`.
fn by_bun(machine: &Machine, run: &mut Run, modules: &Path) -> Result<(), Stop> {
    let executable = folder(machine)?.join("by-bun");
    let mut bun = machine.command(modules.join(BUN.program));
    bun.args(["build", "--compile", PROGRAM, "--outfile"]);
    run.command(bun.arg(&executable))?;
    answers(machine, run, &executable)
}

/// A single executable of Node, which carries the addon as an asset.
fn of_node(machine: &Machine, run: &mut Run, modules: &Path) -> Result<(), Stop> {
    let folder = folder(machine)?;
    let (bundle, blob) = (folder.join("bundle.cjs"), folder.join("blob"));
    let executable = folder.join("of-node");
    let mut esbuild = machine.command(modules.join(".bin/esbuild"));
    esbuild.args([PROGRAM, "--bundle", "--platform=node", "--format=cjs", "--log-level=error"]);
    esbuild.args(["--external:*.node", "--external:trunkline-*"]);
    let mut outfile = std::ffi::OsString::from("--outfile=");
    outfile.push(&bundle);
    run.command(esbuild.arg(outfile))?;

    let settings = serde_json::json!({
        "main": bundle, "output": blob, "disableExperimentalSEAWarning": true,
        "assets": { "trunkline.node": machine.root.join("bindings/node/trunkline.node") },
    });
    let file = folder.join("sea.json");
    crate::machine::write(&file, &settings.to_string())?;
    run.command(machine.command("node").arg("--experimental-sea-config").arg(file))?;
    let node = run.carry_out(machine.command("node").args(["-p", "process.execPath"]))?;
    let copied = std::fs::copy(node.trim(), &executable);
    copied.map_err(|error| Stop::Failed(format!("a copy of Node: {error}")))?;
    let mut postject = machine.command("node");
    postject.arg(modules.join("postject/dist/cli.js")).arg(&executable).arg("NODE_SEA_BLOB");
    run.command(postject.arg(&blob).args(["--sentinel-fuse", FUSE]))?;
    answers(machine, run, &executable)
}

/// Runs the executable where no package is.
fn answers(machine: &Machine, run: &mut Run, executable: &Path) -> Result<(), Stop> {
    let elsewhere = folder(machine)?.join("elsewhere");
    let made = std::fs::create_dir_all(&elsewhere);
    made.map_err(|error| Stop::Failed(format!("{}: {error}", elsewhere.display())))?;
    let server = machine.testserver(run)?.to_owned();
    let mut program = machine.command(executable);
    says(run, program.current_dir(elsewhere).env("TRUNKLINE_TESTSERVER", server), ANSWER)?;
    run.counted += 1;
    Ok(())
}

/// Runs a program, which has to succeed, and whose last line is this.
fn says(run: &mut Run, program: &mut std::process::Command, last: &str) -> Result<(), Stop> {
    let said = run.carry_out(program)?;
    if said.lines().last() == Some(last) {
        return Ok(());
    }
    Err(Stop::Failed(format!("{program:?} says {said:?}, and not {last:?} last")))
}

fn folder(machine: &Machine) -> Result<PathBuf, Stop> {
    let folder = machine.target.join("executables");
    let made = std::fs::create_dir_all(&folder);
    made.map_err(|error| Stop::Failed(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

/// The text by which Node says where an executable takes its program.
const FUSE: &str = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
