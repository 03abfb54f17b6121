//! Changes of a live session, of the folders that servers are told of, and of the gates.

use std::ffi::c_void;

use trunkline::{ConfigureOptions, GateLists, Operation, Result, Session, roots_from_json};

use crate::buf::Buf;
use crate::completion::{Completion, Value};
use crate::error::ErrorObject;
use crate::forms::{self, StartOuts};
use crate::guard::guard;
use crate::pool::PoolObject;
use crate::queue::QueueObject;
use crate::raw;
use crate::types::{DestroyFn, DoneFn, Status, Str};

/// Changes what a session sees and wants, at once and without touching a connection. Events tell
/// what is different; equal options change nothing.
///
/// `options_json`: an object with any of `servers`, `include`, `exclude`, `trust`, `always_load` and
/// `roots`, as when it was opened. Each replaces what was; what is absent stays. Other `roots` are
/// told to the servers of its own connections, whose lists are then asked for again; they are looked at
/// on this thread, which a file system may keep waiting.
///
/// Errors: `UNKNOWN_OPTION`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_configure(
    pool: *mut PoolObject,
    session: u64,
    options_json: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        change(pool, session, (options_json, "options_json"), err, |session, options| {
            session.configure(ConfigureOptions::from_json(options)?)
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
    session: u64,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { change(pool, session, (server, "server"), err, |session, name| session.disable(name)) }
}

/// Undoes `trunkline_session_disable`: the server is acquired again for whatever held it, in the
/// background, and `tools_changed` tells when it is back. Repeating it does nothing.
///
/// Errors: `NOT_ADMITTED`, `INVALID_CONFIG`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_enable(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { change(pool, session, (server, "server"), err, |session, name| session.enable(name)) }
}

/// Replaces the folders that servers are told of, and waits until they are looked at. Servers that can
/// be told are told so, and the lists of every connection are asked for again, in the background.
/// Folders that are equal to those before do nothing. Changes are made in the order of the calls; a
/// file system that does not answer keeps this one waiting and those after it, and nothing else.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `roots_json`: a JSON array of folders, absolute or relative to the workspace, as the option
/// `roots` of the pool.
///
/// Errors: `INVALID_ARGUMENT` (with `detail.path`, `roots[0]`) for one that is no folder, with
/// nothing changed; `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_roots(
    pool: *mut PoolObject,
    roots_json: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_end(pool, err, |pool| set_roots(pool, roots_json)) }
}

/// `trunkline_pool_set_roots` without waiting: `done` is called once it ended, on a thread of the
/// library. Cancelling does not take back a change that was begun.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_roots_start(
    pool: *mut PoolObject,
    roots_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| set_roots(pool, roots_json)) }
}

/// `trunkline_pool_set_roots` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_roots_enqueue(
    pool: *mut PoolObject,
    roots_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| set_roots(pool, roots_json)) }
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
    let roots = roots_from_json(unsafe { raw::text(roots_json, "roots_json") }?)?;
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future = async move { pool.set_roots(&roots).await.map(|()| Value::Nothing) };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// Replaces the lists of servers that may run, within the pool's option `launch_allowed`. What is
/// no longer admitted ends at once; what is admitted again starts in the sessions that want it. A
/// lease on what was kept out stays closed. Equal lists do nothing. Returns at once.
///
/// `gates_json`: an object with any of `allowed`, `excluded` and `pending`, arrays of patterns of
/// names (`*` any characters, `?` one). What is absent is not kept: without `allowed` all may run,
/// and `"allowed": []` is none.
///
/// `out`: the report `{v, servers: {name: {admitted, reason?}}}` of the servers about which it
/// changed; free it with `trunkline_buf_free`.
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
        forms::report(pool, out, err, |pool| {
            pool.set_gates(GateLists::from_json(raw::text(gates_json, "gates_json")?)?)
        })
    }
}

/// Reads one text, and does something with a session and it.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn change(
    pool: *mut PoolObject,
    session: u64,
    (text, parameter): (Str, &'static str),
    err: *mut *mut ErrorObject,
    act: impl FnOnce(&Session, &str) -> Result<()>,
) -> Status {
    // SAFETY: as the function's own.
    unsafe {
        guard(err, || {
            let pool = raw::pool(pool)?;
            let session = pool.objects.sessions.find(session)?;
            act(&session, raw::text(text, parameter)?)
        })
    }
}
