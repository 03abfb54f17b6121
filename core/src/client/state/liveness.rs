//! What the reader tells the keep-alive.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::lists::freshness::BUSY_MAX;

/// What the reader tells the keep-alive.
#[derive(Debug)]
pub(in crate::client) struct Liveness {
    opened: Instant,
    /// When the last bytes came, in nanoseconds since `opened`.
    heard: AtomicU64,
    /// Until when the server asked to be left alone, in the same.
    busy_until: AtomicU64,
    /// The server announced a change of a list at least once.
    pub announces: AtomicBool,
    /// The server does not announce changes of every list that may have some.
    pub leaves_out: AtomicBool,
    /// Nothing brings what the server announces, unless a call's answer does.
    pub is_deaf: AtomicBool,
}

impl Liveness {
    pub(in crate::client) fn new() -> Self {
        Liveness {
            opened: Instant::now(),
            heard: AtomicU64::new(0),
            busy_until: AtomicU64::new(0),
            announces: AtomicBool::new(false),
            leaves_out: AtomicBool::new(false),
            is_deaf: AtomicBool::new(false),
        }
    }

    /// Something came from the server: whatever it was, it lives.
    pub(in crate::client) fn beat(&self) {
        self.heard.store(nanos(self.opened.elapsed()), Ordering::Relaxed);
    }

    /// The server lives, and asks to be left alone for that time.
    pub(in crate::client) fn leave_alone(&self, wait: Duration) {
        let until = self.opened.elapsed() + wait.min(BUSY_MAX);
        self.busy_until.fetch_max(nanos(until), Ordering::Relaxed);
    }

    /// Until when the server asked to be left alone; the beginning when it did not.
    pub(in crate::client) fn left_alone_until(&self) -> Instant {
        self.opened + Duration::from_nanos(self.busy_until.load(Ordering::Relaxed))
    }

    /// When something was heard last; later than now while the server is to be left alone.
    pub(in crate::client) fn heard_at(&self) -> Instant {
        let heard = self.heard.load(Ordering::Relaxed).max(self.busy_until.load(Ordering::Relaxed));
        self.opened + Duration::from_nanos(heard)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
