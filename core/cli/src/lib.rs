//! The command line `trunkline`, as a function: the program of that name, and the entry points of
//! the Python and the npm package, hand it their arguments and streams.
//!
//! Each run has a pool of its own, which it closes before it returns. `docs/guide/cli.md` describes
//! the commands and the exit codes.
//!
//! The workspace counts as trusted: a person stands in a folder and asks for its servers. Servers
//! of the project wait for approval all the same.
#![forbid(unsafe_code)]

mod commands;
mod console;
mod demo;
#[cfg(test)]
#[path = "../../tests/rig/folder.rs"]
mod folder;
mod live;

use std::ffi::OsString;

pub use console::exit::Exit;
pub use console::interrupt::Interrupt;
pub use console::terminal::Terminal;

use console::arguments::{self, Common};
use console::format;

/// Carries out one command line, whose first argument is the name of the program, and says how the
/// process is to exit.
///
/// What interrupts it is the terminal's [`Interrupt`]: what it started is ended first. It blocks,
/// and is not for use inside of an async runtime.
pub fn run(arguments: impl IntoIterator<Item = OsString>, mut terminal: Terminal<'_>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let exit = match arguments::command().try_get_matches_from(&arguments) {
        Ok(matches) => {
            let common = Common::of(&matches);
            let done = commands::run(&matches, &common, &mut terminal);
            done.unwrap_or_else(|failure| failure.tell(&common, &mut terminal))
        }
        Err(refused) => told(&refused, is_for_programs(&arguments), &mut terminal),
    };
    terminal.end(exit).number()
}

/// Whether JSON is asked for by a command line that makes no sense.
fn is_for_programs(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// What a command line that asks for help, or makes no sense, is answered.
fn told(refused: &clap::Error, in_json: bool, terminal: &mut Terminal<'_>) -> Exit {
    let text = refused.render().to_string();
    if refused.use_stderr() && in_json {
        let message = text.trim().trim_start_matches("error: ");
        let error = serde_json::json!({ "code": "command_line", "message": message });
        terminal.note(&format::visible_json(
            &serde_json::json!({ "v": 1, "error": error }).to_string(),
        ));
        return Exit::Usage;
    }
    if refused.use_stderr() {
        terminal.note(text.trim_end());
        return Exit::Usage;
    }
    terminal.line(text.trim_end());
    Exit::Success
}
