//! Calls that outlive a connection: they wait for the next one, and may be sent again through it
//! (SPEC 5.7, 5.8).
//!
//! Invariants:
//! 1. `done` is called exactly once, by the code that takes it out of the state, with no lock held.
//! 2. Of a call, one attempt is on the wire, or one task waits for the entry, never both.
//! 3. What may have reached a server is sent again only with `retry: safe`, by a session that
//!    trusts the server, and when the definition of the new connection says that it may be
//!    repeated; or once when the server refused it for its headers.
//!
//! Whether a tool is safe is judged after the reconnect, by the new definition. A call has three
//! repetitions at most, since one that ends every server would open the breaker for all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::AbortHandle;
use trunkline_pool::in_flight::later;
use trunkline_pool::interface::words;
use trunkline_pool::options::{CallOptions, Retry};
use trunkline_pool::state::Generation;

use super::attempt::{Cancel, RunningAttempt};
use super::calls::CancelCall;
use super::prepared::{Call, not_connected};
use super::repeatable::{comes_back, is_declared_safe, lasts};
use crate::client::{Attempts, CallResult, Connection, EARLIER_ROUNDS, Reply, RequestId};
use crate::driver::{EntryCell, EntrySnapshot};
use crate::session::session_core::SessionCore;
use crate::{Error, ErrorCode, Outcome, Result};

/// How long a call waits before it goes once more through the connection that interrupted it:
/// longer than a connection that was lost takes to be known as such. It doubles so often.
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_DOUBLINGS_MAX: u32 = 5;

/// How often what may have reached a server is sent again: a call that three connections did not
/// survive is more likely their end than their victim.
const REPEATS_MAX: u32 = 3;

/// Receives the result of a call.
pub(crate) type ResultCallback = Box<dyn FnOnce(Result<CallResult>) + Send>;

/// A call, from its first attempt or wait to its end.
pub(crate) struct LastingCall {
    pub(crate) call: Call,
    /// Whether it may outlive a connection.
    outlives: bool,
    retry: Retry,
    pub(crate) attempts: Attempts,
    state: Mutex<State>,
}

struct State {
    /// Absent once the call has ended.
    done: Option<ResultCallback>,
    /// The host, or the end of the session, cancelled it.
    cancelled: bool,
    under_way: RunningAttempt<(Connection, RequestId)>,
    /// The task that waits for the entry.
    waiting: Option<AbortHandle>,
    /// The generation of the last attempt, and how it was interrupted.
    interrupted: Option<(Generation, Error)>,
    /// Attempts that may have reached a server.
    sent: u32,
    /// How often it waited for a connection.
    waits: u32,
    /// What is in headers of the last attempt depends on what the server lists.
    mirrors: bool,
    /// The lists were read again for it.
    relisted: bool,
}

/// Begins a call that passed every check. It may end before this returns.
pub(crate) fn begin(
    call: Call,
    published: &EntrySnapshot,
    options: &CallOptions,
    done: ResultCallback,
) -> Arc<LastingCall> {
    let lasting = Arc::new(LastingCall {
        call,
        outlives: lasts(options),
        retry: options.retry,
        attempts: Attempts::begin(),
        state: Mutex::new(State {
            done: Some(done),
            cancelled: false,
            under_way: RunningAttempt::none(),
            waiting: None,
            interrupted: None,
            sent: 0,
            waits: 0,
            mirrors: false,
            relisted: false,
        }),
    });
    match &published.connection {
        Some(connection) => lasting.attempt(connection, published.slot.generation),
        None => lasting.wait(),
    }
    lasting
}

impl LastingCall {
    /// Sends it through this connection.
    pub(crate) fn attempt(self: &Arc<Self>, connection: &Connection, generation: Generation) {
        let mirrors = self.call.tool().is_some() && connection.mirrors_arguments();
        let attempt = {
            let mut state = self.state();
            state.waiting = None;
            if state.done.is_none() {
                return;
            }
            state.mirrors = mirrors;
            state.under_way.begin()
        };
        let this = self.clone();
        let done = Box::new(move |result| this.ended(result, generation));
        let id = connection.start(self.call.request(Some(self.attempts.clone())), done);
        let cancelled = {
            let mut state = self.state();
            state.under_way.reach(attempt, (connection.clone(), id)) && state.cancelled
        };
        if cancelled {
            connection.cancel(id);
        }
    }

