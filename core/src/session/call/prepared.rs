//! A call that may be sent: what it checks before, its params, and its end as the caller sees it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trunkline_pool::options::{CallOptions, Progress, ProgressReceiver, RelayedCall};
use trunkline_pool::shapes::ToolFormat;
use trunkline_pool::state::{EntryState, Generation, Slot};
use trunkline_pool::view::View;

use super::awaited_lists;
use super::log_level;
use super::params::{check_members, has_meta, object, tool_params, whole_params, with_meta};
use super::progress;
use super::repeatable::{comes_back, is_declared_safe, lasts};
use crate::base::usage::{CallEnd, ServerUsage};
use crate::client::{Attempts, CallResult, Callee, OnProgress, OutgoingRequest, Reply};
use crate::driver::{EntryCell, EntrySnapshot};
use crate::session::lease::lease_state::{EntryView, LeaseState, LeaseStatus};
use crate::session::session_core::SessionCore;
use crate::session::view::no_tool::server_has_failed;
use crate::{Error, ErrorCode, Outcome, Result};

impl SessionCore {
    /// The number of a call that may begin.
    ///
    /// # Errors
    /// `closed`; `limit` when as many are in flight as may be.
    pub(crate) fn begin_call(&self) -> Result<u64> {
        let limit = self.driver.options.limits.in_flight_per_session;
        self.calls.begin(limit, || self.closed())
    }

    /// A call has ended: it is counted, and its session is rid of it.
    pub(crate) fn call_ended(
        &self,
        (number, began): (u64, Instant),
        (server, method, usage): (&str, &str, &ServerUsage),
        ended: CallEnd,
    ) {
        self.driver.observer.count(server, ended);
        usage.count(method, began.elapsed(), ended);
        self.calls.end(number, ended);
    }
}

/// A call that passed every check that can be made before anything is sent.
pub(crate) struct Call {
    pub session: Arc<SessionCore>,
    /// What it goes by.
    pub held: Arc<LeaseState>,
    /// What the session saw when it began.
    seen: Arc<EntryView>,
    /// Unique within the session.
    pub number: u64,
    /// In all.
    pub timeout: Duration,
    idle_timeout: Duration,
    began: Instant,
    progress: Progress,
    reads_here: bool,
    relayed: Option<RelayedCall>,
    what: CallTarget,
    /// The text of the request's params.
    params: String,
    has_own_meta: bool,
}

enum CallTarget {
    /// A tool, and where in the params the arguments are, which its caller gets back when it is
    /// interrupted.
    Tool {
        name: Arc<str>,
        arguments: Range<usize>,
        /// Whether the server is asked for it though it lists none.
        unlisted: bool,
    },
    Method(Box<str>),
}

