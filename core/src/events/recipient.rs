//! The session that an event is told to, beside the pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trunkline_pool::state::SessionId;

/// What events have to know of a session. It lies at the beginning of that, see `SessionCore`.
#[repr(C)]
pub(crate) struct Recipient {
    /// The number that the pool gave.
    pub number: SessionId,
    closed: AtomicBool,
    /// The id that the host gave.
    pub id: Arc<str>,
}

impl Recipient {
    pub(crate) fn new(number: SessionId, id: &str) -> Recipient {
        Recipient { number, closed: AtomicBool::new(false), id: id.into() }
    }

    /// Whether nothing is told to it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Nothing is told to it from here on; whether that was so before.
    pub(crate) fn close(&self) -> bool {
        self.closed.swap(true, Ordering::AcqRel)
    }
}
