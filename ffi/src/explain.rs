//! Why a server or a tool is there, or is not.

use crate::buf::Buf;
use crate::error::ErrorObject;
use crate::forms;
use crate::guard::guard;
use crate::pool::PoolObject;
use crate::raw;
use crate::types::{Status, Str};

/// Why a server, or a tool by its exposed name, is there or is not. What sessions hide or switch off is
/// not in it. Returns at once.
///
/// `out`: `{v, name, kind, server?, available, reason?, message, from?, remedy?}` with the kind
/// `server` or `tool`, and in `from` the `source`, `file`, `line` and `list` that decide; free it with
/// `trunkline_buf_free`.
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
    unsafe { forms::report(pool, out, err, |pool| pool.explain(raw::text(name, "name")?)) }
}

/// `trunkline_pool_explain` for a session: with its own servers, and with what it holds, switches off
/// and filters.
///
/// Errors: `INVALID_ARGUMENT`, `CLOSED`, `BAD_HANDLE`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_explain(
    pool: *mut PoolObject,
    session: u64,
    name: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = raw::pool(pool)?;
            let session = pool.objects.sessions.find(session)?;
            let out = raw::out(out, "out")?;
            let explanation = session.explain(raw::text(name, "name")?)?;
            out.write(Buf::from(explanation.to_string()).into_raw());
            Ok(())
        })
    }
}
