//! The threads that run completion callbacks: a few for each pool, started when they are first
//! needed.
//!
//! Each event callback has a thread of its own. With shared threads some number of blocked
//! subscribers would stop the others. Signals are blocked but for faults, which a host's runtime
//! may handle itself.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use trunkline::interface::words;
use trunkline::{Error, ErrorCode, Result, start_callback_thread};

use crate::delivery::outcome::{Callback, Leases, Value};
use crate::handles::callback_tracker::no_thread;

/// The callbacks that wait for a thread, and the threads. An I/O thread of the core only ever adds
/// to it.
pub(crate) struct Completions {
    /// Where a lease that an operation gives gets its handle.
    leases: Arc<Leases>,
    state: Mutex<State>,
    /// For threads without work.
    work: Condvar,
    /// For who waits until no callback is left.
    quiet: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Callback, Result<Value>)>,
    /// Operations with a callback that has not returned yet, those under way included.
    registered: usize,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Completions {
    pub(crate) fn new(leases: Arc<Leases>) -> Arc<Completions> {
        let (state, work, quiet) = Default::default();
        Arc::new(Completions { leases, state, work, quiet })
    }

    /// Announces a callback, and sees to it that a thread is there for it.
    ///
    /// # Errors
    /// `limit` when no thread can be started, or too many callbacks are owed.
    pub(crate) fn register(self: &Arc<Self>) -> Result<()> {
        let mut state = self.lock();
        if state.registered >= CALLBACKS_MAX {
            return Err(Error::new(
                ErrorCode::Limit,
                "too many operations with a callback are under way",
            )
            .with_detail("limit", words::limit::CALLBACKS));
        }
        if state.threads == 0 {
            self.start_thread().map_err(no_thread)?;
            state.threads = 1;
        }
        state.registered += 1;
        Ok(())
    }

    /// Hands an announced callback over. Never blocks.
    pub(crate) fn submit(self: &Arc<Self>, callback: Callback, outcome: Result<Value>) {
        let mut state = self.lock();
        state.waiting.push_back((callback, outcome));
        let more = state.waiting.len() > state.idle && state.threads < THREADS_MAX;
        // One thread is there already: without another this callback waits a little longer.
        if more && self.start_thread().is_ok() {
            state.threads += 1;
        }
        drop(state);
        self.work.notify_one();
    }

    /// Lets the threads end once every announced callback has run.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    /// Waits until every announced callback has returned; whether that was so by the deadline.
    pub(crate) fn wait_until_quiet(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self.quiet.wait_timeout_while(self.lock(), left, |state| state.registered > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn start_thread(self: &Arc<Self>) -> std::io::Result<()> {
        let completions = self.clone();
        start_callback_thread("trunkline-done", move || completions.run())
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            if let Some((callback, outcome)) = state.waiting.pop_front() {
                drop(state);
                callback.run(outcome, &self.leases);
                state = self.ended(self.lock());
            } else if state.closed && state.registered == 0 {
                state.threads -= 1;
                return;
            } else {
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }

    fn ended<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.registered -= 1;
        if state.registered == 0 {
            self.quiet.notify_all();
            if state.closed {
                self.work.notify_all();
            }
        }
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads for completion callbacks in one pool. Callbacks are to be short; a few threads forgive
/// some that are not.
const THREADS_MAX: usize = 4;
/// Operations with a callback that one pool has under way, or waiting for a thread.
const CALLBACKS_MAX: usize = 1 << 20;
