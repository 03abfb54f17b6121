//! Making, draining and freeing queues.

use crate::abi::error::ErrorObject;
use crate::abi::guard::{check_fork, forks, guard, prepare_process};
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
/// forked child, and on Windows, where no descriptor can be polled: drain it in turns of your loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_queue_fd(queue: *const QueueObject) -> i32 {
    // SAFETY: the caller passes NULL or a queue that it has not freed.
    guarded(-1, || unsafe { QueueObject::of(queue) }.map_or(-1, |queue| queue.fd()))
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
/// Errors: `INVALID_ARGUMENT`, `FORKED`.
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

/// Frees a queue with whatever waits in it, and ends the subscriptions whose events come out of it.
/// Operations that were to end in it go on, and their results are dropped (a lease is released). No
/// other thread may be using the queue. NULL is fine. In a forked child the parent's queue is left
/// alone.
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
