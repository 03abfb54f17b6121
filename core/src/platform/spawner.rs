//! The thread that starts every server of this process: requests in, children out.
//!
//! One thread, because what the kernel ties to the forking thread must not end with a worker of some runtime; an
//! asynchronous interface, because a supervisor process is to take this role.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use super::fork::{RawChild, fork_exec};
use super::process::Process;
use super::{Launch, LaunchError, Launched, ReadPipe, WritePipe, signals};

/// Requests that may wait. More servers than this at once are refused by the pool's own limits.
const QUEUE_MAX: usize = 4096;

struct Order {
    launch: Launch,
    answer: oneshot::Sender<Result<RawChild, LaunchError>>,
}

/// The thread's queue, with the process that it lives in: threads do not survive a fork.
static SPAWNER: Mutex<Option<(u32, SyncSender<Order>)>> = Mutex::new(None);

/// Starts a program. Must be awaited on the runtime that is to serve its pipes.
///
/// A dropped future leaves nothing: a child that comes up without a taker is killed and reaped.
pub(crate) async fn launch(launch: Launch) -> Result<Launched, LaunchError> {
    let (answer, child) = oneshot::channel();
    let queue = queue().map_err(|error| LaunchError::new("start a thread for it", error))?;
    queue.try_send(Order { launch, answer }).map_err(|refused| {
        let kind = match refused {
            TrySendError::Full(_) => io::ErrorKind::WouldBlock,
            TrySendError::Disconnected(_) => io::ErrorKind::BrokenPipe,
        };
        LaunchError::new("queue it", kind.into())
    })?;
    match child.await {
        Ok(child) => adopt(child?),
        Err(_) => Err(LaunchError::new("start it", io::ErrorKind::BrokenPipe.into())),
    }
}

/// Gives a child to the runtime.
fn adopt(child: RawChild) -> Result<Launched, LaunchError> {
    let failed = |error| LaunchError::new("watch it", error);
    let process = Process::claim(child.leader).map_err(failed)?;
    Ok(Launched {
        process,
        stdin: WritePipe::new(child.stdin).map_err(failed)?,
        stdout: ReadPipe::new(child.stdout).map_err(failed)?,
        stderr: ReadPipe::new(child.stderr).map_err(failed)?,
    })
}

fn queue() -> io::Result<SyncSender<Order>> {
    let mut spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    match &*spawner {
        Some((pid, queue)) if *pid == std::process::id() => Ok(queue.clone()),
        _ => {
            let (queue, orders) = sync_channel(QUEUE_MAX);
            let thread = std::thread::Builder::new().name("trunkline-spawn".into());
            signals::with_signals_blocked(|| thread.spawn(move || serve(&orders)))?;
            *spawner = Some((std::process::id(), queue.clone()));
            Ok(queue)
        }
    }
}

fn serve(orders: &Receiver<Order>) {
    signals::block_all_signals();
    for Order { launch, answer } in orders {
        if answer.is_closed() {
            continue;
        }
        // An answer without a taker is dropped, and the child in it ended.
        let _ = answer.send(fork_exec(&launch));
    }
}
