//! A program to start, how it ends, and where what is read of it goes: the same on every system.

use std::ffi::OsString;
use std::path::PathBuf;

use super::files::file_stamp::Expected;

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

/// What a child does on its way to its program, as errors name it; the supervisor's program counts
/// them alike.
#[cfg(unix)]
pub(in crate::platform) const LAUNCH_STEPS: [&str; 5] = [
    "enter its working directory",
    "arrange its standard streams",
    "execute it",
    "start it",
    LaunchError::FIND_AGAIN,
];

/// How long a launch may take before it is given up: an exec can hang on a file system that does
/// not answer.
#[cfg(unix)]
pub(in crate::platform) const LAUNCH_TIMEOUT_MS: u16 = 10_000;

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
    pub(in crate::platform) const FIND_AGAIN: &str = "find it as it was looked at";

    /// Whether the files of the start were others by then.
    pub(crate) fn is_replaced(&self) -> bool {
        self.step == LaunchError::FIND_AGAIN
    }

    pub(in crate::platform) fn new(step: &'static str, error: std::io::Error) -> Self {
        LaunchError { step, error }
    }
}
