//! Written from core/pool/src/interface/operations; do not edit.
//!
//! `UPDATE_REFERENCE=1 cargo test -p trunkline-pool --test reference` writes it anew.

use std::ffi::c_void;

use trunkline::{CallResult, Operation, Result};

use crate::abi::buf::Buf;
use crate::ops::call_options::call_options;
use crate::delivery::completion::{Completion, later};
use crate::abi::error::ErrorObject;
use crate::ops::forms::{self, Sends, StartOuts};
use crate::abi::item::DoneFn;
use crate::delivery::handle_registry::PoolObject;
use crate::delivery::outcome::Value;
use crate::delivery::queue::QueueObject;
use crate::abi::raw;
use crate::abi::types::{CallOptionsStruct, DestroyFn, LeaseHandle, OpHandle, Status, Str};

/// Gives what the server of a lease said of itself at its last connection. Returns at once.
///
/// `out`: `{protocol_version, server_info, capabilities, instructions}`, the values in the
/// protocol's spelling, unverified, and without the secrets that the server has of the host;
/// nothing before it was connected to; `null` stands for nothing. Free it with
/// `trunkline_buf_free`.
///
/// Errors: `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_introduction(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let lease = pool.objects.leases.find(lease)?;
            Ok(Buf::from(lease.introduction()))
        })
    }
}

/// The tools of this server in the session's view, as of `trunkline_session_tools`.
///
/// `out`: what `trunkline_session_tools` gives. Free it with `trunkline_buf_free`.
///
/// Errors: `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_tools(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::give(pool, out, err, |pool| {
            let lease = pool.objects.leases.find(lease)?;
            Ok(Buf::from(&*lease.tools()?))
        })
    }
}

/// Calls a tool by the server's own name. An error of a call that may have reached the server has
/// an `outcome`, and the arguments. Blocks: `WRONG_THREAD` inside a callback.
///
/// `arguments_json`: as JSON, an object; empty for `{}`. `options`: NULL for all defaults. `out`:
/// the result exactly as the server sent it, which may say that the tool failed (`isError`). Free
/// it with `trunkline_buf_free`.
///
/// Errors: `TOOL_NOT_FOUND`, `SERVER_ERROR`, `TIMEOUT`, `CANCELLED`, `UNAVAILABLE`,
/// `CALL_INTERRUPTED`, `PROTOCOL`, `LIMIT`, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_call_tool(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| call_tool(pool, lease, tool, arguments_json, options))
    }
}

/// `trunkline_lease_call_tool` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_call_tool_start(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| call_tool(pool, lease, tool, arguments_json, options))
    }
}

/// `trunkline_lease_call_tool` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_call_tool_enqueue(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| call_tool(pool, lease, tool, arguments_json, options))
    }
}

/// Sends any other request of the protocol, and gives its result undecoded. The common ones and
/// their parameters: `resources/read` `{"uri"}`, `prompts/get` `{"name", "arguments"?}`,
/// `completion/complete` `{"ref", "argument", "context"?}`, `logging/setLevel` `{"level"}`. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// `params_json`: as JSON, an object; empty for `{}`. `options`: NULL for all defaults. `out`: the
/// result exactly as the server sent it. Free it with `trunkline_buf_free`.
///
/// Errors: those of `trunkline_lease_call_tool`, `INVALID_ARGUMENT` for `initialize`, for calls of
/// tools and for subscriptions, which have functions of their own, and for a prompt that the view
/// does not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_request(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_text(pool, out, err, |pool| request(pool, lease, method, params_json, options))
    }
}

/// `trunkline_lease_request` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_request_start(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| request(pool, lease, method, params_json, options))
    }
}

/// `trunkline_lease_request` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_request_enqueue(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| request(pool, lease, method, params_json, options))
    }
}

/// Subscribes the session to updates of a resource. They come as `resource_updated` events. A
/// modern server also sends those of a part, by the `uri` of the whole. All leases of the session
/// share one count: each subscription needs its `trunkline_lease_unsubscribe_resource`. Blocks:
/// `WRONG_THREAD` inside a callback.
///
/// Errors: those of `trunkline_lease_request`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_subscribe_resource(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    uri: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_end(pool, err, |pool| subscribe_resource(pool, lease, uri))
    }
}

/// `trunkline_lease_subscribe_resource` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_subscribe_resource_start(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    uri: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| subscribe_resource(pool, lease, uri))
    }
}

