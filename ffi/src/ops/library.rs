//! What the library says of itself, and the cancelling of operations.

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use trunkline::Pool;
use trunkline::interface::{ERRORS, ErrorRow};
use trunkline::settings::files_to_json;

use crate::abi::buf::Buf;
use crate::abi::error::ErrorObject;
use crate::abi::guard::guard;
use crate::abi::panic_guard::guarded;
use crate::abi::raw;
use crate::abi::types::{OpHandle, Status, Str, TRUNKLINE_ABI_VERSION};
use crate::delivery::completion::cancel;
use crate::delivery::handle_registry::PoolObject;

/// The version of this interface that the loaded library speaks. It must not be less than the
/// `TRUNKLINE_ABI_VERSION` that the host was compiled with.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_abi_version() -> u32 {
    TRUNKLINE_ABI_VERSION
}

/// The version of the library, such as `0.1.0`: a text that ends with a NUL byte and is there for
/// ever.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// The stable name of a status, such as `tool_not_found`: a text that ends with a NUL byte and is
/// there for ever. `ok` of `TRUNKLINE_STATUS_OK`; `unknown` of a number that this version of the
/// library does not have.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_status_name(status: i32) -> *const c_char {
    static NAMES: OnceLock<Vec<(i32, CString)>> = OnceLock::new();
    let name = |row: &ErrorRow| Some((row.code as i32, CString::new(row.name).ok()?));
    guarded(UNKNOWN.as_ptr(), || match status {
        0 => c"ok".as_ptr(),
        _ => {
            let names = NAMES.get_or_init(|| ERRORS.iter().filter_map(name).collect());
            let found = names.iter().find(|(number, _)| *number == status);
            found.map_or(UNKNOWN.as_ptr(), |(_, name)| name.as_ptr())
        }
    })
}

/// The capability tags of the library: the text of a JSON array, there for ever.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_features() -> Str {
    static FEATURES: OnceLock<String> = OnceLock::new();
    let features = || serde_json::Value::from(Pool::features()).to_string();
    guarded(Str::EMPTY, || Str::of(FEATURES.get_or_init(features)))
}

/// The settings files of products that exist for this user and a workspace:
/// `{v, files: [{path, format, scope}]}`, in the order of `docs/reference/settings.md`. `scope` is
/// `user`, `project`, `workspace` or `managed`. Some fifty paths are looked up; nothing is opened.
///
/// `workspace`: its folder; empty for the current directory. `out`: the text; free it with
/// `trunkline_buf_free`.
///
/// Errors: `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_detect(
    workspace: Str,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let workspace = raw::text(workspace, "workspace")?;
            let out = raw::out(out, "out")?;
            let files = files_to_json(&trunkline::detect(workspace));
            out.write(Buf::from(files.to_string()).into_raw());
            Ok(())
        })
    }
}

/// Cancels an operation: it ends with `CANCELLED`, unless it has ended already, which is fine too.
/// The end comes the way that was chosen when it was started. Returns at once, and may be called
/// again.
///
/// Errors: `BAD_HANDLE` for what never was an operation of this pool; `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_op_cancel(
    pool: *mut PoolObject,
    op: OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe { guard(err, || cancel(&PoolObject::of(pool)?.objects, op)) }
}

const UNKNOWN: &CStr = c"unknown";

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
