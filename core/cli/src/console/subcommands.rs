//! The commands, one for one: what each takes behind its name.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use clap_complete::Shell;
use trunkline::ToolFormat;
use trunkline::settings::{FORMATS, Format};

use super::products::PRODUCTS;

pub(super) fn list() -> Command {
    Command::new("list").about("The configured servers; starts nothing")
}

pub(super) fn tools() -> Command {
    Command::new("tools")
        .about("The tools of all servers, or of one; starts them")
        .arg(server().help("The server; all by default"))
        .arg(
            tool()
                .conflicts_with("shape")
                .help("One tool of it: what it takes, and an example of a call"),
        )
        .arg(
            Arg::new("shape")
                .long("shape")
                .value_name("SHAPE")
                .value_parser(ToolFormat::ALL.map(ToolFormat::as_str))
                .help("Write the tools as that model API takes them, as JSON"),
        )
}

pub(super) fn call() -> Command {
    Command::new("call")
        .about("Calls a tool of a server")
        .arg(one_server())
        .arg(tool().help("The server's own name of the tool"))
        .arg(arguments().help("A JSON object, `-` to read one, or NAME=TEXT and NAME:=JSON"))
        .arg(
            Arg::new("quiet")
                .long("quiet")
                .short('q')
                .action(ArgAction::SetTrue)
                .help("Show no progress"),
        )
}

pub(super) fn resources() -> Command {
    Command::new("resources")
        .about("The resources of all servers, or of one, and their templates; starts them")
        .arg(server().help("The server; all by default"))
}

pub(super) fn read() -> Command {
    Command::new("read")
        .about("Reads a resource of a server")
        .arg(one_server())
        .arg(word("uri", "URI").help("The address of the resource"))
}

pub(super) fn prompts() -> Command {
    Command::new("prompts")
        .about("The prompts of all servers, or of one, or the messages of one prompt; starts them")
        .arg(server().help("The server; all by default"))
        .arg(word("prompt", "PROMPT").help("The prompt whose messages are shown"))
        .arg(arguments().help("Its arguments, as NAME=TEXT"))
}

pub(super) fn complete() -> Command {
    Command::new("complete")
        .about("What a server suggests for an argument of a prompt or of a resource template")
        .arg(one_server())
        .arg(word("of", "PROMPT|TEMPLATE").help("The name of the prompt, or the template"))
        .arg(word("argument", "NAME=TEXT").help("The argument, and how it begins"))
        .arg(arguments().help("Other arguments that are known already, as NAME=TEXT"))
}

