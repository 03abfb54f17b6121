//! Subscribing to events, and unsubscribing.

use std::ffi::c_void;
use std::sync::Arc;

use trunkline::{EventMask, Result, Subscription};

use crate::abi::buf::Buf;
use crate::abi::error::ErrorObject;
use crate::abi::guard::guard;
use crate::abi::raw;
use crate::abi::types::{DestroyFn, EventFn, SessionHandle, Status, SubscriptionHandle};
use crate::abi::user_data::UserData;
use crate::delivery::handle_registry::PoolObject;
use crate::delivery::queue::QueueObject;
use crate::delivery::subscription::{Subscriber, Subscribers};

/// Subscribes to events of the whole pool, its sessions' included. It ends with the pool; what has
/// ended need not be closed.
///
/// Each event is given to `callback` on a thread of the subscription's own, in order; at most
/// `limits.event_backlog` wait, and what does not fit is counted in one `TRUNKLINE_EVENT_LAGGED`.
/// `destroy` is called exactly once: after the last event of a pool that was closed, after
/// `trunkline_subscription_close`, or before this returns when it fails.
///
/// `mask`: the kinds wanted, by `TRUNKLINE_MASK`; `TRUNKLINE_EVERY_EVENT` for all. `out`: the
/// subscription. `out_snapshot`: may be NULL; the state that the events continue, `{v, seq,
/// status}`, to be freed with `trunkline_buf_free`. Both are written before the first callback.
///
/// Errors: `LIMIT`, `CLOSED`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_subscribe(
    pool: *mut PoolObject,
    mask: u64,
    callback: EventFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out: *mut SubscriptionHandle,
    out_snapshot: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    let user_data = UserData::new(user_data, destroy);
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let stream = || pool.core.subscribe(EventMask(mask));
            with_callback(
                &pool.objects.subscribers,
                stream,
                (callback, user_data),
                SubscribeOuts(out, out_snapshot),
            )
        })
    }
}

/// `trunkline_pool_subscribe` with a queue: the events come out of `queue`, with `tag`, and nothing
/// runs on another thread. It ends with the queue too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_pool_subscribe_queue(
    pool: *mut PoolObject,
    mask: u64,
    queue: *mut QueueObject,
    tag: u64,
    out: *mut SubscriptionHandle,
    out_snapshot: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let stream = || pool.core.subscribe(EventMask(mask));
            with_queue(
                &pool.objects.subscribers,
                stream,
                (queue, tag),
                SubscribeOuts(out, out_snapshot),
            )
        })
    }
}

/// Subscribes to the events of one session, as of `trunkline_pool_subscribe`. It ends with the
/// session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_subscribe(
    pool: *mut PoolObject,
    session: SessionHandle,
    mask: u64,
    callback: EventFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    out: *mut SubscriptionHandle,
    out_snapshot: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    let user_data = UserData::new(user_data, destroy);
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let stream = || pool.objects.sessions.find(session)?.subscribe(EventMask(mask));
            with_callback(
                &pool.objects.subscribers,
                stream,
                (callback, user_data),
                SubscribeOuts(out, out_snapshot),
            )
        })
    }
}

/// `trunkline_session_subscribe` with a queue: the events come out of `queue`, with `tag`, and
/// nothing runs on another thread. It ends with the queue too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_subscribe_queue(
    pool: *mut PoolObject,
    session: SessionHandle,
    mask: u64,
    queue: *mut QueueObject,
    tag: u64,
    out: *mut SubscriptionHandle,
    out_snapshot: *mut *mut Buf,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let stream = || pool.objects.sessions.find(session)?.subscribe(EventMask(mask));
            with_queue(
                &pool.objects.subscribers,
                stream,
                (queue, tag),
                SubscribeOuts(out, out_snapshot),
            )
        })
    }
}

/// Ends a subscription. When it returns, no callback of it is running, none will, and `destroy` has
/// been called; a queue gives no more of its events. One that has ended already, by itself or by
/// this function, is fine too.
///
/// Waits for a callback that is running. From inside its own callback it returns at once, and that
/// callback is the last one; so it does when the other callback, of this pool or another, itself
/// waits in this function for this one.
///
/// Errors: `BAD_HANDLE` for what never was a subscription of this pool, `FORKED`,
/// `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_subscription_close(
    pool: *mut PoolObject,
    subscription: SubscriptionHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            if let Some(subscriber) =
                PoolObject::of(pool)?.objects.subscribers.table.revoke(subscription)?
            {
                subscriber.close();
            }
            Ok(())
        })
    }
}

/// Where the handle and the snapshot go.
struct SubscribeOuts(*mut u64, *mut *mut Buf);

/// # Safety
/// The pointers are as the header says.
unsafe fn with_callback(
    subscribers: &Arc<Subscribers>,
    stream: impl FnOnce() -> Result<Subscription>,
    (callback, user_data): (EventFn, UserData),
    outs: SubscribeOuts,
) -> Result<()> {
    if callback.is_none() {
        return Err(raw::invalid("callback", "callback is NULL"));
    }
    let out = raw::out(outs.0, "out")?;
    let stream = stream()?;
    let snapshot = Buf::from(stream.snapshot().to_owned());
    let handle = subscribers.table.reserve()?;
    let subscriber = Subscriber::with_thread((subscribers, handle), stream, callback, user_data)
        .inspect_err(|_| {
            subscribers.table.remove(handle);
        })?;
    enter(subscribers, &subscriber);
    // SAFETY: as the function's own.
    unsafe {
        out.write(handle);
        write_snapshot(outs.1, snapshot);
    }
    subscriber.listen();
    Ok(())
}

/// # Safety
/// The pointers are as the header says.
unsafe fn with_queue(
    subscribers: &Arc<Subscribers>,
    stream: impl FnOnce() -> Result<Subscription>,
    (queue, tag): (*mut QueueObject, u64),
    outs: SubscribeOuts,
) -> Result<()> {
    // SAFETY: as the function's own.
    let queue = unsafe { QueueObject::of(queue) }?;
    let out = raw::out(outs.0, "out")?;
    let stream = stream()?;
    let snapshot = Buf::from(stream.snapshot().to_owned());
    let handle = subscribers.table.reserve()?;
    let subscriber =
        Subscriber::queued((subscribers, handle), stream, queue, tag).inspect_err(|_| {
            subscribers.table.remove(handle);
        })?;
    enter(subscribers, &subscriber);
    // SAFETY: as the function's own.
    unsafe {
        out.write(handle);
        write_snapshot(outs.1, snapshot);
    }
    subscriber.listen();
    Ok(())
}

/// Puts a subscriber where its handle finds it.
fn enter(subscribers: &Subscribers, subscriber: &Arc<Subscriber>) {
    if let Some(over) = subscribers.table.fill(subscriber.handle, subscriber.clone()) {
        // The pool was freed meanwhile.
        over.close();
    }
}

/// # Safety
/// `place` is NULL or may be written.
unsafe fn write_snapshot(place: *mut *mut Buf, snapshot: Buf) {
    if !place.is_null() {
        // SAFETY: as the function's own.
        unsafe { raw::write_optional(place, snapshot.into_raw()) }
    }
}
