//! Written from core/pool/src/interface/operations; do not edit.
//!
//! `UPDATE_REFERENCE=1 cargo test -p trunkline-pool --test reference` writes it anew.

use std::ffi::c_void;

use trunkline::{
    AcquireOptions, DrainOptions, GateLists, LoadOptions, Operation, Pool, ReloadOptions, Result,
    ServerSpec, Servers, SignInOptions, SourceName, StatusOptions, Switch, WorkspaceTrust,
    roots_from_json,
};

use crate::abi::buf::Buf;
use crate::delivery::completion::{Completion, later};
use crate::abi::error::ErrorObject;
use crate::ops::forms::{self, StartOuts};
use crate::abi::item::DoneFn;
use crate::delivery::handle_registry::PoolObject;
use crate::delivery::outcome::Value;
use crate::delivery::queue::QueueObject;
use crate::abi::raw;
use crate::abi::types::{DestroyFn, LeaseHandle, OpHandle, Status, Str, TRUNKLINE_EVERY_ENTRY};

/// A lease on a server by its configuration, for a session by its id. It opens the session if need
/// be, puts the server into the session's own source, and waits until it is connected. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `config_json`: as JSON, what the settings of one server have (`{"command": ...}`). `session_id`:
/// its id. `options_json`: an object with any of `timeout_ms`, `origin` and `log_level`, as
/// `docs/reference/options.md` has them; empty for all defaults. `out`: the lease;
/// `trunkline_lease_release` gives it up.
///
/// Errors: those of `trunkline_session_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_acquire(
    pool: *mut PoolObject,
    server: Str,
    config_json: Str,
    session_id: Str,
    options_json: Str,
    out: *mut LeaseHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_lease(pool, out, err, |pool| acquire(pool, server, config_json, session_id, options_json))
    }
}

/// `trunkline_pool_acquire` whose end `done` is called with.
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
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| acquire(pool, server, config_json, session_id, options_json))
    }
}

/// `trunkline_pool_acquire` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_acquire_enqueue(
    pool: *mut PoolObject,
    server: Str,
    config_json: Str,
    session_id: Str,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| acquire(pool, server, config_json, session_id, options_json))
    }
}

/// Replaces the connections of a server's entries, or of one of them, and waits for the new ones.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `entry_index`: of the one entry; `TRUNKLINE_EVERY_ENTRY` for all of the server's. `out`: a
/// report with `{entry_index, restarted, duration_ms | reason}` for each entry; the reason is
/// `in_flight`, `disabled`, `auth_required`, `not_admitted`, `budget_would_exceed`, `superseded`
/// (the server is configured otherwise now, or no more), `failed` or `closing`. Free it with
/// `trunkline_buf_free`.
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
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| restart(pool, server, entry_index))
    }
}

/// `trunkline_pool_restart` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_restart_start(
    pool: *mut PoolObject,
    server: Str,
    entry_index: u32,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| restart(pool, server, entry_index))
    }
}

/// `trunkline_pool_restart` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_restart_enqueue(
    pool: *mut PoolObject,
    server: Str,
    entry_index: u32,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| restart(pool, server, entry_index))
    }
}

/// Accepts the definition of a tool that is kept back. From then on it is listed and can be called
/// in every session, and, of a server that needed approval, in later processes. Accepting again
/// does nothing. Blocks: `WRONG_THREAD` inside a callback.
///
/// `tool`: the server's own name. `digest`: `difference.to` of the `tool_quarantined` event, or of
/// the status, so that what is accepted is what was shown.
///
/// Errors: `STALE_APPROVAL` when the tool has changed again since, `TOOL_NOT_FOUND` when the server
/// lists no tool of that name now, `LIMIT`, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
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
    unsafe {
        forms::wait_for_end(pool, err, |pool| accept_tool(pool, server, tool, digest))
    }
}

/// `trunkline_pool_accept_tool` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_accept_tool_start(
    pool: *mut PoolObject,
    server: Str,
    tool: Str,
    digest: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| accept_tool(pool, server, tool, digest))
    }
}

/// `trunkline_pool_accept_tool` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_accept_tool_enqueue(
    pool: *mut PoolObject,
    server: Str,
    tool: Str,
    digest: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| accept_tool(pool, server, tool, digest))
    }
}

