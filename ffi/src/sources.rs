//! The sources of a pool: the servers that settings, extensions and the host name.

use std::ffi::c_void;

use trunkline::{
    LoadOptions, Operation, Pool, ReloadOptions, Result, ServerSpec, SourceName, Switch,
};

use crate::buf::Buf;
use crate::completion::{Completion, reported};
use crate::error::ErrorObject;
use crate::forms::{self, StartOuts};
use crate::pool::PoolObject;
use crate::queue::QueueObject;
use crate::raw;
use crate::types::{DestroyFn, DoneFn, Status, Str};

/// Reads a settings file into the source that its place implies, and waits until that is done.
/// Inside of the workspace that is `workspace`, or `project` for its `.mcp.json`; outside, what the
/// file is known as (`trunkline_detect`), else `user`. Servers of the project and the workspace wait
/// for approval (`trunkline_pool_approve`). Blocks: `WRONG_THREAD` inside a callback.
///
/// `path`: absolute, or relative to the process's folder. `options_json`: an object with any of
/// `watch` (true: the file is read again whenever it changes, comes or goes, and may be missing now),
/// `source` (another scope; of a file inside of the workspace `project`, `workspace` or `launch`) and
/// `format` (by whose rules it is read); empty for all defaults. `out`: the report,
/// `{v, source, servers: {name: {action, source?, reason?, error?}}, findings}`; free it with
/// `trunkline_buf_free`. `findings` says what of the text is without effect:
/// `[{kind, path, line, column, server?, what?}]`.
///
/// Errors: `INVALID_CONFIG` (with `detail.source`, and `detail.line` where the text does not parse)
/// when the file cannot be read, `UNKNOWN_OPTION`, `INVALID_ARGUMENT`, with nothing changed;
/// `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`. A server that is wrong spoils itself alone, in the
/// report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_load(
    pool: *mut PoolObject,
    path: Str,
    options_json: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| load(pool, path, options_json)) }
}

/// `trunkline_pool_load` without waiting: `done` is called once it ended, on a thread of the library.
/// Cancelling it takes nothing back that was begun.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_load_start(
    pool: *mut PoolObject,
    path: Str,
    options_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| load(pool, path, options_json)) }
}

/// `trunkline_pool_load` without waiting: its end comes out of `queue`, with `tag`. `out_op`: what
/// `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_load_enqueue(
    pool: *mut PoolObject,
    path: Str,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| load(pool, path, options_json)) }
}

/// Replaces a source whole by the text of settings, or removes it. What is new starts in the sessions
/// that want it, what is gone is released, what is equal is not touched. Variables in the text are
/// expanded. Asks nobody and returns as soon as that is under way. What is new is looked up in the
/// calling thread, which so waits for the file system: its programs, its files of variables and, the
/// first time, the file of approvals.
///
/// `source`: a scope (`user`, `project`, `workspace`, `managed`, `session`, `launch` or `extension`),
/// or one with a name after a colon, such as `extension:git`. Servers of `project` and `workspace`
/// wait for approval. `settings`: as a settings file; empty removes the source. `out`: the report of
/// `trunkline_pool_load`; free it with `trunkline_buf_free`.
///
/// Errors: `INVALID_CONFIG` for a text that cannot be read, with `detail.line`; `INVALID_ARGUMENT`
/// (`runtime` has functions of its own); `CLOSING`, `CLOSED`, `FORKED`.
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
        forms::report(pool, out, err, |pool| {
            let source: SourceName = raw::text(source, "source")?.parse()?;
            let settings = raw::optional_text(settings, "settings")?;
            pool.set_source(&source, settings)
        })
    }
}

/// Switches a source off, so that it is as if it were empty, or on again. Returns at once, as
/// `trunkline_pool_set_source`.
///
/// `source`: as of that function; a scope alone stands for all of its sources, those that come later
/// included. `on`: 0 or 1. `out`: the report of `trunkline_pool_load` without `findings`; free it
/// with `trunkline_buf_free`.
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
        forms::report(pool, out, err, |pool| {
            let source: SourceName = raw::text(source, "source")?.parse()?;
            let to = if raw::switch(on, "on")? { Switch::On } else { Switch::Off };
            pool.switch_source(&source, to)
        })
    }
}

