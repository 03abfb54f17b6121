//! Requests that one thread sends in a row, written together: one write, and one wake-up of the server, instead of one for each.
//!
//! Invariants:
//! 1. What is held back is in the queue of its writer, in the order of `send`. Nothing is written past it: whatever else is sent on
//!    the connection, also by another thread that holds back, writes it first.
//! 2. It is bounded by [`BYTES`] for each connection, and held until the [`JoinedRequests`] of its thread end; a request that is
//!    sent when [`HELD_MAX`] has passed writes what was held before it.

#[cfg(all(test, unix))]
mod tests;

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::FrameWriter;
use crate::platform;

/// As much as goes into a pipe in one piece, or not at all.
pub(super) const BYTES: usize = 4096;

const HELD_MAX: Duration = Duration::from_millis(1);

thread_local! {
    static JOINING: RefCell<Option<Joining>> = const { RefCell::new(None) };
}

struct Joining {
    since: Instant,
    held_max: Duration,
    /// Those that hold something back.
    writers: Vec<Arc<FrameWriter>>,
}

/// As long as it lives, requests that this thread sends over pipes are held back; its end writes them, together. For a thread that is
/// about to send many at once, and waits for none of them meanwhile. A second one on the same thread is part of the first.
pub struct JoinedRequests {
    is_outer: bool,
    fork_generation: u64,
    /// It belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl JoinedRequests {
    /// Begins to hold back.
    pub fn begin() -> JoinedRequests {
        JoinedRequests::begin_for(HELD_MAX)
    }

    fn begin_for(held_max: Duration) -> JoinedRequests {
        let begin = |joining: &RefCell<Option<Joining>>| {
            let mut joining = joining.borrow_mut();
            let is_outer = joining.is_none();
            joining.get_or_insert_with(|| {
                let (since, writers) = (Instant::now(), Vec::new());
                Joining { since, held_max, writers }
            });
            is_outer
        };
        JoinedRequests {
            // A thread that ends holds nothing back.
            is_outer: JOINING.try_with(begin).unwrap_or(false),
            fork_generation: platform::fork_generation(),
            thread: PhantomData,
        }
    }
}

impl Drop for JoinedRequests {
    fn drop(&mut self) {
        if !self.is_outer {
            return;
        }
        let joining = JOINING.try_with(|joining| joining.borrow_mut().take()).unwrap_or(None);
        // In a forked child the requests are the parent's.
        if self.fork_generation == platform::fork_generation() {
            joining.into_iter().flat_map(|joining| joining.writers).for_each(|one| one.release());
        }
    }
}

/// This thread, if it holds requests back. Those that were held long enough are written. Not to be called under a writer's lock.
pub(super) fn on_this_thread() -> Option<ThreadId> {
    let overdue = |joining: &RefCell<Option<Joining>>| {
        let mut joining = joining.borrow_mut();
        let joining = joining.as_mut()?;
        if joining.writers.is_empty() || joining.since.elapsed() <= joining.held_max {
            return Some(Vec::new());
        }
        joining.since = Instant::now();
        Some(std::mem::take(&mut joining.writers))
    };
    let overdue = JOINING.try_with(overdue).unwrap_or(None)?;
    overdue.into_iter().for_each(|writer| writer.release());
    Some(thread::current().id())
}

/// Notes that a writer holds something back.
pub(super) fn note(writer: &Arc<FrameWriter>) {
    let note = |joining: &RefCell<Option<Joining>>| {
        if let Some(Joining { since, writers, .. }) = joining.borrow_mut().as_mut() {
            if writers.is_empty() {
                *since = Instant::now();
            }
            writers.push(writer.clone());
        }
    };
    // Whoever notes has asked `on_this_thread` on this very thread.
    let _ = JOINING.try_with(note);
}
