//! The command line: its commands, and what all of them take.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use clap_complete::Shell;
use trunkline::ToolFormat;
use trunkline::settings::FORMATS;

/// What every command takes.
pub(crate) struct Common {
    pub(crate) json: bool,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) config: Vec<PathBuf>,
    pub(crate) options: Option<String>,
    pub(crate) timeout: Option<Duration>,
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
        .subcommands(
            [list(), tools(), call(), status(), explain()].map(|command| command.arg(config())),
        )
        .subcommands([doctor(), approve(), reject(), forget()].map(|command| command.arg(config())))
        .subcommands([import(), demo(), completions()])
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

fn list() -> Command {
    Command::new("list").about("The configured servers; starts nothing")
}

fn tools() -> Command {
    Command::new("tools")
        .about("The tools of all servers, or of one; starts them")
        .arg(server().help("The server; all by default"))
        .arg(
            Arg::new("shape")
                .long("shape")
                .value_name("SHAPE")
                .value_parser(ToolFormat::ALL.map(ToolFormat::as_str))
                .help("Write the tools as that model API takes them, as JSON"),
        )
}

fn call() -> Command {
    Command::new("call")
        .about("Calls a tool of a server")
        .arg(server().required(true).help("The server"))
        .arg(
            Arg::new("tool")
                .value_name("TOOL")
                .required(true)
                .help("The server's own name of the tool"),
        )
        .arg(
            Arg::new("arguments")
                .value_name("ARGUMENT")
                .num_args(0..)
                .help("A JSON object, `-` to read one, or NAME=TEXT and NAME:=JSON"),
        )
        .arg(
            Arg::new("quiet")
                .long("quiet")
                .short('q')
                .action(ArgAction::SetTrue)
                .help("Show no progress"),
        )
}

fn status() -> Command {
    Command::new("status")
        .about("How the servers stand; starts those of the settings")
        .arg(server().num_args(0..).help("The servers that are started; all by default"))
        .arg(
            Arg::new("host")
                .long("host")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("The pool of a running host instead, by the file of its option `status_file`; starts nothing"),
        )
        .arg(
            Arg::new("watch")
                .long("watch")
                .action(ArgAction::SetTrue)
                .help("Show it again and again; on a terminal as a whole screen with keys (`?` lists them)"),
        )
        .arg(
            Arg::new("interval")
                .long("interval")
                .value_name("SECONDS")
                .value_parser(seconds)
                .default_value("1")
                .requires("watch")
                .help("The time between two views"),
        )
        .arg(
            Arg::new("count")
                .long("count")
                .value_name("N")
                .value_parser(value_parser!(u64).range(1..))
                .requires("watch")
                .help("End after so many views"),
        )
}

fn doctor() -> Command {
    Command::new("doctor")
        .about("What is wrong, and which proxy, certificates, programs, folders and variables servers get")
        .arg(
            Arg::new("start")
                .long("start")
                .action(ArgAction::SetTrue)
                .help("Start the servers too: what they say of themselves, and what they want"),
        )
        .arg(
            Arg::new("shell")
                .long("shell")
                .action(ArgAction::SetTrue)
                .help("Run your login shell, for 10 seconds at most, and say what differs there"),
        )
}

fn explain() -> Command {
    Command::new("explain")
        .about("Why a server, or a tool by the name that a model sees, is there or not")
        .arg(Arg::new("name").value_name("NAME").required(true).help("The server, or the tool"))
        .arg(
            Arg::new("no-start")
                .long("no-start")
                .action(ArgAction::SetTrue)
                .help("Start nothing to find out"),
        )
}

fn import() -> Command {
    let format = |name: &'static str| {
        let words = FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>();
        Arg::new(name)
            .long(name)
            .value_name("PRODUCT")
            .value_parser(PossibleValuesParser::new(words))
    };
    Command::new("import")
        .about("Writes the servers of a settings file as another product has them")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_hint(ValueHint::FilePath)
                .help("The file, of any known product"),
        )
        .arg(format("to").required(true).help("The product that it is written for"))
        .arg(format("from").help("The product whose file it is, where that is not seen"))
        .arg(
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("A new file; the output by default"),
        )
}

fn approve() -> Command {
    Command::new("approve")
        .about("Shows what waits for approval; with a server, approves what is shown")
        .arg(server().help("The server; without one nothing is decided"))
        .arg(hash())
}

fn reject() -> Command {
    Command::new("reject")
        .about("Keeps a server of the project from running, and asks nobody again")
        .arg(server().required(true).help("The server"))
        .arg(hash())
}

fn hash() -> Arg {
    Arg::new("hash")
        .long("hash")
        .value_name("HASH")
        .requires("server")
        .help("The hash that was shown, instead of a question")
}

fn forget() -> Command {
    Command::new("forget")
        .about("Drops every decision about a server, so that it waits for approval again")
        .arg(server().required(true).help("The server"))
}

fn demo() -> Command {
    Command::new("demo").about("A small MCP server over the input and output, to try hosts with")
}

fn completions() -> Command {
    Command::new("completions").about("Writes the completions for a shell").arg(
        Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)),
    )
}

fn server() -> Arg {
    Arg::new("server").value_name("SERVER")
}

/// A time in seconds, whole or not.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "no number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(number) {
        Ok(time) if !time.is_zero() && time <= TIME_MAX => Ok(time),
        _ => Err(format!("more than 0 and at most {} seconds", TIME_MAX.as_secs())),
    }
}

/// A week, which is the longest that a call may take.
const TIME_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The text of an argument.
pub(crate) fn text<'a>(given: &'a ArgMatches, name: &str) -> Option<&'a str> {
    given.get_one::<String>(name).map(String::as_str)
}