impl Call {
    /// Everything that can be refused before anything is sent. It begins last: that gives its
    /// number, and the moment.
    pub(crate) fn prepare(
        session: &Arc<SessionCore>,
        (held, seen): (&Arc<LeaseState>, &Arc<EntryView>),
        published: &EntrySnapshot,
        (callee, arguments): (Callee<'_>, &str),
        options: &CallOptions,
        begin: impl FnOnce() -> Result<(u64, Instant)>,
    ) -> Result<Call> {
        session.driver.check_process()?;
        let cell = &seen.cell;
        let arguments = match (callee, options.shape) {
            (Callee::Tool(tool), Some(shape)) => own_arguments(published, tool, arguments, shape)?,
            _ => Cow::Borrowed(arguments),
        };
        let given = object("arguments", &arguments)?;
        let (what, params) = match callee {
            Callee::Tool(tool) => {
                let unlisted = options.unlisted;
                let asks = || unlisted && may_ask(session, cell, published);
                let name = callable((held, &seen.view), published, tool, asks)?;
                let (params, arguments) = match options.relayed {
                    Some(_) => whole_params(given.into_owned())?,
                    None => tool_params(tool, &given),
                };
                (CallTarget::Tool { name, arguments, unlisted }, params)
            }
            Callee::Method(method) => {
                check_members(&given)?;
                (CallTarget::Method(method.into()), given.into_owned())
            }
        };
        let level = log_level::said_by_requests(session.recipient.number, cell, published);
        let relayed = options.relayed.clone();
        let has_own_meta =
            options.meta.is_some() || relayed.is_some() || matches!(callee, Callee::Method(_));
        // A client's own `_meta` has its own trace.
        let has_both = relayed.is_some() && has_meta(&params);
        let params = with_meta(params, options.meta.as_deref().filter(|_| !has_both), level)?;
        let waits = lasts(options) && comes_back(published.slot.state);
        if published.connection.is_none() && !waits {
            return Err(not_connected(published));
        }
        let (timeout, idle_timeout) = timeouts(session, cell, options);
        let (number, began) = begin()?;
        Ok(Call {
            number,
            session: session.clone(),
            held: held.clone(),
            seen: seen.clone(),
            timeout,
            idle_timeout,
            began,
            progress: options.progress.clone(),
            reads_here: options.reads_here,
            relayed,
            what,
            params,
            has_own_meta,
        })
    }

    /// Whether the session may call the tool by what is published now.
    pub(crate) fn check_listed(&self, published: &EntrySnapshot) -> Result<()> {
        match &self.what {
            CallTarget::Tool { name, unlisted, .. } => {
                let asks = || *unlisted && may_ask(&self.session, self.cell(), published);
                callable((&self.held, &self.held.view()), published, name, asks).map(drop)
            }
            CallTarget::Method(_) => Ok(()),
        }
    }

    /// The entry when it began.
    pub(crate) fn cell(&self) -> &Arc<EntryCell> {
        &self.seen.cell
    }

    /// The tool, by the server's own name.
    pub(crate) fn tool(&self) -> Option<&str> {
        match &self.what {
            CallTarget::Tool { name, .. } => Some(name),
            CallTarget::Method(_) => None,
        }
    }

    fn method(&self) -> &str {
        match &self.what {
            CallTarget::Tool { .. } => CALL_TOOL,
            CallTarget::Method(method) => method,
        }
    }

    /// The request of the only attempt, or of one of several.
    pub(crate) fn request(&self, attempts: Option<Attempts>) -> OutgoingRequest<'_> {
        let method = self.method();
        // Progress is for other threads, and so is all that is read with it; who sends a call again
        // is another thread.
        let is_plain = matches!(self.progress, Progress::Off) && attempts.is_none();
        OutgoingRequest {
            reads_here: self.reads_here && is_plain,
            method,
            params: &self.params,
            has_own_meta: self.has_own_meta,
            caller: Some(self.session.recipient.number),
            attempts,
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            relayed: self.relayed.as_ref(),
            progress: match &self.progress {
                _ if self.relayed.is_some() => self.raw_progress(),
                Progress::Off => None,
                Progress::On => Some(self.progress_events(None)),
                Progress::To(receiver) => Some(self.progress_events(Some(receiver.clone()))),
            },
        }
    }

    /// The progress of a call that is carried for a client of an endpoint.
    fn raw_progress(&self) -> Option<OnProgress> {
        let receiver = self.relayed.as_ref()?.progress.clone()?;
        Some(Box::new(move |params| receiver.receive(params)))
    }

    fn progress_events(&self, receiver: Option<ProgressReceiver>) -> OnProgress {
        progress::events(self.session.clone(), self.cell().clone(), self.number, receiver)
    }

    /// The end of an attempt, as the caller sees it (SPEC 5.6).
    pub(crate) fn outcome(
        &self,
        result: Result<Reply>,
        generation: Generation,
    ) -> Result<CallResult> {
        result.and_then(CallResult::of).map_err(|error| {
            // What says nothing of it may have reached the server.
            let outcome = error.outcome().unwrap_or(Outcome::Unknown);
            let error = error.with_outcome(outcome);
            if error.code() != ErrorCode::CallInterrupted {
                return error;
            }
            let error = error
                .with_detail("entry_index", self.cell().index)
                .with_detail("generation", generation.0);
            match &self.what {
                CallTarget::Tool { name, arguments, .. } => {
                    let arguments = self.params[arguments.clone()].into();
                    error.with_detail("tool", &**name).with_arguments(arguments)
                }
                CallTarget::Method(_) => error,
            }
        })
    }

