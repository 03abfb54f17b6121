//! Calls: from the caller's thread to the wire, past the pool's bookkeeping.

pub(crate) mod attempt;
pub(crate) mod awaited_lists;
pub(crate) mod calls;
pub(crate) mod list_wait;
pub(crate) mod log_level;
pub(crate) mod operation;
pub(crate) mod params;
pub(crate) mod prepared;
pub(crate) mod progress;
pub(crate) mod relist;
pub(crate) mod repeatable;
pub(crate) mod retry;
pub(crate) mod usage;
pub(crate) mod waiting;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use trunkline_pool::options::CallOptions;
use trunkline_pool::state::Generation;

use self::awaited_lists::AwaitedLists;
use self::calls::CallHandle;
use super::lease::lease_state::{EntryView, LeaseState};

use self::log_level::Setting;
use self::operation::Operation;
use self::prepared::{CALL_TOOL, Call};
use self::repeatable::lasts;

use super::session_core::SessionCore;
use crate::base::usage::CallEnd;
use crate::client::{CallResult, Callee, Connection};
use crate::driver::{EntryCell, EntrySnapshot};
use crate::{Error, Outcome, Result};

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
    let (seen_now, number) = ((&seen, &**published), session.recipient.number);
    if log_level::is_kept(callee, &published) {
        let kept = session.hears.keep(number, cell, arguments).map(|()| CallResult::empty());
        done(kept.map_err(|error| unsent(session, cell, error)));
        return Operation::ended();
    }
    let heard = (number, &session.hears);
    let Some(setting) = Setting::of(heard, (cell, &published), (callee, arguments)) else {
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
                return list_wait::start(session, (owed, tool), arguments, options, Box::new(done));
            }
            done(Err(error));
            Operation::ended()
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
        Some(connection) if !lasts(options) && !may_be_refused(connection) => {
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

/// Checks and sends a call of a tool that has its number already, and waited for the server since
/// it `began`. Nothing when it ended here.
pub(crate) fn go_on(
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

/// The error of a call that sent nothing.
fn unsent(session: &SessionCore, cell: &EntryCell, error: Error) -> Error {
    let error = session.explained(&cell.server, error);
    let error = error.with_server(&*cell.server).with_session(&*session.recipient.id);
    error.with_outcome(Outcome::NotSent)
}