/// Adds a server to the run-time source, which beats every other, or replaces it there. Its values
/// are taken as they are. Returns at once, as `trunkline_pool_set_source`.
///
/// `config_json`: the JSON object of one server (`{"command": ...}`). `out`:
/// `{v, server, result, reason?, findings?}` with the result `added`, `replaced`, `unchanged` or
/// `refused`, which starts when what refuses it is gone, and with the members that no rule knows,
/// as `[{kind, server, path, nearest?}]`; free it with `trunkline_buf_free`.
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
        forms::report(pool, out, err, |pool| {
            let server = raw::text(server, "server")?;
            let spec = ServerSpec::from_json(server, raw::text(config_json, "config_json")?)?;
            pool.add_server(server, &spec)
        })
    }
}

/// Takes a server out of the run-time source; what another source says of that name counts again.
/// Returns at once.
///
/// `out`: `{v, server, result}` with the result `removed` or `not_present`; free it with
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
        forms::report(pool, out, err, |pool| pool.remove_server(raw::text(server, "server")?))
    }
}

/// Reads every loaded file again, looks everything up anew (variables, programs, decisions about
/// servers, what the host gave no answer to), and waits until that is done. A file that cannot be
/// read keeps what it had. Files of sources that need trust are not read in a workspace that is not
/// trusted. Blocks: `WRONG_THREAD` inside a callback.
///
/// `options_json`: `{"reconnect": "all"}`, or an array of names of servers whose connections are made
/// anew; empty for none. `out`: `{v, servers, errors: [{source, error}], findings, reconnected?}`;
/// free it with `trunkline_buf_free`. `findings` are those of every file that was read, as of
/// `trunkline_pool_load`, each with its `source`. `reconnected` is there when that was asked for: by
/// server the rows of `trunkline_pool_restart`, or one with an `error` where it could not be begun.
/// What becomes of a server that is `waiting` is told by the event `reconciled` that follows.
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
    unsafe { forms::wait_for_text(pool, out, err, |pool| reload(pool, options_json)) }
}

/// `trunkline_pool_reload` without waiting: `done` is called once it ended, on a thread of the
/// library. Cancelling it takes nothing back that was begun.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reload_start(
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
    unsafe { forms::start(pool, callback, outs, |pool| reload(pool, options_json)) }
}

/// `trunkline_pool_reload` without waiting: its end comes out of `queue`, with `tag`. `out_op`: what
/// `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reload_enqueue(
    pool: *mut PoolObject,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| reload(pool, options_json)) }
}

/// Waits until nothing that configuration caused is under way, neither a question to the host nor a
/// connect, and tells how every server that a source names stands. Blocks: `WRONG_THREAD` inside a
/// callback.
///
/// `timeout_ms`: in milliseconds; `TRUNKLINE_DEFAULT` for as long as it takes: handlers have their
/// time, connects theirs from their turn on, and a file system that does not answer none. `out`: `{v, servers: {name: {state, source, reason?, error?, file?}}}` with the state
/// `ready`, `failed`, `refused`, `waiting` or `off`; free it with `trunkline_buf_free`.
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
    unsafe { forms::wait_for_text(pool, out, err, |pool| settled(pool, timeout_ms)) }
}

/// `trunkline_pool_settled` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_settled_start(
    pool: *mut PoolObject,
    timeout_ms: u64,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| settled(pool, timeout_ms)) }
}

/// `trunkline_pool_settled` without waiting: its end comes out of `queue`, with `tag`. `out_op`: what
/// `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_settled_enqueue(
    pool: *mut PoolObject,
    timeout_ms: u64,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| settled(pool, timeout_ms)) }
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
    let [path, options] =
        unsafe { [raw::text(path, "path")?, raw::text(options_json, "options_json")?] };
    let (path, options) = (path.to_owned(), LoadOptions::from_json(options)?);
    Ok(reported(pool, move |pool: Pool| async move { pool.load(path, &options).await }))
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
    let options = ReloadOptions::from_json(unsafe { raw::text(options_json, "options_json") }?)?;
    Ok(reported(pool, move |pool: Pool| async move { pool.reload(&options).await }))
}

/// What `settled` starts.
fn settled(
    pool: &PoolObject,
    timeout_ms: u64,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    let timeout = raw::optional_time(timeout_ms);
    Ok(reported(pool, move |pool: Pool| async move { pool.settled(timeout).await }))
}
