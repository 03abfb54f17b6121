//! Calls: from the caller's thread to the wire, past the pool's bookkeeping.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::value::RawValue;
use trunkline_pool::interface::EventKind;
use trunkline_pool::options::{CallOptions, Progress};
use trunkline_pool::state::EntryState;

use super::operation::Operation;
use super::session::SessionCore;
use crate::client::{Connection, Reply, Request, RequestId};
use crate::driver::{About, EntryCell, Published};
use crate::{Error, ErrorCode, Outcome, Result};

/// The result of a call: JSON text exactly as the server sent it.
#[derive(Clone, Debug)]
pub struct CallResult(Reply);

impl CallResult {
    /// The whole result.
    pub fn json(&self) -> &str {
        &self.0.json
    }

    /// Whether the tool reports an error (`isError`).
    pub fn is_error(&self) -> bool {
        self.member("isError").is_some_and(|value| value.get() == "true")
    }

    /// One member of the result, as received.
    pub fn member(&self, name: &str) -> Option<Box<RawValue>> {
        serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(self.json())
            .ok()?
            .get(name)
            .map(|value| (*value).to_owned())
    }
}

/// The calls of a session that are under way, so that its end can cancel them (SPEC 3.12).
#[derive(Default)]
pub(crate) struct Calls {
    inner: Mutex<UnderWay>,
}

#[derive(Default)]
struct UnderWay {
    last: u64,
    closed: bool,
    calls: HashMap<u64, Option<(Connection, RequestId)>>,
}

impl Calls {
    /// The number of a call that may begin.
    fn begin(&self, session: &SessionCore) -> Result<u64> {
        let limit = session.driver.options.limits.in_flight_per_session;
        let mut inner = self.inner();
        if inner.closed {
            return Err(session.closed());
        }
        if inner.calls.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
            let message = format!("the session has {limit} calls in flight, as many as it may");
            let error = Error::new(ErrorCode::Limit, message);
            return Err(error.with_detail("limit", "in_flight_per_session"));
        }
        inner.last += 1;
        let number = inner.last;
        inner.calls.insert(number, None);
        Ok(number)
    }

    /// The call is on its way; whether the session was closed meanwhile.
    fn started(&self, number: u64, connection: &Connection, id: RequestId) -> bool {
        let mut inner = self.inner();
        if let Some(call) = inner.calls.get_mut(&number) {
            *call = Some((connection.clone(), id));
        }
        inner.closed
    }

    fn end(&self, number: u64) {
        self.inner().calls.remove(&number);
    }

    /// Cancels everything, and refuses what comes later.
    pub(crate) fn close(&self) {
        let calls: Vec<_> = {
            let mut inner = self.inner();
            inner.closed = true;
            inner.calls.values().flatten().cloned().collect()
        };
        for (connection, id) in calls {
            connection.cancel(id);
        }
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, UnderWay> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What is called.
#[derive(Clone, Copy)]
pub(crate) enum Callee<'a> {
    /// A tool, by the server's own name.
    Tool(&'a str),
    /// Any other method.
    Method(&'a str),
}

/// Writes a call to the wire. `done` is called exactly once: here, when nothing could be sent, else on an I/O thread.
pub(crate) fn start(
    session: &Arc<SessionCore>,
    cell: &Arc<EntryCell>,
    callee: Callee<'_>,
    arguments: &str,
    options: &CallOptions,
    done: impl FnOnce(Result<CallResult>) + Send + 'static,
) -> Operation {
    let published = cell.load();
    let prepared = prepare(session, cell, &published, callee, arguments, options);
    let (connection, params, number) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let error = error.with_server(&*cell.server).with_session(&*session.id);
            done(Err(error.with_outcome(Outcome::NotSent)));
            return Operation::ended();
        }
    };
    let method = match callee {
        Callee::Tool(_) => "tools/call",
        Callee::Method(method) => method,
    };
    let (timeout, idle_timeout) = timeouts(session, cell, options);
    let progress =
        (options.progress == Progress::On).then(|| progress_events(session, cell, number));
    let request = Request { method, params: &params, timeout, idle_timeout, progress };
    cell.calls.fetch_add(1, Ordering::Relaxed);
    let ending = Ending { session: session.clone(), cell: cell.clone(), number };
    let about = match callee {
        Callee::Tool(tool) => Some((Arc::<str>::from(tool), Arc::<str>::from(arguments))),
        Callee::Method(_) => None,
    };
    let generation = published.slot.generation.0;
    let id = connection.start(
        request,
        Box::new(move |result| {
            let result = ending.finish(result, generation, about);
            done(result);
        }),
    );
    if session.calls.started(number, &connection, id) {
        connection.cancel(id);
    }
    Operation::call(connection, id, number)
}

/// What the end of a call has to put right.
struct Ending {
    session: Arc<SessionCore>,
    cell: Arc<EntryCell>,
    number: u64,
}

impl Ending {
    fn finish(
        &self,
        result: Result<Reply>,
        generation: u32,
        about: Option<(Arc<str>, Arc<str>)>,
    ) -> Result<CallResult> {
        self.session.calls.end(self.number);
        result.map(CallResult).map_err(|error| {
            self.cell.count_error();
            let error = error.with_server(&*self.cell.server).with_session(&*self.session.id);
            if error.code() != ErrorCode::CallInterrupted {
                return error;
            }
            let error = error
                .with_detail("entry_index", self.cell.index)
                .with_detail("generation", generation);
            match about {
                Some((tool, arguments)) => {
                    error.with_detail("tool", &*tool).with_arguments(arguments)
                }
                None => error,
            }
        })
    }
}

