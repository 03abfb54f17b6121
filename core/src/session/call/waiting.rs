//! Calls of servers that are not there yet, or that run for calls only (SPEC 14.1, 14.2).
//!
//! Such a call needs its server from its beginning to its end. While that is not there the call
//! waits, within its own time, and nothing of it is sent; then it is a call as any other, with what
//! is left of its time.
//!
//! 1. `done` is called exactly once, by the code that takes it out of the state, with no lock held.
//! 2. The server is needed no more before `done` is called.

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::task::AbortHandle;
use trunkline_pool::in_flight::later;
use trunkline_pool::interface::words;
use trunkline_pool::options::CallOptions;
use trunkline_pool::view::HiddenReason;

use super::awaited_lists::AwaitedLists;
use super::calls::{CallHandle, CancelCall};
use super::go_on;
use super::operation::Operation;
use super::params;
use super::prepared::CALL_TOOL;
use super::retry::ResultCallback;
use crate::base::usage::CallEnd;
use crate::client::Callee;
use crate::driver::server_config::ConfigOwner;
use crate::session::demand::lazy::{DemandGuard, DemandStatus};
use crate::session::lease::lease_state::LeaseState;
use crate::session::session_core::SessionCore;
use crate::session::view::no_tool::{tool_not_found, tool_vanished};
use crate::session::view::snapshot::VisibleServer;
use crate::{Error, ErrorCode, Outcome, Result};

/// A call that waits for its server, and then the call that it became.
pub(crate) struct WaitingCall {
    session: Arc<SessionCore>,
    number: u64,
    tool: Tool,
    /// The lists that may have the tool, where it is not seen yet.
    owed: Option<AwaitedLists>,
    options: CallOptions,
    arguments: Box<str>,
    began: Instant,
    /// In all.
    timeout: Duration,
    state: Mutex<State>,
}

/// What is called.
#[derive(Clone)]
pub(crate) struct Tool {
    pub(crate) exposed: Box<str>,
    pub(crate) server: Arc<str>,
    /// The server's own name.
    pub(crate) own: Box<str>,
}

pub(crate) struct State {
    /// Absent once the call has ended, or is on its way.
    pub(crate) done: Option<ResultCallback>,
    need: Option<DemandGuard>,
    cancelled: bool,
    pub(crate) on_its_way: Option<CallHandle>,
    pub(crate) waiting: Option<AbortHandle>,
}

impl State {
    fn of(done: ResultCallback) -> State {
        State { done: Some(done), need: None, cancelled: false, on_its_way: None, waiting: None }
    }
}

/// Calls a tool of a server that has to be needed for it. `seeing` is what the session sees of the
/// server.
pub(crate) fn start(
    session: &Arc<SessionCore>,
    (seeing, exposed, own): (&VisibleServer, &str, &str),
    arguments: &str,
    options: &CallOptions,
    done: ResultCallback,
) -> Operation {
    let server = seeing.server().clone();
    let refused = |done: ResultCallback, error: Error| {
        let error = session.explained(&server, error).with_server(&*server);
        done(Err(error.with_session(&*session.recipient.id).with_outcome(Outcome::NotSent)));
        Operation::ended()
    };
    let checked = session.driver.check_process();
    let checked = checked.and_then(|()| params::object("arguments", arguments).map(drop));
    // No server is started for what can never be sent.
    let checked = checked.and_then(|()| params::check_meta(options.meta.as_deref()));
    let number = match checked.and_then(|()| session.begin_call()) {
        Ok(number) => number,
        Err(error) => return refused(done, error),
    };
    let tool = Tool { exposed: exposed.into(), server, own: own.into() };
    WaitingCall::new(session, number, (tool, None), (arguments, options), done).start()
}

impl WaitingCall {
    /// A call that has its number. With lists that are owed, it waits for those.
    pub(crate) fn new(
        session: &Arc<SessionCore>,
        number: u64,
        (tool, owed): (Tool, Option<AwaitedLists>),
        (arguments, options): (&str, &CallOptions),
        done: ResultCallback,
    ) -> Arc<WaitingCall> {
        let configured = session.spec(&tool.server, ConfigOwner::Pool).ok();
        let of_server = configured.and_then(|configured| configured.spec.call_timeout);
        let timeout = options.timeout.or(of_server).unwrap_or(session.driver.options.call_timeout);
        Arc::new(WaitingCall {
            session: session.clone(),
            number,
            tool,
            owed,
            options: options.clone(),
            arguments: arguments.into(),
            began: Instant::now(),
            timeout,
            state: Mutex::new(State::of(done)),
        })
    }