    /// The call has ended: it is counted, and its session is rid of it.
    pub(crate) fn end(&self, result: &Result<CallResult>) {
        let came = match result {
            Ok(result) => Ok(result.json().len()),
            Err(error) => Err(error),
        };
        let is_sent = !came.is_err_and(|error| error.outcome() == Some(Outcome::NotSent));
        let sent = if is_sent { self.params.len() } else { 0 };
        let ended = CallEnd { sent, came: came.map_err(Error::code) };
        let cell = self.cell();
        let counted = (&*cell.server, self.method(), &*cell.usage);
        self.session.call_ended((self.number, self.began), counted, ended);
    }

    /// Whether its tool may be called twice, by its definition in force and by a session that
    /// trusts the server (SPEC 5.7).
    fn is_safe(&self) -> bool {
        self.held.view().trust && is_declared_safe(self.tool(), &self.cell().load_full())
    }

    /// The call ends with this error.
    pub(crate) fn failed(&self, error: Error) -> Error {
        self.cell().count_error();
        self.cell().elicitations.note_required(&error, self.session.recipient.number);
        let error = if self.is_safe() { error.of_safe_tool() } else { error };
        error.with_server(&*self.cell().server).with_session(&*self.session.recipient.id)
    }
}

/// Arguments under the server's own names, of a model that was given the tool in a shape (SPEC
/// 18.8).
fn own_arguments<'a>(
    published: &EntrySnapshot,
    tool: &str,
    arguments: &'a str,
    shape: ToolFormat,
) -> Result<Cow<'a, str>> {
    match published.slot.catalog.tool(tool) {
        Some(item) => shape.own_arguments(&item.definition, arguments),
        None => Ok(Cow::Borrowed(arguments)),
    }
}

/// The name of a tool that the session sees; or, where a call `asks`, of one that nothing but the
/// server's list lacks.
fn callable(
    (held, view): (&LeaseState, &View),
    published: &EntrySnapshot,
    tool: &str,
    asks: impl FnOnce() -> bool,
) -> Result<Arc<str>> {
    // What was given up has no lists, also on its way back, and says what became of it instead.
    let has_none = |slot: &Slot| !slot.state.is_connected() && slot.catalog.tools.is_empty();
    let is_over = |slot: &Slot| slot.state == EntryState::Closed || has_none(slot);
    match held.tool_seen(view, published, tool) {
        Ok(item) => Ok(item.name.clone()),
        Err(_) if is_over(&published.slot) && held.standing() != LeaseStatus::Disabled => {
            Ok(tool.into())
        }
        Err(error) if awaited_lists::is_unknown(&error) && view.admits(tool) && asks() => {
            Ok(tool.into())
        }
        Err(error) => Err(error),
    }
}

/// Whether a server may be asked for what it does not list: a list that is owed may have it, and it
/// may be held back then (SPEC 7.9).
fn may_ask(session: &SessionCore, cell: &EntryCell, published: &EntrySnapshot) -> bool {
    !session.driver.owes_lists(cell, published.slot.generation)
}

