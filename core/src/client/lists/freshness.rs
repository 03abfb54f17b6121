//! How long lists are fresh, as a server of the modern era says of them (`ttlMs`), and when they
//! are read again (SPEC 7.8): because they have gone stale, or because they could not be read.
//!
//! A session may look at its lists at any time, and a host acts on the events of their changes; so
//! a list that has gone stale is read again by itself, and not at the next look. The hint is no
//! interval: lists that are the same each time are read ever more seldom.
//!
//! A listing when a session looks is no help: a host that waits for events would never list again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trunkline_pool::catalog::{Catalog, ListKind};
use trunkline_pool::in_flight::later;

use crate::Error;

/// How often the wait doubles while nothing changes, or while nothing can be read: up to sixteen
/// times.
const DOUBLINGS_MAX: u32 = 4;

/// However long a busy server asks to be left alone: one that is gone behind a gateway must be
/// found to be, and what it lists may be another by now.
pub(in crate::client) const BUSY_MAX: Duration = Duration::from_secs(300);

/// The share of a wait that chance adds to it at the most, so that many hosts do not ask at once.
const JITTER_SHARE: f64 = 0.25;

/// Where the lists of one connection stand.
#[derive(Debug, Default)]
pub(in crate::client) struct Freshness(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Until then the server holds its lists for fresh, or asked to be left alone.
    until: Option<Instant>,
    /// When they are read again, if nothing else has them read before.
    due: Option<Instant>,
    /// What stands for their content.
    seen: Option<u64>,
    /// Listings in a row that showed nothing new.
    same: u32,
    /// Listings in a row that failed.
    failures: u32,
    /// Listings in a row that lacked a list which the connection never had.
    lacking: usize,
}

impl Freshness {
    /// Lists have come, with the shortest of their hints; they are not read again for that before
    /// `least` has passed, which is never when it is zero.
    pub(in crate::client) fn listed(
        &self,
        catalog: &Catalog,
        hint: Option<Duration>,
        least: Duration,
        now: Instant,
    ) {
        self.note(content(catalog), hint, least, (now, chance()));
    }

    fn note(
        &self,
        content: u64,
        hint: Option<Duration>,
        least: Duration,
        (now, chance): (Instant, f64),
    ) {
        let mut state = self.state();
        let is_same = state.seen.replace(content) == Some(content);
        state.same = if is_same { (state.same + 1).min(DOUBLINGS_MAX) } else { 0 };
        (state.failures, state.lacking) = (0, 0);
        state.until = hint.map(|hint| later(now, hint));
        let hint = hint.filter(|_| !least.is_zero());
        state.due = hint.map(|hint| after(now, doubled(hint.max(least), state.same), chance));
    }

    /// A listing failed, so that a change may not have been seen: the lists are read again after
    /// `least`, which is never when it is zero, and ever more seldom while that fails too; and not
    /// before the server has time for it, as the error says.
    pub(in crate::client) fn missed(&self, error: &Error, least: Duration, now: Instant) {
        self.miss(error.retry_after(), least, (now, chance()));
    }

    /// A list that the connection never had could not be read: all are read again after the next of
    /// these waits, and never where there is no wait. The last one repeats (SPEC 4.4, 8.1).
    pub(in crate::client) fn lacks_one(&self, error: &Error, waits: &[Duration], now: Instant) {
        self.lack(error.retry_after(), waits, (now, chance()));
    }

    fn lack(&self, asked: Option<Duration>, waits: &[Duration], (now, chance): (Instant, f64)) {
        let mut state = self.state();
        let asked = asked.unwrap_or_default().min(BUSY_MAX);
        let wait = waits.get(state.lacking).or(waits.last());
        state.due = wait.map(|wait| after(now, (*wait).max(asked), chance));
        state.lacking = state.lacking.saturating_add(1);
    }

    /// Whether a list was lacking from the first on.
    pub(in crate::client) fn is_lacking(&self) -> bool {
        self.state().lacking > 0
    }

