//! `trunkline`: the command line as a program.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut stdin, mut stdout, mut stderr) =
        (io::stdin().lock(), io::stdout().lock(), io::stderr().lock());
    let terminal = trunkline_cli::Terminal::of_process(&mut stdin, &mut stdout, &mut stderr);
    ExitCode::from(trunkline_cli::run(std::env::args_os(), terminal))
}
