//! A server that stands in the command line itself, and in no file: a command or an address. The
//! person who types it has decided about it, so that it needs no approval.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};

use super::shell_words::{CommandLine, command_line, quoted};

/// Such a server.
pub(crate) struct TypedServer {
    /// Its configuration, in which nothing is expanded.
    pub(crate) configuration: Value,
    /// How it was typed.
    shown: String,
}

/// What such a server is called.
pub(crate) const NAME: &str = "server";

/// A command that takes such a server in place of a name.
pub(super) fn takes_typed(command: Command) -> Command {
    let stdio = Arg::new("stdio")
        .long("stdio")
        .value_name("COMMAND")
        .value_parser(command_line)
        .help("A server that this command starts, in place of SERVER; an address of http or ws may stand there too");
    let env = Arg::new("env")
        .long("env")
        .short('e')
        .value_name("NAME=TEXT")
        .value_parser(variable)
        .action(ArgAction::Append)
        .requires("stdio")
        .help("A variable of the environment of that server; may be repeated");
    command.arg(stdio).arg(env)
}

impl TypedServer {
    /// The one of this command line.
    pub(super) fn of(given: &ArgMatches) -> Option<TypedServer> {
        // A command that takes none does not know the option.
        let stdio = given.try_get_one::<CommandLine>("stdio").ok()?;
        if let Some(line) = stdio {
            let env = given.get_many::<(String, String)>("env").unwrap_or_default();
            let env: Map<String, Value> =
                env.map(|(name, text)| (name.clone(), text.as_str().into())).collect();
            let configuration =
                json!({ "command": line.program, "args": line.arguments, "env": env });
            return Some(TypedServer {
                configuration,
                shown: format!("--stdio {}", quoted(&line.whole)),
            });
        }
        let server = given.get_one::<String>("server").filter(|server| is_address(server))?;
        let configuration = json!({ "url": server });
        Some(TypedServer { configuration, shown: quoted(server) })
    }
}

/// How a server is named in a command that a person can type.
pub(crate) fn shown(typed: Option<&TypedServer>, server: &str) -> String {
    typed.map_or_else(|| quoted(server), |typed| typed.shown.clone())
}

/// The server that is meant, and the other words, in their order. With `--stdio` the first word is
/// no name of a server.
pub(crate) fn addressed(
    given: &ArgMatches,
    typed: Option<&TypedServer>,
    names: &[&str],
) -> (Option<String>, Vec<String>) {
    let words = names.iter().filter_map(|name| given.get_many::<String>(name));
    let mut words = words.flatten().cloned();
    let server = match typed {
        None => words.next(),
        Some(_) => {
            if !given.contains_id("stdio") {
                words.next();
            }
            Some(NAME.to_owned())
        }
    };
    (server, words.collect())
}

fn is_address(server: &str) -> bool {
    let scheme = server.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| matches!(&*scheme, "http" | "https" | "ws" | "wss"))
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a variable is written NAME=TEXT".to_owned()),
    }
}
