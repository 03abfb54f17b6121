//! Servers that no one here wrote, installed into the build folder.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// The Rust tests against them; the other languages run theirs in their own suites.
pub fn real(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    machine.needs("core/tests/real_servers.rs")?;
    machine.testserver(run)?;
    machine.real_servers(run)?;
    run.command(&mut machine.cargo(&["test", "-p", "trunkline", "--test", "real_servers"]))
}

/// Installs the servers and writes the file that `TRUNKLINE_REAL_SERVERS` names: a map of server
/// objects by name.
pub fn install(machine: &Machine, run: &mut Run) -> Result<PathBuf, Stop> {
    let modules = machine.npm_packages(run, &NPM_PACKAGES)?;
    let python = machine.python_environment(run, "servers-venv", &PYPI_PACKAGES)?;
    let everything = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let repository = repository(machine, run)?;
    let mut servers = Map::new();
    servers.insert("everything".into(), json!({"command": "node", "args": [everything, "stdio"]}));
    let prefix = machine.target.join("npm");
    let npx = json!(["--no-install", "--prefix", prefix, "mcp-server-everything", "stdio"]);
    servers.insert("everything_npx".into(), json!({"command": "npx", "args": npx}));
    let time =
        json!({"command": python.join("bin/mcp-server-time"), "args": ["--local-timezone", "UTC"]});
    servers.insert("time".into(), time);
    let git =
        json!({"command": python.join("bin/mcp-server-git"), "args": ["--repository", repository]});
    servers.insert("git".into(), git);
    let file = machine.target.join("real-servers.json");
    write(&file, &format!("{:#}\n", Value::Object(servers)))?;
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

const NPM_PACKAGES: [&str; 1] = ["@modelcontextprotocol/server-everything@2026.8.31"];

const PYPI_PACKAGES: [&str; 2] = ["mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19"];
