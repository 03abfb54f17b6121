//! Written from core/pool/src/interface/operations; do not edit.
//!
//! `UPDATE_REFERENCE=1 cargo test -p trunkline-pool --test reference` writes it anew.

use std::ffi::c_void;

use trunkline::{
    AcquireOptions, CallResult, ConfigureOptions, Operation, Result, ServerSpec, ToolFormat,
};

use crate::abi::buf::Buf;
use crate::ops::call_options::call_options;
use crate::delivery::completion::{Completion, later};
use crate::abi::error::ErrorObject;
use crate::ops::forms::{self, Sends, StartOuts};
use crate::abi::item::DoneFn;
use crate::delivery::handle_registry::PoolObject;
use crate::delivery::outcome::Value;
use crate::delivery::queue::QueueObject;
use crate::abi::raw;
use crate::abi::types::{
    CallOptionsStruct, DestroyFn, LeaseHandle, OpHandle, SessionHandle, Status, Str,
};

/// An explicit lease on a server, once it is connected. Every acquire gives a lease of its own.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `config_json`: as JSON, empty for a server that the pool knows; otherwise what the settings of
/// one server have, which is first put into the session's own source. `options_json`: an object
/// with any of `timeout_ms`, `origin` and `log_level`, as `docs/reference/options.md` has them;
/// empty for all defaults. `out`: the lease; `trunkline_lease_release` gives it up.
///
/// Errors: `INVALID_CONFIG`, `NOT_ADMITTED`, `SPAWN_FAILED`, `CONNECT_FAILED`, `EXITED`,
/// `PROTOCOL`, `TIMEOUT`, `LIMIT`, `CRASH_LOOP`, `CANCELLED`, `CLOSING`, `CLOSED`, `BAD_HANDLE`,
/// `UNKNOWN_OPTION`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_acquire(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    config_json: Str,
    options_json: Str,
    out: *mut LeaseHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_lease(pool, out, err, |pool| acquire(pool, session, server, config_json, options_json))
    }
}

/// `trunkline_session_acquire` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_acquire_start(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    config_json: Str,
    options_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| acquire(pool, session, server, config_json, options_json))
    }
}

/// `trunkline_session_acquire` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_acquire_enqueue(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    config_json: Str,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| acquire(pool, session, server, config_json, options_json))
    }
}

/// Waits until each server that the session wants is ready, has failed or sleeps, and says how each
/// of them stands. The wait ends `start_gate_ms` of the pool after the session's opening. A slow or
/// failed server is no error; events tell what comes later. Blocks: `WRONG_THREAD` inside a
/// callback.
///
/// `out`: `{v, servers: {name: {state, deferred?, error?}}}` with the state `ready`, `failed`,
/// `waiting` or `asleep`; `deferred` is there while it waits or sleeps, and counts the tools that
/// are listed of what is kept. Free it with `trunkline_buf_free`.
///
/// Errors: `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_started(
    pool: *mut PoolObject,
    session: SessionHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| started(pool, session))
    }
}

/// `trunkline_session_started` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_started_start(
    pool: *mut PoolObject,
    session: SessionHandle,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| started(pool, session))
    }
}

/// `trunkline_session_started` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_started_enqueue(
    pool: *mut PoolObject,
    session: SessionHandle,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| started(pool, session))
    }
}

/// Waits until every server that the session wants is ready, has failed or sleeps. One that sleeps
/// is listed and runs for calls only; its last start may have failed, which
/// `trunkline_session_started` says. Blocks: `WRONG_THREAD` inside a callback.
///
/// `server`: empty waits for all servers: it retries none, and a failed server is no error; the
/// status, `trunkline_session_started` and the log have it. Otherwise it waits for that server
/// alone, and retries it once if it failed; its failure is the error. `timeout_ms`: in
/// milliseconds; `TRUNKLINE_DEFAULT` for no limit but those of the connects.
///
/// Errors: those of `trunkline_session_acquire`, `TIMEOUT`, `CANCELLED`, `CLOSED`, `BAD_HANDLE`,
/// `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_ready(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    timeout_ms: u64,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_end(pool, err, |pool| ready(pool, session, server, timeout_ms))
    }
}

