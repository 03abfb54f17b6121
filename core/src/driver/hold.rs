//! A lease that was granted, from the grant to the release.
//!
//! A lease holds its session's handle. Otherwise the order in which a garbage collector drops the
//! two would decide whether calls are cancelled.

use std::num::NonZeroU64;
use std::sync::{Arc, Weak};

use trunkline_pool::state::{LeaseId, PoolInput, SessionId};

use super::{Driver, EntryCell, SessionPort};

/// A lease that was granted; dropping it releases it.
///
/// Its session is a holder from the grant on, so that it misses no event. It is none any more once
/// [`leave`](Self::leave) or the drop has returned: then it is told nothing more of the entry (SPEC
/// 8.5).
pub(crate) struct LeaseGuard {
    /// The pool.
    pub driver: Arc<Driver>,
    /// The entry that is held.
    pub cell: Arc<EntryCell>,
    lease: LeaseId,
    /// The number of the session that has it: the first is one, so that none takes no room of its
    /// own.
    holder: Option<NonZeroU64>,
}

impl LeaseGuard {
    /// A lease that nobody has yet.
    pub(super) fn new(driver: Arc<Driver>, cell: Arc<EntryCell>, lease: LeaseId) -> LeaseGuard {
        LeaseGuard { driver, cell, lease, holder: None }
    }

    /// A session has it from now on.
    pub(crate) fn held_by(&mut self, number: SessionId, session: &Weak<dyn SessionPort>) {
        self.leave();
        self.cell.hold(number, session);
        self.holder = NonZeroU64::new(number.0);
        debug_assert!(self.holder.is_some(), "sessions are numbered from one");
    }

    /// The session that had it no longer has; what it alone wanted of the server is taken back.
    pub(crate) fn leave(&mut self) {
        let Some(number) = self.holder.take() else { return };
        let session = SessionId(number.get());
        // While it has another lease it goes on to be told.
        if let Some(unwanted) = self.cell.unhold(session) {
            self.driver.hub.settle();
            self.driver.tell_demand_later(&self.cell, unwanted);
        }
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        if !self.driver.runtime.is_forked() {
            self.leave();
            self.driver.step(PoolInput::Release { lease: self.lease });
        }
    }
}
