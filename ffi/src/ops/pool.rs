//! The pool object.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use trunkline::interface::words;
use trunkline::{DrainOptions, Error, ErrorCode, Pool, PoolOptions, Result};

use crate::abi::buf::Buf;
use crate::abi::error::ErrorObject;
use crate::abi::guard::{check_fork, check_may_block, forks, guard, prepare_process};
use crate::abi::raw;
use crate::abi::types::{AskFn, DestroyFn, Status, Str, TRUNKLINE_DEFAULT};
use crate::delivery::completion::wait;
use crate::delivery::handle_registry::{Objects, PoolObject};
use crate::delivery::handler_queues::{HandlerTable, ReadyHandlers};
use crate::delivery::outcome::Value;

/// Makes a pool with nothing in it. Returns at once.
///
/// `options_json`: a JSON object of pool options, times in milliseconds (`drain_delay_ms`); empty
/// for all defaults. `out`: the pool; end it with `trunkline_pool_close`, then
/// `trunkline_pool_free`.
///
/// Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT` (also when `workers` conflicts with a pool that is
/// there), `LIMIT` (when 65,536 pools are not freed).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_new(
    options_json: Str,
    out: *mut *mut PoolObject,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let out = raw::out(out, "out")?;
            open(options_json, None).map(|pool| out.write(pool))
        })
    }
}

/// `trunkline_pool_new` with handlers: what answers the servers of sessions without a handler of
/// their own.
///
/// `offered`: the handlers that there are, by `TRUNKLINE_MASK` of `trunkline_handler`; servers are
/// offered what these can answer. `ask`: told what servers ask, on a thread of its own.
/// `destroy` is called exactly once, after the last call: when the pool was closed or freed, or
/// before this returns when it fails.
///
/// Errors: those of `trunkline_pool_new`; `LIMIT` also when no thread can be started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_new_with_handlers(
    options_json: Str,
    offered: u64,
    ask: AskFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out: *mut *mut PoolObject,
    err: *mut *mut ErrorObject,
) -> Status {
    let given = HandlerTable::new(offered, ask, (user_data, destroy));
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let out = raw::out(out, "out")?;
            open(options_json, Some(given)).map(|pool| out.write(pool))
        })
    }
}

/// # Safety
/// The text is the host's, and stays while this runs.
unsafe fn open(options_json: Str, given: Option<HandlerTable>) -> Result<*mut PoolObject> {
    prepare_process();
    // SAFETY: as the function's own.
    let text = unsafe { raw::text(options_json, "options_json")? };
    let mut options = PoolOptions::from_json(text)?;
    let objects = Objects::new()?;
    let opened = given.map(|given| objects.handler_queues.open(given)).transpose()?;
    let (handlers, ready) = opened.unzip();
    if let Some(handlers) = handlers {
        options.handlers = handlers;
    }
    let core = Pool::new(options)?;
    let _ = ready.map(ReadyHandlers::begin);
    Ok(Box::into_raw(Box::new(PoolObject { forks: forks(), core, objects })))
}

/// Ends a pool and waits for it: drains it, ends its servers and its subscriptions, and returns
/// when nothing of a server is left and every callback has returned. The pool object and its
/// handles stay; what is called on them answers `CLOSED`.
///
/// `timeout_ms`: for everything together, in milliseconds; `TRUNKLINE_DEFAULT` for the pool's option
/// `close_timeout_ms`, which is 10 s by default. Calls
/// under way may finish until then; what is left is interrupted and killed. A second close waits
/// for the first, and the earlier of their ends counts for both.
///
/// Errors: `WRONG_THREAD` inside a callback; `TIMEOUT` when a callback has not returned in time;
/// `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_close(
    pool: *mut PoolObject,
    timeout_ms: u64,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            check_may_block()?;
            let timeout = match timeout_ms {
                TRUNKLINE_DEFAULT => pool.core.close_timeout(),
                timeout_ms => Duration::from_millis(timeout_ms.min(CLOSE_MS_MAX)),
            };
            close(pool, timeout)
        })
    }
}

fn close(pool: &PoolObject, timeout: Duration) -> Result<()> {
    let due = Instant::now() + timeout;
    let mut options = DrainOptions::default();
    options.timeout = Some(timeout);
    let core = pool.core.clone();
    let closed = wait(&pool.objects, |completion| {
        let future = async move { core.close_with(options).await.map(|()| Value::Nothing) };
        pool.core.start(future, |outcome| completion.finish(outcome))
    });
    match closed {
        Err(error) if error.code() != ErrorCode::Closed => return Err(error),
        _ => {}
    }
    // Should the servers have taken longer: that is not the callbacks' fault.
    let deadline = due.max(Instant::now()) + CALLBACK_GRACE;
    pool.objects.handler_queues.stop();
    pool.objects.hosted.end();
    let quiet = pool.objects.completions.wait_until_quiet(deadline)
        && pool.objects.subscribers.threads.wait_until_quiet(deadline)
        && pool.objects.handler_queues.threads.wait_until_quiet(deadline)
        && pool.objects.hosted.wait_until_quiet(deadline);
    match quiet {
        true => Ok(()),
        false => Err(Error::new(ErrorCode::Timeout, "a callback has not returned in time")
            .with_detail("which", words::deadline::TOTAL)
            .with_hint("let the callbacks return; they must not wait for the thread that closes")),
    }
}

/// Frees a pool, and with it every handle of it. What is under way ends with `CLOSED` (or what it
/// was cancelled with); servers that were not closed before are ended in the background. Waits for
/// nothing, so it may be called anywhere, inside a callback too. Callbacks may still run
/// afterwards, until their `destroy` has been called. A queue still gives the ends of its
/// operations, and of each subscription the events that wait and a `TRUNKLINE_ITEM_KIND_END`.
///
/// No other thread may be using the pool; one that has not returned yet from the function that
/// started the operation, whose callback this is called in, does no harm. NULL is fine. In a forked
/// child the parent's pool is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_free(pool: *mut PoolObject) {
    // SAFETY: the caller passes NULL or a pool of `trunkline_pool_new`, and gives it up.
    unsafe {
        guard(std::ptr::null_mut(), || {
            // The parent's locks may be held by threads that do not exist in the child: what it
            // inherited is left as it is.
            if pool.is_null() || check_fork((*pool).forks).is_err() {
                return Ok(());
            }
            let pool = Box::from_raw(pool);
            pool.objects.free();
            Ok(())
        });
    }
}

/// `trunkline_pool_status_with` without options: the whole pool as JSON. Always works, and never
/// shows a secret.
///
/// `out`: the text; free it with `trunkline_buf_free`.
///
/// Errors: `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_status(
    pool: *mut PoolObject,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let out = raw::out(out, "out")?;
            out.write(Buf::from(pool.core.status().to_string()).into_raw());
            Ok(())
        })
    }
}

/// A year: longer sums of times would overflow.
const CLOSE_MS_MAX: u64 = 365 * 24 * 3600 * 1000;

/// For callbacks that are still running when the servers are gone.
const CALLBACK_GRACE: Duration = Duration::from_millis(250);
