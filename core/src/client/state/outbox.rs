//! What a server is still to be told, kept in bounds until there is room on the wire.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::transport::{FrameKind, QUEUE_BYTES_MAX, QUEUE_REPLIES_MAX};

/// Something that a server is told and does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::client) enum PendingNotice {
    /// The answer to a request of its own, with the newline that ends it.
    Reply(Box<str>),
    /// The roots are others.
    RootsChanged,
    /// The answer to a request is no longer wanted.
    Cancelled {
        /// Its id.
        id: u64,
        /// In words, for the server's log.
        reason: &'static str,
    },
}

impl PendingNotice {
    pub(in crate::client) fn frame(&self) -> (Cow<'_, str>, FrameKind) {
        match self {
            PendingNotice::Reply(frame) => ((&**frame).into(), FrameKind::Reply),
            PendingNotice::RootsChanged => {
                let frame =
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}\n";
                (frame.into(), FrameKind::Notification)
            }
            PendingNotice::Cancelled { id, reason } => {
                let frame = format!(
                    "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":\
                     {{\"requestId\":{id},\"reason\":\"{reason}\"}}}}\n"
                );
                (frame.into(), FrameKind::Notification)
            }
        }
    }
}

/// What one server is still to be told.
#[derive(Default)]
pub(in crate::client) struct NoticeOutbox(Mutex<Debts>);

#[derive(Default)]
struct Debts {
    replies: VecDeque<Box<str>>,
    roots: bool,
    /// Why each request is taken back, by its id.
    cancelled: BTreeMap<u64, &'static str>,
    /// A task waits for room.
    is_awaited: bool,
}

impl NoticeOutbox {
    /// Adds something, as far as its bounds go: of `most` cancellations the oldest are left out.
    /// Whether a task has to begin to wait.
    pub(in crate::client) fn add(&self, debt: PendingNotice, most: usize) -> bool {
        let mut debts = self.debts();
        debts.add(debt, most);
        !std::mem::replace(&mut debts.is_awaited, true)
    }

    /// Takes out what comes next. With nothing left the task that asks is the one no more.
    pub(in crate::client) fn next(&self) -> Option<PendingNotice> {
        let mut debts = self.debts();
        let next = debts.next();
        debts.is_awaited = next.is_some();
        next
    }

    /// Puts back what was taken out and found no room: a reply is the next again, whatever was
    /// added meanwhile.
    pub(in crate::client) fn put_back(&self, debt: PendingNotice, most: usize) {
        let mut debts = self.debts();
        match debt {
            // One more than the bound, since it was counted before.
            PendingNotice::Reply(frame) => debts.replies.push_front(frame),
            debt => debts.add(debt, most),
        }
    }

    fn debts(&self) -> MutexGuard<'_, Debts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debts {
    fn add(&mut self, debt: PendingNotice, most: usize) {
        match debt {
            PendingNotice::Reply(frame) => self.add_reply(frame),
            PendingNotice::RootsChanged => self.roots = true,
            PendingNotice::Cancelled { id, reason } => {
                self.cancelled.insert(id, reason);
                if self.cancelled.len() > most {
                    self.cancelled.pop_first();
                }
            }
        }
    }

    /// As many are owed as may wait for a pipe. A single one with too many bytes is owed when it is
    /// alone.
    fn add_reply(&mut self, frame: Box<str>) {
        let bytes: usize = self.replies.iter().map(|reply| reply.len()).sum();
        let fits = bytes.saturating_add(frame.len()) <= QUEUE_BYTES_MAX;
        if self.replies.is_empty() || fits && self.replies.len() < QUEUE_REPLIES_MAX {
            self.replies.push_back(frame);
        }
    }