/// Everything that can be refused before anything is sent.
fn prepare(
    session: &SessionCore,
    cell: &EntryCell,
    published: &Published,
    callee: Callee<'_>,
    arguments: &str,
    options: &CallOptions,
) -> Result<(Connection, String, u64)> {
    session.driver.check_process()?;
    let arguments = object("arguments", arguments)?;
    let params = match callee {
        Callee::Tool(tool) => {
            let listed = published.slot.catalog.tool(tool).is_some() && session.admits(cell, tool);
            // What has failed or is closed lists nothing, and says so instead.
            let over = matches!(published.slot.state, EntryState::Failed | EntryState::Closed);
            if !listed && !over {
                return Err(tool_not_found(tool));
            }
            let name = serde_json::Value::from(tool);
            format!(r#"{{"name":{name},"arguments":{arguments}}}"#)
        }
        Callee::Method(_) => arguments.into_owned(),
    };
    let params = with_meta(params, options.meta.as_deref())?;
    let connection = published.connection.clone().ok_or_else(|| not_connected(published))?;
    let number = session.calls.begin(session)?;
    Ok((connection, params, number))
}

/// The text of a JSON object on one line: a frame must not hold a line break.
pub(super) fn object<'a>(path: &str, text: &'a str) -> Result<Cow<'a, str>> {
    let text = if text.is_empty() { "{}" } else { text };
    let parsed: std::result::Result<&RawValue, _> = serde_json::from_str(text);
    let wrong = |message: String| {
        Err(Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path))
    };
    match parsed {
        Err(error) => wrong(format!("{path} is no JSON: {error}")),
        Ok(value) if !value.get().starts_with('{') => wrong(format!("{path} is no JSON object")),
        Ok(value) if value.get().contains(['\n', '\r']) => {
            // Valid JSON has line breaks only between tokens.
            Ok(value.get().replace(['\n', '\r'], " ").into())
        }
        Ok(value) => Ok(value.get().into()),
    }
}

/// The params with the host's `_meta`.
fn with_meta(params: String, meta: Option<&str>) -> Result<String> {
    let Some(meta) = meta else { return Ok(params) };
    let meta = object("meta", meta)?;
    let mut members: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&params).unwrap_or_default();
    if members.contains_key("_meta") {
        let error = Error::new(ErrorCode::InvalidArgument, "`_meta` is given twice");
        return Err(error.with_detail("path", "meta"));
    }
    let separator = if members.is_empty() { "" } else { "," };
    members.clear();
    let open = params.trim_end().strip_suffix('}').unwrap_or(&params);
    Ok(format!(r#"{open}{separator}"_meta":{meta}}}"#))
}

pub(super) fn tool_not_found(tool: &str) -> Error {
    Error::new(ErrorCode::ToolNotFound, "no such tool in this session's view")
        .with_detail("tool", tool)
        .with_detail("reason", "unknown")
}

/// Why an entry takes no calls (SPEC 5.8).
pub(super) fn not_connected(published: &Published) -> Error {
    let slot = &published.slot;
    let error = match slot.state {
        EntryState::Closed => Error::new(ErrorCode::Closed, "the server is closed"),
        EntryState::AuthRequired => {
            Error::new(ErrorCode::AuthRequired, "the server wants credentials")
        }
        EntryState::Failed => Error::new(ErrorCode::Unavailable, "the server has failed")
            .with_hint("acquire it again to try once more"),
        _ => Error::new(ErrorCode::Unavailable, "the server is not connected now"),
    };
    let error = error.with_detail("state", slot.state.as_str());
    match &slot.error {
        Some(cause) => error.with_cause(cause.clone()),
        None => error,
    }
}

/// The time in all and the time without progress: the call's own, else the server's, else the pool's.
fn timeouts(
    session: &SessionCore,
    cell: &EntryCell,
    options: &CallOptions,
) -> (Duration, Duration) {
    let pool = &session.driver.options;
    let total = options.timeout.or(cell.spec.call_timeout).unwrap_or(pool.call_timeout);
    let idle = options.idle_timeout.or(cell.spec.call_idle_timeout);
    let idle = idle.unwrap_or(pool.call_idle_timeout);
    (total, idle.min(total))
}

/// Progress goes to the session's subscribers, in the order of the wire.
fn progress_events(
    session: &Arc<SessionCore>,
    cell: &Arc<EntryCell>,
    number: u64,
) -> Box<dyn FnMut(&str) + Send> {
    let (session, cell) = (session.clone(), cell.clone());
    Box::new(move |params| {
        let params: serde_json::Value = serde_json::from_str(params).unwrap_or_default();
        let mut fields = vec![("call", number.into())];
        for name in ["progress", "total", "message"] {
            if let Some(value) = params.get(name) {
                fields.push((name, value.clone()));
            }
        }
        let about = About::entry(&cell, cell.load().slot.generation);
        session.driver.hub.publish(EventKind::Progress, Some(&session), &about, &fields);
    })
}
