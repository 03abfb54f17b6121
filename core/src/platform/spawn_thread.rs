//! The thread on which this process forks.
//!
//! One thread, because what the kernel ties to the forking thread must not end with a worker of
//! some runtime. Every signal is blocked on it, so that no handler of the host runs in a child.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use super::{OfProcess, signals};

/// Requests that may wait. More servers than this at once are refused by the pool's own limits.
const QUEUE_MAX: usize = 4096;

type SpawnJob = Box<dyn FnOnce() + Send>;

/// The thread's queue: threads do not survive a fork.
static SPAWNER: OfProcess<Mutex<Option<SyncSender<SpawnJob>>>> = OfProcess::new();

/// Runs a job on the thread. One whose future was dropped before its turn is not run.
pub(super) async fn on_thread<T: Send + 'static>(
    job: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (answer, result) = oneshot::channel();
    let job = move || {
        if !answer.is_closed() {
            // A result without a taker is dropped, and what it holds ended.
            let _ = answer.send(job());
        }
    };
    queue()?.try_send(Box::new(job)).map_err(|refused| match refused {
        TrySendError::Full(_) => io::Error::from(io::ErrorKind::WouldBlock),
        TrySendError::Disconnected(_) => io::ErrorKind::BrokenPipe.into(),
    })?;
    result.await.map_err(|_| io::ErrorKind::BrokenPipe.into())
}

fn queue() -> io::Result<SyncSender<SpawnJob>> {
    let mut spawner = SPAWNER.get().lock().unwrap_or_else(PoisonError::into_inner);
    match &*spawner {
        Some(queue) => Ok(queue.clone()),
        None => {
            let (queue, jobs) = sync_channel(QUEUE_MAX);
            let thread = std::thread::Builder::new().name("trunkline-spawn".into());
            signals::with_signals_blocked(|| thread.spawn(move || serve(&jobs)))?;
            *spawner = Some(queue.clone());
            Ok(queue)
        }
    }
}

fn serve(jobs: &Receiver<SpawnJob>) {
    signals::block_all_signals();
    for job in jobs {
        job();
    }
}
