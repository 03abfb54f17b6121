//! Requests that an event loop sends in a row, written together.
//!
//! The task that awaited one of several results runs in the loop's next pass, and mostly calls
//! again.
//! The loop ends the hold behind them, in that pass. A loop that stops before it leaves the hold to
//! its thread: whatever else is started there ends it.

use std::cell::RefCell;

use trunkline::WriteBatch;

thread_local! {
    /// For which bridge requests of this thread are held back. An interpreter may end, and use the
    /// library, behind the end of what its thread has: nothing is held back there.
    static HELD: RefCell<Option<(u64, WriteBatch)>> = const { RefCell::new(None) };
}

/// Holds back from now on, for the bridge with this number.
pub fn hold(bridge: u64) {
    write_of_others(Some(bridge));
    let _ = HELD.try_with(|held| {
        held.borrow_mut().get_or_insert_with(|| (bridge, WriteBatch::begin()));
    });
}

/// Writes what is held back on this thread.
pub fn write() {
    let held = HELD.try_with(RefCell::take);
    drop(held);
}

/// The same, unless it is held for this bridge.
pub fn write_of_others(bridge: Option<u64>) {
    let is_of_other = |held: &RefCell<Option<(u64, WriteBatch)>>| {
        held.borrow().as_ref().is_some_and(|(number, _)| Some(*number) != bridge)
    };
    if HELD.try_with(is_of_other).unwrap_or(false) {
        write();
    }
}