/// Replaces the folders that servers are told of, and waits until they are looked at. Servers that
/// can be told are told so, and the lists of every connection are asked for again, in the
/// background. Folders that are equal to those before do nothing. Changes are made in the order of
/// the calls. A file system that does not answer delays this change and later ones, and nothing
/// else. A cancellation takes no begun change back. Blocks: `WRONG_THREAD` inside a callback.
///
/// `roots_json`: as JSON, absolute, or relative to the workspace, as the option `roots` of the
/// pool.
///
/// Errors: `INVALID_ARGUMENT` (with `detail.path`, `roots[0]`) for one that is not a folder, with
/// nothing changed, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_roots(
    pool: *mut PoolObject,
    roots_json: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_end(pool, err, |pool| set_roots(pool, roots_json))
    }
}

/// `trunkline_pool_set_roots` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_roots_start(
    pool: *mut PoolObject,
    roots_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| set_roots(pool, roots_json))
    }
}

/// `trunkline_pool_set_roots` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_roots_enqueue(
    pool: *mut PoolObject,
    roots_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| set_roots(pool, roots_json))
    }
}

/// Replaces the lists of servers that may run, within the pool's option `launch_allowed`. A server
/// that is no longer admitted ends at once. A server that is admitted again starts in the sessions
/// that want it. A lease on a server that was kept out stays closed. Equal lists do nothing.
/// Returns at once.
///
/// `gates_json`: as JSON, any of `allowed`, `excluded` and `pending`, lists of patterns of names
/// (`*` any characters, `?` one). What is absent is not kept: without `allowed` all may run, and an
/// empty list is none. `out`: the report `{v, servers: {name: {admitted, reason?}}}` of the servers
/// about which it changed. Free it with `trunkline_buf_free`.
///
/// Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_gates(
    pool: *mut PoolObject,
    gates_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let gates = raw::text(gates_json, "gates_json")?;
            let gates = GateLists::from_json(gates)?;
            Ok(Buf::from(pool.core.set_gates(gates)?.to_string()))
        })
    }
}

/// Says why the pool has a server, or a tool by its exposed name, or has not.
/// `trunkline_session_explain` says what a session hides or switches off. Returns at once.
///
/// `out`: `{v, name, kind, server?, available, reason?, message, from?, remedy?}` with the kind
/// `server` or `tool`, and in `from` the `source`, `file`, `line` and `list` that decide. Free it
/// with `trunkline_buf_free`.
///
/// Errors: `INVALID_ARGUMENT`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_explain(
    pool: *mut PoolObject,
    name: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let name = raw::text(name, "name")?;
            Ok(Buf::from(pool.core.explain(name)?.to_string()))
        })
    }
}

/// The whole pool: servers, entries, processes. It always works, and never shows a secret. With
/// `processes` it looks at more than the pool's own state.
///
/// `options_json`: an object with any of `processes`, as `docs/reference/options.md` has it; empty
/// for all defaults. `out`: the status. Free it with `trunkline_buf_free`.
///
/// Errors: `FORKED`, `INVALID_ARGUMENT`, `UNKNOWN_OPTION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_status_with(
    pool: *mut PoolObject,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let options = StatusOptions::from_json(raw::text(options_json, "options_json")?)?;
            Ok(Buf::from(pool.core.status_with(&options).to_string()))
        })
    }
}

/// Gives the counts of the status in the text format of Prometheus (0.0.4), for the host to serve.
/// Its labels are names of servers, methods of the protocol and codes of errors: nothing that a
/// model or a server writes.
///
/// `options_json`: an object with any of `processes`, as `docs/reference/options.md` has it; empty
/// for all defaults. `out`: the text. Free it with `trunkline_buf_free`.
///
/// Errors: `FORKED`, `INVALID_ARGUMENT`, `UNKNOWN_OPTION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_metrics(
    pool: *mut PoolObject,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let options = StatusOptions::from_json(raw::text(options_json, "options_json")?)?;
            Ok(Buf::from(pool.core.metrics(&options)?))
        })
    }
}

/// Ends every connection, one-way: later acquires, reconciles and restarts are refused as
/// `closing`. With `force`, calls under way are interrupted at once; otherwise they may finish
/// until the time is over. A cancellation ends the wait alone: the drain goes on. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `options_json`: an object with any of `force` and `timeout_ms`, as `docs/reference/options.md`
/// has them; empty for all defaults. `out`: the report, `{v, drained, forced, errors: [{server,
/// entry_index, error}]}`. Free it with `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `UNKNOWN_OPTION`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_drain_all(
    pool: *mut PoolObject,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| drain_all(pool, options_json))
    }
}

