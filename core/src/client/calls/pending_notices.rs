//! What a server is still to be told: what found no room on the wire, and goes out when there is
//! some (SPEC 5.5, 15.1, 15.2).
//!
//! Invariants:
//! 1. One task of a connection waits for room. Two would hand the only place there is to each
//!    other, and neither would send.
//! 2. What is owed is bounded: replies by number and bytes, a change of the roots once, each
//!    cancellation once, and of these as many as calls may be in flight.
//! 3. It ends with the connection: a wire that has ended refuses nothing for want of room.

use crate::client::connection::Link;
use crate::client::state::outbox::PendingNotice;
use crate::transport::WriteOutcome;

impl Link {
    /// Tells the server something, or once there is room, where there is none now and the wire says
    /// when. Never waits.
    pub(in crate::client) fn pay(&self, debt: PendingNotice) {
        if self.try_pay(&debt) != WriteOutcome::Full
            || self.wire.room().is_none()
            || !self.owe(debt)
        {
            return;
        }
        let Some(link) = self.me.upgrade() else { return };
        self.runtime.spawn(async move {
            while let Some(room) = link.wire.room() {
                room.await;
                loop {
                    let Some(next) = link.owed.next() else { return };
                    if link.try_pay(&next) == WriteOutcome::Full {
                        link.owed.put_back(next, link.cancelled_max());
                        break;
                    }
                }
            }
        });
    }

    /// It is owed on where the wire is full; one that has ended has nobody to tell any more.
    fn try_pay(&self, debt: &PendingNotice) -> WriteOutcome {
        let (frame, kind) = debt.frame();
        self.wire.send(frame.as_bytes(), kind)
    }

    fn owe(&self, debt: PendingNotice) -> bool {
        self.owed.add(debt, self.cancelled_max())
    }

    /// Cancellations that are owed at one time.
    fn cancelled_max(&self) -> usize {
        usize::try_from(self.options.in_flight).unwrap_or(usize::MAX)
    }
}
