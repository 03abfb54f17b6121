//! What is asked of the operating system by hand: processes, their pipes, signals. The one module with `unsafe`.
//!
//! A server is started by [`launch`], which answers with its process and three pipes; the fork itself happens on one
//! long-lived thread, so that a supervisor process can take that role without a change to the callers. Nothing here
//! installs a signal handler, waits for a process that is not ours, or changes the host's own state.
#![allow(unsafe_code)]

#[cfg(unix)]
mod children;
#[cfg(unix)]
mod exit;
#[cfg(unix)]
mod fork;
#[cfg(unix)]
mod last_resort;
#[cfg(unix)]
mod pipe;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod spawner;

#[cfg(unix)]
pub(crate) use self::{
    exit::Exit,
    pipe::{ReadPipe, WritePipe},
    process::{Process, TreeSignal},
    signals::block_all_signals,
    spawner::launch,
};

mod generation;
pub(crate) use self::generation::fork_generation;

/// Who sees to it that no server survives the host: the process groups of the servers, from inside the host.
pub(crate) const SUPERVISION: &str = "group";

#[cfg(all(test, unix))]
mod tests;
#[cfg(all(test, unix))]
pub(crate) use self::tests::{
    alone_in_a_process, children_of_this_process, default_sigpipe, ignored_sigchld,
    in_another_process, inheritable_descriptors, reap_everything,
};

#[cfg(not(unix))]
mod unsupported;
#[cfg(not(unix))]
pub(crate) use self::unsupported::{
    Exit, Process, ReadPipe, TreeSignal, WritePipe, block_all_signals, launch,
};

use std::ffi::OsString;
use std::path::PathBuf;

/// A program to start, with everything already resolved.
///
/// No `Debug`: arguments and environment hold secrets.
pub(crate) struct Launch {
    /// The executable: an absolute path.
    pub program: PathBuf,
    /// What the program sees as its own name.
    pub name: OsString,
    /// The arguments after the name.
    pub args: Vec<OsString>,
    /// The whole environment of the child.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory: an absolute path.
    pub cwd: PathBuf,
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
    fn new(step: &'static str, error: std::io::Error) -> Self {
        LaunchError { step, error }
    }
}
