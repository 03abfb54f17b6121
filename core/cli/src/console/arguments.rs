//! The command line: its commands, and what all of them take.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};

use super::subcommands::{self as sub, seconds};
use super::typed::{TypedServer, takes_typed};

/// What every command takes.
pub(crate) struct Common {
    pub(crate) json: bool,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) config: Vec<PathBuf>,
    pub(crate) options: Option<String>,
    pub(crate) timeout: Option<Duration>,
    /// A server that the command line itself describes.
    pub(crate) typed: Option<TypedServer>,
    /// Whether the command makes a sign-in that is to last.
    pub(crate) keeps_tokens: bool,
    /// Whether a shell asks for names, and nothing is to start that is known already.
    pub(crate) is_asleep: bool,
}

impl Common {
    pub(crate) fn of(matches: &ArgMatches) -> Common {
        // Files may be named before the command and, where it reads settings, behind it; other
        // options that stand behind it are found here as well.
        let behind = matches.subcommand().map(|(_, behind)| behind);
        let given = [Some(matches), behind].into_iter().flatten();
        let paths =
            given.filter_map(|given| given.try_get_many::<PathBuf>("config").ok().flatten());
        let paths = paths.flatten();
        Common {
            json: matches.get_flag("json"),
            workspace: matches.get_one::<PathBuf>("workspace").cloned(),
            config: paths.cloned().collect(),
            options: matches.get_one::<String>("options").cloned(),
            timeout: matches.get_one::<Duration>("timeout").copied(),
            typed: behind.and_then(TypedServer::of),
            is_asleep: matches.subcommand_name() == Some("names"),
            keeps_tokens: matches.subcommand_name() == Some("sign-in"),
        }
    }
}

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("trunkline")
        .version(env!("CARGO_PKG_VERSION"))
        .about("MCP servers: what is configured, what it offers, and why it is not there")
        .after_help("Exit codes and examples: docs/guide/cli.md")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .args(common())
        .arg(config())
        .subcommands([sub::list(), sub::tools(), sub::call()].map(reads_settings))
        .subcommands(
            [sub::resources(), sub::read(), sub::prompts(), sub::complete()].map(reads_settings),
        )
        .subcommands([sub::status(), sub::explain(), sub::doctor()].map(reads_settings))
        .subcommands(
            [sub::approve(), sub::reject(), sub::forget(), sub::accept()].map(reads_settings),
        )
        .subcommands([sub::sign_in(), sub::names()].map(reads_settings))
        .subcommands([takes_typed(sub::add()), sub::remove(), sub::enable(), sub::disable()])
        .subcommands([sub::serve(), sub::connect()].map(reads_settings))
        .subcommands([sub::import(), sub::adopt(), sub::demo(), sub::completions()])
}

/// A command that reads settings; one that talks to one server takes that as it is typed, too.
fn reads_settings(command: Command) -> Command {
    const TALKS: [&str; 7] =
        ["tools", "call", "resources", "read", "prompts", "complete", "sign-in"];
    let talks = TALKS.contains(&command.get_name());
    let command = command.arg(config());
    if talks { takes_typed(command) } else { command }
}

/// Of the program and of each command that reads settings: one that is global would keep those
/// behind the command alone.
fn config() -> Arg {
    Arg::new("config")
        .long("config")
        .short('c')
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::FilePath)
        .action(ArgAction::Append)
        .help(
            "A settings file of any known product, instead of all that are found; may be repeated",
        )
}

fn common() -> [Arg; 4] {
    [
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .global(true)
            .help("Write one JSON object, for programs"),
        Arg::new("workspace")
            .long("workspace")
            .short('w')
            .value_name("FOLDER")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath)
            .global(true)
            .help("The workspace; the current folder by default"),
        Arg::new("options")
            .long("options")
            .value_name("JSON")
            .global(true)
            .help("Options of the pool, as docs/reference/options.md lists them"),
        Arg::new("timeout")
            .long("timeout")
            .short('t')
            .value_name("SECONDS")
            .value_parser(seconds)
            .global(true)
            .help("How long servers, and a call, may take; their own times by default"),
    ]
}

/// The text of an argument.
pub(crate) fn text<'a>(given: &'a ArgMatches, name: &str) -> Option<&'a str> {
    given.get_one::<String>(name).map(String::as_str)
}