/// `trunkline_pool_drain_all` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_drain_all_start(
    pool: *mut PoolObject,
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
        forms::start(pool, callback, outs, |pool| drain_all(pool, options_json))
    }
}

/// `trunkline_pool_drain_all` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_drain_all_enqueue(
    pool: *mut PoolObject,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| drain_all(pool, options_json))
    }
}

/// Makes these servers the pool's run-time source, and waits until that is done. New servers start
/// in the sessions that want them; removed ones are released; equal ones stay untouched. A
/// cancellation takes no begun change back. Blocks: `WRONG_THREAD` inside a callback.
///
/// `servers_json`: as JSON, with or without a `mcpServers` around them. `out`: the report, `{v,
/// servers: {name: {action, error?}}, findings?}`, with the members that no rule knows as `[{kind,
/// server, path, nearest?}]`. Free it with `trunkline_buf_free`.
///
/// Errors: `INVALID_CONFIG` when it is not an object of servers (a server that is wrong spoils
/// itself alone, in the report), `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reconcile(
    pool: *mut PoolObject,
    servers_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| reconcile(pool, servers_json))
    }
}

/// `trunkline_pool_reconcile` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reconcile_start(
    pool: *mut PoolObject,
    servers_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| reconcile(pool, servers_json))
    }
}

/// `trunkline_pool_reconcile` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reconcile_enqueue(
    pool: *mut PoolObject,
    servers_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| reconcile(pool, servers_json))
    }
}

/// Reads a settings file into the source that its place implies, and waits until that is done.
/// Inside of the workspace that is `workspace`, or `project` for its `.mcp.json`; outside, what the
/// file is known as (`trunkline_detect`), else `user`. Servers of the project and the workspace
/// wait for approval (`trunkline_pool_approve`). A cancellation takes no begun work back. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `path`: absolute, or relative to the process's folder. `options_json`: an object with any of
/// `watch`, `source` and `format`, as `docs/reference/options.md` has them; empty for all defaults.
/// `out`: the report, `{v, source, servers: {name: {action, source?, reason?, error?}}, findings}`.
/// `findings` says what of the text is without effect: `[{kind, path, line, column, server?,
/// what?}]`. Free it with `trunkline_buf_free`.
///
/// Errors: `INVALID_CONFIG` (with `detail.source`, and `detail.line` where the text does not parse)
/// when the file cannot be read, with nothing changed, `UNKNOWN_OPTION`, `INVALID_ARGUMENT`,
/// `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_load(
    pool: *mut PoolObject,
    path: Str,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| load(pool, path, options_json))
    }
}

/// `trunkline_pool_load` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_load_start(
    pool: *mut PoolObject,
    path: Str,
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
        forms::start(pool, callback, outs, |pool| load(pool, path, options_json))
    }
}

/// `trunkline_pool_load` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_load_enqueue(
    pool: *mut PoolObject,
    path: Str,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| load(pool, path, options_json))
    }
}

/// Replaces a source whole by settings, in any form that settings files have, or removes it. New
/// servers start in the sessions that want them; removed ones are released; equal ones stay
/// untouched. Variables are expanded, and servers of `project` and `workspace` wait for approval.
/// It asks nobody and returns once that is under way. The calling thread looks up programs and
/// files of variables of new servers, and the first time the file of approvals. So it waits for the
/// file system.
///
/// `source`: a scope (`user`, `project`, `workspace`, `managed`, `session`, `launch` or
/// `extension`), or one with a name after a colon, such as `extension:git`. `settings`: as a
/// settings file; empty removes the source. `out`: the report of `trunkline_pool_load`. Free it
/// with `trunkline_buf_free`.
///
/// Errors: `INVALID_CONFIG` for settings that cannot be read, with `detail.line`,
/// `INVALID_ARGUMENT` (`runtime` has functions of its own), `CLOSING`, `CLOSED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_source(
    pool: *mut PoolObject,
    source: Str,
    settings: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let source = raw::text(source, "source")?;
            let settings = raw::optional_text(settings, "settings")?;
            let source = source.parse::<SourceName>()?;
            Ok(Buf::from(pool.core.set_source(&source, settings)?.to_string()))
        })
    }
}

