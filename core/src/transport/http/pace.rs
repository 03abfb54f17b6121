//! How soon a stream that ended is asked for again.

use std::time::Duration;

/// However little a server asks for: fewer than ten attempts in a second.
const WAIT_MIN: Duration = Duration::from_millis(150);

/// However much a server asks for: what it sends unasked is not left for longer.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Where the server says nothing.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);

/// Doublings after failures in a row.
const DOUBLINGS_MAX: u32 = 5;

/// The waits of one stream.
#[derive(Debug, Default)]
pub(super) struct Pace {
    asked: Option<Duration>,
    /// Attempts in a row that brought nothing.
    failures: u32,
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

    /// Attempts in a row that brought nothing.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// The wait before the next attempt: what the server asks for, longer after attempts that could not be made.
    pub(super) fn wait(&self) -> Duration {
        let base = self.asked.unwrap_or(WAIT_DEFAULT).clamp(WAIT_MIN, WAIT_MAX);
        (base * (1 << self.failures.min(DOUBLINGS_MAX))).min(WAIT_MAX)
    }

    /// An attempt failed.
    pub(super) fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
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
}
