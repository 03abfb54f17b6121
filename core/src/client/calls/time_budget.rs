//! What the attempts of one call share: its time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trunkline_pool::in_flight::{Begun, Clock};

/// The time of a call that may have several attempts, one after the other. Cheap to clone; all
/// clones are of one call.
#[derive(Clone)]
pub(crate) struct Attempts(Arc<Mutex<Begun>>);

impl Attempts {
    /// Those of a call that begins now.
    pub(crate) fn begin() -> Attempts {
        Attempts(Arc::new(Mutex::new(Begun::new(Instant::now()))))
    }

    /// When so much time of the call's own is over, if nobody is asked on its behalf any more.
    pub(crate) fn later(&self, time: Duration) -> Instant {
        self.begun().later(time)
    }

    /// What the next attempt goes on with.
    pub(in crate::client) fn begun(&self) -> MutexGuard<'_, Begun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An attempt is over.
    pub(in crate::client) fn ended(&self, attempt: &Clock) {
        self.begun().ended(attempt, Instant::now());
    }
}
