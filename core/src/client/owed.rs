//! What a server is still to be told: notifications that found no room on the wire, and go out when there is some (SPEC 5.5, 15.2).
//!
//! Invariants:
//! 1. One task of a connection waits for room. Two would hand the only place there is to each other, and neither would send.
//! 2. What is owed is bounded: a change of the roots once, each cancellation once, and of these as many as calls may be in flight.
//! 3. It ends with the connection: a wire that has ended refuses nothing for want of room.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::link::Link;
use crate::transport::{FrameKind, Sent};

/// Something that a server of the legacy era is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notification {
    /// The answer to a request is no longer wanted.
    Cancelled {
        /// Its id.
        id: u64,
        /// In words, for the server's log.
        reason: &'static str,
    },
    /// The roots are others.
    RootsChanged,
}

impl Notification {
    fn frame(self) -> String {
        match self {
            Notification::Cancelled { id, reason } => format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":\
                 {{\"requestId\":{id},\"reason\":\"{reason}\"}}}}\n"
            ),
            Notification::RootsChanged => {
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}\n".into()
            }
        }
    }
}

/// What one server is still to be told.
#[derive(Default)]
pub(super) struct Owed(Mutex<Debts>);

#[derive(Default)]
struct Debts {
    /// Why each request is taken back, by its id.
    cancelled: BTreeMap<u64, &'static str>,
    roots: bool,
    /// A task waits for room.
    is_awaited: bool,
}

impl Owed {
    /// Adds something, and of `most` cancellations leaves out the oldest; whether a task has to begin to wait for room.
    fn add(&self, notification: Notification, most: usize) -> bool {
        let mut debts = self.debts();
        match notification {
            Notification::RootsChanged => debts.roots = true,
            Notification::Cancelled { id, reason } => {
                debts.cancelled.insert(id, reason);
                if debts.cancelled.len() > most {
                    debts.cancelled.pop_first();
                }
            }
        }
        !std::mem::replace(&mut debts.is_awaited, true)
    }

    /// Takes out what comes next. With nothing left the task that asks is the one no more.
    fn next(&self) -> Option<Notification> {
        let mut debts = self.debts();
        if std::mem::take(&mut debts.roots) {
            return Some(Notification::RootsChanged);
        }
        let next = debts.cancelled.pop_first();
        debts.is_awaited = next.is_some();
        next.map(|(id, reason)| Notification::Cancelled { id, reason })
    }

    fn debts(&self) -> std::sync::MutexGuard<'_, Debts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    /// Tells the server something, or once there is room, where there is none now. Never waits.
    pub(super) fn notify(&self, notification: Notification) {
        if self.is_told(notification) || !self.owe(notification) {
            return;
        }
        let Some(link) = self.me.upgrade() else { return };
        self.runtime.spawn(async move {
            loop {
                link.wire.room().await;
                loop {
                    let Some(next) = link.owed.next() else { return };
                    if !link.is_told(next) {
                        link.owe(next);
                        break;
                    }
                }
            }
        });
    }

    /// Whether there was room for it, or nobody is there to be told any more.
    fn is_told(&self, notification: Notification) -> bool {
        let frame = notification.frame();
        self.wire.send(frame.as_bytes(), FrameKind::Notification) != Sent::Full
    }

    fn owe(&self, notification: Notification) -> bool {
        let most = usize::try_from(self.options.in_flight).unwrap_or(usize::MAX);
        self.owed.add(notification, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cancelled(id: u64) -> Notification {
        Notification::Cancelled { id, reason: "enough" }
    }

    /// SPEC 5.5, 15.2: each once, by one task, and of the cancellations no more than there can be calls.
    #[test]
    fn what_is_owed_is_owed_once_and_bounded() {
        let owed = Owed::default();
        assert!(owed.add(cancelled(1), 3), "the first has a task begin");
        for notification in [2, 2, 3, 4].map(cancelled) {
            assert!(!owed.add(notification, 3));
        }
        (0..2).for_each(|_| assert!(!owed.add(Notification::RootsChanged, 3)));
        let paid: Vec<_> = std::iter::from_fn(|| owed.next()).collect();
        let roots = Notification::RootsChanged;
        assert_eq!(paid, [roots, cancelled(2), cancelled(3), cancelled(4)]);
        assert!(owed.add(roots, 3), "the task that found nothing has ended");
    }
}
