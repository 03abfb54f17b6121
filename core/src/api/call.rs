//! Calls: from the caller's thread to the wire, past the pool's bookkeeping.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use trunkline_pool::options::{CallOptions, Progress, ProgressReceiver};
use trunkline_pool::shapes::Shape;
use trunkline_pool::state::{EntryState, Generation, Slot};
use trunkline_pool::view::View;

use super::awaited_lists::{self, AwaitedLists};
use super::calls::CallHandle;
use super::lease_state::{EntryView, LeaseState, LeaseStatus};
use super::log_level::{self, Setting};
use super::no_tool::server_has_failed;
use super::operation::Operation;
use super::params::{check_members, object, tool_params, with_meta};
use super::progress;
use super::retry;
use super::session_core::SessionCore;
use super::times::timeouts;
use crate::client::{Attempts, CallResult, Callee, Connection, OnProgress, OutgoingRequest, Reply};
use crate::driver::{EntryCell, EntrySnapshot};
use crate::usage::CallEnd;
use crate::{Error, ErrorCode, Outcome, Result};

/// Writes a call to the wire, or lets it wait for a connection when its options say so. `done` is
/// called exactly once: here, when nothing could be sent, else on a thread of the library, or on
/// the one that cancels, or reads the answer.
pub(crate) fn start(
    session: &Arc<SessionCore>,
    held: &Arc<LeaseState>,
    callee: Callee<'_>,
    arguments: &str,
    options: &CallOptions,
    done: impl FnOnce(Result<CallResult>) + Send + 'static,
) -> Operation {
    let seen = held.seen();
    let cell = &seen.cell;
    let published = cell.load();
    let seen_now = (&seen, &**published);
    if log_level::is_kept(callee, &published) {
        let kept = log_level::keep(session, cell, arguments).map(|()| CallResult::empty());
        done(kept.map_err(|error| unsent(session, cell, error)));
        return Operation::ended();
    }
    let Some(setting) = Setting::of((session, callee), cell, &published, arguments) else {
        return begin(session, held, seen_now, (callee, arguments), options, done);
    };
    let params = setting.params();
    let done = move |result: Result<CallResult>| {
        setting.end(&result);
        done(result);
    };
    begin(session, held, seen_now, (callee, &params), options, done)
}

