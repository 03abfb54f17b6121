//! Servers of a host on macOS, told to a supervisor that ends what the host leaves (SPEC 9.8).
//!
//! The host starts its servers itself (`group`); the program in `core/supervisor/macos` follows
//! them from outside. Between a server's start and the word of it lies a moment in which a killed
//! host leaves it.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{LAUNCH_TIMEOUT_MS, OfProcess, carried_program, signals};

const MESSAGE_BYTES: usize = 16;

/// What is said of a process: this one, or a server's leader. The numbers are those of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatcherMessage {
    Host = 0,
    Begun = 1,
    Over = 2,
}

/// A supervisor that runs.
struct MacosWatcher {
    /// The process that it is for: a fork of that one starts its own.
    owner: u32,
    socket: UnixStream,
    /// What it has not taken yet.
    unsent: Vec<u8>,
}

/// What may wait for a supervisor that does not read, because it is stopped, or the machine busy.
/// Of a server beyond that it does not hear.
const UNSENT_BYTES_MAX: usize = 1 << 20;

static CURRENT: OfProcess<Mutex<Option<MacosWatcher>>> = OfProcess::new();

/// Starts the supervisor if there is none, and tells it of the servers that `live`: their pids, and
/// when they started.
///
/// Blocks until it serves. Where none can run there is none, and `status` says so.
pub(super) fn ensure(live: impl FnOnce() -> Vec<(libc::pid_t, u64)>) {
    let mut current = lock();
    let is_ours = current.as_ref().is_some_and(|watcher| watcher.owner == std::process::id());
    if is_ours || !carried_program::is_expected() {
        return;
    }
    match carried_program::in_file(start) {
        Ok(socket) => {
            *current = Some(MacosWatcher { owner: std::process::id(), socket, unsent: Vec::new() });
            send(&mut current, WatcherMessage::Host, std::process::id().cast_signed(), 0);
            for (pid, started) in live() {
                send(&mut current, WatcherMessage::Begun, pid, started);
            }
        }
        // A fork of some other thread may hold the file open for writing until its exec.
        Err(error) if carried_program::may_pass(&error) || is_busy(&error) => {
            tracing::warn!(%error, "the supervisor did not start");
        }
        Err(error) => carried_program::note_impossible(&error),
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ETXTBSY)
}

/// Tells of a server, if there is somebody to tell. One that has ended is replaced with the next
/// server.
pub(super) fn tell(word: WatcherMessage, pid: libc::pid_t, started: u64) {
    send(&mut lock(), word, pid, started);
}

fn send(current: &mut Option<MacosWatcher>, word: WatcherMessage, pid: libc::pid_t, started: u64) {
    let is_ours = |watcher: &&mut MacosWatcher| watcher.owner == std::process::id();
    let Some(watcher) = current.as_mut().filter(is_ours) else { return };
    let mut message = [0; MESSAGE_BYTES];
    message[..4].copy_from_slice(&(word as i32).to_le_bytes());
    message[4..8].copy_from_slice(&pid.to_le_bytes());
    message[8..].copy_from_slice(&started.to_le_bytes());
    if watcher.unsent.len() < UNSENT_BYTES_MAX {
        watcher.unsent.extend_from_slice(&message);
    }
    if watcher.write().is_err() {
        *current = None;
    }
}

impl MacosWatcher {
    /// Writes what the socket takes; what is left goes before the next word. The socket stays open:
    /// its end would be that of the host, and of all its servers.
    fn write(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match signals::write(self.socket.as_fd(), &self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Starts the program, which leaves the host at once, and waits for its first word.
fn start(path: &std::path::Path) -> io::Result<UnixStream> {
    let (mut ours, theirs) = UnixStream::pair()?;
    signals::never_raise(ours.as_fd())?;
    let mut command = Command::new(path);
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut first = command.env_clear().current_dir("/").spawn()?;
    // It has forked and ended. A host that reaps everything makes this fail, which is as good.
    let _ = first.wait();
    drop(command);
    ours.set_read_timeout(Some(Duration::from_millis(LAUNCH_TIMEOUT_MS.into())))?;
    let mut hello = [0; 12];
    ours.read_exact(&mut hello).map_err(|error| match error.kind() {
        // It ended before it could speak: its program does not run here.
        io::ErrorKind::UnexpectedEof => io::Error::from_raw_os_error(libc::ENOEXEC),
        _ => error,
    })?;
    ours.set_nonblocking(true)?;
    Ok(ours)
}

fn lock() -> MutexGuard<'static, Option<MacosWatcher>> {
    CURRENT.get().lock().unwrap_or_else(PoisonError::into_inner)
}
