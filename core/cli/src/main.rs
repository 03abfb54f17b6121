//! `trunkline`: the command line as a program.

use std::io;
use std::process::ExitCode;

use trunkline_cli::{Interrupt, Terminal};

fn main() -> ExitCode {
    let interrupt = Interrupt::of_process();
    let (mut stdin, mut stdout, mut stderr) =
        (io::stdin().lock(), io::stdout(), io::stderr().lock());
    let terminal = Terminal::of_process(&mut stdin, &mut stdout, &mut stderr);
    ExitCode::from(trunkline_cli::run(std::env::args_os(), terminal.interrupted_by(&interrupt)))
}