/// The same, with the params that go out.
fn begin(
    session: &Arc<SessionCore>,
    held: &Arc<LeaseState>,
    (seen, published): (&Arc<EntryView>, &EntrySnapshot),
    called: (Callee<'_>, &str),
    options: &CallOptions,
    done: impl FnOnce(Result<CallResult>) + Send + 'static,
) -> Operation {
    let begin = || Ok((session.begin_call()?, Instant::now()));
    match Call::prepare(session, (held, seen), published, called, options, begin) {
        Ok(call) => {
            let number = call.number;
            Operation::call(send(call, published, options, done), number)
        }
        Err(error) => {
            let error = unsent(session, &seen.cell, error);
            let owed = AwaitedLists::by_hold(session, held, &error);
            if let (Some(owed), (Callee::Tool(tool), arguments)) = (owed, called) {
                return awaited_lists::start(
                    session,
                    (owed, tool),
                    arguments,
                    options,
                    Box::new(done),
                );
            }
            done(Err(error));
            Operation::ended()
        }
    }
}

/// The error of a call of which nothing was sent.
fn unsent(session: &SessionCore, cell: &EntryCell, error: Error) -> Error {
    let error = session.explained(&cell.server, error);
    let error = error.with_server(&*cell.server).with_session(&*session.recipient.id);
    error.with_outcome(Outcome::NotSent)
}

/// The same for a call of a tool that has its number already, and waited for the server since it
/// `began`. Nothing when it ended here.
pub(super) fn go_on(
    session: &Arc<SessionCore>,
    (number, began): (u64, Instant),
    (held, callee, arguments): (&Arc<LeaseState>, Callee<'_>, &str),
    options: &CallOptions,
    done: impl FnOnce(Result<CallResult>) + Send + 'static,
) -> Option<CallHandle> {
    let seen = held.seen();
    let cell = &seen.cell;
    let published = cell.load();
    let called = (callee, arguments);
    let begun = || Ok((number, began));
    match Call::prepare(session, (held, &seen), &published, called, options, begun) {
        Ok(call) => Some(send(call, &published, options, done)),
        Err(error) => {
            let ended = CallEnd { sent: 0, came: Err(error.code()) };
            let counted = (&*cell.server, CALL_TOOL, &*cell.usage);
            session.call_ended((number, began), counted, ended);
            done(Err(unsent(session, cell, error)));
            None
        }
    }
}

/// Lets a call go that has its number.
fn send(
    call: Call,
    published: &EntrySnapshot,
    options: &CallOptions,
    done: impl FnOnce(Result<CallResult>) + Send + 'static,
) -> CallHandle {
    let (session, number) = (call.session.clone(), call.number);
    // What it has in headers may be refused, and sent again then.
    let may_be_refused =
        |connection: &Connection| call.tool().is_some() && connection.mirrors_arguments();
    call.cell().calls.fetch_add(1, Ordering::Relaxed);
    let started = match &published.connection {
        Some(connection) if !retry::lasts(options) && !may_be_refused(connection) => {
            start_once(call, connection, published.slot.generation, done)
        }
        _ => CallHandle::Lasting(retry::begin(call, published, options, Box::new(done))),
    };
    if session.calls.started(number, &started) {
        started.cancel();
    }
    started
}

/// The way of nearly every call: one request, whose end is the call's.
fn start_once(
    call: Call,
    connection: &Connection,
    generation: Generation,
    done: impl FnOnce(Result<CallResult>) + Send + 'static,
) -> CallHandle {
    let call = Arc::new(call);
    let ending = call.clone();
    let done = Box::new(move |result| {
        let result = ending.outcome(result, generation).map_err(|error| ending.failed(error));
        ending.end(&result);
        done(result);
    });
    let id = connection.start(call.request(None), done);
    CallHandle::Once(connection.clone(), id)
}

/// A call that passed every check that can be made before anything is sent.
pub(super) struct Call {
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
    fn prepare(
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
                let (params, arguments) = tool_params(tool, &given);
                (CallTarget::Tool { name, arguments, unlisted }, params)
            }
            Callee::Method(method) => {
                check_members(&given)?;
                (CallTarget::Method(method.into()), given.into_owned())
            }
        };
        let level = log_level::said_by_requests(session, cell, published);
        let has_own_meta = options.meta.is_some() || matches!(callee, Callee::Method(_));
        let params = with_meta(params, options.meta.as_deref(), level)?;
        let waits = retry::lasts(options) && retry::comes_back(published.slot.state);
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
            what,
            params,
            has_own_meta,
        })
    }

    /// Whether the session may call the tool by what is published now.
    pub(super) fn check_listed(&self, published: &EntrySnapshot) -> Result<()> {
        match &self.what {
            CallTarget::Tool { name, unlisted, .. } => {
                let asks = || *unlisted && may_ask(&self.session, self.cell(), published);
                callable((&self.held, &self.held.view()), published, name, asks).map(drop)
            }
            CallTarget::Method(_) => Ok(()),
        }
    }

    /// The entry when it began.
    pub(super) fn cell(&self) -> &Arc<EntryCell> {
        &self.seen.cell
    }

    /// The tool, by the server's own name.
    pub(super) fn tool(&self) -> Option<&str> {
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
    pub(super) fn request(&self, attempts: Option<Attempts>) -> OutgoingRequest<'_> {
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
            progress: match &self.progress {
                Progress::Off => None,
                Progress::On => Some(self.progress_events(None)),
                Progress::To(receiver) => Some(self.progress_events(Some(receiver.clone()))),
            },
        }
    }

    fn progress_events(&self, receiver: Option<ProgressReceiver>) -> OnProgress {
        progress::events(self.session.clone(), self.cell().clone(), self.number, receiver)
    }

    /// The end of an attempt, as the caller sees it (SPEC 5.6).
    pub(super) fn outcome(
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
    pub(super) fn end(&self, result: &Result<CallResult>) {
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
        self.held.view().trust && retry::is_declared_safe(self, &self.cell().load_full())
    }

    /// The call ends with this error.
    pub(super) fn failed(&self, error: Error) -> Error {
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
    shape: Shape,
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
pub(super) fn not_connected(published: &EntrySnapshot) -> Error {
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
pub(super) const CALL_TOOL: &str = "tools/call";
