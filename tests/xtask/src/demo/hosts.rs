//! The examples beside the demo: hosts of their own kind, each a whole program.

use std::process::Command;

use serde_json::json;

use super::languages::{c_library, node_package, python_command};
use super::{Left, fresh_start_log, settle};
use crate::machine::{Machine, Reach};
use crate::run::{Run, Stop};

/// One example. Its argument is a map of servers with a server `demo`, as the demo's is.
struct Host {
    name: &'static str,
    program: &'static str,
    prepare: fn(&Machine, &mut Run, &str) -> Result<Command, Stop>,
    /// What its last line has.
    says: &'static str,
}

/// The page of the chat server in a real browser, which not every machine has: in the long form.
const BROWSER: Host = Host {
    name: "browser",
    program: "bindings/node/examples/chat/browser.mjs",
    prepare: browser,
    says: "the page showed the pool",
};

const HOSTS: [Host; 4] = [
    Host {
        name: "agent",
        program: "bindings/python/examples/agent.py",
        prepare: python_command,
        says: "I was told: 5; at the same time; failed: no such city",
    },
    Host {
        name: "chat",
        program: "bindings/node/examples/chat/check.mjs",
        prepare: node,
        says: "50 chats, one process",
    },
    Host { name: "loop", program: "tests/c/loop.c", prepare: c, says: "all is drained" },
    Host {
        name: "engine",
        program: "tests/c/engine.cpp",
        prepare: c,
        says: "three figures, no frame waited",
    },
];

/// Runs all; each starts one server, and leaves no process.
pub fn hosts(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let long = (machine.reach == Reach::Full).then_some(&BROWSER);
    for host in HOSTS.iter().chain(long) {
        machine.needs(host.program)?;
        let why = |why| Stop::Failed(format!("{}: {why}", host.program));
        let testserver = machine.testserver(run)?.to_path_buf();
        let mut command = (host.prepare)(machine, run, host.program)?;
        let log = fresh_start_log(machine, host.name);
        let args = ["--list-changes".into(), "--start-log".into(), log.display().to_string()];
        let servers = json!({"demo": {"command": testserver, "args": args}});
        let printed = run.carry_out(command.arg(servers.to_string()));
        let left = settle(&log);
        let _ = std::fs::remove_file(&log);
        let printed = printed?;
        if !printed.lines().last().is_some_and(|line| line.contains(host.says)) {
            return Err(why(format!("`{}` expected, {printed} printed", host.says)));
        }
        match left {
            Left { starts: 1, running: 0 } => run.counted += 1,
            Left { starts, running } => {
                return Err(why(format!("{starts} servers started, {running} processes left")));
            }
        }
    }
    Ok(())
}

fn node(machine: &Machine, run: &mut Run, program: &str) -> Result<Command, Stop> {
    node_package(machine, run)?;
    let mut command = machine.command("node");
    command.arg(program);
    Ok(command)
}

fn browser(machine: &Machine, run: &mut Run, program: &str) -> Result<Command, Stop> {
    run.preparation("a browser (chromium)", machine.command("chromium").arg("--version"))?;
    node(machine, run, program)
}

fn c(machine: &Machine, run: &mut Run, program: &str) -> Result<Command, Stop> {
    c_library(machine, run, "hosts")?;
    let name = program.rsplit('/').next().and_then(|file| file.split('.').next());
    Ok(machine.command(machine.target.join("c").join(name.unwrap_or_default())))
}
