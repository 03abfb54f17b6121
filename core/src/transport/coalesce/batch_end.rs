//! Calls that follow answers which were read together, on the library's own thread.
//!
//! Invariants:
//! 1. A turn begins amid a batch of answers. It ends when the reader's task runs again, which waits
//!    behind the tasks that those answers woke: each of them has the thread once. So the thread
//!    never sleeps in a turn.
//! 2. There are turns only while a [`Watch`] is kept. So a task that does not give the thread back
//!    delays requests for a moment only.
//! 3. There are turns only on a thread that has the library's tasks to itself: no other thread
//!    takes one of them.

use std::cell::RefCell;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::watchdog::Watch;
use crate::platform;

thread_local! {
    static WATCH: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

/// Requests that this thread sends are held back in turns, from now on until it ends: it has all of
/// the library's tasks.
pub(crate) fn take_turns() {
    // A thread that ends has no turns.
    let _ = WATCH.try_with(|watch| watch.replace(Some(Arc::default())));
}

/// Whether this thread has all of the library's tasks, those that read among them.
pub(in crate::transport) fn reads_on_this_thread() -> bool {
    WATCH.try_with(|watch| watch.borrow().is_some()).unwrap_or(false)
}

/// As long as it lives, requests of this thread over pipes are held back.
#[derive(Debug)]
#[must_use = "it holds requests back for as long as it lives"]
pub(in crate::transport) struct BatchGuard {
    watch: Arc<Watch>,
    fork_generation: u64,
}

impl BatchGuard {
    /// Begins one; nothing on threads that have none, and where nobody watches.
    pub(in crate::transport) fn begin() -> Option<BatchGuard> {
        let watch = WATCH.try_with(|watch| watch.borrow().clone()).ok()??;
        watch.begin(Instant::now).then(|| BatchGuard::of(watch))
    }

    /// One that the watch counts already.
    pub(super) fn of(watch: Arc<Watch>) -> BatchGuard {
        super::begin(Duration::MAX, Some(watch.clone()));
        BatchGuard { watch, fork_generation: platform::fork_generation() }
    }

    /// Ends it once the tasks that wait for the thread now had it. A dropped future ends it at
    /// once.
    pub(in crate::transport) async fn end_behind_others(self) {
        let mut waits = true;
        let others = poll_fn(|context| {
            if std::mem::take(&mut waits) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        others.await;
    }
}

impl Drop for BatchGuard {
    fn drop(&mut self) {
        // In a forked child nobody watches, and what was held is the parent's.
        if self.fork_generation != platform::fork_generation() {
            return;
        }
        // Also where another connection's turn goes on: nothing is held for longer than the turn
        // that it began in.
        super::write_held();
        super::end();
        self.watch.end();
    }
}
