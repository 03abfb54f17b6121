//! The host's answers to what servers ask of it.

use trunkline::Refusal;

use crate::abi::error::ErrorObject;
use crate::abi::guard::guard;
use crate::abi::raw;
use crate::abi::types::{RequestHandle, Status, Str};
use crate::delivery::handle_registry::PoolObject;

/// Answers a request of a server. Any thread may, also inside the function that was told of the
/// request.
///
/// `request`: the number that the host was told. `result_json`: the result, a JSON object; anything
/// else is a failure of the handler's to the server.
///
/// Errors: `BAD_HANDLE` when nobody waits for that answer any more, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_request_answer(
    pool: *mut PoolObject,
    request: RequestHandle,
    result_json: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let objects = &PoolObject::of(pool)?.objects;
            objects
                .handler_queues
                .answer(request, Ok(raw::text(result_json, "result_json")?.to_owned()))
        })
    }
}

/// Refuses a request of a server: it gets a JSON-RPC error with this code and message. -1 stands
/// for a user who declines.
///
/// Errors: those of `trunkline_request_answer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_request_refuse(
    pool: *mut PoolObject,
    request: RequestHandle,
    code: i32,
    message: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let objects = &PoolObject::of(pool)?.objects;
            let refusal = Refusal::new(code, raw::text(message, "message")?);
            objects.handler_queues.answer(request, Err(refusal))
        })
    }
}
