//! When a burst of changes is told: once, when it has been quiet for a while, and not later than a
//! bound (SPEC 13.5).
//!
//! ```text
//! quiet --note--> gathering --note--> gathering
//!   ^                 |
//!   +------take-------+   `quiet` after the last note, at most `LATEST` after the first
//! ```
//!
//! Pure: the moments come in as arguments.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Gathers changes until they are due.
pub(super) struct Debouncer<T> {
    quiet: Duration,
    gathered: Option<Gathered<T>>,
}

struct Gathered<T> {
    changed: BTreeSet<T>,
    first: Instant,
    last: Instant,
}

impl<T: Ord> Debouncer<T> {
    pub(super) fn new(quiet: Duration) -> Debouncer<T> {
        Debouncer { quiet, gathered: None }
    }

    /// Takes in what changed; nothing changes nothing.
    pub(super) fn note(&mut self, now: Instant, changed: impl IntoIterator<Item = T>) {
        let mut changed = changed.into_iter().peekable();
        if changed.peek().is_none() {
            return;
        }
        let empty = || Gathered { changed: BTreeSet::new(), first: now, last: now };
        let gathered = self.gathered.get_or_insert_with(empty);
        gathered.changed.extend(changed);
        gathered.last = gathered.last.max(now);
    }

    /// When what was gathered is to be told, if anything was.
    pub(super) fn due(&self) -> Option<Instant> {
        let gathered = self.gathered.as_ref()?;
        Some((gathered.last + self.quiet).min(gathered.first + self.quiet.max(LATEST)))
    }

    /// What is due by now.
    pub(super) fn take(&mut self, now: Instant) -> Option<BTreeSet<T>> {
        self.due().filter(|due| *due <= now)?;
        self.gathered.take().map(|gathered| gathered.changed)
    }
}

/// How long a stream of changes without end is gathered: a log that somebody declared is then still
/// told, but rarely.
const LATEST: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(300);

    fn set<const N: usize>(changed: [&'static str; N]) -> Option<BTreeSet<&'static str>> {
        Some(BTreeSet::from(changed))
    }

    /// A debouncer, and a clock in milliseconds.
    fn begun() -> (Debouncer<&'static str>, impl Fn(u64) -> Instant) {
        let begun = Instant::now();
        (Debouncer::new(QUIET), move |millis| begun + Duration::from_millis(millis))
    }

    /// SPEC 13.5: one change is told after 300 ms, once.
    #[test]
    fn a_change_is_told_once_it_was_quiet() {
        let (mut debouncer, at) = begun();
        assert_eq!(debouncer.due(), None);
        debouncer.note(at(10), ["a"]);
        assert_eq!(debouncer.due(), Some(at(310)));
        assert_eq!(debouncer.take(at(309)), None);
        assert_eq!(debouncer.take(at(310)), set(["a"]));
        assert_eq!((debouncer.take(at(310)), debouncer.due()), (None, None));
    }

    /// SPEC 13.5: each change of a burst begins the wait again, and all of them are told together.
    #[test]
    fn a_burst_is_told_as_one() {
        let (mut debouncer, at) = begun();
        for millis in 0..10 {
            debouncer.note(at(millis * 200), [if millis % 2 == 0 { "a" } else { "b" }]);
            assert_eq!(debouncer.take(at(millis * 200 + 199)), None);
        }
        assert_eq!(debouncer.take(at(2100)), set(["a", "b"]));
    }

    /// SPEC 13.5: what changes all the time is told all the same, each time after the bound.
    #[test]
    fn a_stream_without_end_is_told_at_the_bound() {
        let (mut debouncer, at) = begun();
        let mut told = Vec::new();
        for millis in (0..10_000).step_by(100) {
            debouncer.note(at(millis), ["a"]);
            told.extend(debouncer.take(at(millis)).map(|_| millis));
        }
        assert_eq!(told, [3000, 6100, 9200]);
    }

    /// SPEC 13.5: nothing new does not lengthen the wait.
    #[test]
    fn nothing_begins_nothing() {
        let (mut debouncer, at) = begun();
        debouncer.note(at(0), []);
        assert_eq!(debouncer.due(), None);
        debouncer.note(at(0), ["a"]);
        debouncer.note(at(200), []);
        assert_eq!(debouncer.due(), Some(at(300)));
    }

    /// SPEC 13.5: a debounce that is longer than the bound is kept, and moments that come out of
    /// order do no harm.
    #[test]
    fn a_long_debounce_and_an_older_moment_are_kept() {
        let begun = Instant::now();
        let mut debouncer = Debouncer::new(Duration::from_secs(10));
        debouncer.note(begun + Duration::from_secs(2), ["a"]);
        debouncer.note(begun, ["a"]);
        assert_eq!(debouncer.due(), Some(begun + Duration::from_secs(12)));
    }
}