    /// The call that it goes on as, of that tool.
    pub(crate) fn followed_by(&self, tool: Tool, done: ResultCallback) -> Arc<WaitingCall> {
        let WaitingCall { session, number, options, arguments, began, timeout, .. } = self;
        let (session, options, arguments) = (session.clone(), options.clone(), arguments.clone());
        let (number, began, timeout) = (*number, *began, *timeout);
        let (owed, state) = (None, Mutex::new(State::of(done)));
        Arc::new(WaitingCall {
            session,
            number,
            tool,
            owed,
            options,
            arguments,
            began,
            timeout,
            state,
        })
    }

    /// Begins it, unless its session closed meanwhile.
    pub(crate) fn start(self: Arc<Self>) -> Operation {
        let (number, started) = (self.number, CallHandle::Lasting(self.clone()));
        if self.session.calls.started(number, &started) {
            self.cancel();
        } else {
            self.begin();
        }
        Operation::call(started, number)
    }

    pub(crate) fn session(&self) -> &Arc<SessionCore> {
        &self.session
    }

    pub(crate) fn tool(&self) -> &Tool {
        &self.tool
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Needs the server, and goes on at once if it is there. Where lists are owed, those come
    /// first.
    pub(crate) fn begin(self: &Arc<Self>) {
        if self.owed.is_some() {
            return self.wait();
        }
        match self.look() {
            None => self.wait(),
            Some(Ok(held)) => self.go(&held),
            Some(Err(error)) => self.fail(error),
        }
    }

    /// Waits for the server in a task of its own.
    fn wait(self: &Arc<Self>) {
        let this = self.clone();
        let deadline = tokio::time::Instant::from_std(later(self.began, self.timeout));
        let waits = async move {
            if let Some(owed) = &this.owed {
                return this.when_listed(owed).await;
            }
            let found = tokio::select! {
                biased;
                found = this.found() => found,
                () = tokio::time::sleep_until(deadline) => Err(this.overdue()),
            };
            match found {
                Ok(held) => this.go(&held),
                Err(error) => this.fail(error),
            }
        };
        let mut state = self.state();
        if state.done.is_some() {
            // Under the lock, so that the end of the call finds the task.
            state.waiting = Some(self.session.driver.spawn(waits).abort_handle());
        }
    }

    async fn found(&self) -> Result<Arc<LeaseState>> {
        loop {
            let settled = self.session.settled.notified();
            let mut settled = std::pin::pin!(settled);
            // Registered before the look, so that nothing is missed between the look and the wait.
            settled.as_mut().enable();
            if let Some(found) = self.look() {
                return found;
            }
            settled.await;
        }
    }

    /// What there is for it now; nothing yet: `None`.
    fn look(&self) -> Option<Result<Arc<LeaseState>>> {
        loop {
            let look = {
                let state = self.state();
                match &state.need {
                    // It was ended, and needs nothing any more.
                    _ if state.done.is_none() => return None,
                    Some(need) => self.session.look_at(need),
                    None => DemandStatus::Gone,
                }
            };
            match look {
                DemandStatus::Wait => return None,
                DemandStatus::Ready(held) => return Some(Ok(held)),
                DemandStatus::Over(error) => return Some(Err(self.as_of_tool(error))),
                DemandStatus::Gone => {}
            }
            // By its name, as a call that begins now: the server may be wanted anew, in another
            // way, or not at all.
            let view = match self.session.view() {
                Ok(view) => view,
                Err(error) => return Some(Err(error)),
            };
            let exposed = &*self.tool.exposed;
            match view.resolve(exposed, || self.session.no_such_tool(&view, exposed)) {
                Err(error) => return Some(Err(error)),
                Ok((seeing, _)) if *seeing.server() != self.tool.server => {
                    return Some(Err(self.session.no_such_tool(&view, exposed)));
                }
                Ok((VisibleServer::Held(held), _)) if !held.for_calls => {
                    return Some(Ok(held.clone()));
                }
                Ok(_) => {}
            }
            // A change that has taken the want away takes what is seen next, and then wakes who
            // waits: until then there is no reason to give.
            let need = self.session.need(&self.tool.server)?;
            self.keep(need);
        }
    }

    /// Needs the server until it ends. One that ended meanwhile needs it no more.
    fn keep(&self, need: DemandGuard) {
        let no_more = {
            let mut state = self.state();
            match state.done {
                Some(_) => state.need.replace(need),
                None => Some(need),
            }
        };
        // It is let go without the lock.
        drop(no_more);
    }

    /// A gate that shuts ends the want, and before that its question: either is the end of the
    /// tool.
    fn as_of_tool(&self, error: Error) -> Error {
        let reason = error.detail().get("reason").and_then(|reason| reason.as_str());
        match reason.filter(|_| error.code() == ErrorCode::NotAdmitted) {
            Some(reason) => tool_not_found(&self.tool.exposed, reason),
            None => error,
        }
    }

    /// The server is there: from now on it is a call as any other.
    pub(crate) fn go(&self, held: &Arc<LeaseState>) {
        let (done, need) = {
            let mut state = self.state();
            state.waiting = None;
            (state.done.take(), state.need.take())
        };
        let Some(done) = done else { return drop(need) };
        let published = held.cell().load_full();
        let unknown = |error: &Error| {
            error
                .detail()
                .get("reason")
                .is_some_and(|reason| reason == HiddenReason::Unknown.as_str())
        };
        let listed = held.tool(&published, &self.tool.own).map(drop);
        let is_connected = published.slot.state.is_connected();
        let was_there = self.owed.is_none();
        if let Some(error) =
            listed.err().filter(|error| was_there && is_connected && unknown(error))
        {
            drop((error, need));
            return self.end(done, tool_vanished(&self.tool.own));
        }
        let mut options = self.options.clone();
        options.timeout = Some(self.left());
        // The thread that started the call sleeps.
        options.reads_here = false;
        let done = move |result| {
            drop(need);
            done(result);
        };
        let callee = Callee::Tool(&self.tool.own);
        let (begun, called) = ((self.number, self.began), (held, callee, &*self.arguments));
        let Some(started) = go_on(&self.session, begun, called, &options, done) else {
            return;
        };
        let cancelled = {
            let mut state = self.state();
            state.on_its_way = Some(started.clone());
            state.cancelled
        };
        if cancelled {
            started.cancel();
        }
    }

    /// What is left of its time.
    fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.began.elapsed()).max(LEAST)
    }

    fn overdue(&self) -> Error {
        let limit = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let message = format!("the server was not connected within {limit} ms");
        Error::new(ErrorCode::Timeout, message)
            .with_detail("which", words::deadline::TOTAL)
            .with_detail("limit_ms", limit)
            .with_hint("raise `timeout_ms` of the call if the server is only slow to connect; its status says what it is at")
    }

    /// It ends before it was on its way, unless it ended.
    pub(crate) fn fail(&self, error: Error) {
        let (done, need, waiting) = {
            let mut state = self.state();
            (state.done.take(), state.need.take(), state.waiting.take())
        };
        drop(need);
        if let Some(done) = done {
            self.end(done, error);
        }
        // Last, since it may be the task that this runs in.
        if let Some(waiting) = waiting {
            waiting.abort();
        }
    }

    fn end(&self, done: ResultCallback, error: Error) {
        let ended = CallEnd { sent: 0, came: Err(error.code()) };
        let usage = self.session.driver.usage_of_called(&self.tool.server);
        let begun = (self.number, self.began);
        let counted = (&*self.tool.server, CALL_TOOL, &*usage);
        self.session.call_ended(begun, counted, ended);
        let error = self.session.explained(&self.tool.server, error);
        let error = match error.server() {
            Some(_) => error,
            None => error.with_server(&*self.tool.server),
        };
        let error = error.with_session(&*self.session.recipient.id).with_outcome(Outcome::NotSent);
        // The host's code: its panic ends here.
        if catch_unwind(AssertUnwindSafe(|| done(Err(error)))).is_err() {
            tracing::error!("a completion panicked");
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl CancelCall for WaitingCall {
    fn cancel(&self) {
        let on_its_way = {
            let mut state = self.state();
            state.cancelled = true;
            state.on_its_way.clone()
        };
        match on_its_way {
            Some(call) => call.cancel(),
            None => self.fail(Error::new(ErrorCode::Cancelled, "the call was cancelled")),
        }
    }
}

/// A call whose server came at the last moment has so much time left. No answer is as quick, so it
/// is a time-out of its own.
const LEAST: Duration = Duration::from_millis(1);
