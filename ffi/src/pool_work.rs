//! The operations of a pool: reconcile, restart, drain, and the acquire by a session's id.

use std::ffi::c_void;

use trunkline::{AcquireOptions, DrainOptions, Operation, Result, ServerSpec, Servers};

use crate::buf::Buf;
use crate::completion::{Completion, Value};
use crate::error::ErrorObject;
use crate::forms::{self, StartOuts};
use crate::pool::PoolObject;
use crate::queue::QueueObject;
use crate::raw;
use crate::types::{DestroyFn, DoneFn, Status, Str, TRUNKLINE_EVERY_ENTRY};

/// Makes these servers the pool's run-time source, and waits until that is done: what is new starts
/// in the sessions that want it, what is gone is released, what is equal is not touched. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `servers_json`: a JSON object of servers by name, with or without a `mcpServers` around it.
/// `out`: the report, `{v, servers: {name: {action, error?}}, findings?}`, with the members that no
/// rule knows as `[{kind, server, path, nearest?}]`; free it with `trunkline_buf_free`.
///
/// Errors: `INVALID_CONFIG` when the text is no such object (a server that is wrong spoils itself
/// alone, in the report); `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reconcile(
    pool: *mut PoolObject,
    servers_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| reconcile(pool, servers_json)) }
}

/// `trunkline_pool_reconcile` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reconcile_start(
    pool: *mut PoolObject,
    servers_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| reconcile(pool, servers_json)) }
}

/// `trunkline_pool_reconcile` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reconcile_enqueue(
    pool: *mut PoolObject,
    servers_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| reconcile(pool, servers_json)) }
}

/// Replaces the connections of a server, and waits for the new ones. Blocks: `WRONG_THREAD` inside
/// a callback.
///
/// `entry_index`: of the entry; `TRUNKLINE_EVERY_ENTRY` for all of the server's. `out`: a report
/// with `{entry_index, restarted, duration_ms | reason}` for each; free it with
/// `trunkline_buf_free`. The reason is `in_flight`, `disabled`, `auth_required`, `not_admitted`,
/// `budget_would_exceed`, `superseded` (the server is configured otherwise now, or no more),
/// `failed` or `closing`.
///
/// Errors: `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_restart(
    pool: *mut PoolObject,
    server: Str,
    entry_index: u32,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| restart(pool, server, entry_index)) }
}

/// `trunkline_pool_restart` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_restart_start(
    pool: *mut PoolObject,
    server: Str,
    entry_index: u32,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| restart(pool, server, entry_index)) }
}

/// `trunkline_pool_restart` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_restart_enqueue(
    pool: *mut PoolObject,
    server: Str,
    entry_index: u32,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| restart(pool, server, entry_index)) }
}

/// Accepts the definition of a tool that is kept back: from then on it is listed and can be called
/// in every session, and, of a server that needed approval, in later processes. Accepting again does
/// nothing. Blocks: `WRONG_THREAD` inside a callback.
///
/// `tool`: the server's own name. `digest`: `difference.to` of the `tool_quarantined` event, or of
/// the status, so that what is accepted is what was shown.
///
/// Errors: `STALE_APPROVAL` when the tool has changed again since, `TOOL_NOT_FOUND` when the server
/// lists none of that name now, `LIMIT`, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
/// `INVALID_ARGUMENT` (also for a server that the pool never saw).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_accept_tool(
    pool: *mut PoolObject,
    server: Str,
    tool: Str,
    digest: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_end(pool, err, |pool| accept_tool(pool, server, tool, digest)) }
}

/// `trunkline_pool_accept_tool` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_accept_tool_start(
    pool: *mut PoolObject,
    server: Str,
    tool: Str,
    digest: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| accept_tool(pool, server, tool, digest)) }
}

/// `trunkline_pool_accept_tool` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_accept_tool_enqueue(
    pool: *mut PoolObject,
    server: Str,
    tool: Str,
    digest: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| accept_tool(pool, server, tool, digest))
    }
}

