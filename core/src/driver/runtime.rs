//! The one internal runtime of the process.
//!
//! It starts with the first pool and stops, in the background, when the last pool and its connections are gone. In a
//! forked child nothing of it is touched: the child's first pool starts a runtime of its own.

use std::sync::{Arc, Mutex, Weak};

use crate::platform;
use crate::{Error, ErrorCode, Result};

/// A hold on the process's runtime.
pub(crate) struct Runtime {
    /// Present until drop.
    tokio: Option<tokio::runtime::Runtime>,
    workers: usize,
    fork_generation: u64,
}

/// The runtime that runs now, if any.
static CURRENT: Mutex<Weak<Runtime>> = Mutex::new(Weak::new());

impl Runtime {
    /// The process's runtime; starts it when there is none.
    ///
    /// # Errors
    /// `invalid_argument` when it runs with another number of workers, `internal` when threads cannot be started.
    pub(crate) fn shared(workers: usize) -> Result<Arc<Runtime>> {
        let mut current = CURRENT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let fork_generation = platform::fork_generation();
        if let Some(runtime) = current.upgrade() {
            if runtime.fork_generation == fork_generation {
                return runtime.check_workers(workers).map(|()| runtime);
            }
            // The parent's runtime: its threads do not exist here, so that it must not even be dropped.
            std::mem::forget(runtime);
        }
        let runtime = Arc::new(Runtime::start(workers, fork_generation)?);
        *current = Arc::downgrade(&runtime);
        Ok(runtime)
    }

    fn start(workers: usize, fork_generation: u64) -> Result<Runtime> {
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .thread_name("trunkline")
            .on_thread_start(platform::block_all_signals)
            .enable_all()
            .build()
            .map_err(|error| {
                Error::new(ErrorCode::Internal, format!("starting the runtime: {error}"))
            })?;
        Ok(Runtime { tokio: Some(tokio), workers, fork_generation })
    }

    fn check_workers(&self, workers: usize) -> Result<()> {
        if self.workers == workers {
            return Ok(());
        }
        let message = format!("the process already runs with {} workers", self.workers);
        Err(Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "workers"))
    }

    /// The tokio handle, for spawning and timers.
    pub(crate) fn handle(&self) -> &tokio::runtime::Handle {
        self.tokio.as_ref().expect("taken only by drop").handle()
    }

    /// Whether this process is a fork of the one that started the runtime.
    pub(crate) fn is_forked(&self) -> bool {
        self.fork_generation != platform::fork_generation()
    }

    /// A timer of this runtime, usable from any executor.
    pub(crate) fn sleep_until(&self, deadline: tokio::time::Instant) -> tokio::time::Sleep {
        let _context = self.handle().enter();
        tokio::time::sleep_until(deadline)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let Some(tokio) = self.tokio.take() else { return };
        if self.fork_generation == platform::fork_generation() {
            tokio.shutdown_background();
        } else {
            std::mem::forget(tokio);
        }
    }
}

/// Blocking work is rare (look-ups of host names, files): a few threads are plenty.
const BLOCKING_THREADS_MAX: usize = 8;
