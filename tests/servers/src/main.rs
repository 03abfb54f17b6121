//! `trunkline-testserver`: the MCP server that the tests, the demo and the benchmark run.
//!
//! It speaks either era over stdio, Streamable HTTP, HTTP+SSE or a websocket, with plain blocking
//! threads: one thread reads requests and answers the quick ones in batches, and every slow call
//! has a thread of its own. Flags make it misbehave in the ways that real servers do; `--help`
//! lists them.

mod asks;
mod changes;
mod era;
mod family;
mod fixtures;
mod flags;
mod http;
mod listens;
mod lists;
mod request;
mod scan;
mod serve;
mod slow;
mod tools;
mod wire;

use std::sync::OnceLock;

use flags::Flags;
use serve::Server;

/// The one server of this process; threads borrow it for as long as the process runs.
static SERVER: OnceLock<Server> = OnceLock::new();

fn main() {
    let flags = match Flags::parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(message) => {
            eprintln!("trunkline-testserver: {message}");
            std::process::exit(2);
        }
    };
    if flags.hold {
        family::hold();
    }
    let starts = family::log_start(&flags);
    if flags.wrapped {
        family::wrap();
    }
    family::begin(&flags, starts);
    http::begin(&flags);
    let server = SERVER.get_or_init(|| Server::new(flags, starts));
    serve::serve(server);
}
