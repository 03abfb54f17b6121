//! The progress of calls: as events, and on its way to a host's own thread (SPEC 5.9).
//!
//! A progress function that fails changes nothing about its call: the work at the server may be
//! done, and its result must not be lost.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use trunkline_pool::interface::EventKind;
use trunkline_pool::json::readable_members;
use trunkline_pool::options::ProgressReceiver;

use crate::client::OnProgress;
use crate::driver::EntryCell;
use crate::events::{EVENT_BYTES_MAX, EventSubject};
use crate::session::session_core::SessionCore;

/// Progress of one call goes to the session's subscribers, and to the call's own receiver, in the
/// order of the wire.
pub(crate) fn events(
    session: Arc<SessionCore>,
    cell: Arc<EntryCell>,
    number: u64,
    receiver: Option<ProgressReceiver>,
) -> OnProgress {
    Box::new(move |params| {
        let params = readable_members(params);
        let mut fields = vec![("call", number.into())];
        for name in ["progress", "total", "message"] {
            if let Some(value) = params.get(name) {
                fields.push((name, value.clone()));
            }
        }
        let about = EventSubject::entry(&cell.named, cell.load().slot.generation);
        let hub = &session.driver.hub;
        match &receiver {
            None => hub.publish(EventKind::Progress, Some(&session.recipient), &about, &fields),
            Some(receiver) => {
                let event = hub.publish_and_keep(
                    EventKind::Progress,
                    Some(&session.recipient),
                    &about,
                    &fields,
                    || true,
                );
                if let Some(event) = event {
                    receiver.receive(event.json());
                }
            }
        }
    })
}

/// Progress events of one call that a host's thread has yet to take. At most
/// [`WAITING_MAX`](Self::WAITING_MAX) wait, and [`BYTES_MAX`](Self::BYTES_MAX) of them; of more the
/// oldest are dropped, since the newest says how far the call is.
#[derive(Default)]
pub struct ProgressFeed(Mutex<ProgressQueue>);

#[derive(Default)]
struct ProgressQueue {
    events: VecDeque<Box<str>>,
    /// The bytes of all.
    bytes: usize,
}

impl ProgressQueue {
    fn pop(&mut self) {
        let oldest = self.events.pop_front();
        self.bytes -= oldest.map_or(0, |event| event.len());
    }
}

impl ProgressFeed {
    /// Bytes of the events that wait, unless one alone has more: as many as wait for one
    /// subscriber.
    pub const BYTES_MAX: usize = EVENT_BYTES_MAX;

    /// Events that wait: as many as wait for one subscriber by default.
    pub const WAITING_MAX: usize = 1024;

    /// An empty feed.
    pub fn new() -> ProgressFeed {
        ProgressFeed::default()
    }

    /// Adds an event's JSON text. Whether it is the first that waits, so that the host's thread has
    /// to be woken.
    pub fn push(&self, event: &str) -> bool {
        let mut waiting = self.waiting();
        let is_first = waiting.events.is_empty();
        waiting.bytes += event.len();
        waiting.events.push_back(event.into());
        while waiting.events.len() > Self::WAITING_MAX
            || (waiting.events.len() > 1 && waiting.bytes > Self::BYTES_MAX)
        {
            waiting.pop();
        }
        is_first
    }

    /// Takes what waits, oldest first.
    pub fn take(&self) -> Vec<String> {
        let waiting = std::mem::take(&mut *self.waiting());
        waiting.events.into_iter().map(String::from).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, ProgressQueue> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.9: bounded, in order, and the newest is there.
    #[test]
    fn a_feed_that_nobody_empties_keeps_the_newest() {
        let feed = ProgressFeed::new();
        assert!(feed.push("0"));
        for number in 1..=ProgressFeed::WAITING_MAX {
            assert!(!feed.push(&number.to_string()));
        }
        let taken = feed.take();
        assert_eq!(taken.len(), ProgressFeed::WAITING_MAX);
        assert_eq!((&*taken[0], taken.last().unwrap().as_str()), ("1", "1024"));
        assert!(feed.take().is_empty() && feed.push("again"));
    }

    /// S-24: how long an event is is for the server to say.
    #[test]
    fn a_feed_of_long_events_keeps_the_newest() {
        let feed = ProgressFeed::new();
        let long = |number: usize| format!("{number:08}").repeat(1 << 17);
        for number in 0..40 {
            assert_eq!(feed.push(&long(number)), number == 0);
        }
        let taken = feed.take();
        assert_eq!(taken.len(), ProgressFeed::BYTES_MAX >> 20);
        assert!(*taken.last().unwrap() == long(39));
        // One alone is kept however long it is, and what is taken makes room.
        let longest = "x".repeat(ProgressFeed::BYTES_MAX + 1);
        assert!(feed.push("short") && !feed.push(&longest));
        assert!(feed.take() == [longest]);
        assert!(feed.push("again") && !feed.push("and again"));
        assert_eq!(feed.take().len(), 2);
    }
}