pub(super) fn status() -> Command {
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

pub(super) fn doctor() -> Command {
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

pub(super) fn explain() -> Command {
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

pub(super) fn import() -> Command {
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

pub(super) fn adopt() -> Command {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("adopt")
        .about("Points the servers of products' settings at the pool, and back; the rest of a file stays")
        .arg(
            Arg::new("product")
                .value_name("PRODUCT")
                .num_args(0..)
                .value_parser(PossibleValuesParser::new(PRODUCTS.map(Format::name)))
                .help("The products; all that have a file here by default"),
        )
        .arg(flag("undo").help("Put the entries back, byte for byte"))
        .arg(flag("project").help("The files of the workspace, not the user's"))
        .arg(flag("yes").short('y').help("Write it, and ask nobody"))
        .arg(flag("dry-run").conflicts_with("yes").help("Show the difference, and write nothing"))
}

pub(super) fn approve() -> Command {
    Command::new("approve")
        .about("Shows what waits for approval; with a server, approves what is shown")
        .arg(server().help("The server; without one nothing is decided"))
        .arg(hash())
}

pub(super) fn reject() -> Command {
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

pub(super) fn forget() -> Command {
    Command::new("forget")
        .about("Drops every decision about a server, so that it waits for approval again")
        .arg(server().required(true).help("The server"))
}

pub(super) fn accept() -> Command {
    Command::new("accept")
        .about(
            "Shows the tools that changed after the approval; with a tool, accepts what is shown",
        )
        .arg(server().required(true).help("The server, which is started"))
        .arg(tool().help("The tool; without one nothing is accepted"))
        .arg(
            Arg::new("digest")
                .long("digest")
                .value_name("DIGEST")
                .requires("tool")
                .help("The digest that was shown, instead of a question"),
        )
}

pub(super) fn add() -> Command {
    let command =
        Command::new("add").about("Puts a server into a settings file, whose other lines stay");
    in_file(command).arg(server().value_name("ADDRESS").help("The address of a remote server"))
}

pub(super) fn remove() -> Command {
    in_file(Command::new("remove").about("Takes a server out of a settings file"))
}

pub(super) fn enable() -> Command {
    in_file(Command::new("enable").about("Switches a server of a settings file on"))
}

pub(super) fn disable() -> Command {
    in_file(Command::new("disable").about("Switches a server of a settings file off"))
}

/// A command about one server in one file.
fn in_file(command: Command) -> Command {
    command
        .arg(word("name", "NAME").required(true).help("The name of the server"))
        .arg(
            Arg::new("in")
                .long("in")
                .value_name("PRODUCT|FILE")
                .required(true)
                .value_hint(ValueHint::FilePath)
                .help("The product whose file it is, or the path of a file"),
        )
        .arg(
            Arg::new("project")
                .long("project")
                .action(ArgAction::SetTrue)
                .help("The product's file of the workspace, not the user's"),
        )
}

pub(super) fn sign_in() -> Command {
    Command::new("sign-in")
        .about("Signs in to a remote server: shows an address, and takes the redirect")
        .arg(one_server())
        .arg(
            Arg::new("listen")
                .long("listen")
                .value_name("PORT")
                .value_parser(port)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("")
                .help("Take the redirect at a port of this machine, 33418 or any free one by default, and not by a question"),
        )
        .arg(
            Arg::new("redirect")
                .long("redirect")
                .value_name("ADDRESS")
                .conflicts_with("listen")
                .help("Where the browser is sent back to, where the server's configuration does not say it"),
        )
}

pub(super) fn serve() -> Command {
    let named = |id: &'static str, name: &'static str| Arg::new(id).long(id).value_name(name);
    Command::new("serve")
        .about("Serves the servers to other programs until a signal ends it")
        .arg(
            named("http", "ADDRESS").help("The address for HTTP, or `off`; 127.0.0.1:0 by default"),
        )
        .arg(socket("The Unix socket, or `off`; one of this user by default"))
        .arg(
            named("token-file", "FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("The tokens of clients over HTTP, made if it is not there"),
        )
        .arg(
            named("allow-host", "HOST")
                .action(ArgAction::Append)
                .help("A value of Host that clients may send, beside those of this machine"),
        )
        .arg(
            named("allow-origin", "ORIGIN")
                .action(ArgAction::Append)
                .help("A web page's origin that may send requests; none by default"),
        )
}

pub(super) fn connect() -> Command {
    Command::new("connect")
        .about("An MCP server over the input and output: one of those that `serve` serves")
        .arg(server().help("The server; all by default"))
        .arg(socket("The socket of the endpoint; the one of this user by default"))
}

fn socket(help: &'static str) -> Arg {
    let path = Arg::new("socket").long("socket").value_name("PATH");
    path.value_parser(value_parser!(PathBuf)).value_hint(ValueHint::FilePath).help(help)
}

pub(super) fn demo() -> Command {
    Command::new("demo").about("A small MCP server over the input and output, to try hosts with")
}

pub(super) fn names() -> Command {
    Command::new("names")
        .hide(true)
        .about("The names of the servers, or of the tools of one, for completions")
        .arg(server())
}

pub(super) fn completions() -> Command {
    Command::new("completions").about("Writes the completions for a shell").arg(
        Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)),
    )
}

fn server() -> Arg {
    word("server", "SERVER")
}

/// The server of a command that talks to one; `--stdio` stands in its place.
fn one_server() -> Arg {
    server().required_unless_present("stdio").help("The server, or its address")
}

fn tool() -> Arg {
    word("tool", "TOOL")
}

fn arguments() -> Arg {
    word("arguments", "ARGUMENT").num_args(0..)
}

fn word(id: &'static str, name: &'static str) -> Arg {
    Arg::new(id).value_name(name)
}

/// A port, or nothing for the usual one.
fn port(text: &str) -> Result<Option<u16>, String> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| "no number of a port".to_owned()),
    }
}

/// A time in seconds, whole or not.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "no number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(number) {
        Ok(time) if !time.is_zero() && time <= TIME_MAX => Ok(time),
        _ => Err(format!("more than 0 and at most {} seconds", TIME_MAX.as_secs())),
    }
}

/// A week, which is the longest that a call may take.
const TIME_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