/// `trunkline_session_ready` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_ready_start(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    timeout_ms: u64,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| ready(pool, session, server, timeout_ms))
    }
}

/// `trunkline_session_ready` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_ready_enqueue(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    timeout_ms: u64,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| ready(pool, session, server, timeout_ms))
    }
}

/// Reads the lists of a server anew, for servers that announce nothing, and waits until they are in
/// force. The call acquires the server: it first connects to a sleeping or lost one. A list that
/// fails alone keeps its last state, and a `warning` says so. Blocks: `WRONG_THREAD` inside a
/// callback.
///
/// Errors: those of `trunkline_session_acquire`, `UNAVAILABLE` when the connection was lost
/// meanwhile, or why no list could be had, `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`,
/// `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_refresh(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_end(pool, err, |pool| refresh(pool, session, server))
    }
}

/// `trunkline_session_refresh` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_refresh_start(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| refresh(pool, session, server))
    }
}

/// `trunkline_session_refresh` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_refresh_enqueue(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| refresh(pool, session, server))
    }
}

/// Waits until no list of the session's servers is being read or owed, at most 5 s. A list that a
/// server announced before a result is then among the session's. Most often it does not wait.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `server`: empty for all; otherwise this one alone.
///
/// Errors: `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_listed(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_end(pool, err, |pool| listed(pool, session, server))
    }
}

/// `trunkline_session_listed` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_listed_start(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| listed(pool, session, server))
    }
}

/// `trunkline_session_listed` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_listed_enqueue(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| listed(pool, session, server))
    }
}

/// Gives what a server that the session holds said of itself, as `trunkline_lease_introduction` has
/// it.
///
/// `out`: what `trunkline_lease_introduction` gives; `null` stands for nothing. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `NOT_ADMITTED` for a server that nobody has configured, `CLOSED`, `BAD_HANDLE`,
/// `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_introduction(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            let server = raw::text(server, "server")?;
            Ok(Buf::from(session.introduction(server)?))
        })
    }
}

/// The tools of the session's view. A first list is sorted by exposed name; after that, tools that
/// were listed keep their places within the session, and new ones come after them.
/// `trunkline_buf_revision` says the number of the list.
///
/// `out`: a list of `{name, server, own_name, trust, always_load, deferred, definition}`, the
/// definitions as the servers sent them; it has a number, its revision. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_tools(
    pool: *mut PoolObject,
    session: SessionHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            Ok(Buf::from(session.tools()?))
        })
    }
}

/// The tools of the session's view in the shape in which a model API takes them, in the order and
/// with the number of `trunkline_session_tools`. Schemas are as the servers sent them, without the
/// parts that the API refuses. An argument whose name the API refuses has another one; a call with
/// the option `shape` gives it back its own.
///
/// `shape`: `mcp`, `openai` (Chat Completions), `openai_responses`, `anthropic`, `gemini` or `any`
/// (definitions whose schemas each of them takes). `out`: a list of tools. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT` (`detail.path` is `shape`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_tools_for(
    pool: *mut PoolObject,
    session: SessionHandle,
    shape: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            let shape = raw::text(shape, "shape")?;
            let shape = ToolFormat::from_word(shape)?;
            Ok(Buf::from(session.tools_for(shape)?))
        })
    }
}

/// The prompts of the session's view, as of `trunkline_session_tools`.
///
/// `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_prompts(
    pool: *mut PoolObject,
    session: SessionHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            Ok(Buf::from(session.prompts()?))
        })
    }
}

/// The resources of the session's view, as of `trunkline_session_tools`; names are URIs.
///
/// `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_resources(
    pool: *mut PoolObject,
    session: SessionHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            Ok(Buf::from(session.resources()?))
        })
    }
}

/// The resource templates of the session's view, as of `trunkline_session_tools`; names are URI
/// templates.
///
/// `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_resource_templates(
    pool: *mut PoolObject,
    session: SessionHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            Ok(Buf::from(session.resource_templates()?))
        })
    }
}

