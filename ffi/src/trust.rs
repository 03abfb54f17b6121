//! What lets the servers of a project run: the trust in the workspace, and decisions about each.

use std::ffi::c_void;

use trunkline::{Operation, Pool, Result, WorkspaceTrust};

use crate::buf::Buf;
use crate::completion::{Completion, reported};
use crate::error::ErrorObject;
use crate::forms::{self, StartOuts};
use crate::pool::PoolObject;
use crate::queue::QueueObject;
use crate::raw;
use crate::types::{DestroyFn, DoneFn, Status, Str};

/// Says whether the workspace is trusted. What needs trust and has it no more ends at once; what has
/// it again is looked at anew, and starts or waits for approval. Files that were not read without
/// trust are read first. Of several calls the last that was made holds, whichever of their files take
/// how long. Blocks: `WRONG_THREAD` inside a callback.
///
/// `trusted`: 0 or 1. `out`: the report of `trunkline_pool_approve`; free it with
/// `trunkline_buf_free`.
///
/// Errors: `INVALID_ARGUMENT`, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_trusted(
    pool: *mut PoolObject,
    trusted: u32,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| set_trusted(pool, trusted)) }
}

/// `trunkline_pool_set_trusted` without waiting: `done` is called once it ended, on a thread of the
/// library. Cancelling it takes nothing back that was begun.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_trusted_start(
    pool: *mut PoolObject,
    trusted: u32,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| set_trusted(pool, trusted)) }
}

/// `trunkline_pool_set_trusted` without waiting: its end comes out of `queue`, with `tag`. `out_op`: what
/// `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_set_trusted_enqueue(
    pool: *mut PoolObject,
    trusted: u32,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| set_trusted(pool, trusted)) }
}

/// Tells what waits for approval and what was decided for this workspace. Decisions that another
/// process took meanwhile are read, and followed. Blocks: `WRONG_THREAD` inside a callback.
///
/// `out`: `{v, root, requests, decisions: [{server, hash, decision, at_ms}]}`; free it with
/// `trunkline_buf_free`. A request says what would run, with `server` and `hash`. Show `escaped`
/// to whoever decides, as it is; `exact` and the file of `origin` hold what the settings hold, control characters
/// and all, and are not for a terminal.
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
    unsafe { forms::wait_for_text(pool, out, err, approvals) }
}

/// `trunkline_pool_approvals` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approvals_start(
    pool: *mut PoolObject,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, approvals) }
}

/// `trunkline_pool_approvals` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approvals_enqueue(
    pool: *mut PoolObject,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, approvals) }
}

/// Lets the configuration run whose request with that hash was shown, once that is kept; it starts in
/// the sessions that want it. A rejection by another host that was not seen here stays in force,
/// which the report tells. Blocks: `WRONG_THREAD` inside a callback.
///
/// `hash`: of the request, so that what is approved is what was shown. `out`: the report,
/// `{v, servers: {name: {action, source?, reason?, error?}}}`; free it with `trunkline_buf_free`.
///
/// Errors: `STALE_APPROVAL` when the configuration is another by now; `STORE` when it cannot be kept,
/// and is not in force then; `INVALID_ARGUMENT` (also for a server that needs no approval, or a text
/// that is no hash); `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approve(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| approve(pool, server, hash)) }
}

/// `trunkline_pool_approve` without waiting: `done` is called once it ended, on a thread of the
/// library. Cancelling it takes nothing back that was begun.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approve_start(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| approve(pool, server, hash)) }
}

/// `trunkline_pool_approve` without waiting: its end comes out of `queue`, with `tag`. `out_op`: what
/// `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_approve_enqueue(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| approve(pool, server, hash)) }
}

/// Keeps the configuration with that hash from running, and ends it if it runs; nobody is asked about
/// it again. Blocks: `WRONG_THREAD` inside a callback.
///
/// `hash`, `out` and the errors: as of `trunkline_pool_approve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reject(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| reject(pool, server, hash)) }
}

/// `trunkline_pool_reject` without waiting: `done` is called once it ended, on a thread of the
/// library. Cancelling it takes nothing back that was begun.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reject_start(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| reject(pool, server, hash)) }
}

/// `trunkline_pool_reject` without waiting: its end comes out of `queue`, with `tag`. `out_op`: what
/// `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_reject_enqueue(
    pool: *mut PoolObject,
    server: Str,
    hash: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| reject(pool, server, hash)) }
}

/// Forgets every decision about a server of this workspace, so that it waits for approval again.
/// Blocks: `WRONG_THREAD` inside a callback.
///
/// `out`: `{v, forgotten, servers}`; free it with `trunkline_buf_free`.
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
    unsafe { forms::wait_for_text(pool, out, err, |pool| forget(pool, server)) }
}

/// `trunkline_pool_forget` without waiting: `done` is called once it ended, on a thread of the
/// library. Cancelling it takes nothing back that was begun.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_forget_start(
    pool: *mut PoolObject,
    server: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| forget(pool, server)) }
}

/// `trunkline_pool_forget` without waiting: its end comes out of `queue`, with `tag`. `out_op`: what
/// `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_forget_enqueue(
    pool: *mut PoolObject,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| forget(pool, server)) }
}

/// Checks the argument of `set_trusted`; what it gives starts the operation.
fn set_trusted(
    pool: &PoolObject,
    trusted: u32,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    let trust = match raw::switch(trusted, "trusted")? {
        true => WorkspaceTrust::Trusted,
        false => WorkspaceTrust::Untrusted,
    };
    Ok(reported(pool, move |pool: Pool| pool.set_trusted(trust)))
}

/// What `approvals` starts.
fn approvals(pool: &PoolObject) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    Ok(reported(pool, move |pool: Pool| async move { pool.approvals().await }))
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
    let (server, hash) = unsafe { shown(server, hash) }?;
    Ok(reported(pool, move |pool: Pool| async move { pool.approve(&server, &hash).await }))
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
    let (server, hash) = unsafe { shown(server, hash) }?;
    Ok(reported(pool, move |pool: Pool| async move { pool.reject(&server, &hash).await }))
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
    let server = unsafe { raw::text(server, "server") }?.to_owned();
    Ok(reported(pool, move |pool: Pool| async move { pool.forget(&server).await }))
}

/// What a decision is about.
///
/// # Safety
/// As of [`raw::text`].
unsafe fn shown(server: Str, hash: Str) -> Result<(String, String)> {
    // SAFETY: as the function's own.
    unsafe { Ok((raw::text(server, "server")?.to_owned(), raw::text(hash, "hash")?.to_owned())) }
}