/// Switches a source off, so that it is as if it were empty, or on again. Returns at once, as
/// `trunkline_pool_set_source`.
///
/// `source`: as of `trunkline_pool_set_source`; a scope alone stands for all of its sources, those
/// that come later included. `on`: 0 or 1. `out`: the report of `trunkline_pool_load` without
/// `findings`. Free it with `trunkline_buf_free`.
///
/// Errors: `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_switch_source(
    pool: *mut PoolObject,
    source: Str,
    on: u32,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let source = raw::text(source, "source")?;
            let source = source.parse::<SourceName>()?;
            let to = if raw::switch(on, "on")? { Switch::On } else { Switch::Off };
            Ok(Buf::from(pool.core.switch_source(&source, to)?.to_string()))
        })
    }
}

/// Adds a server to the run-time source, which beats every other, or replaces it there. Its values
/// are taken as they are. Returns at once, as `trunkline_pool_set_source`.
///
/// `config_json`: as JSON, what the settings of one server have (`{"command": ...}`). `out`: `{v,
/// server, result, reason?, findings?}` with the result `added`, `replaced`, `unchanged` or
/// `refused`, which starts when what refuses it is gone, and with the members that no rule knows,
/// as `[{kind, server, path, nearest?}]`. Free it with `trunkline_buf_free`.
///
/// Errors: `INVALID_CONFIG`, `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_add_server(
    pool: *mut PoolObject,
    server: Str,
    config_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let server = raw::text(server, "server")?;
            let config = raw::text(config_json, "config_json")?;
            let config = ServerSpec::from_json(server, config)?;
            Ok(Buf::from(pool.core.add_server(server, &config)?.to_string()))
        })
    }
}

/// Takes a server out of the run-time source; what another source says of that name counts again.
/// Returns at once.
///
/// `out`: `{v, server, result}` with the result `removed` or `not_present`. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_remove_server(
    pool: *mut PoolObject,
    server: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let server = raw::text(server, "server")?;
            Ok(Buf::from(pool.core.remove_server(server)?.to_string()))
        })
    }
}

/// Sets whether the workspace is trusted. A server that loses its trust ends at once; one that has
/// it again starts or waits for approval. Files that were not read without trust are read first. Of
/// several calls the last one made holds, no matter how long their files take. A cancellation takes
/// no begun work back. Blocks: `WRONG_THREAD` inside a callback.
///
/// `trusted`: 0 or 1. `out`: the report of `trunkline_pool_approve`. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_trusted(
    pool: *mut PoolObject,
    trusted: u32,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| set_trusted(pool, trusted))
    }
}

/// `trunkline_pool_set_trusted` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_trusted_start(
    pool: *mut PoolObject,
    trusted: u32,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| set_trusted(pool, trusted))
    }
}

/// `trunkline_pool_set_trusted` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_trusted_enqueue(
    pool: *mut PoolObject,
    trusted: u32,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| set_trusted(pool, trusted))
    }
}

/// Reads every loaded file again, and waits until that is done. It looks up anew variables,
/// programs, decisions about servers, and questions without an answer. A file that cannot be read
/// keeps what it had. Files of sources that need trust are not read in a workspace that is not
/// trusted. The event `reconciled` that follows says what became of a `waiting` server. A
/// cancellation takes no begun work back. Blocks: `WRONG_THREAD` inside a callback.
///
/// `options_json`: an object with any of `reconnect`, as `docs/reference/options.md` has it; empty
/// for all defaults. `out`: `{v, servers, errors: [{source, error}], findings, reconnected?}`.
/// `findings` are those of every file that was read, as of `trunkline_pool_load`, each with its
/// `source`. `reconnected` is there when that was asked for: by server the rows of
/// `trunkline_pool_restart`, or one with an `error` where it could not be begun. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reload(
    pool: *mut PoolObject,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| reload(pool, options_json))
    }
}

/// `trunkline_pool_reload` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reload_start(
    pool: *mut PoolObject,
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
        forms::start(pool, callback, outs, |pool| reload(pool, options_json))
    }
}

/// `trunkline_pool_reload` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reload_enqueue(
    pool: *mut PoolObject,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| reload(pool, options_json))
    }
}

/// Lists what waits for approval and what was decided for this workspace. It reads and follows
/// decisions that another process took meanwhile. Blocks: `WRONG_THREAD` inside a callback.
///
/// `out`: `{v, root, requests, decisions: [{server, hash, decision, at_ms}]}`. A request says what
/// would run, with `server` and `hash`. Show `escaped` to decision makers, as it is; `exact` and
/// the file of `origin` hold what the settings hold, control characters and all, and are not for a
/// terminal. Free it with `trunkline_buf_free`.
///
/// Errors: `STORE` when the decisions cannot be read, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
/// `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approvals(
    pool: *mut PoolObject,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| approvals(pool))
    }
}

