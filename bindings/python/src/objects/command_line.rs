//! The command line `trunkline`, for the entry point of the package.

use std::ffi::OsString;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::prelude::*;
use trunkline::{Error, ErrorCode};
use trunkline_cli::{Interrupt, Terminal};

use crate::runtime::failure::{constructed, exception, guarded};
use crate::runtime::interpreter::{check_signals, released};

/// One run. No signal of the process is touched: Python hears them, and tells.
#[pyclass(frozen, module = "trunkline._trunkline")]
pub struct CommandLine {
    arguments: Vec<OsString>,
    interrupt: Interrupt,
}

#[pymethods]
impl CommandLine {
    /// The first argument is the name of the program.
    #[new]
    fn new(arguments: &Bound<'_, PyAny>) -> PyResult<Self> {
        constructed(arguments.py(), || {
            Ok(CommandLine { arguments: arguments.extract()?, interrupt: Interrupt::new() })
        })
    }

    /// Carries it out with the streams of the process, and says how that is to exit. Signal
    /// handlers of Python run meanwhile; what one raises interrupts the run, and is raised when
    /// that is over.
    fn run(&self, py: Python<'_>) -> PyResult<u8> {
        let (arguments, interrupt) = (self.arguments.clone(), self.interrupt.clone());
        let (send, mut receive) = sync_channel(1);
        guarded(|| {
            let run = move || {
                // Who waits is there until the run is over.
                let _ = send.send(run(arguments, &interrupt));
            };
            std::thread::Builder::new().name("trunkline-cli".into()).spawn(run)?;
            let mut raised = None;
            loop {
                let (back, came) = released(py, move || {
                    let came = receive.recv_timeout(SLICE);
                    (receive, came)
                });
                receive = back;
                match came {
                    Ok(exit) => return raised.map_or(Ok(exit), Err),
                    Err(RecvTimeoutError::Disconnected) => {
                        let error = Error::new(ErrorCode::Internal, "the command line panicked");
                        return Err(exception(py, &error));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if let Err(interruption) = check_signals(py) {
                    self.interrupt.tell(SIGINT);
                    raised = Some(interruption);
                }
            }
        })
    }

    /// A signal came. Where there is nothing to wait for, this ends the process.
    fn interrupt(&self, signal: u8) {
        self.interrupt.tell(signal);
    }
}

fn run(arguments: Vec<OsString>, interrupt: &Interrupt) -> u8 {
    let (mut stdin, mut stdout, mut stderr) =
        (io::stdin().lock(), io::stdout(), io::stderr().lock());
    let terminal = Terminal::of_process(&mut stdin, &mut stdout, &mut stderr);
    trunkline_cli::run(arguments, terminal.interrupted_by(interrupt))
}

/// How often is looked for signals.
const SLICE: Duration = Duration::from_millis(50);

const SIGINT: u8 = libc::SIGINT as u8;