/// Changes what a session sees and wants, at once and without touching a connection. Each option
/// replaces its old value; an absent one stays. Events tell the difference; equal options change
/// nothing. The servers of its own connections hear of other `roots`, and their lists are read
/// again. This thread looks at the folders, and a file system may keep it waiting.
///
/// `options_json`: an object with any of `servers`, `include`, `exclude`, `trust`, `always_load`
/// and `roots`, as `docs/reference/options.md` has them; empty for all defaults.
///
/// Errors: `UNKNOWN_OPTION`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_configure(
    pool: *mut PoolObject,
    session: SessionHandle,
    options_json: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::change(pool, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            let options = ConfigureOptions::from_json(raw::text(options_json, "options_json")?)?;
            session.configure(options)
        })
    }
}

/// Says why this session has a server, or a tool by its exposed name, or has not. Beside what
/// `trunkline_pool_explain` says, the session's own servers, holds, switches and filters count.
///
/// `out`: what `trunkline_pool_explain` gives. Free it with `trunkline_buf_free`.
///
/// Errors: `INVALID_ARGUMENT`, `CLOSED`, `BAD_HANDLE`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_explain(
    pool: *mut PoolObject,
    session: SessionHandle,
    name: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            let name = raw::text(name, "name")?;
            Ok(Buf::from(session.explain(name)?.to_string()))
        })
    }
}

/// Takes a server away from this session alone: its tools, prompts and resources go, its calls are
/// refused with the reason `disabled`, and the session holds it no longer. Calls under way finish.
/// Its leases stay, of no use until `trunkline_session_enable`. Repeating it does nothing.
///
/// Errors: `NOT_ADMITTED`, `INVALID_CONFIG`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_disable(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::change(pool, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            let server = raw::text(server, "server")?;
            session.disable(server)
        })
    }
}

/// Undoes `trunkline_session_disable`: the session acquires the server again in the background, and
/// `tools_changed` tells when it is back. Repeating it does nothing.
///
/// Errors: `NOT_ADMITTED`, `INVALID_CONFIG`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_enable(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::change(pool, err, |pool| {
            let session = pool.objects.sessions.find(session)?;
            let server = raw::text(server, "server")?;
            session.enable(server)
        })
    }
}

/// Calls a tool of the session's view by its exposed name (`mcp__server__tool`). Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `arguments_json`: as JSON, as of `trunkline_lease_call_tool`. `options`: NULL for all defaults.
/// `out`: what `trunkline_lease_call_tool` gives. Free it with `trunkline_buf_free`.
///
/// Errors: those of `trunkline_lease_call_tool`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_call_tool(
    pool: *mut PoolObject,
    session: SessionHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| call_tool(pool, session, tool, arguments_json, options))
    }
}

/// `trunkline_session_call_tool` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_call_tool_start(
    pool: *mut PoolObject,
    session: SessionHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| call_tool(pool, session, tool, arguments_json, options))
    }
}

/// `trunkline_session_call_tool` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_call_tool_enqueue(
    pool: *mut PoolObject,
    session: SessionHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| call_tool(pool, session, tool, arguments_json, options))
    }
}

/// Sends any other request of the protocol to a server, as `trunkline_lease_request`. The server is
/// acquired for that: one that sleeps is connected to first, within the request's time. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `params_json`: as JSON, as of `trunkline_lease_request`. `options`: NULL for all defaults.
/// `out`: what `trunkline_lease_request` gives. Free it with `trunkline_buf_free`.
///
/// Errors: those of `trunkline_lease_request`, `NOT_ADMITTED` and the others of
/// `trunkline_session_acquire`, with nothing sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_request(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| request(pool, session, server, method, params_json, options))
    }
}

/// `trunkline_session_request` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_request_start(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| request(pool, session, server, method, params_json, options))
    }
}

/// `trunkline_session_request` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_request_enqueue(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| request(pool, session, server, method, params_json, options))
    }
}

