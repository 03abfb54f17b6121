//! The choice of who holds a new server.

use super::spawn_thread::on_thread;
#[cfg(target_os = "linux")]
use super::supervised;
use super::{Launch, LaunchError, Launched, OnBlockingThread, group};

/// Starts a program. Must be awaited on the runtime that is to serve its pipes.
///
/// It forks on a thread of its own, and needs none that may wait. A dropped future leaves nothing:
/// a process that comes up without a taker is ended.
pub(crate) async fn launch(
    launch: Launch,
    _on_blocking_thread: OnBlockingThread,
) -> Result<Launched, LaunchError> {
    #[cfg(target_os = "linux")]
    if let Some(launched) = supervised::launch(&launch).await? {
        return Ok(launched);
    }
    let child = on_thread(move || {
        #[cfg(target_os = "macos")]
        super::macos_watcher::ensure(group::live);
        group::fork_exec(&launch)
    })
    .await;
    let child = child.map_err(|error| LaunchError::new("start it", error))?;
    group::adopt(child?).await
}

/// Who sees to it that no server survives the host: `supervisor`, or the servers' process `group`s
/// from inside the host.
///
/// Before the first server is started it says what will be tried.
pub(crate) fn supervision() -> &'static str {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if super::carried_program::is_expected() {
        return "supervisor";
    }
    "group"
}