/// Ends every connection, one-way: later acquires, reconciles and restarts answer `CLOSING`.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `options_json`: `{"force": false, "timeout_ms": 10000}`, each optional; empty for both. With
/// `force`, calls under way are interrupted at once; otherwise they may finish until the time is
/// over. `out`: the report, `{v, drained, forced, errors: [{server, entry_index, error}]}`; free it
/// with `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `UNKNOWN_OPTION`, `CANCELLED` (the drain itself goes on), `FORKED`,
/// `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_drain_all(
    pool: *mut PoolObject,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| drain_all(pool, options_json)) }
}

/// `trunkline_pool_drain_all` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_drain_all_start(
    pool: *mut PoolObject,
    options_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| drain_all(pool, options_json)) }
}

/// `trunkline_pool_drain_all` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_drain_all_enqueue(
    pool: *mut PoolObject,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| drain_all(pool, options_json)) }
}

/// A lease on a server by its configuration, for a session by its id: opens the session if it is
/// not open, puts the server into the session's own source, and waits until it is connected.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `config_json`: the JSON object of one server (`{"command": ...}`). `options_json`, `out` and the
/// errors: as of `trunkline_session_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_acquire(
    pool: *mut PoolObject,
    server: Str,
    config_json: Str,
    session_id: Str,
    options_json: Str,
    out: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_lease(pool, out, err, |pool| {
            acquire(pool, server, config_json, session_id, options_json)
        })
    }
}

/// `trunkline_pool_acquire` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_acquire_start(
    pool: *mut PoolObject,
    server: Str,
    config_json: Str,
    session_id: Str,
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
            acquire(pool, server, config_json, session_id, options_json)
        })
    }
}

/// `trunkline_pool_acquire` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_acquire_enqueue(
    pool: *mut PoolObject,
    server: Str,
    config_json: Str,
    session_id: Str,
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
            acquire(pool, server, config_json, session_id, options_json)
        })
    }
}

/// Checks the arguments of `reconcile`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn reconcile(
    pool: &PoolObject,
    servers_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let servers = Servers::from_json(unsafe { raw::text(servers_json, "servers_json") }?)?;
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future = async move {
            let report = pool.reconcile(servers).await?;
            Ok(Value::Text(Buf::from(report.to_string())))
        };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// Checks the arguments of `restart`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn restart(
    pool: &PoolObject,
    server: Str,
    entry_index: u32,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::text(server, "server") }?.to_owned();
    let index = (entry_index != TRUNKLINE_EVERY_ENTRY).then_some(entry_index);
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future = async move {
            let report = pool.restart(&server, index).await?;
            Ok(Value::Text(Buf::from(report.to_string())))
        };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// Checks the arguments of `accept_tool`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn accept_tool(
    pool: &PoolObject,
    server: Str,
    tool: Str,
    digest: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let [server, tool, digest] = unsafe {
        [
            raw::text(server, "server")?.to_owned(),
            raw::text(tool, "tool")?.to_owned(),
            raw::text(digest, "digest")?.to_owned(),
        ]
    };
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future =
            async move { pool.accept_tool(&server, &tool, &digest).await.map(|()| Value::Nothing) };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// Checks the arguments of `drain_all`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn drain_all(
    pool: &PoolObject,
    options_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let options = DrainOptions::from_json(unsafe { raw::text(options_json, "options_json") }?)?;
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future = async move {
            let report = pool.drain_all(&options).await?;
            Ok(Value::Text(Buf::from(report.to_string())))
        };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// Checks the arguments of `acquire`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn acquire(
    pool: &PoolObject,
    server: Str,
    config_json: Str,
    session_id: Str,
    options_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let [server, config, session, options] = unsafe {
        [
            raw::text(server, "server")?,
            raw::text(config_json, "config_json")?,
            raw::text(session_id, "session_id")?,
            raw::text(options_json, "options_json")?,
        ]
    };
    let spec = ServerSpec::from_json(server, config)?;
    let options = AcquireOptions::from_json(options)?;
    let (server, session) = (server.to_owned(), session.to_owned());
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future =
            async move { pool.acquire(&server, &spec, &session, &options).await.map(Value::Lease) };
        core.start(future, |outcome| completion.finish(outcome))
    })
}