    fn miss(&self, asked: Option<Duration>, least: Duration, (now, chance): (Instant, f64)) {
        let mut state = self.state();
        let asked = asked.unwrap_or_default().min(BUSY_MAX);
        let wait = doubled(least, state.failures).max(asked);
        state.due = (!least.is_zero()).then(|| after(now, wait, chance));
        if !asked.is_zero() {
            state.until = state.until.max(Some(later(now, asked)));
        }
        state.failures = (state.failures + 1).min(DOUBLINGS_MAX);
    }

    /// Whether the server still holds its lists for fresh, or wants to be left alone, so that
    /// silence is no reason to read them again.
    pub(in crate::client) fn is_early(&self, now: Instant) -> bool {
        self.state().until.is_some_and(|until| now < until)
    }

    /// When the lists are to be read again.
    pub(in crate::client) fn due(&self) -> Option<Instant> {
        self.state().due
    }

    /// Whether they are to be read again now; said once for each time that they came.
    pub(in crate::client) fn take_due(&self, now: Instant) -> bool {
        self.state().due.take_if(|due| *due <= now).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits beyond this have no more chance added than this one.
const JITTERED_MAX: Duration = Duration::from_secs(24 * 3600);

fn doubled(wait: Duration, times: u32) -> Duration {
    wait.saturating_mul(1 << times)
}

/// The moment after that wait, and after what chance adds to it.
fn after(now: Instant, wait: Duration, chance: f64) -> Instant {
    later(later(now, wait), wait.min(JITTERED_MAX).mul_f64(chance * JITTER_SHARE))
}

/// Equal for lists with equal content.
fn content(catalog: &Catalog) -> u64 {
    let mut hasher = DefaultHasher::new();
    for list in ListKind::ALL {
        list.hash(&mut hasher);
        for item in catalog.list(list) {
            (&item.name, &item.digest).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// A number between 0 and 1 that nobody has to be unable to guess.
fn chance() -> f64 {
    let random = RandomState::new().hash_one(0) >> 11;
    // 53 bits are exact in a double.
    random as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Duration = Duration::from_secs(30);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// After how many seconds the lists are due that came with these contents and this hint, one
    /// listing after the other.
    fn waits(hint_ms: Option<u64>, contents: &[u64], chance: f64) -> Vec<Option<f64>> {
        let (freshness, now) = (Freshness::default(), Instant::now());
        let wait = |content: &u64| {
            let hint = hint_ms.map(Duration::from_millis);
            freshness.note(*content, hint, LEAST, (now, chance));
            freshness.due().map(|due| due.duration_since(now).as_secs_f64())
        };
        contents.iter().map(wait).collect()
    }

    /// SPEC 7.8
    #[test]
    fn lists_are_read_again_after_their_hint_but_never_sooner_than_a_silence_lasts() {
        assert_eq!(waits(Some(60_000), &[1], 0.0), [Some(60.0)]);
        for soon in [0, 1, 29_999] {
            assert_eq!(waits(Some(soon), &[1], 0.0), [Some(30.0)], "{soon}");
        }
        assert_eq!(waits(None, &[1], 0.0), [None]);
    }

    /// PROTOCOL 1.2: a client that reads lists again by the clock backs off, and does not do it
    /// when everybody does.
    #[test]
    fn lists_that_stay_the_same_are_read_ever_more_seldom() {
        let same = waits(Some(1), &[7; 7], 0.0);
        assert_eq!(same, [30.0, 60.0, 120.0, 240.0, 480.0, 480.0, 480.0].map(Some));
        assert_eq!(waits(Some(1), &[7, 7, 7, 8, 8], 0.0)[3..], [Some(30.0), Some(60.0)]);
        assert_eq!(waits(Some(100_000), &[7, 7], 1.0), [Some(125.0), Some(250.0)]);
        assert!((0.0..1.0).contains(&chance()));
    }

    /// SPEC 7.8: each listing is followed by one at the most, and only the newest counts.
    #[test]
    fn lists_are_due_once_and_a_newer_listing_puts_it_off() {
        let (freshness, now) = (Freshness::default(), Instant::now());
        let note = |at: u64| freshness.note(at, Some(seconds(60)), LEAST, (now + seconds(at), 0.0));
        note(0);
        assert!(freshness.is_early(now + seconds(59)) && !freshness.is_early(now + seconds(60)));
        assert!(!freshness.take_due(now + seconds(59)));
        note(40);
        assert!(!freshness.take_due(now + seconds(60)));
        assert!(freshness.take_due(now + seconds(100)));
        assert!(!freshness.take_due(now + seconds(1000)));
    }

    /// SPEC 7.8: what could not be read is read again, whatever its hint, and once it can be the
    /// hint counts again.
    #[test]
    fn lists_that_could_not_be_read_are_read_again_ever_more_seldom() {
        let (freshness, now) = (Freshness::default(), Instant::now());
        let due = || freshness.due().unwrap().duration_since(now).as_secs();
        freshness.note(1, Some(seconds(3600)), LEAST, (now, 0.0));
        let miss = || {
            freshness.miss(None, LEAST, (now, 0.0));
            due()
        };
        let waits: Vec<_> = (0..6).map(|_| miss()).collect();
        assert_eq!(waits, [30, 60, 120, 240, 480, 480]);
        freshness.note(2, Some(seconds(3600)), LEAST, (now, 0.0));
        assert_eq!((due(), miss()), (3600, 30));
        freshness.note(2, None, LEAST, (now, 0.0));
        assert_eq!(freshness.due(), None);
        freshness.miss(Some(seconds(60)), Duration::ZERO, (now, 0.0));
        assert_eq!(freshness.due(), None);
    }

    /// SPEC 8.4: what a busy server asks for is no less than the wait, and no more than five
    /// minutes.
    #[test]
    fn lists_of_a_busy_server_are_not_read_again_before_it_has_time() {
        for (asked, misses, due) in [
            (60, 1, 60),
            (60, 2, 60),
            (60, 3, 120),
            (10, 1, 30),
            (3_600, 1, 300),
            (u64::MAX, 5, 480),
        ] {
            let (freshness, now) = (Freshness::default(), Instant::now());
            (0..misses).for_each(|_| freshness.miss(Some(seconds(asked)), LEAST, (now, 0.0)));
            let end = now + seconds(asked.min(300));
            assert!(freshness.is_early(end - seconds(1)) && !freshness.is_early(end), "{asked}");
            assert_eq!(freshness.due(), Some(now + seconds(due)), "{asked} {misses}");
        }
    }

    /// SPEC 4.4, 8.1: a list that was never had is asked for by the waits of quiet attempts,
    /// whatever the keep-alive. The waits begin anew once all lists were there.
    #[test]
    fn a_list_that_was_never_had_is_asked_for_by_the_quiet_waits() {
        for (waits, asked, expected) in [
            (&[1, 2, 4][..], None, [1, 2, 4, 4].map(Some)),
            (&[7], None, [7; 4].map(Some)),
            (&[1, 2, 3, 4, 5, 6], None, [1, 2, 3, 4].map(Some)),
            (&[1, 60], Some(30), [30, 60, 60, 60].map(Some)),
            (&[1], Some(3_600), [300; 4].map(Some)),
            (&[], Some(30), [None; 4]),
        ] {
            let (freshness, now) = (Freshness::default(), Instant::now());
            let waits: Vec<Duration> = waits.iter().copied().map(seconds).collect();
            let lack = || {
                freshness.lack(asked.map(seconds), &waits, (now, 0.0));
                freshness.due().map(|due| due.duration_since(now).as_secs())
            };
            let found = [lack(), lack(), lack(), lack()];
            assert_eq!(found, expected, "{waits:?}");
            assert!(freshness.is_lacking());
            freshness.note(1, None, LEAST, (now, 0.0));
            assert!(!freshness.is_lacking() && freshness.due().is_none());
            freshness.lack(None, &waits, (now, 0.0));
            assert_eq!(freshness.due(), waits.first().map(|first| now + *first));
        }
    }

    /// SPEC 8.3: a host that wants no traffic in silence has none; and no hint is too long.
    #[test]
    fn without_a_keep_alive_nothing_is_read_again_by_itself() {
        let (freshness, now) = (Freshness::default(), Instant::now());
        freshness.note(1, Some(seconds(60)), Duration::ZERO, (now, 0.0));
        assert_eq!(freshness.due(), None);
        assert!(freshness.is_early(now));
        freshness.note(1, Some(Duration::MAX), LEAST, (now, 1.0));
        assert!(freshness.is_early(now + seconds(1_000_000)));
    }
}
