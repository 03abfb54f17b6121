//! `serve`: an endpoint for programs that do not embed the library. It runs until a signal ends it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use trunkline::{ServeOptions, Serving, own_folders};

use crate::console::arguments::Common;
use crate::console::context::with_pool;
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;

/// One of the pauses until a signal comes.
const PAUSE: Duration = Duration::from_secs(3600);

pub(in crate::commands) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let tokens = tokens(given)?;
    let options = options(given, &tokens)?;
    with_pool(common, terminal, |opened, terminal| {
        let serving = opened.pool.serve(options)?;
        say(&serving, &tokens, common, terminal);
        terminal.flush();
        // Only a signal ends the pause.
        while opened.pause(PAUSE).is_ok() {}
        opened.pool.block_on(async move {
            serving.close().await;
            Ok(())
        })?;
        Ok(Exit::Success)
    })
}

/// The file of the tokens of a port.
fn tokens(given: &ArgMatches) -> Result<PathBuf, Failure> {
    match given.get_one::<PathBuf>("token-file") {
        Some(file) => whole(file),
        None => Ok(folder()?.join("tokens")),
    }
}

/// The folder of this user for what serving needs.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    let folder = own_folders().into_iter().next().map(|folder| folder.join("serve"));
    folder.ok_or_else(|| {
        let failure =
            Failure::new(Exit::Settings, "this user has no folder for files of their own");
        failure.with_hint("set TRUNKLINE_HOME to a folder that nobody else may enter")
    })
}

/// The socket that `serve` has and `connect` looks for; nothing where there is none.
pub(super) fn socket(given: &ArgMatches) -> Result<Option<PathBuf>, Failure> {
    match given.get_one::<PathBuf>("socket") {
        Some(named) if named.as_os_str() == "off" => Ok(None),
        Some(named) => whole(named).map(Some),
        None if cfg!(unix) => Ok(Some(folder()?.join("socket"))),
        None => Ok(None),
    }
}

fn whole(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::usage(format!("{}: {error}", path.display()));
    std::path::absolute(path).map_err(failed)
}

fn options(given: &ArgMatches, tokens: &Path) -> Result<ServeOptions, Failure> {
    let mut options = Map::new();
    if let Some(address) = given.get_one::<String>("http") {
        options.insert("http".to_owned(), json!(address));
    }
    if let Some(socket) = socket(given)? {
        options.insert("socket".to_owned(), json!(socket));
    }
    options.insert("token_file".to_owned(), json!(tokens));
    for (argument, option) in [("allow-host", "allowed_hosts"), ("allow-origin", "allowed_origins")]
    {
        let named: Vec<&String> = given.get_many(argument).unwrap_or_default().collect();
        if !named.is_empty() {
            options.insert(option.to_owned(), json!(named));
        }
    }
    Ok(ServeOptions::from_json(&Value::Object(options).to_string())?)
}

/// Where clients find it. No token is shown.
fn say(serving: &Serving, tokens: &Path, common: &Common, terminal: &mut Terminal<'_>) {
    let address = serving.address().map(|address| format!("http://{address}/mcp"));
    let socket = serving.socket().map(|socket| socket.display().to_string());
    let tokens = address.is_some().then(|| tokens.display().to_string());
    if common.json {
        let said = json!({ "v": 1, "http": address, "socket": socket, "token_file": tokens });
        return format::json(terminal, &said);
    }
    if let (Some(address), Some(tokens)) = (&address, &tokens) {
        terminal.line(&format!("http    {address} for all servers, {address}/<server> for one"));
        terminal.line(&format!("tokens  {tokens}"));
    }
    if let Some(socket) = &socket {
        terminal.line(&format!("socket  {socket}"));
    }
}
