//! Descriptors that a forked child must not keep for as long as it runs: the locks of files, which
//! it would hold on, and our ends of what servers read, who would not read its end.
//!
//! Those that are noted are closed in the child.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::noted_descriptors::{self, NONE};

/// Something open that is of this process alone. In a forked child it is the parent's, and closed.
#[derive(Debug)]
pub(in crate::platform) struct NotInherited<T: AsRawFd> {
    open: ManuallyDrop<T>,
    /// Where its descriptor is noted.
    noted: Option<&'static AtomicI32>,
    fork_generation: u64,
}

impl<T: AsRawFd> NotInherited<T> {
    /// Notes it until it is dropped.
    pub(in crate::platform) fn new(open: T) -> Self {
        let fork_generation = crate::platform::fork_generation();
        let noted = noted_descriptors::note(open.as_raw_fd());
        NotInherited { open: ManuallyDrop::new(open), noted, fork_generation }
    }

    /// Whether it is that of the process that this one was forked from.
    pub(in crate::platform) fn is_of_parent(&self) -> bool {
        self.fork_generation != crate::platform::fork_generation()
    }
}

impl<T: AsRawFd> Deref for NotInherited<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.open
    }
}

impl<T: AsRawFd> AsRawFd for NotInherited<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.open.as_raw_fd()
    }
}

impl<T: AsRawFd> Drop for NotInherited<T> {
    fn drop(&mut self) {
        if let Some(place) = self.noted {
            if self.is_of_parent() {
                // Closed by the fork: its number may be that of another file, and its place too.
                return;
            }
            place.store(NONE, Relaxed);
        }
        // SAFETY: once, and nothing uses it after it.
        unsafe { ManuallyDrop::drop(&mut self.open) };
    }
}
