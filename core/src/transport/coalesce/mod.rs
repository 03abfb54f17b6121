//! Requests that one thread sends in a row, written together: one write, and one wake-up of the
//! server, instead of one for each.
//!
//! Invariants:
//! 1. What is held back is in the queue of its writer, in the order of `send`. Nothing is written
//!    past it: whatever else is sent on the connection, also by another thread that holds back,
//!    writes it first.
//! 2. It is bounded by [`BYTES`] for each connection, and held until the [`WriteBatch`] of its
//!    thread end, or that thread waits for the library; a request that is sent when [`HELD_MAX`]
//!    has passed writes what was held before it.
//! 3. What the library's own thread holds back, in a turn (`coalesce/batch_end.rs`), is written at
//!    the end of the turn. Another thread (`coalesce/watchdog.rs`) writes it when that is long in
//!    coming.

mod batch_end;
mod flush;
mod handoff;
#[cfg(all(test, unix))]
mod tests;
mod watchdog;

use std::cell::{RefCell, RefMut};
use std::marker::PhantomData;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

pub(crate) use self::batch_end::take_turns;
pub(super) use self::batch_end::{BatchGuard, reads_on_this_thread};
pub(super) use self::flush::Flush;
pub use self::handoff::{leaves_requests, took_results};
use self::watchdog::Watch;
use crate::platform;

/// As much as goes into a pipe in one piece, or not at all.
pub(super) const BYTES: usize = 4096;

const HELD_MAX: Duration = Duration::from_millis(1);

thread_local! {
    static JOINING: RefCell<Option<Joining>> = const { RefCell::new(None) };
}

struct Joining {
    /// How many began it, and have not ended.
    begun: usize,
    since: Instant,
    held_max: Duration,
    /// Those that hold something back.
    writers: Vec<Arc<dyn Flush>>,
    /// Who writes that when the thread does not.
    watch: Option<Arc<Watch>>,
    fork_generation: u64,
}

impl Joining {
    /// Those whose requests are to be written.
    fn take(&mut self) -> Vec<Arc<dyn Flush>> {
        let writers = std::mem::take(&mut self.writers);
        if let Some(watch) = &self.watch {
            watch.written();
        }
        writers
    }
}

/// As long as it lives, requests that this thread sends over pipes are held back; its end writes
/// them, together, and so does a wait of this thread for the library. For a thread that is about to
/// send many at once, and waits for nothing else meanwhile. A second one on the same thread is part
/// of the first.
#[must_use = "it holds requests back for as long as it lives"]
#[doc(hidden)]
pub struct WriteBatch {
    /// It belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl WriteBatch {
    /// Begins to hold back.
    pub fn begin() -> WriteBatch {
        WriteBatch::begin_for(HELD_MAX)
    }

    fn begin_for(held_max: Duration) -> WriteBatch {
        begin(held_max, None);
        WriteBatch { thread: PhantomData }
    }
}

impl Drop for WriteBatch {
    fn drop(&mut self) {
        end();
    }
}

/// What this thread has. In a forked child what is there is the parent's, with all that is held:
/// the child has nothing.
fn of_this_process(joining: &RefCell<Option<Joining>>) -> RefMut<'_, Option<Joining>> {
    let mut joining = joining.borrow_mut();
    let of_parent = |it: &Joining| it.fork_generation != platform::fork_generation();
    // Not dropped: a lock of its may be held for ever by a thread that the child does not have.
    std::mem::forget(joining.take_if(|it| of_parent(it)));
    joining
}

/// This thread holds back from now on, as many times as it began.
fn begin(held_max: Duration, watch: Option<Arc<Watch>>) {
    let begin = |joining: &RefCell<Option<Joining>>| {
        let mut joining = of_this_process(joining);
        let joining = joining.get_or_insert_with(|| {
            let (since, writers) = (Instant::now(), Vec::new());
            let fork_generation = platform::fork_generation();
            Joining { begun: 0, since, held_max, writers, watch, fork_generation }
        });
        joining.begun += 1;
    };
    // A thread that ends holds nothing back.
    let _ = JOINING.try_with(begin);
}

/// One of those that began has ended; the last one writes.
fn end() {
    let end = |joining: &RefCell<Option<Joining>>| {
        let mut joining = of_this_process(joining);
        let begun = joining.as_mut().map(|joining| {
            joining.begun -= 1;
            joining.begun
        });
        joining.take_if(|_| begun == Some(0))
    };
    let ended = JOINING.try_with(end).unwrap_or(None);
    release(ended.map(|mut joining| joining.take()).unwrap_or_default());
}

/// Writes what this thread holds back: it is about to wait.
pub(crate) fn write_held() {
    let held = |joining: &RefCell<Option<Joining>>| {
        of_this_process(joining).as_mut().map(Joining::take).unwrap_or_default()
    };
    release(JOINING.try_with(held).unwrap_or_default());
}

/// This thread, if it holds requests back. Those that were held long enough are written. Not to be
/// called under a writer's lock.
pub(super) fn on_this_thread() -> Option<ThreadId> {
    let overdue = |joining: &RefCell<Option<Joining>>| {
        let mut joining = of_this_process(joining);
        let joining = joining.as_mut()?;
        // Somebody else looks at the clock of a thread that is watched.
        let is_due = || joining.watch.is_none() && joining.since.elapsed() > joining.held_max;
        if joining.writers.is_empty() || !is_due() {
            return Some(Vec::new());
        }
        joining.since = Instant::now();
        Some(joining.take())
    };
    release(JOINING.try_with(overdue).unwrap_or(None)?);
    Some(thread::current().id())
}

fn release(writers: Vec<Arc<dyn Flush>>) {
    writers.into_iter().for_each(|writer| writer.flush_held());
}

/// Notes that a writer holds something back.
pub(super) fn note(writer: Arc<dyn Flush>) {
    let note = |joining: &RefCell<Option<Joining>>| {
        if let Some(Joining { since, writers, watch, .. }) = joining.borrow_mut().as_mut() {
            match watch {
                Some(watch) => watch.holds(writer.clone()),
                None if writers.is_empty() => *since = Instant::now(),
                None => {}
            }
            writers.push(writer);
        }
    };
    // The thread that notes has asked `on_this_thread` itself.
    let _ = JOINING.try_with(note);
}
