//! Counts of what a server sent and nobody wanted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::base::escape::escape_line;
use crate::net::redact::Redactor;

/// Lines of noise that are kept, to show what the server prints.
const NOISE_LINES_MAX: usize = 5;

/// Bytes of each of them.
const NOISE_SHOWN_BYTES: usize = 200;

/// Counts of what a server sent and nobody wanted (SPEC 5.10, S-44).
#[derive(Debug, Default)]
pub(in crate::client) struct Ignored {
    /// Lines and texts that are no messages (SPEC 18.1).
    pub noise: AtomicU64,
    /// Replies to nothing in flight.
    pub replies: AtomicU64,
    /// Notifications that nobody handles, or that belong to no request.
    pub notifications: AtomicU64,
    /// The first ones of them, redacted, escaped and cut.
    pub first_noise: Mutex<Vec<String>>,
}

impl Ignored {
    /// What of a server is no message.
    pub(in crate::client) fn noise(&self, text: &[u8], redactor: &Redactor) {
        count(&self.noise);
        let mut first = self.first_noise.lock().unwrap_or_else(PoisonError::into_inner);
        if first.len() < NOISE_LINES_MAX {
            first.push(escape_line(&redactor.redact(text, NOISE_SHOWN_BYTES)));
        }
    }

    /// The first lines of it.
    pub(in crate::client) fn noise_lines(&self) -> Vec<String> {
        self.first_noise.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Adds one to a count.
pub(in crate::client) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
