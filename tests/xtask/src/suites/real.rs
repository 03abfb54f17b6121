//! Servers that no one here wrote, installed into the build folder.

use std::path::PathBuf;

use serde_json::json;

use crate::machine::{Machine, WITH_FEATURES, write};
use crate::run::{Run, Stop};

/// The Rust tests against them; the other languages run theirs in their own suites.
pub fn real(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.needs("core/tests/real_servers/main.rs")?;
    machine.testserver(run)?;
    machine.real_servers(run)?;
    let mut cargo = machine.cargo(&["test", "-p", "trunkline", "--test", "real_servers"]);
    run.command(cargo.args(WITH_FEATURES))
}

/// Installs the servers and writes the file that `TRUNKLINE_REAL_SERVERS` names: a map of server
/// objects by name. Those with `remote`, which says how they are reached, listen at the port that a
/// test puts in the place of `{port}`.
pub fn install(machine: &Machine, run: &mut Run) -> Result<PathBuf, Stop> {
    let modules = machine.npm_packages(run, &NPM_PACKAGES)?;
    let python = machine.python_environment(run, PYTHON_SERVERS, &PYPI_PACKAGES)?;
    let repository = repository(machine, run)?;
    let folder = machine.root.join("tests/servers/real");
    let listed = std::fs::read_to_string(folder.join("servers.json"));
    let mut servers = listed.map_err(|error| Stop::Failed(format!("real servers: {error}")))?;
    for (name, path) in [
        ("modules", &modules),
        ("npm", &machine.target.join("npm")),
        ("python", &python),
        ("repository", &repository),
        ("here", &folder),
    ] {
        let path = json!(path).to_string();
        servers = servers.replace(&format!("{{{name}}}"), path.trim_matches('"'));
    }
    let file = machine.target.join("real-servers.json");
    write(&file, &servers)?;
    Ok(file)
}

/// A small repository for the git server, made anew when it is not there.
fn repository(machine: &Machine, run: &mut Run) -> Result<PathBuf, Stop> {
    let folder = machine.target.join("real-repository");
    if !folder.join(".git").exists() {
        let mut init = machine.command("git");
        run.preparation("git", init.args(["init", "--quiet"]).arg(&folder))?;
        write(&folder.join("note.txt"), "a note\n")?;
    }
    Ok(folder)
}

pub const NPM_PACKAGES: [&str; 3] = [
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "supergateway@4.0.0",
];

/// The environment of those from PyPI.
pub const PYTHON_SERVERS: &str = "servers-venv";

const PYPI_PACKAGES: [&str; 4] = [
    "mcp-server-time==2026.10.19",
    "mcp-server-git==2026.10.19",
    "mcp-server-fetch==2026.10.24",
    super::python::PYTEST,
];