    /// An attempt has ended: with the call's result, or with a reason to go on.
    fn ended(self: &Arc<Self>, result: Result<Reply>, generation: Generation) {
        let result = self.call.outcome(result, generation);
        let mut state = self.state();
        state.under_way.end();
        let interrupted = match &result {
            Err(error) if state.mirrors && !state.relisted && is_for_headers(error) => {
                state.relisted = true;
                let refused = error.clone();
                drop(state);
                return self.relist(generation, refused);
            }
            Err(error) if self.outlives && error.code() == ErrorCode::CallInterrupted => error,
            Ok(_) | Err(_) => {
                drop(state);
                return self.finish(result);
            }
        };
        if state.cancelled {
            let outcome = interrupted.outcome().unwrap_or(Outcome::Unknown);
            drop(state);
            return self.finish(Err(cancelled().with_outcome(outcome)));
        }
        let sent = interrupted.outcome() != Some(Outcome::NotSent);
        state.sent += u32::from(sent);
        let repeatable =
            !sent || (self.retry == Retry::Safe && self.is_trusted() && state.sent <= REPEATS_MAX);
        if !repeatable || !self.has_time_for(interrupted) {
            drop(state);
            return self.finish(result);
        }
        state.interrupted = result.err().map(|error| (generation, error));
        drop(state);
        self.wait();
    }

    /// Whether the server is to be left alone for less than what is left of the call's time.
    fn has_time_for(&self, interrupted: &Error) -> bool {
        let end = self.attempts.later(self.call.timeout);
        interrupted.retry_after().is_none_or(|asked| later(Instant::now(), asked) < end)
    }

    /// Waits for the entry's next connection, in a task of its own; then goes on, or ends.
    fn wait(self: &Arc<Self>) {
        let this = self.clone();
        let deadline = self.attempts.later(self.call.timeout);
        self.go_on(async move {
            let next = tokio::select! {
                biased;
                next = this.next_connection() => next,
                () = tokio::time::sleep_until(deadline.into()) => Err(this.overdue()),
            };
            match next {
                Ok((connection, generation)) => this.attempt(&connection, generation),
                Err(error) => this.finish(Err(error)),
            }
        });
    }

    /// Goes on in a task of its own, unless the call has ended.
    pub(crate) fn go_on(self: &Arc<Self>, going_on: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.state();
        if state.cancelled {
            drop(state);
            return self.finish(Err(cancelled()));
        }
        if state.done.is_some() {
            // Under the lock, so that no later wait is written down before this one.
            state.waiting = Some(self.session().driver.spawn(going_on).abort_handle());
        }
    }

    /// The next connection; or after a while the one that interrupted the call, since over HTTP a
    /// message can fail alone.
    async fn next_connection(&self) -> Result<(Connection, Generation)> {
        let cell = self.cell();
        let mut pause = std::pin::pin!(tokio::time::sleep(self.pause()));
        loop {
            let changed = cell.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // Registered before the look, so that nothing is missed between the look and the wait.
            changed.as_mut().enable();
            if let Some(next) = self.look(&cell.load_full(), pause.is_elapsed()) {
                return next;
            }
            tokio::select! {
                () = changed => {}
                () = pause.as_mut(), if !pause.is_elapsed() => {}
            }
        }
    }

    /// How long this attempt waits before it uses the connection that interrupted the last one, or
    /// any connection when the server asked for time.
    fn pause(&self) -> Duration {
        let mut state = self.state();
        let doublings = state.waits.min(PAUSE_DOUBLINGS_MAX);
        state.waits += 1;
        let asked = state.interrupted.as_ref().and_then(|(_, error)| error.retry_after());
        (PAUSE_MIN * 2_u32.pow(doublings)).max(asked.unwrap_or_default())
    }

