//! What runs of the host's code beside the ends of operations, and is waited for by a close.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use trunkline::interface::words;
use trunkline::{Error, ErrorCode, Result};

/// How much of one kind there is.
#[derive(Default)]
pub(crate) struct Running {
    state: Mutex<State>,
    quiet: Condvar,
}

#[derive(Default)]
struct State {
    count: usize,
    ended: bool,
}

impl Running {
    /// One more, unless there are `most`, or no more may come; whether it counts.
    pub(crate) fn enter(&self, most: usize) -> bool {
        let mut state = self.lock();
        let enters = !state.ended && state.count < most;
        state.count += usize::from(enters);
        enters
    }

    /// The same, for one that has a thread of its own.
    ///
    /// # Errors
    /// `limit`, by this word of the registry.
    pub(crate) fn enter_thread(&self, word: &str, message: &str) -> Result<()> {
        match self.enter(THREADS_MAX) {
            true => Ok(()),
            false => Err(Error::new(ErrorCode::Limit, message).with_detail("limit", word)),
        }
    }

    /// One less.
    pub(crate) fn leave(&self) {
        self.lock().count -= 1;
        self.quiet.notify_all();
    }

    /// No more may come.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
    }

    /// Waits until none is left; whether that was so by the deadline.
    pub(crate) fn wait_until_quiet(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self.quiet.wait_timeout_while(self.lock(), left, |state| state.count > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer when the system gives no thread.
pub(crate) fn no_thread(error: std::io::Error) -> Error {
    Error::new(ErrorCode::Limit, format!("no thread for callbacks: {error}"))
        .with_detail("limit", words::limit::THREADS)
}

/// Threads of one kind in one pool. What has one of its own holds up only itself when it blocks.
pub(crate) const THREADS_MAX: usize = 1024;
