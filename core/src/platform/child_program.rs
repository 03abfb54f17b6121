//! A started program, as the system in question has it.

use super::{Process, ReadPipe, WritePipe};

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

/// Refuses: there is no implementation for this system.
#[cfg(not(any(unix, windows)))]
pub(crate) async fn launch(
    _launch: super::Launch,
    _on_blocking_thread: super::OnBlockingThread,
) -> Result<Launched, super::LaunchError> {
    Err(super::LaunchError::new(
        "start a process on this system",
        std::io::ErrorKind::Unsupported.into(),
    ))
}
