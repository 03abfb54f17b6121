//! The operations of a session: acquire, started, ready, and calls by exposed name.

use std::ffi::c_void;

use trunkline::{AcquireOptions, CallResult, Operation, Result, ServerSpec};

use crate::buf::Buf;
use crate::completion::{Completion, Value};
use crate::error::ErrorObject;
use crate::forms::{self, Sends, StartOuts};
use crate::pool::PoolObject;
use crate::queue::QueueObject;
use crate::raw;
use crate::types::{CallOptionsStruct, DestroyFn, DoneFn, Status, Str};

/// An explicit lease on a server, once it is connected. Every acquire gives a lease of its own.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `config_json`: empty for a server that the pool knows; otherwise the JSON object of one server,
/// which is first put into the session's own source. `options_json`: an object of `timeout_ms` for
/// this wait, by default the connect's own time, of `log_level`, how grave log messages of the server
/// have to be for the session to hear them, and of `origin`; may be empty. `out`: the lease; give it
/// up with `trunkline_lease_release`.
///
/// Errors: `INVALID_CONFIG`, `NOT_ADMITTED`, `SPAWN_FAILED`, `CONNECT_FAILED`, `EXITED`,
/// `PROTOCOL`, `TIMEOUT`, `LIMIT`, `CRASH_LOOP`, `CANCELLED`, `CLOSING`, `CLOSED`, `BAD_HANDLE`,
/// `UNKNOWN_OPTION`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_acquire(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    config_json: Str,
    options_json: Str,
    out: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_lease(pool, out, err, |pool| {
            acquire(pool, session, server, config_json, options_json)
        })
    }
}

/// `trunkline_session_acquire` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_acquire_start(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    config_json: Str,
    options_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| {
            acquire(pool, session, server, config_json, options_json)
        })
    }
}

/// `trunkline_session_acquire` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_acquire_enqueue(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    config_json: Str,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| {
            acquire(pool, session, server, config_json, options_json)
        })
    }
}

/// Waits until each server that the session wants is ready, has failed or sleeps, or the pool's
/// `start_gate_ms` have passed since the session was opened, whichever is first, and tells how each
/// of them stands. A server that is slow or fails is no error. Blocks: `WRONG_THREAD` inside a
/// callback.
///
/// `out`: `{v, servers: {name: {state, deferred?, error?}}}` with the state `ready`, `failed`,
/// `waiting` or `asleep`; `deferred` is there while it waits or sleeps, and counts the tools that are
/// listed of what is kept. Free it with `trunkline_buf_free`.
///
/// Errors: `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_started(
    pool: *mut PoolObject,
    session: u64,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| started(pool, session)) }
}

/// `trunkline_session_started` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_started_start(
    pool: *mut PoolObject,
    session: u64,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| started(pool, session)) }
}

/// `trunkline_session_started` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_started_enqueue(
    pool: *mut PoolObject,
    session: u64,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| started(pool, session)) }
}

/// Waits until every server that the session wants is ready, has failed or sleeps. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// One that sleeps is listed and runs for calls only; its last start may have failed, which
/// `trunkline_session_started` says. An empty `server` waits for all servers: it retries none, and
/// a failed server is no error; the status, `trunkline_session_started` and the log have it.
/// Otherwise it waits for that server alone, and retries it once if it failed; its failure is the
/// error. `timeout_ms`: in milliseconds; `TRUNKLINE_DEFAULT` for no limit but those of the
/// connects.
///
/// Errors: `TIMEOUT`, `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`, and those
/// of the server's connect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_ready(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    timeout_ms: u64,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_end(pool, err, |pool| ready(pool, session, server, timeout_ms)) }
}

/// `trunkline_session_ready` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_ready_start(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    timeout_ms: u64,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| ready(pool, session, server, timeout_ms)) }
}

/// `trunkline_session_ready` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_ready_enqueue(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    timeout_ms: u64,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| ready(pool, session, server, timeout_ms))
    }
}

/// Calls a tool of the session's view by its exposed name (`mcp__server__tool`). Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// The parameters, the result and the errors are those of `trunkline_lease_call_tool`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_call_tool(
    pool: *mut PoolObject,
    session: u64,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| {
            call_tool(pool, session, tool, arguments_json, options)
        })
    }
}

/// `trunkline_session_call_tool` without waiting: `done` is called once it ended, on a thread of
/// the library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_call_tool_start(
    pool: *mut PoolObject,
    session: u64,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| {
            call_tool(pool, session, tool, arguments_json, options)
        })
    }
}

/// `trunkline_session_call_tool` without waiting: its end comes out of `queue`, with `tag`.
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_call_tool_enqueue(
    pool: *mut PoolObject,
    session: u64,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| {
            call_tool(pool, session, tool, arguments_json, options)
        })
    }
}

/// Checks the arguments of `acquire`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn acquire(
    pool: &PoolObject,
    session: u64,
    server: Str,
    config_json: Str,
    options_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let [server, config, options] = unsafe {
        [
            raw::text(server, "server")?,
            raw::text(config_json, "config_json")?,
            raw::text(options_json, "options_json")?,
        ]
    };
    let session = pool.objects.sessions.find(session)?;
    let spec = match config {
        "" => None,
        config => Some(ServerSpec::from_json(server, config)?),
    };
    let options = AcquireOptions::from_json(options)?;
    let (core, server) = (pool.core.clone(), server.to_owned());
    Ok(move |completion: Completion| {
        let future = async move {
            session.acquire(&server, spec.as_ref(), &options).await.map(Value::Lease)
        };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// What `started` starts.
fn started(
    pool: &PoolObject,
    session: u64,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    let session = pool.objects.sessions.find(session)?;
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let future =
            async move { Ok(Value::Text(Buf::from(session.started().await?.to_string()))) };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// Checks the arguments of `ready`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn ready(
    pool: &PoolObject,
    session: u64,
    server: Str,
    timeout_ms: u64,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::optional_text(server, "server") }?.map(str::to_owned);
    let session = pool.objects.sessions.find(session)?;
    let timeout = raw::optional_time(timeout_ms);
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let future =
            async move { session.ready(server.as_deref(), timeout).await.map(|()| Value::Nothing) };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// Checks the arguments of `call_tool`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn call_tool(
    pool: &PoolObject,
    session: u64,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
) -> Result<Sends<impl FnOnce(Completion) -> Operation + use<>>> {
    // SAFETY: as the function's own.
    let (call, settings) = unsafe {
        let tool = raw::text(tool, "tool")?;
        (
            (tool.to_owned(), raw::text(arguments_json, "arguments_json")?.to_owned()),
            raw::call_options(options)?,
        )
    };
    let session = pool.objects.sessions.find(session)?;
    Ok(Sends(move |completion: Completion| {
        let (tool, arguments) = call;
        let options = settings.options(&completion);
        let done = |outcome: Result<CallResult>| {
            completion.finish(outcome.map(|result| Value::Text(Buf::from(result))));
        };
        let operation = session.start_call_tool(&tool, &arguments, &options, done);
        // SAFETY: the host's function that passed the options has not returned yet.
        unsafe { settings.tell_number(operation) }
    }))
}
