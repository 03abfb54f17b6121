//! The command line `trunkline`, for the entry point of the package.

use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::Task;
use napi::bindgen_prelude::{AsyncTask, Env};
use napi_derive::napi;
use trunkline_cli::{Interrupt, Terminal};

/// One run. No signal of the process is touched: JavaScript hears them, and tells.
#[napi]
pub struct NativeCommandLine {
    arguments: Vec<String>,
    interrupt: Interrupt,
}

#[napi]
impl NativeCommandLine {
    /// The first argument is the name of the program.
    #[napi(constructor, catch_unwind)]
    pub fn new(arguments: Vec<String>) -> Self {
        NativeCommandLine { arguments, interrupt: Interrupt::new() }
    }

    /// Carries it out with the streams of the process, on a thread of its own, and says how the
    /// process is to exit.
    #[napi(catch_unwind)]
    pub fn run(&self) -> AsyncTask<Running> {
        let arguments = self.arguments.iter().map(OsString::from).collect();
        AsyncTask::new(Running { arguments, interrupt: self.interrupt.clone() })
    }

    /// A signal came. Where there is nothing to wait for, this ends the process.
    #[napi(catch_unwind)]
    pub fn interrupt(&self, signal: u8) {
        self.interrupt.tell(signal);
    }
}

/// A run under way.
pub struct Running {
    arguments: Vec<OsString>,
    interrupt: Interrupt,
}

impl Task for Running {
    type Output = u8;
    type JsValue = u32;

    fn compute(&mut self) -> napi::Result<u8> {
        let arguments = std::mem::take(&mut self.arguments);
        // What Node calls by pointer may not unwind.
        catch_unwind(AssertUnwindSafe(|| {
            let (mut stdin, mut stdout, mut stderr) =
                (io::stdin().lock(), io::stdout(), io::stderr().lock());
            let terminal = Terminal::of_process(&mut stdin, &mut stdout, &mut stderr);
            trunkline_cli::run(arguments, terminal.interrupted_by(&self.interrupt))
        }))
        .map_err(|_| napi::Error::from_reason("the command line panicked"))
    }

    fn resolve(&mut self, _env: Env, exit: u8) -> napi::Result<u32> {
        Ok(exit.into())
    }
}