    /// What the entry has for this call now; nothing yet: `None`. With `again` its pause is over.
    fn look(
        &self,
        published: &EntrySnapshot,
        again: bool,
    ) -> Option<Result<(Connection, Generation)>> {
        let generation = published.slot.generation;
        let (before, sent) = {
            let state = self.state();
            (state.interrupted.clone(), state.sent > 0)
        };
        // What cannot go on ends as it was interrupted, or else with the reason.
        let end = |reason: Error| {
            Some(Err(before.as_ref().map_or(reason, |(_, interrupted)| interrupted.clone())))
        };
        if !comes_back(published.slot.state) {
            return end(not_connected(published));
        }
        let connection = published.connection.as_ref()?;
        let is_early = |(lost, interrupted): &(Generation, Error)| {
            *lost > generation
                || (!again && (*lost == generation || interrupted.retry_after().is_some()))
        };
        if before.as_ref().is_some_and(is_early) {
            return None;
        }
        if let Err(error) = self.call.check_listed(published) {
            return end(error);
        }
        if sent && !(self.is_trusted() && is_declared_safe(self.call.tool(), published)) {
            return end(not_connected(published));
        }
        Some(Ok((connection.clone(), generation)))
    }

    fn is_trusted(&self) -> bool {
        self.call.held.view().trust
    }

    /// The call's own time is over before a connection came.
    fn overdue(&self) -> Error {
        let limit = u64::try_from(self.call.timeout.as_millis()).unwrap_or(u64::MAX);
        let message = format!("the server did not come back within {limit} ms");
        let error = Error::new(ErrorCode::Timeout, message)
            .with_detail("which", words::deadline::TOTAL)
            .with_detail("limit_ms", limit)
            .with_hint("raise `timeout_ms` of the call if the server is only slow to come back; its status says what it is at");
        match self.state().interrupted.take() {
            Some((_, interrupted)) => error.with_cause(interrupted),
            None => error,
        }
    }

    pub(crate) fn finish(&self, result: Result<CallResult>) {
        let (done, waiting, sent) = {
            let mut state = self.state();
            (state.done.take(), state.waiting.take(), state.sent > 0)
        };
        let Some(done) = done else { return };
        let result = result.map_err(|error| {
            // An earlier attempt may have reached the server, whatever became of the last.
            let outcome = match error.outcome() {
                _ if sent => Outcome::Unknown,
                Some(outcome) => outcome,
                // An attempt always says: this is a wait that ended.
                None => Outcome::NotSent,
            };
            self.call.failed(error).with_outcome(outcome)
        });
        self.call.end(&result);
        // The host's code: its panic ends here.
        if catch_unwind(AssertUnwindSafe(|| done(result))).is_err() {
            tracing::error!("a completion panicked");
        }
        // Last, since it may be the task that this runs in.
        if let Some(waiting) = waiting {
            waiting.abort();
        }
    }

    pub(crate) fn session(&self) -> &Arc<SessionCore> {
        &self.call.session
    }

    pub(crate) fn cell(&self) -> &Arc<EntryCell> {
        self.call.cell()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl CancelCall for LastingCall {
    /// It ends before this returns, unless it ended before.
    fn cancel(&self) {
        let cancel = {
            let mut state = self.state();
            state.cancelled = true;
            state.under_way.cancel()
        };
        match cancel {
            Cancel::There((connection, id)) => connection.cancel(id),
            Cancel::Seen => {}
            Cancel::Nothing => self.finish(Err(cancelled())),
        }
    }
}

fn cancelled() -> Error {
    Error::new(ErrorCode::Cancelled, "the call was cancelled")
}

/// Whether the server refused a request for its headers.
fn is_for_headers(error: &Error) -> bool {
    error.code() == ErrorCode::ServerError
        && !error.detail().contains_key(EARLIER_ROUNDS)
        && error.detail().get("code").and_then(Value::as_i64) == Some(HEADER_MISMATCH)
}

/// The code of the protocol for headers that do not fit the body.
const HEADER_MISMATCH: i64 = -32020;