/// Checks the arguments of `acquire`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn acquire(
    pool: &PoolObject,
    session: SessionHandle,
    server: Str,
    config_json: Str,
    options_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let (server, config, options) = unsafe {
        (
            raw::text(server, "server")?,
            raw::text(config_json, "config_json")?,
            raw::text(options_json, "options_json")?,
        )
    };
    let session = pool.objects.sessions.find(session)?;
    let config = match config {
        "" => None,
        config => Some(ServerSpec::from_json(server, config)?),
    };
    let options = AcquireOptions::from_json(options)?;
    let server = server.to_owned();
    Ok(later(pool, move |_| {
        async move { session.acquire(&server, config.as_ref(), &options).await.map(Value::Lease) }
    }))
}

/// Checks the arguments of `started`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn started(
    pool: &PoolObject,
    session: SessionHandle,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    let session = pool.objects.sessions.find(session)?;
    Ok(later(pool, move |_| {
        async move { session.started().await.map(Value::report) }
    }))
}

/// Checks the arguments of `ready`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn ready(
    pool: &PoolObject,
    session: SessionHandle,
    server: Str,
    timeout_ms: u64,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::optional_text(server, "server") }?;
    let session = pool.objects.sessions.find(session)?;
    let timeout = raw::optional_time(timeout_ms);
    let server = server.map(str::to_owned);
    Ok(later(pool, move |_| {
        async move { session.ready(server.as_deref(), timeout).await.map(|()| Value::Nothing) }
    }))
}

/// Checks the arguments of `refresh`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn refresh(
    pool: &PoolObject,
    session: SessionHandle,
    server: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::text(server, "server") }?;
    let session = pool.objects.sessions.find(session)?;
    let server = server.to_owned();
    Ok(later(pool, move |_| {
        async move { session.refresh(&server).await.map(|()| Value::Nothing) }
    }))
}

/// Checks the arguments of `listed`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn listed(
    pool: &PoolObject,
    session: SessionHandle,
    server: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::optional_text(server, "server") }?;
    let session = pool.objects.sessions.find(session)?;
    let server = server.map(str::to_owned);
    Ok(later(pool, move |_| {
        async move { session.listed(server.as_deref()).await.map(|()| Value::Nothing) }
    }))
}

/// Checks the arguments of `call_tool`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn call_tool(
    pool: &PoolObject,
    session: SessionHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
) -> Result<Sends<impl FnOnce(Completion) -> Operation + use<>>> {
    // SAFETY: as the function's own.
    let (tool, arguments, settings) = unsafe {
        (
            raw::text(tool, "tool")?,
            raw::text(arguments_json, "arguments_json")?,
            call_options(options)?,
        )
    };
    let session = pool.objects.sessions.find(session)?;
    let tool = tool.to_owned();
    let arguments = arguments.to_owned();
    Ok(Sends(move |completion: Completion| {
        let options = settings.options(&completion);
        let done = |outcome: Result<CallResult>| {
            completion.finish(outcome.map(|result| Value::Text(Buf::from(result))));
        };
        let operation = session.start_call_tool(&tool, &arguments, &options, done);
        // SAFETY: the host's function that passed the options has not returned yet.
        unsafe { settings.tell_number(operation) }
    }))
}

/// Checks the arguments of `request`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn request(
    pool: &PoolObject,
    session: SessionHandle,
    server: Str,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
) -> Result<Sends<impl FnOnce(Completion) -> Operation + use<>>> {
    // SAFETY: as the function's own.
    let (server, method, params, settings) = unsafe {
        (
            raw::text(server, "server")?,
            raw::text(method, "method")?,
            raw::text(params_json, "params_json")?,
            call_options(options)?,
        )
    };
    let session = pool.objects.sessions.find(session)?;
    let server = server.to_owned();
    let method = method.to_owned();
    let params = params.to_owned();
    Ok(Sends(move |completion: Completion| {
        let options = settings.options(&completion);
        let done = |outcome: Result<CallResult>| {
            completion.finish(outcome.map(|result| Value::Text(Buf::from(result))));
        };
        let operation = session.start_request(&server, &method, &params, &options, done);
        // SAFETY: the host's function that passed the options has not returned yet.
        unsafe { settings.tell_number(operation) }
    }))
}
