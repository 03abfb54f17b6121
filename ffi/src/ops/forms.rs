//! The three forms of every operation: started with a callback, ended in a queue, waited for.
//!
//! An operation is written once, as a function that checks its arguments and gives what launches
//! it.

use std::ffi::c_void;

use trunkline::{Error, Operation, Outcome, Result};

use crate::abi::buf::Buf;
use crate::abi::error::ErrorObject;
use crate::abi::guard::guard;
use crate::abi::item::DoneFn;
use crate::abi::raw;
use crate::abi::types::{DestroyFn, Status};
use crate::abi::user_data::UserData;
use crate::delivery::completion::{Completion, Target, begin, begin_waiting, wait};
use crate::delivery::handle_registry::PoolObject;
use crate::delivery::outcome::{Callback, Value};
use crate::delivery::queue::QueueObject;

/// Where a started operation's handle, and the error of a failed start, go.
pub(crate) struct StartOuts {
    pub(crate) op: *mut u64,
    pub(crate) err: *mut *mut ErrorObject,
}

/// What launches an operation.
pub(crate) trait Launches {
    fn launch(self, completion: Completion) -> Operation;

    /// Why it was not begun.
    fn refused(error: Error) -> Error {
        error
    }
}

impl<F: FnOnce(Completion) -> Operation> Launches for F {
    fn launch(self, completion: Completion) -> Operation {
        self(completion)
    }
}

/// What launches a call, or another request: refused, it was not sent.
pub(crate) struct Sends<F>(pub(crate) F);

impl<F: FnOnce(Completion) -> Operation> Launches for Sends<F> {
    fn launch(self, completion: Completion) -> Operation {
        (self.0)(completion)
    }

    fn refused(error: Error) -> Error {
        error.with_outcome(Outcome::NotSent)
    }
}

/// The callback form. The user data is destroyed exactly once, whatever happens.
///
/// # Safety
/// The pointers are as the header says.
pub(crate) unsafe fn start<Launch>(
    pool: *mut PoolObject,
    (done, user_data, destroy): (DoneFn, *mut c_void, DestroyFn),
    outs: StartOuts,
    prepare: impl FnOnce(&PoolObject) -> Result<Launch>,
) -> Status
where
    Launch: Launches,
{
    let user_data = UserData::new(user_data, destroy);
    // SAFETY: as the function's own.
    unsafe {
        let begun = || {
            let pool = PoolObject::of(pool)?;
            if done.is_none() {
                return Err(raw::invalid("done", "done is NULL"));
            }
            let launch = prepare(pool)?;
            let target = Target::Callback(Callback { done, user_data });
            begin_in(pool, target, outs.op, launch)
        };
        guard(outs.err, || begun().map_err(Launch::refused))
    }
}

/// The queue form.
///
/// # Safety
/// The pointers are as the header says.
pub(crate) unsafe fn enqueue<Launch>(
    pool: *mut PoolObject,
    (queue, tag): (*mut QueueObject, u64),
    outs: StartOuts,
    prepare: impl FnOnce(&PoolObject) -> Result<Launch>,
) -> Status
where
    Launch: Launches,
{
    // SAFETY: as the function's own.
    unsafe {
        let begun = || {
            let pool = PoolObject::of(pool)?;
            let target = Target::Queue(QueueObject::of(queue)?.clone(), tag);
            let launch = prepare(pool)?;
            begin_in(pool, target, outs.op, launch)
        };
        guard(outs.err, || begun().map_err(Launch::refused))
    }
}

/// The blocking form of an operation that gives a text.
///
/// # Safety
/// The pointers are as the header says.
pub(crate) unsafe fn wait_for_text<Launch>(
    pool: *mut PoolObject,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
    prepare: impl FnOnce(&PoolObject) -> Result<Launch>,
) -> Status
where
    Launch: Launches,
{
    // SAFETY: as the function's own.
    unsafe {
        let begun = || {
            let pool = PoolObject::of(pool)?;
            let out = raw::out(out, "out")?;
            let launch = prepare(pool)?;
            let waiter = begin_waiting(&pool.objects, |completion| launch.launch(completion))?;
            Ok((out, waiter))
        };
        guard(err, || {
            let (out, waiter) = begun().map_err(Launch::refused)?;
            if let Value::Text(buf) = waiter.wait()? {
                out.write(buf.into_raw());
            }
            Ok(())
        })
    }
}

/// The blocking form of an operation that gives a lease.
///
/// # Safety
/// The pointers are as the header says.
pub(crate) unsafe fn wait_for_lease<Launch>(
    pool: *mut PoolObject,
    out: *mut u64,
    err: *mut *mut ErrorObject,
    prepare: impl FnOnce(&PoolObject) -> Result<Launch>,
) -> Status
where
    Launch: FnOnce(Completion) -> Operation,
{
    // SAFETY: as the function's own.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let out = raw::out(out, "out")?;
            if let Value::Lease(lease) = wait(&pool.objects, prepare(pool)?)? {
                out.write(pool.objects.leases.insert(std::sync::Arc::new(lease))?);
            }
            Ok(())
        })
    }
}

/// The blocking form of an operation that gives nothing.
///
/// # Safety
/// The pointers are as the header says.
pub(crate) unsafe fn wait_for_end<Launch>(
    pool: *mut PoolObject,
    err: *mut *mut ErrorObject,
    prepare: impl FnOnce(&PoolObject) -> Result<Launch>,
) -> Status
where
    Launch: FnOnce(Completion) -> Operation,
{
    // SAFETY: as the function's own.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            wait(&pool.objects, prepare(pool)?).map(drop)
        })
    }
}

/// A call that waits for nothing and gives a text.
///
/// # Safety
/// The pointers are as the header says.
pub(crate) unsafe fn give(
    pool: *mut PoolObject,
    out: *mut *mut Buf,
    err: *mut *mut ErrorObject,
    make: impl FnOnce(&PoolObject) -> Result<Buf>,
) -> Status {
    // SAFETY: as the function's own.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let out = raw::out(out, "out")?;
            out.write(make(pool)?.into_raw());
            Ok(())
        })
    }
}

/// A call that waits for nothing and gives nothing.
///
/// # Safety
/// The pointers are as the header says.
pub(crate) unsafe fn change(
    pool: *mut PoolObject,
    err: *mut *mut ErrorObject,
    make: impl FnOnce(&PoolObject) -> Result<()>,
) -> Status {
    // SAFETY: as the function's own.
    unsafe { guard(err, || make(PoolObject::of(pool)?)) }
}

/// Begins what tells its handle there.
///
/// # Safety
/// `op` is NULL or may be written.
unsafe fn begin_in<Launch: Launches>(
    pool: &PoolObject,
    target: Target,
    op: *mut u64,
    launch: Launch,
) -> Result<()> {
    // SAFETY: as the function's own.
    let tell = |handle| unsafe { raw::write_optional(op, handle) };
    begin(pool.objects.clone(), target, tell, |completion| launch.launch(completion))
}
