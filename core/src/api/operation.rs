//! Work under way, and where its results go.

use std::collections::VecDeque;
use std::sync::Mutex;

/// Something started that ends exactly once: with its result, or with an error (`cancelled`, `closed`, …).
///
/// Dropping it cancels nothing.
#[derive(Clone)]
pub struct Operation(());

impl Operation {
    /// Ends it with `cancelled`, unless it already ended. May be called from any thread, and again.
    pub fn cancel(&self) {}
}

/// Results of many operations behind one wake-up: the wake function is called when the queue goes from empty to not
/// empty, never under its lock.
pub struct CompletionQueue<T> {
    items: Mutex<VecDeque<T>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl<T> CompletionQueue<T> {
    /// An empty queue. `wake` is called on threads of the library and must not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        CompletionQueue { items: Mutex::new(VecDeque::new()), wake: Box::new(wake) }
    }

    /// Adds a result; wakes if it is the first.
    pub fn push(&self, item: T) {
        let mut items = self.items.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = items.is_empty();
        items.push_back(item);
        drop(items);
        if first {
            (self.wake)();
        }
    }

    /// Takes up to `most` results, oldest first. When some are left, the caller has to come again by itself.
    pub fn drain(&self, most: usize) -> Vec<T> {
        let mut items = self.items.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let count = most.min(items.len());
        items.drain(..count).collect()
    }

    /// How many results wait.
    pub fn len(&self) -> usize {
        self.items.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).len()
    }

    /// Whether no result waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
