//! What is asked of the operating system by hand: processes, their pipes, signals. The one module with `unsafe`.
//!
//! A server is started by [`launch`], which answers with its process and three pipes. On Linux a supervisor process
//! holds it (`supervised`, and the program in `core/supervisor`); where none can run, the host does (`group`), on macOS
//! with a supervisor beside it (`watched`); on Windows the kernel does (`windows`). Nothing here installs a signal handler, waits for a process that is not ours, or changes the host's own state.
#![allow(unsafe_code)]

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod inherited;
#[cfg(unix)]
mod noted_descriptors;
#[cfg(unix)]
mod pipe;
#[cfg(unix)]
mod process;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod program;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod spawn_thread;
#[cfg(unix)]
mod spawner;
#[cfg(target_os = "linux")]
mod supervised;
#[cfg(target_os = "macos")]
mod watched;

#[cfg(unix)]
pub(crate) use self::{
    pipe::{LentPipe, PipeCopy, ReadPipe, WritePipe},
    process::Process,
    signals::block_all_signals,
    spawner::{launch, supervision},
};

mod generation;
mod home;
mod lock;
mod own;
mod stamp;
mod threads;
mod usage;
pub(crate) use self::generation::{OfProcess, fork_generation};
pub(crate) use self::home::home_of_user;
pub(crate) use self::lock::{FileLock, try_lock};
pub(crate) use self::own::{check_own_folder, is_users_alone, may_write, open_own};
pub(crate) use self::stamp::{Expected, Stamp};
pub use self::threads::start_callback_thread;
pub(crate) use self::usage::{Taken, taken};

#[cfg(all(test, unix))]
mod tests;
/// A part of the supervisor for macOS that needs no system, for the sake of its tests.
#[cfg(test)]
#[path = "../../supervisor/tracked.rs"]
mod tracked;
#[cfg(all(test, unix))]
pub(crate) use self::tests::{
    alone_in_a_process, children_of_this_process, default_sigpipe, ignored_sigchld,
    in_another_process, inheritable_descriptors, read_pair, reap_everything, write_pair,
};

#[cfg(any(windows, test))]
mod windows;
#[cfg(windows)]
pub(crate) use self::windows::{
    LentPipe, PipeCopy, Process, ReadPipe, WritePipe, block_all_signals, launch, supervision,
};

#[cfg(not(any(unix, windows)))]
mod unsupported;
#[cfg(not(any(unix, windows)))]
pub(crate) use self::unsupported::{
    LentPipe, PipeCopy, Process, ReadPipe, WritePipe, block_all_signals, launch, supervision,
};

use std::ffi::OsString;
use std::path::PathBuf;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "not all of it happens there"))]
pub(crate) enum Exit {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// The supervisor above it was ended from outside, and it went with it.
    SupervisorLost,
    /// Somebody else reaped it: the host ignores SIGCHLD, or waits for all its children.
    Unknown,
}

/// What a signal to a tree is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeSignal {
    /// SIGTERM: a request.
    Terminate,
    /// SIGKILL: the end, also of a stopped process.
    Kill,
}

/// What a child does on its way to its program, as errors name it; the supervisor's program counts them alike.
#[cfg(unix)]
const LAUNCH_STEPS: [&str; 5] = [
    "enter its working directory",
    "arrange its standard streams",
    "execute it",
    "start it",
    LaunchError::FIND_AGAIN,
];

/// How long a launch may take before it is given up: an exec can hang on a file system that does not answer.
#[cfg(unix)]
const LAUNCH_TIMEOUT_MS: u16 = 10_000;

/// A program to start, with everything already resolved.
///
/// No `Debug`: arguments and environment hold secrets.
pub(crate) struct Launch {
    /// The executable: an absolute path.
    pub program: PathBuf,
    /// What that and its interpreters have to be.
    pub expected: Expected,
    /// What the program sees as its own name.
    pub name: OsString,
    /// The arguments after the name.
    pub args: Vec<OsString>,
    /// The whole environment of the child.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory: an absolute path.
    pub cwd: PathBuf,
}

/// Gives a piece of work to a thread that may wait.
pub(crate) type OnBlockingThread = fn(Box<dyn FnOnce() + Send>);

/// Where what is read goes.
pub(crate) trait Room {
    /// The bytes to append to; there is room behind them.
    fn room(&mut self) -> &mut Vec<u8>;

    /// Nothing can be read now, maybe for long: the room can go until it is asked for again.
    fn rest(&mut self) {}
}

/// Has the room that it was given.
impl Room for Vec<u8> {
    fn room(&mut self) -> &mut Vec<u8> {
        self
    }
}

/// A started program.
pub(crate) struct Launched {
    /// The process; dropping it kills what is left of its tree.
    pub process: Process,
    /// Its standard input.
    pub stdin: WritePipe,
    /// Its standard output.
    pub stdout: ReadPipe,
    /// Its standard error.
    pub stderr: ReadPipe,
}

/// Why a program could not be started.
#[derive(Debug)]
pub(crate) struct LaunchError {
    /// What failed, as a clause: `start it`, `enter its working directory`.
    pub step: &'static str,
    /// The reason.
    pub error: std::io::Error,
}

impl LaunchError {
    /// The step in which the files of a start are found to be what they were right before it.
    const FIND_AGAIN: &str = "find it as it was looked at";

    /// Whether the files of the start were others by then.
    pub(crate) fn is_replaced(&self) -> bool {
        self.step == LaunchError::FIND_AGAIN
    }

    fn new(step: &'static str, error: std::io::Error) -> Self {
        LaunchError { step, error }
    }
}
