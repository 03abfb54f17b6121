//! The commands.

mod accept;
mod approvals;
mod call;
mod contents;
mod doctor;
mod explain;
mod host;
mod import;
mod list;
mod signature;
mod started;
mod status;
mod tools;
mod values;

use clap::ArgMatches;
use clap_complete::Shell;

use crate::console::arguments::{self, Common};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::terminal::Terminal;
use crate::demo;

/// Carries out the command that was given.
pub(crate) fn run(
    matches: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let Some((name, given)) = matches.subcommand() else {
        return Err(Failure::usage("no command"));
    };
    match name {
        "list" => list::run(common, terminal),
        "tools" => tools::run(given, common, terminal),
        "call" => call::run(given, common, terminal),
        "resources" => contents::resources(given, common, terminal),
        "read" => contents::read(given, common, terminal),
        "prompts" => contents::prompts(given, common, terminal),
        "complete" => contents::complete(given, common, terminal),
        "status" => status::run(given, common, terminal),
        "explain" => explain::run(given, common, terminal),
        "doctor" => doctor::run(given, common, terminal),
        "import" => import::run(given, common, terminal),
        "approve" => approvals::approve(given, common, terminal),
        "reject" => approvals::reject(given, common, terminal),
        "forget" => approvals::forget(given, common, terminal),
        "accept" => accept::run(given, common, terminal),
        "demo" => demo::run(terminal),
        "completions" => Ok(completions(given, terminal)),
        _ => Err(Failure::usage("no such command")),
    }
}

fn completions(given: &ArgMatches, terminal: &mut Terminal<'_>) -> Exit {
    let mut script = Vec::new();
    if let Some(shell) = given.get_one::<Shell>("shell") {
        clap_complete::generate(*shell, &mut arguments::command(), "trunkline", &mut script);
    }
    terminal.write(&String::from_utf8_lossy(&script));
    Exit::Success
}
