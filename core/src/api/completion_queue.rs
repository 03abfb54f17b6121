//! Where the results of operations wait for an event loop.
//!
//! The queue itself says when to look again, so that Python and Node share these rules.

#[cfg(all(test, feature = "schedules"))]
mod schedules;

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::base::sync::{Mutex, MutexGuard, thread_local};
use crate::base::wakes;

thread_local! {
    /// The bell that is not to be heard, since this thread looks itself afterwards at what arrived;
    /// 0 for none.
    static MUFFLED: Cell<usize> = Cell::default();
}

/// Results of many operations behind one wake-up: the wake function is called when the queue goes
/// from empty to not empty, never under its lock.
pub struct CompletionQueue<T> {
    items: Mutex<VecDeque<T>>,
    bell: Bell,
}

/// What wakes an event loop: at once, or when all is told that arrived together.
#[doc(hidden)]
pub struct Bell(Arc<Hammer>);

struct Hammer(Box<dyn Fn() + Send + Sync>);

impl wakes::Wake for Hammer {
    fn wake(&self) {
        // A thread that ends has muffled none.
        if MUFFLED.try_with(Cell::get).unwrap_or_default() != self.address() {
            (self.0)();
        }
    }
}

impl Hammer {
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl Bell {
    /// `wake` is called on threads of the library, or on one that calls into it, and must not
    /// block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Bell {
        Bell(Arc::new(Hammer(Box::new(wake))))
    }

    /// Wakes it once for each ring; later than this returns where more is to be told first.
    pub fn ring(&self) {
        wakes::wake_behind(&self.0);
    }

    /// Until it is dropped, what this thread strikes is not heard.
    fn muffle(&self) -> Muffled {
        Muffled(MUFFLED.with(|muffled| muffled.replace(self.0.address())))
    }
}

/// What was muffled before.
struct Muffled(usize);

impl Drop for Muffled {
    fn drop(&mut self) {
        let _ = MUFFLED.try_with(|muffled| muffled.set(self.0));
    }
}

impl<T> CompletionQueue<T> {
    /// An empty queue. `wake` is called on threads of the library and must not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        CompletionQueue { items: Mutex::default(), bell: Bell::new(wake) }
    }

    /// Adds a result; wakes if it is the first. Bounded by the operations under way: each adds one.
    pub fn push(&self, item: T) {
        let first = {
            let mut items = self.items();
            items.push_back(item);
            items.len() == 1
        };
        if first {
            self.bell.ring();
        }
    }

    /// Takes up to `most` results, oldest first. Where some are left, the taker is woken again.
    ///
    /// A descriptor or flag by which a loop is woken is cleared before this, never after it: what
    /// comes in between would not be seen.
    pub fn drain(&self, most: usize) -> Vec<T> {
        self.drain_within(most, usize::MAX, |_| 0)
    }

    /// The same, but no more once those taken have `enough` together, by their sizes.
    pub fn drain_within(&self, most: usize, enough: usize, size: impl Fn(&T) -> usize) -> Vec<T> {
        let (taken, are_left) = {
            let mut items = self.items();
            let mut taken = 0_usize;
            let is_wanted = |item: &&T| {
                let is_wanted = taken < enough;
                taken = taken.saturating_add(size(item));
                is_wanted
            };
            let count = items.iter().take(most).take_while(is_wanted).count();
            (items.drain(..count).collect(), !items.is_empty())
        };
        if are_left {
            self.bell.ring();
        }
        taken
    }

    /// Runs, on the thread that drains this queue and does so right afterwards, what may add to it:
    /// nobody is woken for that. A panic in it goes on, and wakes for what was added before.
    pub fn before_drain<R>(&self, work: impl FnOnce() -> R) -> R {
        let rings = RingsForPanic(self);
        let muffled = self.bell.muffle();
        let result = work();
        drop(muffled);
        std::mem::forget(rings);
        result
    }

    /// How many results wait.
    pub fn len(&self) -> usize {
        self.items().len()
    }

    /// Whether no result waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn items(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.items.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The code that drains may not come to it.
struct RingsForPanic<'a, T>(&'a CompletionQueue<T>);

impl<T> Drop for RingsForPanic<'_, T> {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            self.0.bell.ring();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    /// A queue, and how often it rang.
    fn counted() -> (CompletionQueue<u32>, Arc<AtomicUsize>) {
        let rung = Arc::new(AtomicUsize::new(0));
        let rings = rung.clone();
        let queue = CompletionQueue::new(move || {
            rings.fetch_add(1, SeqCst);
        });
        (queue, rung)
    }

    /// One wake-up covers whatever comes until the queue is emptied, and another what a look
    /// leaves.
    #[test]
    fn a_queue_wakes_once_for_what_is_new_and_once_for_what_is_left() {
        let (queue, rung) = counted();
        (0..5).for_each(|number| queue.push(number));
        assert_eq!((queue.len(), rung.load(SeqCst)), (5, 1));
        assert_eq!((queue.drain(2), rung.load(SeqCst)), (vec![0, 1], 2));
        assert_eq!((queue.drain(3), rung.load(SeqCst)), (vec![2, 3, 4], 2), "nothing is left");
        assert_eq!((queue.drain(3), rung.load(SeqCst)), (vec![], 2));
        queue.push(5);
        assert_eq!(rung.load(SeqCst), 3);
    }

    #[test]
    fn what_is_large_is_taken_in_parts() {
        let (queue, rung) = counted();
        [3, 1, 5, 9, 0, 2].into_iter().for_each(|number| queue.push(number));
        let drain = |most, enough| queue.drain_within(most, enough, |number| *number as usize);
        assert_eq!((drain(9, 4), rung.load(SeqCst)), (vec![3, 1], 2));
        assert_eq!((drain(1, 9), rung.load(SeqCst)), (vec![5], 3), "as many as are wanted");
        assert_eq!((drain(9, 1), rung.load(SeqCst)), (vec![9], 4), "one in any case");
        assert_eq!((drain(9, 9), rung.load(SeqCst)), (vec![0, 2], 4));
    }

    #[test]
    fn who_drains_afterwards_does_not_wake_itself() {
        let (queue, rung) = counted();
        let (other, other_rung) = counted();
        queue.before_drain(|| {
            other.before_drain(|| {
                other.push(1);
                queue.push(2);
            });
            queue.push(3);
            other.push(4);
            std::thread::scope(|scope| drop(scope.spawn(|| queue.push(5))));
        });
        assert_eq!(rung.load(SeqCst), 1, "the inner queue's alone was muffled");
        assert_eq!(other_rung.load(SeqCst), 0, "it was there already");
        assert_eq!((queue.drain(9), other.drain(9)), (vec![2, 3, 5], vec![1, 4]));
        queue.before_drain(|| queue.push(6));
        assert_eq!((queue.drain(9), rung.load(SeqCst)), (vec![6], 1));
        queue.push(7);
        assert_eq!(rung.load(SeqCst), 2);
    }

    #[test]
    fn what_a_panic_keeps_from_being_drained_wakes() {
        let (queue, rung) = counted();
        let panicking = || {
            queue.before_drain(|| {
                queue.push(1);
                panic!("amid a read");
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
        assert_eq!((rung.load(SeqCst), queue.drain(9)), (1, vec![1]));
    }
}
