//! Sessions and leases: opening, describing, giving up.

use std::ffi::c_void;

use serde_json::json;
use trunkline::{Result, SessionOptions};

use crate::abi::buf::Buf;
use crate::abi::error::ErrorObject;
use crate::abi::guard::guard;
use crate::abi::raw;
use crate::abi::types::{AskFn, DestroyFn, LeaseHandle, SessionHandle, Status, Str};
use crate::delivery::handle_registry::PoolObject;
use crate::delivery::handler_queues::{HandlerTable, ReadyHandlers};
use crate::handles::table::{Kind, bad_handle};

/// Opens a session. Returns at once; the servers that it wants start in the background
/// (`trunkline_session_started` and `trunkline_session_ready` wait).
///
/// `options_json`: a JSON object of session options; `id` is required. `out`: the session; end it
/// with `trunkline_session_close`.
///
/// Errors: `UNKNOWN_OPTION`, `INVALID_ARGUMENT` (also when a live session has that id), `CLOSING`,
/// `CLOSED`, `LIMIT`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_open(
    pool: *mut PoolObject,
    options_json: Str,
    out: *mut SessionHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let (pool, out) = (PoolObject::of(pool)?, raw::out(out, "out")?);
            open(pool, options_json, None).map(|session| out.write(session))
        })
    }
}

/// `trunkline_session_open` with handlers: what answers the session's servers, the pool's where one
/// is missing.
///
/// `offered`: the handlers that there are, by `TRUNKLINE_MASK` of `trunkline_handler`. `ask`: told
/// what servers ask, on a thread of its own. `destroy` is called exactly once, after the last call:
/// when the session is over and its leases are released, when the pool was closed or freed, or
/// before this returns when it fails.
///
/// Errors: those of `trunkline_session_open`; `LIMIT` also when 1,024 sessions of the pool have
/// handlers of their own, or no thread can be started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_open_with_handlers(
    pool: *mut PoolObject,
    options_json: Str,
    offered: u64,
    ask: AskFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out: *mut SessionHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let given = HandlerTable::new(offered, ask, (user_data, destroy));
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let (pool, out) = (PoolObject::of(pool)?, raw::out(out, "out")?);
            open(pool, options_json, Some(given)).map(|session| out.write(session))
        })
    }
}

/// # Safety
/// The text is the host's, and stays while this runs.
unsafe fn open(pool: &PoolObject, options_json: Str, given: Option<HandlerTable>) -> Result<u64> {
    // SAFETY: as the function's own.
    let text = unsafe { raw::text(options_json, "options_json")? };
    let mut options = SessionOptions::from_json(text)?;
    let opened = given.map(|given| pool.objects.handler_queues.open(given)).transpose()?;
    let (handlers, ready) = opened.unzip();
    if let Some(handlers) = handlers {
        options.handlers = handlers;
    }
    let session = pool.objects.sessions.insert(pool.core.session(options)?)?;
    let _ = ready.map(ReadyHandlers::begin);
    Ok(session)
}

/// Ends a session: its calls are cancelled, and its holds on servers go. Its handle is bad from
/// here on; its leases answer `CLOSED`, and are still to be released. Returns at once.
///
/// `keep_for_ms`: how many milliseconds its holds stay, for a session of the same id that is opened
/// meanwhile; `TRUNKLINE_DEFAULT` for what its options say.
///
/// Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_close(
    pool: *mut PoolObject,
    session: SessionHandle,
    keep_for_ms: u64,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let session = pool.objects.sessions.remove(session);
            let session = session.ok_or_else(|| bad_handle(Kind::Session))?;
            session.close(raw::optional_time(keep_for_ms));
            Ok(())
        })
    }
}

/// What a lease holds.
///
/// `out`: `{"v": 1, "server": ..., "entry_index": ..., "generation": ..., "state": ...}`; free it
/// with `trunkline_buf_free`. The index is stable per server name, the generation grows with each
/// reconnect.
///
/// Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_describe(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let out = raw::out(out, "out")?;
            let lease = pool.objects.leases.find(lease)?;
            let description = json!({
                "v": 1,
                "server": lease.server(),
                "entry_index": lease.entry_index(),
                "generation": lease.generation(),
                "state": lease.state().as_str(),
            });
            out.write(Buf::from(description.to_string()).into_raw());
            Ok(())
        })
    }
}

/// Gives a lease up. Calls under way go on. The handle is bad from here on: a second release
/// answers `BAD_HANDLE` and does nothing. Returns at once.
///
/// Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_release(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let lease = pool.objects.leases.remove(lease);
            lease.ok_or_else(|| bad_handle(Kind::Lease))?.release();
            Ok(())
        })
    }
}