/// Why an entry takes no calls (SPEC 5.8).
pub(crate) fn not_connected(published: &EntrySnapshot) -> Error {
    let slot = &published.slot;
    let error = match slot.state {
        EntryState::Closed => Error::new(ErrorCode::Closed, "the server is closed"),
        EntryState::AuthRequired => return lacks_credentials(slot),
        EntryState::Failed => {
            let cause = slot.error.clone();
            let cause =
                cause.unwrap_or_else(|| Error::new(ErrorCode::Internal, "nothing is known"));
            return server_has_failed(cause).with_detail("state", slot.state.as_str());
        }
        EntryState::Reconnecting => {
            Error::new(ErrorCode::Unavailable, "the connection was lost, and is being made again")
        }
        _ => Error::new(ErrorCode::Unavailable, "the server is not connected yet")
            .with_hint("wait until the session is `ready`, or for the event `server_ready`"),
    };
    let error = error.with_detail("state", slot.state.as_str());
    match &slot.error {
        Some(cause) => error.with_cause(cause.clone()),
        None => error,
    }
}

/// What is missing is said where it is looked for: by the error itself.
fn lacks_credentials(slot: &Slot) -> Error {
    let lack = slot.error.clone().filter(|error| error.code() == ErrorCode::AuthRequired);
    let wanting = || Error::new(ErrorCode::AuthRequired, "the server wants credentials");
    lack.unwrap_or_else(wanting).with_detail("state", slot.state.as_str())
}

/// The method that calls a tool.
pub(crate) const CALL_TOOL: &str = "tools/call";

/// The time in all and the time without progress: the call's own, else the server's, else the
/// pool's. A time in all that is said nearer to the call than the one without progress is both.
fn timeouts(
    session: &SessionCore,
    cell: &EntryCell,
    options: &CallOptions,
) -> (Duration, Duration) {
    let pool = &session.driver.options;
    let (server, call) = (&cell.spec, options);
    let said = [call.timeout, call.idle_timeout, server.call_timeout, server.call_idle_timeout];
    if said == [None; 4] {
        // As of nearly every call.
        return (pool.call_timeout, pool.call_idle_timeout.min(pool.call_timeout));
    }
    nearest(
        [(call.timeout, call.idle_timeout), (server.call_timeout, server.call_idle_timeout)],
        (pool.call_timeout, pool.call_idle_timeout),
    )
}

/// Of pairs of a time in all and one without progress, from the nearest to the farthest, the two
/// that count.
fn nearest(
    said: [(Option<Duration>, Option<Duration>); 2],
    farthest: (Duration, Duration),
) -> (Duration, Duration) {
    for (total, idle) in said {
        match (total, idle) {
            (Some(total), idle) => return (total, idle.unwrap_or(total).min(total)),
            (None, Some(idle)) => {
                let mut farther = said.iter().filter_map(|(total, _)| *total);
                let total = farther.next().unwrap_or(farthest.0);
                return (total, idle.min(total));
            }
            (None, None) => {}
        }
    }
    (farthest.0, farthest.1.min(farthest.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.4: the nearer word counts, for both times.
    #[test]
    fn a_nearer_time_in_all_counts_as_the_time_without_progress_too() {
        let s = |seconds: u64| Duration::from_secs(seconds);
        let said = |seconds: u64| (seconds > 0).then(|| s(seconds));
        // The call's two, the server's two, the pool's two (0: not said), and what counts.
        for ((call, call_idle), (server, server_idle), (pool, pool_idle), expected) in [
            ((0, 0), (0, 0), (600, 300), (600, 300)),
            ((5, 0), (0, 0), (1, 1), (5, 5)),
            ((5, 0), (0, 0), (600, 300), (5, 5)),
            ((5, 2), (0, 0), (1, 1), (5, 2)),
            ((0, 2), (0, 0), (600, 300), (600, 2)),
            ((0, 9), (5, 0), (600, 300), (5, 5)),
            ((0, 0), (5, 0), (1, 1), (5, 5)),
            ((0, 0), (0, 2), (600, 300), (600, 2)),
            ((5, 0), (900, 1), (600, 300), (5, 5)),
            ((0, 0), (5, 2), (600, 300), (5, 2)),
        ] {
            let levels = [(said(call), said(call_idle)), (said(server), said(server_idle))];
            let counts = nearest(levels, (s(pool), s(pool_idle)));
            assert_eq!(counts, (s(expected.0), s(expected.1)), "{levels:?}");
        }
    }
}
