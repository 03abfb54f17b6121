//! `connect`: an MCP server over the input and output, which is a server of the pool of this
//! machine. Products start it in the place of the server itself.

use clap::ArgMatches;

#[cfg(unix)]
use super::own_folder::OwnFolder;
#[cfg(unix)]
use super::{relay, serve};
use crate::console::arguments::Common;
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::terminal::Terminal;

/// Reaches the endpoint that `serve` opened. Where there is none this process serves by itself.
#[cfg(unix)]
pub(in crate::commands) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    use std::os::unix::net::UnixStream;

    use crate::console::context::with_pool;

    let path = path(given);
    let running = serve::socket(given)?.and_then(|socket| UnixStream::connect(socket).ok());
    if let Some(endpoint) = running {
        return relay::carry(endpoint, &path, terminal);
    }
    let own = OwnFolder::new(serve::folder()?)?;
    let options = serde_json::json!({ "http": "off", "socket": own.socket() }).to_string();
    let options = trunkline::ServeOptions::from_json(&options)?;
    with_pool(common, terminal, |opened, terminal| {
        let serving = opened.pool.serve(options)?;
        let endpoint = UnixStream::connect(own.socket()).map_err(|error| relay::lost(&error))?;
        let carried = relay::carry(endpoint, &path, terminal);
        let closed = opened.pool.block_on(async move {
            serving.close().await;
            Ok(())
        });
        let carried = carried?;
        closed?;
        Ok(carried)
    })
}

/// There is no lane for it.
#[cfg(not(unix))]
pub(in crate::commands) fn run(
    given: &ArgMatches,
    _: &Common,
    _: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let message = format!("this system has no Unix sockets, so {} cannot be reached", path(given));
    let failure = Failure::new(Exit::Failed, message);
    Err(failure.with_hint("give the product the address that `trunkline serve` shows"))
}

/// The path of an endpoint that has this server, or all of them.
fn path(given: &ArgMatches) -> String {
    let Some(server) = given.get_one::<String>("server") else { return "/mcp".to_owned() };
    let escaped = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    format!("/mcp/{}", server.bytes().map(escaped).collect::<String>())
}
