//! Signing in to remote servers.

use std::ffi::c_void;

use trunkline::{Operation, Result, SignInOptions};

use crate::buf::Buf;
use crate::completion::{Completion, Value};
use crate::error::ErrorObject;
use crate::forms::{self, StartOuts};
use crate::pool::PoolObject;
use crate::queue::QueueObject;
use crate::raw;
use crate::types::{DestroyFn, DoneFn, Status, Str};

/// Begins to sign in to a remote server, and waits for the address that a person has to visit. A
/// sign-in to the same server that is under way is over with it. The library opens no browser and
/// listens on no port. Blocks: `WRONG_THREAD` inside a callback.
///
/// `options_json`: `{"redirect_uri": ..., "client_metadata_url": ..., "client_name": ...}`, each
/// optional; what the server's own `oauth` says goes first. `out`: `{v, server, url,
/// expires_in_ms}`; free it with `trunkline_buf_free`.
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
    unsafe { forms::wait_for_text(pool, out, err, |pool| sign_in(pool, server, options_json)) }
}

/// `trunkline_pool_sign_in` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_in_start(
    pool: *mut PoolObject,
    server: Str,
    options_json: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| sign_in(pool, server, options_json)) }
}

/// `trunkline_pool_sign_in` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_in_enqueue(
    pool: *mut PoolObject,
    server: Str,
    options_json: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| sign_in(pool, server, options_json)) }
}

/// Ends a sign-in with the whole address that the person was redirected to, and waits for the token.
/// The server is then connected to for those who hold or want it. Blocks: `WRONG_THREAD` inside a
/// callback.
///
/// `out`: `{v, server}`, and with a file of `tokens` `stored` and, where that is false, `error`; free it
/// with `trunkline_buf_free`.
///
/// Errors: `PROTOCOL` (`detail.refused`), `AUTH_REQUIRED` when the person or the authorization server
/// refused, `CONNECT_FAILED`, `TIMEOUT`, `LIMIT`, `CLOSING`, `CLOSED`, `CANCELLED`, `FORKED`,
/// `INVALID_ARGUMENT` (also when it belongs to no sign-in that is under way).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_finish_sign_in(
    pool: *mut PoolObject,
    redirect_url: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| finish_sign_in(pool, redirect_url)) }
}

/// `trunkline_pool_finish_sign_in` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_finish_sign_in_start(
    pool: *mut PoolObject,
    redirect_url: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| finish_sign_in(pool, redirect_url)) }
}

/// `trunkline_pool_finish_sign_in` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_finish_sign_in_enqueue(
    pool: *mut PoolObject,
    redirect_url: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| finish_sign_in(pool, redirect_url)) }
}

/// Forgets what was signed in for a server, and a sign-in that is under way. Blocks: `WRONG_THREAD`
/// inside a callback.
///
/// `out`: `{v, server, signed_out}`; free it with `trunkline_buf_free`.
///
/// Errors: `STORE` when it is forgotten here and still in the file of `tokens`, `CLOSING`, `CLOSED`,
/// `CANCELLED`, `FORKED`, `INVALID_ARGUMENT` (also for a server that the pool does not know).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_out(
    pool: *mut PoolObject,
    server: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_text(pool, out, err, |pool| sign_out(pool, server)) }
}

/// `trunkline_pool_sign_out` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_out_start(
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
    unsafe { forms::start(pool, callback, outs, |pool| sign_out(pool, server)) }
}

/// `trunkline_pool_sign_out` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_sign_out_enqueue(
    pool: *mut PoolObject,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| sign_out(pool, server)) }
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
    let [server, options] =
        unsafe { [raw::text(server, "server")?, raw::text(options_json, "options_json")?] };
    let (server, options) = (server.to_owned(), SignInOptions::from_json(options)?);
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future = async move {
            let begun = pool.sign_in(&server, &options).await?;
            Ok(Value::Text(Buf::from(begun.to_string())))
        };
        core.start(future, |outcome| completion.finish(outcome))
    })
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
    let url = unsafe { raw::text(redirect_url, "redirect_url") }?.to_owned();
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future = async move {
            let finished = pool.finish_sign_in(&url).await?;
            Ok(Value::Text(Buf::from(finished.to_string())))
        };
        core.start(future, |outcome| completion.finish(outcome))
    })
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
    let server = unsafe { raw::text(server, "server") }?.to_owned();
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let pool = core.clone();
        let future = async move {
            let report = pool.sign_out(&server).await?;
            Ok(Value::Text(Buf::from(report.to_string())))
        };
        core.start(future, |outcome| completion.finish(outcome))
    })
}
