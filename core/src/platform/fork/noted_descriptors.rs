//! The descriptors that a forked child closes.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// Notes a descriptor; where, unless there is no room.
pub(in crate::platform) fn note(descriptor: RawFd) -> Option<&'static AtomicI32> {
    let note =
        |place: &&AtomicI32| place.compare_exchange(NONE, descriptor, Relaxed, Relaxed).is_ok();
    NOTED.iter().find(note)
}

/// Closes the descriptors of the parent alone. For the child of a fork, where next to nothing may
/// be done.
pub(in crate::platform) fn close_noted() {
    for place in &NOTED {
        let descriptor = place.swap(NONE, Relaxed);
        if descriptor != NONE {
            // SAFETY: whatever has the descriptor never uses it in this process.
            unsafe { libc::close(descriptor) };
        }
    }
}

/// The descriptors that are noted.
static NOTED: [AtomicI32; NOTED_MAX] = [const { AtomicI32::new(NONE) }; NOTED_MAX];

/// One for each server (1,024 in a pool unless it is told otherwise), and the locks, which are few.
/// One beyond these stays open in children.
const NOTED_MAX: usize = 2048;

/// No descriptor.
pub(in crate::platform) const NONE: i32 = -1;
