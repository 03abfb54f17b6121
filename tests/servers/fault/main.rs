//! `trunkline-faultserver`: an MCP server that behaves, by flag, as servers must not.
//!
//! What a client has to make of each behaviour stands in `behaviours.json` beside this file. The process has one
//! thread, so that its helpers are plain forks of it.

mod family;
mod flags;
mod frames;
mod serve;

fn main() {
    let flags = match flags::Flags::parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(message) => {
            eprintln!("trunkline-faultserver: {message}");
            std::process::exit(2);
        }
    };
    if flags.hold {
        family::hold(&flags);
    }
    family::begin(&flags);
    serve::serve(&flags);
    family::end(&flags);
}
