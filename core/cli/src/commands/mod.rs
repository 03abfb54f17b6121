//! The commands.

mod accept;
mod adopt;
mod approvals;
mod call;
mod completions;
mod contents;
mod doctor;
mod explain;
mod host;
mod import;
mod list;
mod server_session;
mod serving;
mod settings_file;
mod sign_in;
mod signature;
mod status;
mod tools;
mod values;

use clap::ArgMatches;

use crate::console::arguments::Common;
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
        "adopt" => adopt::run(given, common, terminal),
        "add" => settings_file::add(given, common, terminal),
        "remove" => settings_file::remove(given, common, terminal),
        "enable" => settings_file::switch(true, given, common, terminal),
        "disable" => settings_file::switch(false, given, common, terminal),
        "sign-in" => sign_in::run(given, common, terminal),
        "serve" => serving::serve::run(given, common, terminal),
        "connect" => serving::connect::run(given, common, terminal),
        "demo" => demo::run(terminal),
        "names" => completions::names(given, common, terminal),
        "completions" => Ok(completions::run(given, terminal)),
        _ => Err(Failure::usage("no such command")),
    }
}
