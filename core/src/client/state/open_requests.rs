//! The requests of a server that handlers work on: how many, how often, and who takes each off the
//! list.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use trunkline_pool::options::Refusal;

/// Requests of one server that handlers work on at one time: more than a person can look at.
const OPEN_MAX: usize = 16;

/// Requests of one server for handlers in quick succession: what a busy tool may need.
const BURST_MAX: u32 = 60;

/// After that, one in this time: each may cost its user money or attention.
const PACE: Duration = Duration::from_secs(1);

/// The requests of one server that handlers work on.
pub(in crate::client) struct ServerRequests(Mutex<OpenRequestTable>);

struct OpenRequestTable {
    /// By the text of the id: its number, and what takes it back when it is dropped.
    requests: HashMap<Box<str>, (u64, oneshot::Sender<()>)>,
    /// What calls of the modern era ask for meanwhile, which has no ids of its own.
    inputs: usize,
    last: u64,
    pace: RequestPace,
    ended: bool,
}

impl ServerRequests {
    pub(in crate::client) fn new(now: Instant) -> Self {
        let pace = RequestPace { left: BURST_MAX, counted: now };
        let requests = HashMap::new();
        ServerRequests(Mutex::new(OpenRequestTable {
            requests,
            inputs: 0,
            last: 0,
            pace,
            ended: false,
        }))
    }

    /// Whether a handler works on a request.
    pub(in crate::client) fn is_any_open(&self) -> bool {
        !self.open().requests.is_empty()
    }

    /// Takes every request back, for good.
    pub(in crate::client) fn end(&self) {
        let mut open = self.open();
        open.ended = true;
        let gone = std::mem::take(&mut open.requests);
        drop(open);
        drop(gone);
    }

    /// Takes a request in; `None` when it is to have no answer.
    pub(in crate::client) fn begin(
        &self,
        id: &str,
        now: Instant,
    ) -> Option<Result<Ticket, Refusal>> {
        let mut open = self.open();
        // The answer to one that is open already would be taken for that one's.
        if open.ended || open.requests.contains_key(id) {
            return None;
        }
        if let Err(refusal) = open.admit(now) {
            return Some(Err(refusal));
        }
        let (keep, taken_back) = oneshot::channel();
        open.last += 1;
        let number = open.last;
        open.requests.insert(id.into(), (number, keep));
        Some(Ok(Ticket { id: id.into(), number, taken_back }))
    }

    /// Takes in what a call asks for, until what is returned is dropped.
    pub(in crate::client) fn begin_input(&self, now: Instant) -> Result<OpenInput<'_>, Refusal> {
        let mut open = self.open();
        open.admit(now)?;
        open.inputs += 1;
        Ok(OpenInput(self))
    }

    /// Takes a request off the list; whether it was still there. Its id may be that of another by
    /// now.
    pub(in crate::client) fn finish(&self, id: &str, number: u64) -> bool {
        let mut open = self.open();
        let is_it = open.requests.get(id).is_some_and(|(other, _)| *other == number);
        is_it && open.requests.remove(id).is_some()
    }

    /// Takes a request back; whether there was one.
    pub(in crate::client) fn take_back(&self, id: &str) -> bool {
        self.open().requests.remove(id).is_some()
    }

    fn open(&self) -> MutexGuard<'_, OpenRequestTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenRequestTable {
    /// Whether a handler may work on one more.
    fn admit(&mut self, now: Instant) -> Result<(), Refusal> {
        if self.requests.len() + self.inputs >= OPEN_MAX {
            return Err(refused("too many requests of this server wait for an answer"));
        }
        match self.pace.allows(now) {
            true => Ok(()),
            false => Err(refused("this server asks too often")),
        }
    }
}

/// Something that a call asks for and that a handler works on.
pub(in crate::client) struct OpenInput<'a>(&'a ServerRequests);

impl Drop for OpenInput<'_> {
    fn drop(&mut self) {
        self.0.open().inputs -= 1;
    }
}

/// A request that was taken in.
pub(in crate::client) struct Ticket {
    pub id: Box<str>,
    /// Tells it from a later one of the same id.
    pub number: u64,
    pub taken_back: oneshot::Receiver<()>,
}

/// How often a server may ask: a burst, then at a pace.
struct RequestPace {
    left: u32,
    counted: Instant,
}

impl RequestPace {
    fn allows(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.counted).as_nanos() / PACE.as_nanos();
        let passed = u32::try_from(passed).unwrap_or(u32::MAX);
        if passed >= BURST_MAX - self.left {
            (self.left, self.counted) = (BURST_MAX, now);
        } else {
            self.left += passed;
            self.counted += PACE * passed;
        }
        let allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allowed
    }
}

pub(in crate::client) fn refused(message: &str) -> Refusal {
    Refusal::new(Refusal::INTERNAL_ERROR, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 15.1: rate-limited.
    #[test]
    fn a_server_asks_in_a_burst_and_then_at_a_pace() {
        let start = Instant::now();
        let mut pace = RequestPace { left: BURST_MAX, counted: start };
        assert!((0..BURST_MAX).all(|_| pace.allows(start)));
        assert!(!pace.allows(start + PACE / 2));
        assert!(pace.allows(start + PACE));
        assert!(!pace.allows(start + PACE * 3 / 2));
        assert!(pace.allows(start + PACE * 2));
        let rested = start + PACE * 1000;
        assert!((0..BURST_MAX).all(|_| pace.allows(rested)) && !pace.allows(rested));
    }

    /// SPEC 15.1, S-43.
    #[test]
    fn open_requests_are_bounded_and_ids_unique() {
        let now = Instant::now();
        let requests = ServerRequests::new(now);
        for id in 0..OPEN_MAX {
            assert!(matches!(requests.begin(&id.to_string(), now), Some(Ok(_))));
        }
        assert!(requests.begin("0", now).is_none());
        assert!(matches!(requests.begin("new", now), Some(Err(_))));
        assert!(requests.take_back("0") && !requests.take_back("0"));
        assert!(matches!(requests.begin("new", now), Some(Ok(_))));
        requests.end();
        assert!(!requests.is_any_open() && requests.begin("later", now).is_none());
    }
}
