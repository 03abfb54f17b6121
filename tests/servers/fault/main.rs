//! `trunkline-faultserver`: an MCP server that behaves, by flag, as servers must not.
//!
//! What a client has to make of each behaviour stands in `behaviours.json`, `lines.json`,
//! `requests.json` and `remotes.json` beside this file. Over stdio the process has one thread, so
//! that its helpers are plain forks of it.

mod at;
mod family;
mod features;
mod flags;
mod frames;
mod relay;
mod rogue;
mod serve;

fn main() {
    let flags = match flags::Flags::parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(message) => {
            eprintln!("trunkline-faultserver: {message}");
            std::process::exit(2);
        }
    };
    if let Some(scheme) = flags.listen {
        return rogue::listen(scheme, &flags.sends, &flags.then, flags.to);
    }
    if flags.hold {
        family::hold(&flags);
    }
    family::begin(&flags);
    if let Some(address) = &flags.relay {
        return relay::run(address);
    }
    serve::serve(&flags);
    family::end(&flags);
}
