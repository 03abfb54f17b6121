//! Servers as children of the host itself: the fallback where no supervisor can run.
//!
//! Each server leads a session and a group of its own. What leaves both and loses its parent is not
//! found again, and a host that is killed takes nothing with it: `status` says
//! `supervision: group`. On macOS a supervisor sees to both, but for what escapes between two looks
//! (`macos_watcher`).
//!
//! The leader stays unreaped until its tree is looked at, so that its pid and group cannot be a
//! stranger's.

mod descendants;
mod exit;
mod exit_hook;
mod fork;
mod process;
mod process_table;

#[cfg(target_os = "macos")]
pub(super) use self::exit_hook::live;
pub(super) use self::fork::fork_exec;
use self::fork::{RawChild, executed};
pub(super) use self::process::GroupProcess;
pub(super) use self::process_table::is_ending;

use super::{LaunchError, Launched, ReadPipe, WritePipe};

/// Gives a child to the runtime, once it is the program. A dropped future leaves nothing.
pub(super) async fn adopt(child: RawChild) -> Result<Launched, LaunchError> {
    executed(child.report).await?;
    let failed = |error| LaunchError::new("watch it", error);
    let process = GroupProcess::claim(child.leader).map_err(failed)?;
    Ok(Launched {
        process: super::Process::Group(process),
        stdin: WritePipe::new(child.stdin).map_err(failed)?,
        stdout: ReadPipe::new(child.stdout).map_err(failed)?,
        stderr: ReadPipe::new(child.stderr).map_err(failed)?,
    })
}
