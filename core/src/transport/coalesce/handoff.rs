//! Requests that a thread leaves to the connections' writer tasks, since many follow one another:
//! it took several results at once, and mostly calls again after each of them.
//!
//! Invariants:
//! 1. What is left is queued as if the pipe were full, and the writer task is told at the first of
//!    it: nobody has to end anything, and nothing is held back.
//! 2. A thread leaves requests from when it took several results together until it takes one alone,
//!    none, or waits for the library.
//!
//! A batch that the host would end is quicker, but each host would have to know of it. A host that
//! calls less often than it took results would wait in `poll` for what nobody wrote.

use std::cell::Cell;

thread_local! {
    static LEAVES: Cell<bool> = const { Cell::new(false) };
}

/// For a thread that takes results out of a queue, each time: how many it took, and were there to
/// be taken. After several it leaves its requests over pipes to the library's thread, which writes
/// together what is there when it runs: where both share a core that is when this one waits. After
/// one, or none, it writes them itself, as do all threads that never took any.
#[doc(hidden)]
pub fn took_results(count: usize) {
    // A thread that ends writes for itself.
    let _ = LEAVES.try_with(|leaves| leaves.set(count > 1));
}

/// Whether this thread leaves its requests.
#[doc(hidden)]
pub fn leaves_requests() -> bool {
    LEAVES.try_with(Cell::get).unwrap_or(false)
}
