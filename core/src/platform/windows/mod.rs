//! Servers on Windows: each in a job of its own from its first instruction, which ends with the
//! host (SPEC 9.8).
//!
//! The tests compile this and cannot run it, so it is kept small; what needs no system (`text`) is
//! tested everywhere.
//!
//! The end of stdin is the only polite request: a program without the host's console gets no
//! `CTRL_BREAK`.

mod command_line;
#[cfg(windows)]
mod identity;
#[cfg(windows)]
mod pipe;
#[cfg(windows)]
mod process;
#[cfg(windows)]
mod spawn;

#[cfg(windows)]
pub(crate) use self::{
    identity::file_identity,
    pipe::{LentPipe, PipeCopy, ReadPipe, WritePipe},
    process::Process,
    spawn::launch,
};

/// Who sees to it that no server survives the host: the kernel, by the servers' `job`s.
#[cfg(windows)]
pub(crate) fn supervision() -> &'static str {
    "job"
}

/// There are no signals here.
#[cfg(windows)]
pub(crate) fn block_all_signals() {}

/// The error of a call that answers with zero.
#[cfg(windows)]
fn check(result: i32) -> std::io::Result<()> {
    if result == 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
