//! How soon a stream that ended is asked for again, and how often.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// However little a server asks for: fewer than ten attempts in a second.
const WAIT_MIN: Duration = Duration::from_millis(150);

/// However much a server asks for: what it sends unasked is not left for longer.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Where the server says nothing.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);

/// Doublings after failures in a row.
const DOUBLINGS_MAX: u32 = 5;

/// Attempts in a row to resume a stream that bring nothing.
const FAILURES_MAX: u32 = 5;

/// Attempts in a row that bring no message, but a new place to resume from: ten minutes at the default wait, and as long as a call may
/// be silent at the shortest. Servers that are polled rather than streamed from ask for longer waits.
const POLLS_MAX: u32 = 600;

/// When the streams of one connection may be asked for, over all of them: however many there are, a server is asked for one at a time.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<Option<Instant>>);

impl Turns {
    /// Waits for the next turn. One that is given up is lost.
    pub(super) async fn take(&self) {
        tokio::time::sleep_until(self.next(Instant::now())).await;
    }

    fn next(&self, now: Instant) -> Instant {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = free.map_or(now, |free| free.max(now));
        *free = Some(turn + WAIT_MIN);
        turn
    }
}

/// The waits of one stream.
#[derive(Debug, Default)]
pub(super) struct Pace {
    asked: Option<Duration>,
    /// Attempts in a row that brought nothing.
    failures: u32,
    /// Attempts in a row that brought no message.
    polls: u32,
}

impl Pace {
    /// The server asks for this wait.
    pub(super) fn ask(&mut self, wait: Duration) {
        self.asked = Some(wait);
    }

    /// Something came.
    pub(super) fn forgive(&mut self) {
        self.failures = 0;
    }

    /// A message came.
    pub(super) fn progress(&mut self) {
        self.polls = 0;
    }

    /// Whether what was tried so often in vain is not worth another attempt.
    pub(super) fn is_spent(&self) -> bool {
        self.failures >= FAILURES_MAX || self.polls >= POLLS_MAX
    }

    /// The wait before the next attempt: what the server asks for, longer after attempts that could not be made.
    pub(super) fn wait(&self) -> Duration {
        let base = self.asked.unwrap_or(WAIT_DEFAULT).clamp(WAIT_MIN, WAIT_MAX);
        (base * (1 << self.failures.min(DOUBLINGS_MAX))).min(WAIT_MAX)
    }

    /// The same where the server, in refusing, asked for that wait.
    pub(super) fn wait_at_least(&self, asked: Duration) -> Duration {
        self.wait().max(asked.min(WAIT_MAX))
    }

    /// An attempt failed.
    pub(super) fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.polls = self.polls.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.6: obeyed within bounds.
    #[test]
    fn a_server_is_asked_fewer_than_ten_times_a_second_whatever_it_wants() {
        let mut pace = Pace::default();
        assert_eq!(pace.wait(), WAIT_DEFAULT);
        pace.ask(Duration::ZERO);
        assert!(pace.wait() * 10 > Duration::from_secs(1));
        pace.fail();
        assert_eq!(pace.wait(), WAIT_MIN * 2);
        pace.ask(Duration::from_millis(u64::MAX));
        assert_eq!(pace.wait(), WAIT_MAX);
        pace.ask(Duration::from_millis(700));
        pace.forgive();
        assert_eq!(pace.wait(), Duration::from_millis(700));
    }

    /// SPEC 5.6, 8.4: events that say only where to resume from keep no stream alive for ever.
    #[test]
    fn a_stream_is_given_up_that_brings_nothing_or_no_message() {
        let mut pace = Pace::default();
        (0..FAILURES_MAX).for_each(|_| pace.fail());
        assert!(pace.is_spent());
        let mut pace = Pace::default();
        for _ in 0..2 {
            for _ in 1..POLLS_MAX {
                pace.fail();
                pace.forgive();
                assert!(!pace.is_spent());
            }
            pace.progress();
        }
        (0..POLLS_MAX).for_each(|_| pace.fail());
        pace.forgive();
        assert!(pace.is_spent());
    }

    /// SPEC 8.4: whoever asks first has the first turn, and there are fewer than ten in a second.
    #[test]
    fn streams_of_one_connection_take_turns() {
        let (turns, now) = (Turns::default(), Instant::now());
        assert_eq!(turns.next(now), now);
        for number in 1..100 {
            assert_eq!(turns.next(now), now + WAIT_MIN * number);
        }
        let later = now + Duration::from_secs(60);
        assert_eq!(turns.next(later), later);
    }
}