    /// Replies first: a server waits for each.
    fn next(&mut self) -> Option<PendingNotice> {
        if let Some(frame) = self.replies.pop_front() {
            return Some(PendingNotice::Reply(frame));
        }
        if std::mem::take(&mut self.roots) {
            return Some(PendingNotice::RootsChanged);
        }
        self.cancelled.pop_first().map(|(id, reason)| PendingNotice::Cancelled { id, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cancelled(id: u64) -> PendingNotice {
        PendingNotice::Cancelled { id, reason: "enough" }
    }

    fn paid(owed: &NoticeOutbox) -> Vec<PendingNotice> {
        std::iter::from_fn(|| owed.next()).collect()
    }

    /// SPEC 5.5, 15.2: each once, by one task, and of the cancellations no more than there can be
    /// calls.
    #[test]
    fn what_is_owed_is_owed_once_and_bounded() {
        let owed = NoticeOutbox::default();
        assert!(owed.add(cancelled(1), 3), "the first has a task begin");
        for debt in [2, 2, 3, 4].map(cancelled) {
            assert!(!owed.add(debt, 3));
        }
        (0..2).for_each(|_| assert!(!owed.add(PendingNotice::RootsChanged, 3)));
        assert_eq!(
            paid(&owed),
            [PendingNotice::RootsChanged, cancelled(2), cancelled(3), cancelled(4)]
        );
        assert!(owed.add(cancelled(5), 3), "the task that found nothing has ended");
    }

    /// SPEC 5.11, 15.1: a server that asks and takes nothing has a bounded number of replies
    /// waiting for it, and they go first.
    #[test]
    fn replies_that_are_owed_are_bounded_in_number_and_bytes() {
        let reply = |bytes: usize| PendingNotice::Reply("x".repeat(bytes).into());
        let owed = NoticeOutbox::default();
        owed.add(cancelled(1), 3);
        for _ in 0..2 * QUEUE_REPLIES_MAX {
            owed.add(reply(1), 3);
        }
        let all = paid(&owed);
        assert_eq!((all.len(), all.last()), (QUEUE_REPLIES_MAX + 1, Some(&cancelled(1))));
        for bytes in [QUEUE_BYTES_MAX + 1, 1] {
            owed.add(reply(bytes), 3);
        }
        assert_eq!(paid(&owed), [reply(QUEUE_BYTES_MAX + 1)]);
    }

    /// SPEC 5.11, 15.1: the server waits longest for it, and it had its place in the bounds before
    /// what came meanwhile.
    #[test]
    fn a_reply_that_found_no_room_is_the_next_again() {
        let numbered = |number: usize| PendingNotice::Reply(number.to_string().into());
        let owed = NoticeOutbox::default();
        for number in 0..QUEUE_REPLIES_MAX {
            owed.add(numbered(number), 3);
        }
        for meanwhile in [QUEUE_REPLIES_MAX, QUEUE_REPLIES_MAX + 1] {
            let tried = owed.next().unwrap();
            assert!(!owed.add(numbered(meanwhile), 3), "the task that tries goes on");
            owed.put_back(tried, 3);
        }
        assert_eq!(paid(&owed), (0..=QUEUE_REPLIES_MAX).map(numbered).collect::<Vec<_>>());

        let long = PendingNotice::Reply("x".repeat(QUEUE_BYTES_MAX + 1).into());
        owed.add(long.clone(), 3);
        let tried = owed.next().unwrap();
        owed.add(numbered(1), 3);
        owed.put_back(tried, 3);
        assert_eq!(paid(&owed), [long, numbered(1)]);
    }

    /// SPEC 5.5: of the cancellations the oldest are left out, one that was tried among them.
    #[test]
    fn a_notification_that_found_no_room_is_owed_as_before() {
        let owed = NoticeOutbox::default();
        for debt in [PendingNotice::RootsChanged, cancelled(1)] {
            owed.add(debt.clone(), 2);
            let tried = owed.next().unwrap();
            owed.put_back(tried, 2);
            assert_eq!(owed.next(), Some(debt));
        }
        owed.add(cancelled(1), 2);
        let tried = owed.next().unwrap();
        for debt in [2, 3].map(cancelled) {
            owed.add(debt, 2);
        }
        owed.put_back(tried, 2);
        assert_eq!(paid(&owed), [cancelled(2), cancelled(3)]);
    }
}
