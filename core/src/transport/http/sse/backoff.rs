//! How soon a stream that ended is asked for again, and how often.
//!
//! The least wait holds between any two GETs of a connection. A budget for each stream would be
//! none for the server.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// However little a server asks for: fewer than ten attempts in a second.
const WAIT_MIN: Duration = Duration::from_millis(150);

/// However much a server asks for: what it sends unasked is not left for longer.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Where the server says nothing.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);

/// However often a stream brought nothing but the place to go on from, unless the server asks for
/// more: an answer may be there by then.
const POLL_WAIT_MAX: Duration = Duration::from_secs(5);

/// Doublings after failures in a row.
const DOUBLINGS_MAX: u32 = 5;

/// Attempts in a row to resume a stream that bring nothing.
const FAILURES_MAX: u32 = 5;

/// A stream that stood for so long was a good one, whatever it brought: as long as a connection
/// takes to prove its health by default.
const HEALTHY_AFTER: Duration = Duration::from_secs(30);

/// When the streams of one connection may be asked for, over all of them: however many there are, a
/// server is asked for one at a time.
#[derive(Debug, Default)]
pub(in crate::transport::http) struct Turns(Mutex<Option<Instant>>);

impl Turns {
    /// Waits for the next turn; who asks first has the first one. A dropped future gives its turn
    /// to the next.
    pub(in crate::transport::http) async fn take(&self) {
        let mut free = self.0.lock().await;
        if let Some(free) = *free {
            tokio::time::sleep_until(free).await;
        }
        *free = Some(Instant::now() + WAIT_MIN);
    }
}

/// The waits of one stream.
#[derive(Debug, Default)]
pub(in crate::transport::http) struct StreamBackoff {
    asked: Option<Duration>,
    /// Attempts in a row that brought nothing.
    failures: u32,
    /// Attempts in a row that brought the place to go on from, and no message.
    polls: u32,
}

impl StreamBackoff {
    /// The server asks for this wait.
    pub(in crate::transport::http) fn ask(&mut self, wait: Duration) {
        self.asked = Some(wait);
    }

    /// A message came.
    pub(in crate::transport::http) fn forgive(&mut self) {
        (self.failures, self.polls) = (0, 0);
    }

    /// The place to go on from came: the server is there, and has nothing to say yet.
    pub(in crate::transport::http) fn placed(&mut self) {
        if std::mem::take(&mut self.failures) > 0 {
            self.polls = self.polls.saturating_add(1);
        }
    }

    /// A stream ended that had stood for this time.
    pub(in crate::transport::http) fn stood(&mut self, time: Duration) {
        if time >= HEALTHY_AFTER {
            self.forgive();
        }
    }

    /// Whether what was tried so often in vain is not worth another attempt. A server that answers
    /// each attempt, if only with the place to go on from, is asked while the waiter has time.
    pub(in crate::transport::http) fn is_spent(&self) -> bool {
        self.failures >= FAILURES_MAX
    }

    /// The wait before the next attempt: what the server asks for, longer after attempts that could
    /// not be made or brought nothing.
    pub(in crate::transport::http) fn wait(&self) -> Duration {
        let base = self.asked.unwrap_or(WAIT_DEFAULT).clamp(WAIT_MIN, WAIT_MAX);
        let longer = |times: u32| base * (1 << times.min(DOUBLINGS_MAX));
        // The first stream that says where to go on from is how a server lets go of one that it
        // polls for.
        let polled = longer(self.polls.saturating_sub(1)).min(POLL_WAIT_MAX).max(base);
        longer(self.failures).min(WAIT_MAX).max(polled)
    }

    /// The same where the server, in refusing, asked for that wait.
    pub(in crate::transport::http) fn wait_at_least(&self, asked: Duration) -> Duration {
        self.wait().max(asked.min(WAIT_MAX))
    }

    /// An attempt failed.
    pub(in crate::transport::http) fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.6: obeyed within bounds.
    #[test]
    fn a_server_is_asked_fewer_than_ten_times_a_second_whatever_it_wants() {
        let mut pace = StreamBackoff::default();
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

    /// SPEC 5.6, 8.4: what brings nothing is given up.
    #[test]
    fn a_stream_that_brings_nothing_is_given_up() {
        let mut pace = StreamBackoff::default();
        for _ in 0..FAILURES_MAX {
            assert!(!pace.is_spent());
            pace.fail();
        }
        assert!(pace.is_spent());
    }

    /// SPEC 5.4, 5.6: a server that is polled says each time where to go on from; how long that is
    /// worth is for the call's clocks to say.
    #[test]
    fn a_stream_that_is_polled_is_given_up_by_no_count() {
        let mut pace = StreamBackoff::default();
        for _ in 0..100_000 {
            pace.fail();
            pace.placed();
            assert!(!pace.is_spent());
        }
        assert_eq!(pace.wait(), POLL_WAIT_MAX);
        pace.forgive();
        assert_eq!(pace.wait(), WAIT_DEFAULT);
    }

    /// SPEC 5.6: the place to go on from is not what is waited for; the waits grow until a message
    /// comes, whatever the server asks for.
    #[test]
    fn a_stream_that_brings_only_its_place_is_asked_for_less_and_less() {
        for (asked, waits) in [
            (0, [150, 300, 600, 1_200, 2_400, 4_800, 4_800, 4_800]),
            (1_000, [1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000, 5_000]),
            (7_000, [7_000; 8]),
        ] {
            let mut pace = StreamBackoff::default();
            for _ in 0..2 {
                for (number, wait) in waits.into_iter().enumerate() {
                    pace.fail();
                    pace.ask(Duration::from_millis(asked));
                    pace.placed();
                    // A stream may say so more than once.
                    pace.placed();
                    assert_eq!(pace.wait(), Duration::from_millis(wait), "{asked} {number}");
                }
                pace.forgive();
            }
        }
    }

    /// SPEC 8.4: a stream that nothing was said on for long, and that something on the way cut
    /// then, is not one that fails.
    #[test]
    fn a_silent_stream_that_stood_for_long_is_asked_for_again_at_the_usual_pace() {
        let mut pace = StreamBackoff::default();
        for _ in 0..100 {
            pace.fail();
            pace.stood(HEALTHY_AFTER);
            assert_eq!((pace.wait(), pace.is_spent()), (WAIT_DEFAULT, false));
        }
        for _ in 0..FAILURES_MAX {
            pace.fail();
            pace.stood(HEALTHY_AFTER / 2);
        }
        assert!(pace.wait() > WAIT_DEFAULT && pace.is_spent());
    }

    /// SPEC 8.4: there are fewer than ten in a second.
    #[tokio::test]
    async fn streams_of_one_connection_take_turns() {
        let (turns, begun) = (Turns::default(), Instant::now());
        turns.take().await;
        assert!(begun.elapsed() < WAIT_MIN);
        for number in 1..4 {
            turns.take().await;
            assert!(begun.elapsed() >= WAIT_MIN * number);
        }
    }

    /// SPEC 8.4: nobody waits for those who have gone.
    #[tokio::test]
    async fn a_turn_that_is_given_up_is_the_next_ones() {
        const GONE: u32 = 100;
        let turns = Turns::default();
        let begun = Instant::now();
        turns.take().await;
        let mut waiting: Vec<_> = (0..GONE).map(|_| Box::pin(turns.take())).collect();
        for taker in &mut waiting {
            assert!(tokio::time::timeout(Duration::ZERO, taker).await.is_err());
        }
        drop(waiting);
        turns.take().await;
        assert!(begun.elapsed() < WAIT_MIN * GONE / 4, "{:?}", begun.elapsed());
    }
}