/// `trunkline_pool_approvals` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approvals_start(
    pool: *mut PoolObject,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| approvals(pool))
    }
}

/// `trunkline_pool_approvals` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approvals_enqueue(
    pool: *mut PoolObject,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| approvals(pool))
    }
}

/// Approves the configuration whose request with that hash was shown. Once the decision is kept,
/// the server starts in the sessions that want it. A rejection by another host that this one did
/// not see stays in force, and the report says so. A cancellation takes no begun work back. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `hash`: of the request, so that what is decided is what was shown. `out`: the report, `{v,
/// servers: {name: {action, source?, reason?, error?}}}`. Free it with `trunkline_buf_free`.
///
/// Errors: `STALE_APPROVAL` when the configuration is another by now, `STORE` when it cannot be
/// kept, and is not in force then, `INVALID_ARGUMENT` (also for a server that needs no approval, or
/// a text that is no hash), `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approve(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| approve(pool, server, hash))
    }
}

/// `trunkline_pool_approve` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approve_start(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| approve(pool, server, hash))
    }
}

/// `trunkline_pool_approve` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approve_enqueue(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| approve(pool, server, hash))
    }
}

/// Rejects the configuration with that hash: a running server ends, and nobody is asked about it
/// again. A cancellation takes no begun work back. Blocks: `WRONG_THREAD` inside a callback.
///
/// `hash`: of the request, so that what is decided is what was shown. `out`: the report of
/// `trunkline_pool_approve`. Free it with `trunkline_buf_free`.
///
/// Errors: those of `trunkline_pool_approve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reject(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| reject(pool, server, hash))
    }
}

/// `trunkline_pool_reject` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reject_start(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| reject(pool, server, hash))
    }
}

/// `trunkline_pool_reject` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reject_enqueue(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| reject(pool, server, hash))
    }
}

/// Forgets every decision about a server of this workspace, so that it waits for approval again. A
/// cancellation takes no begun work back. Blocks: `WRONG_THREAD` inside a callback.
///
/// `out`: `{v, forgotten, servers}`; `forgotten` counts the decisions. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `STORE` when that cannot be kept, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
/// `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_forget(
    pool: *mut PoolObject,
    server: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| forget(pool, server))
    }
}

/// `trunkline_pool_forget` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_forget_start(
    pool: *mut PoolObject,
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
        forms::start(pool, callback, outs, |pool| forget(pool, server))
    }
}

/// `trunkline_pool_forget` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_forget_enqueue(
    pool: *mut PoolObject,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| forget(pool, server))
    }
}

/// Waits until nothing that configuration caused is under way: no question to the host, no connect.
/// Says how every server stands that a source names. Blocks: `WRONG_THREAD` inside a callback.
///
/// `timeout_ms`: in milliseconds; `TRUNKLINE_DEFAULT` for as long as it takes: handlers have their
/// time, connects theirs from their turn on, and a file system that does not answer none. `out`:
/// `{v, servers: {name: {state, source, reason?, error?, file?}}}` with the state `ready`,
/// `failed`, `refused`, `waiting` or `off`. Free it with `trunkline_buf_free`.
///
/// Errors: `TIMEOUT` (with `detail.servers`), `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_settled(
    pool: *mut PoolObject,
    timeout_ms: u64,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| settled(pool, timeout_ms))
    }
}

/// `trunkline_pool_settled` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_settled_start(
    pool: *mut PoolObject,
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
        forms::start(pool, callback, outs, |pool| settled(pool, timeout_ms))
    }
}

/// `trunkline_pool_settled` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_settled_enqueue(
    pool: *mut PoolObject,
    timeout_ms: u64,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| settled(pool, timeout_ms))
    }
}

