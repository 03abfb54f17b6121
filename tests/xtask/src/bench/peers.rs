//! The clients that are compared, and how each is built.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use super::TABLES;
use crate::demo::{Profile, python_site};
use crate::machine::Machine;
use crate::run::{Run, Stop};
use crate::tables::{list, word, words};

/// One client.
pub struct Peer {
    pub name: &'static str,
    pub what: &'static str,
    /// The groups of workloads that it has.
    pub groups: &'static [&'static str],
    /// Whom it is compared with, beside the pipe.
    pub against: Option<&'static str>,
    pub prepare: Prepare,
}

type Prepare = fn(&Machine, &mut Run) -> Result<Program, Stop>;

/// A client that has been built.
pub struct Started {
    pub peer: &'static Peer,
    pub program: Program,
}

/// How a client is started; the server's path is its last argument.
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
}

impl Program {
    fn new(path: impl Into<PathBuf>) -> Program {
        Program { path: path.into(), arguments: Vec::new(), environment: Vec::new() }
    }

    fn argument(mut self, argument: impl Into<OsString>) -> Program {
        self.arguments.push(argument.into());
        self
    }

    fn environment(mut self, name: &'static str, value: impl Into<OsString>) -> Program {
        self.environment.push((name, value.into()));
        self
    }

    /// A new command for one round.
    pub fn command(&self, machine: &Machine) -> Command {
        let mut command = machine.command(&self.path);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// In the order of each round: neighbours are compared with each other.
pub static PEERS: LazyLock<Vec<Peer>> =
    LazyLock::new(|| list(&TABLES, "clients").iter().map(peer).collect());

fn peer(row: &'static Value) -> Peer {
    let (name, against) = (word(row, "name"), row["against"].as_str());
    let prepare = PREPARED.iter().find(|(known, _)| *known == name);
    let (_, prepare) = *prepare.unwrap_or_else(|| panic!("nothing builds {name}"));
    Peer { name, what: word(row, "what"), groups: words(row, "groups"), against, prepare }
}

/// What builds each.
const PREPARED: [(&str, Prepare); 15] = [
    ("pipe", pipe),
    ("epoll", epoll),
    ("checked", checked),
    ("task", task),
    ("thread", thread),
    ("rust", rust),
    ("foreign", foreign),
    ("c", c),
    ("rmcp", rmcp),
    ("python", python),
    ("mcp", mcp),
    ("node", node),
    ("sdk", sdk),
    ("plain", plain),
    (REAL, real),
];

/// The client that starts a hundred servers at its heaviest: it has all cores, and runs in the
/// first round alone.
pub const REAL: &str = "real";

const CLIENTS: &str = "tests/bench/peers";

/// The server that all clients have.
pub fn build_server(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    run.command(&mut machine.cargo(&["build", "--release", "-p", "trunkline-testserver"]))
}

fn pipe(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    build_server(machine, run)?;
    let program = machine.target.join("release/bench-pipe");
    compile(machine, run, "pipe.c", &program, &[])?;
    Ok(Program::new(program))
}

fn epoll(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    Ok(pipe(machine, run)?.argument("--epoll"))
}

fn checked(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    run.command(&mut machine.cargo(&["build", "--release", "-p", "trunkline-bench"]))?;
    Ok(Program::new(machine.target.join("release/bench-checked")))
}

fn task(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    run.command(&mut machine.cargo(&["build", "--release", "-p", "trunkline-bench"]))?;
    Ok(Program::new(machine.target.join("release/bench-least")))
}

fn thread(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    Ok(task(machine, run)?.argument("--thread"))
}

fn rust(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    run.command(&mut machine.cargo(&["build", "--release", "-p", "trunkline-bench"]))?;
    Ok(Program::new(machine.target.join("release/bench-trunkline")))
}

fn foreign(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    Ok(rust(machine, run)?.argument("--foreign"))
}

fn real(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    machine.real_servers(run)?;
    Ok(rust(machine, run)?.argument("--shared"))
}

fn rmcp(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    run.command(&mut machine.cargo(&["build", "--release", "-p", "trunkline-bench"]))?;
    Ok(Program::new(machine.target.join("release/bench-rmcp")))
}

fn c(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    machine.needs("include/trunkline.h")?;
    run.command(&mut machine.cargo(&["build", "--release", "-p", "trunkline-dist"]))?;
    let release = machine.target.join("release");
    let program = release.join("bench-c");
    let library = release.join("libtrunkline.a").into_os_string();
    let system = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];
    let mut arguments = vec![library];
    arguments.extend(system.iter().map(OsString::from));
    compile(machine, run, "trunkline.c", &program, &arguments)?;
    let loading = release.join("bench-c-loading");
    compile(machine, run, "loading.c", &loading, &["-ldl".into()])?;
    let library = release.join("libtrunkline.so");
    let program = Program::new(program).environment("BENCH_LOADING", loading);
    Ok(program.environment("BENCH_LIBRARY", library))
}

fn compile(
    machine: &Machine,
    run: &mut Run,
    source: &str,
    program: &PathBuf,
    arguments: &[OsString],
) -> Result<(), Stop> {
    run.preparation("a C compiler (cc)", machine.command("cc").arg("--version"))?;
    let mut cc = machine.command("cc");
    cc.args(["-O2", "-std=gnu99", "-Wall", "-Wextra", "-Iinclude", "-o"]).arg(program);
    run.command(cc.arg(format!("{CLIENTS}/{source}")).args(arguments))
}

fn python(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    let site = python_site(machine, run, Profile::Release)?;
    let client = format!("{CLIENTS}/trunkline_client.py");
    Ok(Program::new("python3").argument(client).environment("PYTHONPATH", site))
}

fn mcp(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    let folder = machine.python_environment(run, "bench-venv", &["mcp==2.3.0"])?;
    Ok(Program::new(folder.join("bin/python")).argument(format!("{CLIENTS}/mcp_client.py")))
}

fn node(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    machine.needs("bindings/node/build.mjs")?;
    let mut build = machine.command("node");
    run.command(build.args(["bindings/node/build.mjs", "--release"]))?;
    Ok(Program::new("node").argument(format!("{CLIENTS}/trunkline_client.mjs")))
}

fn plain(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    build_server(machine, run)?;
    Ok(Program::new("node").argument(format!("{CLIENTS}/plain_client.mjs")))
}

fn sdk(machine: &Machine, run: &mut Run) -> Result<Program, Stop> {
    let modules = machine.npm_packages(run, &["@modelcontextprotocol/sdk@1.32.2"])?;
    let client = format!("{CLIENTS}/sdk_client.mjs");
    Ok(Program::new("node").argument(client).environment("NODE_MODULES", modules))
}
