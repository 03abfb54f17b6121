//! What is asked of the operating system by hand: processes, their pipes, signals. The one module
//! with `unsafe`.
//!
//! A server is started by [`launch`], which answers with its process and three pipes. On Linux a
//! supervisor process holds it (`supervised`, and the program in `core/supervisor`); where none can
//! run, the host does (`group`), on macOS with a supervisor beside it (`macos_watcher`); on Windows
//! the kernel does (`windows`). Nothing here installs a signal handler, waits for a process that is
//! not ours, or changes the host's own state.
#![allow(unsafe_code)]

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod carried_program;
mod files;
mod fork;
#[cfg(unix)]
mod group;
#[cfg(target_os = "macos")]
mod macos_watcher;
#[cfg(unix)]
mod pipe;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod spawn_thread;
#[cfg(unix)]
mod spawner;
#[cfg(target_os = "linux")]
mod supervised;

#[cfg(unix)]
pub(crate) use self::{
    pipe::{LentPipe, PipeCopy, ReadPipe, WritePipe},
    process::Process,
    signals::block_all_signals,
    spawner::{launch, supervision},
};

mod child_program;
mod process_stats;
mod threads;
mod types;
pub(crate) use self::child_program::Launched;
pub(crate) use self::files::file_lock::{FileLock, try_lock};
pub(crate) use self::files::file_stamp::{Expected, FileStamp};
#[cfg(unix)]
pub(crate) use self::files::private_file::own_user;
pub(crate) use self::files::private_file::{
    check_own_folder, check_unreadable, is_users_alone, may_write, open_own,
};
pub(crate) use self::files::user_home::home_of_user;
pub(crate) use self::fork::generation::{OfProcess, fork_generation};
pub(crate) use self::process_stats::{ProcessStats, taken};
pub use self::threads::start_callback_thread;
pub(crate) use self::types::{Exit, Launch, LaunchError, OnBlockingThread, Room, TreeSignal};
#[cfg(unix)]
use self::types::{LAUNCH_STEPS, LAUNCH_TIMEOUT_MS};

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
pub(crate) use self::child_program::launch;
#[cfg(not(any(unix, windows)))]
pub(crate) use self::unsupported::{
    LentPipe, PipeCopy, Process, ReadPipe, WritePipe, block_all_signals, supervision,
};