/// Begins to sign in to a remote server, and waits for the address that a person has to visit. What
/// they are redirected to goes to `trunkline_pool_finish_sign_in`. A sign-in to the same server
/// that is under way is over with it. The library opens no browser and listens on no port. What the
/// server's own `oauth` says goes before the options. Blocks: `WRONG_THREAD` inside a callback.
///
/// `options_json`: an object with any of `redirect_uri`, `client_metadata_url` and `client_name`,
/// as `docs/reference/options.md` has them; empty for all defaults. `out`: `{v, server, url,
/// expires_in_ms}`. Free it with `trunkline_buf_free`.
///
/// Errors: `PROTOCOL` when the server or an authorization server breaks a rule (`detail.refused`),
/// `AUTH_REQUIRED` when there is nothing to sign in to, `CONNECT_FAILED`, `TIMEOUT`, `LIMIT`,
/// `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`, `UNKNOWN_OPTION`, `INVALID_ARGUMENT` (also for a
/// server that the pool does not know, or without a redirect).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_in(
    pool: *mut PoolObject,
    server: Str,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| sign_in(pool, server, options_json))
    }
}

/// `trunkline_pool_sign_in` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_in_start(
    pool: *mut PoolObject,
    server: Str,
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
        forms::start(pool, callback, outs, |pool| sign_in(pool, server, options_json))
    }
}

/// `trunkline_pool_sign_in` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_in_enqueue(
    pool: *mut PoolObject,
    server: Str,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| sign_in(pool, server, options_json))
    }
}

/// Ends a sign-in with the whole address that the person was redirected to, and waits for the
/// token. The server is then connected to for those who hold or want it. Blocks: `WRONG_THREAD`
/// inside a callback.
///
/// `out`: `{v, server}`, and with a file of `tokens` `stored` and, where that is false, `error`.
/// Free it with `trunkline_buf_free`.
///
/// Errors: `PROTOCOL` (`detail.refused`), `AUTH_REQUIRED` when the person or the authorization
/// server refused, `CONNECT_FAILED`, `TIMEOUT`, `LIMIT`, `CLOSING`, `CLOSED`, `CANCELLED`,
/// `FORKED`, `INVALID_ARGUMENT` (also when it belongs to no sign-in that is under way).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_finish_sign_in(
    pool: *mut PoolObject,
    redirect_url: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| finish_sign_in(pool, redirect_url))
    }
}

/// `trunkline_pool_finish_sign_in` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_finish_sign_in_start(
    pool: *mut PoolObject,
    redirect_url: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| finish_sign_in(pool, redirect_url))
    }
}

/// `trunkline_pool_finish_sign_in` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_finish_sign_in_enqueue(
    pool: *mut PoolObject,
    redirect_url: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| finish_sign_in(pool, redirect_url))
    }
}

/// Forgets what was signed in for a server, and a sign-in that is under way. Blocks: `WRONG_THREAD`
/// inside a callback.
///
/// `out`: `{v, server, signed_out}`. Free it with `trunkline_buf_free`.
///
/// Errors: `STORE` when it is forgotten here and still in the file of `tokens`, `CLOSING`,
/// `CLOSED`, `CANCELLED`, `FORKED`, `INVALID_ARGUMENT` (also for a server that the pool does not
/// know).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_out(
    pool: *mut PoolObject,
    server: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| sign_out(pool, server))
    }
}

/// `trunkline_pool_sign_out` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_out_start(
    pool: *mut PoolObject,
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
        forms::start(pool, callback, outs, |pool| sign_out(pool, server))
    }
}

/// `trunkline_pool_sign_out` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_out_enqueue(
    pool: *mut PoolObject,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| sign_out(pool, server))
    }
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
    let (server, config, session, options) = unsafe {
        (
            raw::text(server, "server")?,
            raw::text(config_json, "config_json")?,
            raw::text(session_id, "session_id")?,
            raw::text(options_json, "options_json")?,
        )
    };
    let config = ServerSpec::from_json(server, config)?;
    let options = AcquireOptions::from_json(options)?;
    let server = server.to_owned();
    let session = session.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.acquire(&server, &config, &session, &options).await.map(Value::Lease) }
    }))
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
    let server = unsafe { raw::text(server, "server") }?;
    let index = (entry_index != TRUNKLINE_EVERY_ENTRY).then_some(entry_index);
    let server = server.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.restart(&server, index).await.map(Value::report) }
    }))
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
    let (server, tool, digest) = unsafe {
        (
            raw::text(server, "server")?,
            raw::text(tool, "tool")?,
            raw::text(digest, "digest")?,
        )
    };
    let server = server.to_owned();
    let tool = tool.to_owned();
    let digest = digest.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.accept_tool(&server, &tool, &digest).await.map(|()| Value::Nothing) }
    }))
}

