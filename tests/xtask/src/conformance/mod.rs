//! `cargo xtask conformance`: the official conformance suite against a client in each binding, with
//! one session and with two.
//!
//! The clients are in `tests/conformance`, beside what is expected of them. `UPDATE_CONFORMANCE=1`
//! writes the table `docs/evidence/conformance.md`. The suite `conformance` of `cargo xtask test`
//! runs a part, and with `--full` all of it.

mod official;
mod reference;
mod serve;
mod speaker;
mod table;

use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::demo::languages;
use crate::machine::{Machine, Reach, write};
use crate::run::{Run, Stop};
pub use official::PACKAGES;
use official::{Official, Subject};
use reference::Reference;
use table::Column;

/// What the suite's servers are spoken to with.
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

/// The command. `chosen` are names of clients, all of them when it is empty; or `serve`.
pub fn conformance(machine: &Machine, chosen: &[&str]) -> ExitCode {
    let mut run = Run::new(machine.target.join("xtask/conformance.log"), BOUND);
    let ended = match chosen {
        ["serve"] => serve::serve(machine, &mut run),
        _ => measure_chosen(machine, &mut run, chosen),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask conformance: {why}\n    the whole log: {}", run.log().display());
            ExitCode::FAILURE
        }
    }
}

fn measure_chosen(machine: &Machine, run: &mut Run, chosen: &[&str]) -> Result<(), Stop> {
    if let Some(unknown) = chosen.iter().find(|name| CLIENTS.iter().all(|one| one.name != **name)) {
        return Err(Stop::Failed(format!(
            "there is no client {unknown}, but c python node; or serve alone"
        )));
    }
    let reference = Reference::read(&machine.root)?;
    let columns = measure(machine, run, |client, _| {
        let is_wanted = chosen.is_empty() || chosen.contains(&client);
        is_wanted.then(|| reference.clone())
    })?;
    if chosen.is_empty() && std::env::var_os("UPDATE_CONFORMANCE").is_some() {
        write(&machine.root.join(PAGE), &table::page(&reference, &columns))?;
    }
    verdict(&columns)
}

/// The suite of `cargo xtask test`: each client in one revision, with two sessions; the long form
/// leaves out nothing.
pub fn suite(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let reference = Reference::read(&machine.root)?;
    let columns = measure(machine, run, |client, sessions| match machine.reach {
        Reach::Full => Some(reference.clone()),
        Reach::Default => {
            let part = PARTS.iter().find(|(name, _)| *name == client && sessions == 2);
            part.map(|(_, revision)| reference.of(revision))
        }
    })?;
    verdict(&columns)
}

/// What the short form runs: client, revision.
const PARTS: [(&str, &str); 3] =
    [("c", "2026-07-28"), ("python", "2025-11-25"), ("node", "2026-07-28")];

/// Runs each client with one session and with two, as far as `of` says what is wanted of it.
fn measure(
    machine: &Machine,
    run: &mut Run,
    of: impl Fn(&str, u32) -> Option<Reference>,
) -> Result<Vec<Column>, Stop> {
    let official = Official::install(machine, run)?;
    let mut columns = Vec::new();
    for client in &CLIENTS {
        for sessions in [1, 2] {
            let Some(reference) = of(client.name, sessions) else { continue };
            let subject = Subject { program: (client.prepare)(machine, run)?, sessions };
            let tallies = official.tallies(run, &subject, &reference)?;
            let column = Column { client: client.name, sessions, reference, tallies };
            run.note_passed(column.passed());
            println!("    {}", column.line());
            columns.push(column);
        }
    }
    Ok(columns)
}

fn verdict(columns: &[Column]) -> Result<(), Stop> {
    let short: Vec<String> = columns.iter().flat_map(Column::short).collect();
    if short.is_empty() {
        return Ok(());
    }
    let (count, list) = (short.len(), short.join("\n    "));
    Err(Stop::Failed(format!("{count} scenarios fall short of the reference:\n    {list}")))
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

/// The table in the documentation.
const PAGE: &str = "docs/evidence/conformance.md";

/// The most that the command may take, on a machine that does much else.
const BOUND: Duration = Duration::from_secs(60 * 60);
