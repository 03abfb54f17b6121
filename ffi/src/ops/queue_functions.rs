//! Making queues, waiting for them, draining, closing and freeing them.

use crate::abi::error::ErrorObject;
use crate::abi::guard::{check_fork, check_may_block, forks, guard, prepare_process};
use crate::abi::item::Item;
use crate::abi::panic_guard::guarded;
use crate::abi::raw;
use crate::abi::types::Status;
use crate::delivery::outcome::free_parts;
use crate::delivery::queue::{Queue, QueueObject};

/// Makes a queue. Returns at once.
///
/// `out`: the queue; free it with `trunkline_queue_free`.
///
/// Errors: `INVALID_ARGUMENT`; `LIMIT` when the process has no descriptor left.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_queue_new(
    out: *mut *mut QueueObject,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let out = raw::out(out, "out")?;
            prepare_process();
            let queue = Queue::new()?;
            out.write(Box::into_raw(Box::new(QueueObject { forks: forks(), queue })));
            Ok(())
        })
    }
}

/// The descriptor to poll for reading: readable while items wait, as soon as all are there that
/// arrived together. It is the queue's own; do not read, write or close it. -1 of NULL, in a
/// forked child, and on Windows, where no descriptor can be polled: `trunkline_queue_wait` waits
/// there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_queue_fd(queue: *const QueueObject) -> i32 {
    // SAFETY: the caller passes NULL or a queue that it has not freed.
    guarded(-1, || unsafe { QueueObject::of(queue) }.map_or(-1, |queue| queue.fd()))
}

/// Waits until items are in the queue, or until the time is over: for hosts without a loop. Any
/// number of threads may wait on one queue. Each is woken, and those that drain too late find
/// nothing. Blocks: `WRONG_THREAD` inside a callback.
///
/// `timeout_ms`: in milliseconds; 0 only looks; `TRUNKLINE_DEFAULT` for as long as it takes.
///
/// Errors: `TIMEOUT` when nothing came; `CLOSED` when the queue is closed, also meanwhile;
/// `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_queue_wait(
    queue: *mut QueueObject,
    timeout_ms: u64,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let queue = QueueObject::of(queue)?;
            check_may_block()?;
            queue.wait(raw::optional_time(timeout_ms))
        })
    }
}

/// Takes up to `capacity` items out of the queue, oldest first, without waiting.
///
/// Items of operations and of subscriptions on one queue come in the order in which they happened:
/// the progress of a call before its end. When `capacity` items came, there may be more, and the
/// descriptor stays readable.
///
/// `items`: an array of at least `capacity`; the caller owns what the items hold (see
/// `trunkline_item_clear`). `out_count`: how many were written, possibly 0.
///
/// Errors: `CLOSED`, `INVALID_ARGUMENT`, `FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_queue_drain(
    queue: *mut QueueObject,
    items: *mut Item,
    capacity: usize,
    out_count: *mut usize,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let queue = QueueObject::of(queue)?;
            let out_count = raw::out(out_count, "out_count")?;
            if capacity > 0 {
                raw::out(items, "items")?;
            }
            queue.check_open()?;
            out_count.write(queue.drain(capacity, |index, item| items.add(index).write(item)));
            Ok(())
        })
    }
}

/// Frees the `buf` and the `error` of an item and sets both to NULL. A lease in `handle` is not
/// released. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_item_clear(item: *mut Item) {
    // SAFETY: the caller passes NULL or an item that this library filled or that is all zeros.
    guarded((), || unsafe {
        if item.is_null() {
            return;
        }
        free_parts(&*item);
        (*item).buf = std::ptr::null_mut();
        (*item).error = std::ptr::null_mut();
    });
}

/// Ends a queue, while other threads may wait on it or use it: what they ask of it answers
/// `CLOSED`. What waits in it is dropped, and subscriptions whose events come out of it end.
/// Operations that were to end in it go on, and their results are dropped (a lease is released).
/// The descriptor stays readable. Returns at once; repeating it does nothing. Free the queue once
/// no thread uses it.
///
/// Errors: `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_queue_close(
    queue: *mut QueueObject,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            QueueObject::of(queue)?.close();
            Ok(())
        })
    }
}

/// Frees a queue, which is closed then (`trunkline_queue_close`). No other thread may be using it.
/// NULL is fine. In a forked child the parent's queue is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_queue_free(queue: *mut QueueObject) {
    // SAFETY: the caller passes NULL or a queue of `trunkline_queue_new`, and gives it up.
    unsafe {
        guard(std::ptr::null_mut(), || {
            if queue.is_null() || check_fork((*queue).forks).is_err() {
                return Ok(());
            }
            Box::from_raw(queue).queue.close();
            Ok(())
        });
    }
}