/// Checks the arguments of `set_roots`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn set_roots(
    pool: &PoolObject,
    roots_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let roots = unsafe { raw::text(roots_json, "roots_json") }?;
    let roots = roots_from_json(roots)?;
    Ok(later(pool, move |pool: Pool| {
        async move { pool.set_roots(&roots).await.map(|()| Value::Nothing) }
    }))
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
    let options = unsafe { raw::text(options_json, "options_json") }?;
    let options = DrainOptions::from_json(options)?;
    Ok(later(pool, move |pool: Pool| {
        async move { pool.drain_all(&options).await.map(Value::report) }
    }))
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
    let servers = unsafe { raw::text(servers_json, "servers_json") }?;
    let servers = Servers::from_json(servers)?;
    Ok(later(pool, move |pool: Pool| {
        async move { pool.reconcile(servers).await.map(Value::report) }
    }))
}

/// Checks the arguments of `load`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn load(
    pool: &PoolObject,
    path: Str,
    options_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let (path, options) = unsafe {
        (
            raw::text(path, "path")?,
            raw::text(options_json, "options_json")?,
        )
    };
    let options = LoadOptions::from_json(options)?;
    let path = path.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.load(path, &options).await.map(Value::report) }
    }))
}

/// Checks the arguments of `set_trusted`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn set_trusted(
    pool: &PoolObject,
    trusted: u32,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    let trusted = match raw::switch(trusted, "trusted")? {
        true => WorkspaceTrust::Trusted,
        false => WorkspaceTrust::Untrusted,
    };
    Ok(later(pool, move |pool: Pool| {
        let ends = pool.set_trusted(trusted);
        async move { ends.await.map(Value::report) }
    }))
}

/// Checks the arguments of `reload`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn reload(
    pool: &PoolObject,
    options_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let options = unsafe { raw::text(options_json, "options_json") }?;
    let options = ReloadOptions::from_json(options)?;
    Ok(later(pool, move |pool: Pool| {
        async move { pool.reload(&options).await.map(Value::report) }
    }))
}

/// Checks the arguments of `approvals`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn approvals(
    pool: &PoolObject,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    Ok(later(pool, move |pool: Pool| {
        async move { pool.approvals().await.map(Value::report) }
    }))
}

/// Checks the arguments of `approve`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn approve(
    pool: &PoolObject,
    server: Str,
    hash: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let (server, hash) = unsafe {
        (
            raw::text(server, "server")?,
            raw::text(hash, "hash")?,
        )
    };
    let server = server.to_owned();
    let hash = hash.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.approve(&server, &hash).await.map(Value::report) }
    }))
}

/// Checks the arguments of `reject`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn reject(
    pool: &PoolObject,
    server: Str,
    hash: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let (server, hash) = unsafe {
        (
            raw::text(server, "server")?,
            raw::text(hash, "hash")?,
        )
    };
    let server = server.to_owned();
    let hash = hash.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.reject(&server, &hash).await.map(Value::report) }
    }))
}

/// Checks the arguments of `forget`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn forget(
    pool: &PoolObject,
    server: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::text(server, "server") }?;
    let server = server.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.forget(&server).await.map(Value::report) }
    }))
}

/// Checks the arguments of `settled`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn settled(
    pool: &PoolObject,
    timeout_ms: u64,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    let timeout = raw::optional_time(timeout_ms);
    Ok(later(pool, move |pool: Pool| {
        async move { pool.settled(timeout).await.map(Value::report) }
    }))
}

/// Checks the arguments of `sign_in`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn sign_in(
    pool: &PoolObject,
    server: Str,
    options_json: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let (server, options) = unsafe {
        (
            raw::text(server, "server")?,
            raw::text(options_json, "options_json")?,
        )
    };
    let options = SignInOptions::from_json(options)?;
    let server = server.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.sign_in(&server, &options).await.map(Value::report) }
    }))
}

/// Checks the arguments of `finish_sign_in`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn finish_sign_in(
    pool: &PoolObject,
    redirect_url: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let redirect_url = unsafe { raw::text(redirect_url, "redirect_url") }?;
    let redirect_url = redirect_url.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.finish_sign_in(&redirect_url).await.map(Value::report) }
    }))
}

/// Checks the arguments of `sign_out`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn sign_out(
    pool: &PoolObject,
    server: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::text(server, "server") }?;
    let server = server.to_owned();
    Ok(later(pool, move |pool: Pool| {
        async move { pool.sign_out(&server).await.map(Value::report) }
    }))
}