/// `trunkline_lease_subscribe_resource` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_subscribe_resource_enqueue(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    uri: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| subscribe_resource(pool, lease, uri))
    }
}

/// The counterpart of `trunkline_lease_subscribe_resource`: with the last the session gets no more
/// updates. Without any it does nothing. Blocks: `WRONG_THREAD` inside a callback.
///
/// Errors: those of `trunkline_lease_request`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_unsubscribe_resource(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    uri: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::wait_for_end(pool, err, |pool| unsubscribe_resource(pool, lease, uri))
    }
}

/// `trunkline_lease_unsubscribe_resource` whose end `done` is called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_unsubscribe_resource_start(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    uri: Str,
    done: DoneFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::start(pool, callback, outs, |pool| unsubscribe_resource(pool, lease, uri))
    }
}

/// `trunkline_lease_unsubscribe_resource` whose end comes out of `queue`, with `tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_lease_unsubscribe_resource_enqueue(
    pool: *mut PoolObject,
    lease: LeaseHandle,
    uri: Str,
    queue: *mut QueueObject,
    tag: u64,
    out_op: *mut OpHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    let outs = StartOuts { op: out_op, err };
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        forms::enqueue(pool, (queue, tag), outs, |pool| unsubscribe_resource(pool, lease, uri))
    }
}

/// Checks the arguments of `call_tool`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn call_tool(
    pool: &PoolObject,
    lease: LeaseHandle,
    tool: Str,
    arguments_json: Str,
    options: *const CallOptionsStruct,
) -> Result<Sends<impl FnOnce(Completion) -> Operation + use<>>> {
    // SAFETY: as the function's own.
    let (tool, arguments, settings) = unsafe {
        (
            raw::text(tool, "tool")?,
            raw::text(arguments_json, "arguments_json")?,
            call_options(options)?,
        )
    };
    let lease = pool.objects.leases.find(lease)?;
    let tool = tool.to_owned();
    let arguments = arguments.to_owned();
    Ok(Sends(move |completion: Completion| {
        let options = settings.options(&completion);
        let done = |outcome: Result<CallResult>| {
            completion.finish(outcome.map(|result| Value::Text(Buf::from(result))));
        };
        let operation = lease.start_call_tool(&tool, &arguments, &options, done);
        // SAFETY: the host's function that passed the options has not returned yet.
        unsafe { settings.tell_number(operation) }
    }))
}

/// Checks the arguments of `request`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn request(
    pool: &PoolObject,
    lease: LeaseHandle,
    method: Str,
    params_json: Str,
    options: *const CallOptionsStruct,
) -> Result<Sends<impl FnOnce(Completion) -> Operation + use<>>> {
    // SAFETY: as the function's own.
    let (method, params, settings) = unsafe {
        (
            raw::text(method, "method")?,
            raw::text(params_json, "params_json")?,
            call_options(options)?,
        )
    };
    let lease = pool.objects.leases.find(lease)?;
    let method = method.to_owned();
    let params = params.to_owned();
    Ok(Sends(move |completion: Completion| {
        let options = settings.options(&completion);
        let done = |outcome: Result<CallResult>| {
            completion.finish(outcome.map(|result| Value::Text(Buf::from(result))));
        };
        let operation = lease.start_request(&method, &params, &options, done);
        // SAFETY: the host's function that passed the options has not returned yet.
        unsafe { settings.tell_number(operation) }
    }))
}

/// Checks the arguments of `subscribe_resource`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn subscribe_resource(
    pool: &PoolObject,
    lease: LeaseHandle,
    uri: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let uri = unsafe { raw::text(uri, "uri") }?;
    let lease = pool.objects.leases.find(lease)?;
    let uri = uri.to_owned();
    Ok(later(pool, move |_| {
        async move { lease.subscribe_resource(&uri).await.map(|()| Value::Nothing) }
    }))
}

/// Checks the arguments of `unsubscribe_resource`; what it gives starts the operation.
///
/// # Safety
/// The pointers are as the header says.
unsafe fn unsubscribe_resource(
    pool: &PoolObject,
    lease: LeaseHandle,
    uri: Str,
) -> Result<impl FnOnce(Completion) -> Operation + use<>> {
    // SAFETY: as the function's own.
    let uri = unsafe { raw::text(uri, "uri") }?;
    let lease = pool.objects.leases.find(lease)?;
    let uri = uri.to_owned();
    Ok(later(pool, move |_| {
        async move { lease.unsubscribe_resource(&uri).await.map(|()| Value::Nothing) }
    }))
}
