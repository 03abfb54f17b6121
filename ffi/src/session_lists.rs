//! Lists that are asked for anew, lists that are waited for, and what servers say of themselves.

use std::ffi::c_void;

use trunkline::{Introduction, Operation, Result};

use crate::buf::Buf;
use crate::completion::{Completion, Value};
use crate::error::ErrorObject;
use crate::forms::{self, StartOuts};
use crate::guard::guard;
use crate::pool::PoolObject;
use crate::queue::QueueObject;
use crate::raw;
use crate::types::{DestroyFn, DoneFn, Status, Str};

/// Has the lists of a server read anew, for servers that announce nothing, and waits until what came
/// of it is in force. Blocks: `WRONG_THREAD` inside a callback.
///
/// The server is acquired for that: one that sleeps, or is on its way back, is connected to first. A
/// list that fails alone keeps its last state, and a `warning` says so.
///
/// Errors: why no list could be had, `UNAVAILABLE` when the connection was lost meanwhile,
/// `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`, and those of
/// `trunkline_session_acquire`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_refresh(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_end(pool, err, |pool| refresh(pool, session, server)) }
}

/// `trunkline_session_refresh` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_refresh_start(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| refresh(pool, session, server)) }
}

/// `trunkline_session_refresh` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_refresh_enqueue(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| refresh(pool, session, server)) }
}

/// Waits until no list of the session's servers is being read or has to be, at most 5 s. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// A server that announced another list before a result is heard to the end: the session's lists
/// have it then. `server`: empty for all; otherwise this one alone.
///
/// Errors: `CANCELLED`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_listed(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::wait_for_end(pool, err, |pool| listed(pool, session, server)) }
}

/// `trunkline_session_listed` without waiting: `done` is called once it ended, on a thread of the
/// library.
///
/// `out_op`: what `trunkline_op_cancel` takes; may be NULL. `destroy` is called exactly once, also
/// when this fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_listed_start(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::start(pool, callback, outs, |pool| listed(pool, session, server)) }
}

/// `trunkline_session_listed` without waiting: its end comes out of `queue`, with `tag`. `out_op`:
/// what `trunkline_op_cancel` takes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_listed_enqueue(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut u64,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { forms::enqueue(pool, (queue, tag), outs, |pool| listed(pool, session, server)) }
}

/// What the server of a lease said of itself when it was connected to last. Returns at once.
///
/// `out`: `{protocol_version, server_info, capabilities, instructions}`, the values in the protocol's
/// spelling, unverified, and without the secrets that the server has of the host; `null` before it was
/// connected to. Free it with `trunkline_buf_free`.
///
/// Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_introduction(
    pool: *mut PoolObject,
    lease: u64,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = raw::pool(pool)?;
            let lease = pool.objects.leases.find(lease)?;
            let out = raw::out(out, "out")?;
            out.write(text_of(lease.introduction()).into_raw());
            Ok(())
        })
    }
}

/// `trunkline_lease_introduction` for a server that the session holds, by its name.
///
/// Errors: `NOT_ADMITTED` for a server that nobody has configured, `CLOSED`, `BAD_HANDLE`, `FORKED`,
/// `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_introduction(
    pool: *mut PoolObject,
    session: u64,
    server: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = raw::pool(pool)?;
            let session = pool.objects.sessions.find(session)?;
            let out = raw::out(out, "out")?;
            let said = session.introduction(raw::text(server, "server")?)?;
            out.write(text_of(said).into_raw());
            Ok(())
        })
    }
}

fn text_of(said: Option<Introduction>) -> Buf {
    Buf::from(said.map_or_else(|| "null".to_owned(), |said| said.json().to_owned()))
}

/// What `refresh` starts.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn refresh(
    pool: &PoolObject,
    session: u64,
    server: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::text(server, "server")? }.to_owned();
    let session = pool.objects.sessions.find(session)?;
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let future = async move { session.refresh(&server).await.map(|()| Value::Nothing) };
        core.start(future, |outcome| completion.finish(outcome))
    })
}

/// What `listed` starts.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn listed(
    pool: &PoolObject,
    session: u64,
    server: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let server = unsafe { raw::optional_text(server, "server") }?.map(str::to_owned);
    let session = pool.objects.sessions.find(session)?;
    let core = pool.core.clone();
    Ok(move |completion: Completion| {
        let future =
            async move { session.listed(server.as_deref()).await.map(|()| Value::Nothing) };
        core.start(future, |outcome| completion.finish(outcome))
    })
}
