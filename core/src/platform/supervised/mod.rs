//! Servers under the supervisor: a process of our own that holds every server, and lets none
//! outlive the host (I-21).
//!
//! One supervisor per host process, started with the first server and carried inside the library.
//! The host hands it the server's ends of three pipes and of one socket; everything else about that
//! server goes over the socket, and its end means that the host is gone. A server that is dropped
//! at any moment is therefore ended, by construction.

mod fd_passing;
mod messages;
mod process;
mod start;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use self::messages::{KeeperMessage, ServerSocket};
pub(super) use self::process::SupervisedProcess;
use self::start::Supervisor;
use super::fork::close_on_fork::NotInherited;
use super::pipe::{pipe, set_nonblocking};
use super::{
    LAUNCH_STEPS, LAUNCH_TIMEOUT_MS, Launch, LaunchError, Launched, OfProcess, ReadPipe, WritePipe,
    carried_program,
};

/// How soon a full control socket is tried again: many servers are started at once.
const FULL_PAUSE: Duration = Duration::from_millis(1);

/// The supervisor of this process.
static CURRENT: OfProcess<Mutex<Option<Arc<Supervisor>>>> = OfProcess::new();

/// Starts a program under the supervisor; `None` when there cannot be one.
///
/// A dropped future leaves nothing: the server's socket closes with it.
pub(super) async fn launch(launch: &Launch) -> Result<Option<Launched>, LaunchError> {
    if !carried_program::is_expected() {
        return Ok(None);
    }
    let slow = |_| LaunchError::new("execute it", io::ErrorKind::TimedOut.into());
    let limit = Duration::from_millis(LAUNCH_TIMEOUT_MS.into());
    tokio::time::timeout(limit, launch_now(launch)).await.map_err(slow)?
}

async fn launch_now(launch: &Launch) -> Result<Option<Launched>, LaunchError> {
    let order = messages::order(launch)
        .map_err(|error| LaunchError::new("pass its arguments and environment", error))?;
    let open = |error| LaunchError::new("open its pipes", error);
    let (child_in, stdin) = pipe().map_err(open)?;
    let stdin = NotInherited::new(stdin);
    let (stdout, child_out) = pipe().map_err(open)?;
    let (stderr, child_err) = pipe().map_err(open)?;
    let (ours, theirs) = fd_passing::socket_pair(libc::SOCK_STREAM).map_err(open)?;
    for end in [&*stdin, &stdout, &stderr, &ours] {
        set_nonblocking(end).map_err(open)?;
    }
    let started = |error| LaunchError::new("start it", error);
    if !hand_over([theirs, child_in, child_out, child_err]).await? {
        return Ok(None);
    }
    let socket = ServerSocket::new(ours).map_err(started)?;
    socket.write_all(&order).await.map_err(started)?;
    let pid = match socket.read().await {
        Some(KeeperMessage::Started(pid)) => pid,
        Some(KeeperMessage::Failed { step, errno }) => {
            let step = usize::try_from(step).ok().and_then(|step| LAUNCH_STEPS.get(step));
            let error = io::Error::from_raw_os_error(errno);
            return Err(LaunchError::new(step.unwrap_or(&"start it"), error));
        }
        Some(KeeperMessage::Exited(_) | KeeperMessage::Ended) | None => {
            return Err(started(io::ErrorKind::BrokenPipe.into()));
        }
    };
    Ok(Some(Launched {
        process: super::Process::Supervised(SupervisedProcess::new(pid, socket)),
        stdin: WritePipe::new(stdin).map_err(started)?,
        stdout: ReadPipe::new(stdout).map_err(started)?,
        stderr: ReadPipe::new(stderr).map_err(started)?,
    }))
}

/// Gives a server's socket and streams to the supervisor, starting one if there is none; `false`
/// when there cannot be.
async fn hand_over(descriptors: [OwnedFd; 4]) -> Result<bool, LaunchError> {
    let mut ended = None;
    loop {
        let Some(supervisor) = supervisor(ended).await? else {
            return Ok(false);
        };
        match supervisor.send(&descriptors) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                tokio::time::sleep(FULL_PAUSE).await;
            }
            // It was killed. The next one is tried, unless that has ended as well.
            Err(error) if ended.is_some_and(|ended| ended != supervisor.pid) => {
                return Err(LaunchError::new("reach its supervisor", error));
            }
            Err(_) => ended = Some(supervisor.pid),
        }
    }
}

/// The supervisor of this process, started if there is none, or only the one that has `ended`.
async fn supervisor(ended: Option<libc::pid_t>) -> Result<Option<Arc<Supervisor>>, LaunchError> {
    if let Some(supervisor) = current(ended) {
        return Ok(Some(supervisor));
    }
    let started = super::spawn_thread::on_thread(move || match current(ended) {
        Some(supervisor) => Ok(supervisor),
        None => start::start().map(|supervisor| {
            let supervisor = Arc::new(supervisor);
            *lock() = Some(supervisor.clone());
            supervisor
        }),
    });
    match started.await.and_then(|started| started) {
        Ok(supervisor) => Ok(Some(supervisor)),
        Err(error) if carried_program::may_pass(&error) => {
            Err(LaunchError::new("start its supervisor", error))
        }
        Err(error) => {
            carried_program::note_impossible(&error);
            Ok(None)
        }
    }
}

/// The supervisor that runs for this process with its present rights, unless it is the one that has
/// ended.
fn current(ended: Option<libc::pid_t>) -> Option<Arc<Supervisor>> {
    let current = lock();
    let supervisor = current.as_ref()?;
    (Some(supervisor.pid) != ended && supervisor.is_ours()).then(|| supervisor.clone())
}

fn lock() -> std::sync::MutexGuard<'static, Option<Arc<Supervisor>>> {
    CURRENT.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pid of the running supervisor.
#[cfg(test)]
pub(super) fn pid() -> Option<libc::pid_t> {
    current(None).map(|supervisor| supervisor.pid)
}
