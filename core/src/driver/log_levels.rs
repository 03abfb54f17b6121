//! How much of an entry's log its sessions want to hear.
//!
//! In the modern era each request says it. A server of the legacy era has one level for all: it is told the least that any session wants,
//! and each session hears what it wants of that.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use trunkline_pool::options::LogLevel;
use trunkline_pool::state::{Generation, SessionId};

/// The levels that sessions asked for, and the one that the server was told.
#[derive(Default)]
pub(crate) struct LogLevels {
    /// Whether there ever was one: nearly no call has to look further.
    is_any: AtomicBool,
    /// How often in a row the server was told the level of `Inner::told` and no answer came.
    unanswered: Arc<AtomicU32>,
    inner: Mutex<Inner>,
}

/// A server that was told a level so often, and answered never, may be one that dies of it: it is not told that level again.
const UNANSWERED_MAX: u32 = 2;

/// Says that a server answered, whatever it answered.
pub(crate) struct Answered(Arc<AtomicU32>);

impl Answered {
    pub(crate) fn tell(self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Inner {
    levels: BTreeMap<SessionId, LogLevel>,
    /// What it was told last, and by which connection, if it was told for all.
    told: Option<(Option<Generation>, LogLevel)>,
}

impl LogLevels {
    /// A session wants to hear this level and what is graver.
    pub(crate) fn set(&self, session: SessionId, level: LogLevel) {
        self.inner().levels.insert(session, level);
        self.is_any.store(true, Ordering::Release);
    }

    /// What a session asked for.
    pub(crate) fn of(&self, session: SessionId) -> Option<LogLevel> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        self.inner().levels.get(&session).copied()
    }

    /// A session tells the server its level itself: the least of all then, which it is to tell.
    pub(crate) fn take_over(&self, session: SessionId, level: LogLevel) -> LogLevel {
        self.set(session, level);
        let mut inner = self.inner();
        let least = inner.levels.values().min().copied().unwrap_or(level);
        // Nobody here sees what comes of it.
        inner.told = Some((None, least));
        self.unanswered.store(1, Ordering::Relaxed);
        least
    }

    /// A session is gone.
    pub(crate) fn forget(&self, session: SessionId) {
        self.inner().levels.remove(&session);
    }

    /// Has the server told the least that is wanted, unless that connection told it so. Nothing when nobody wants any: what the server
    /// began with is not known.
    pub(super) fn tell(&self, generation: Generation, tell: impl FnOnce(LogLevel, Answered)) {
        if !self.is_any.load(Ordering::Acquire) {
            return;
        }
        // Under the lock, so that the last to be sent is the last to be decided; sending never waits.
        let mut inner = self.inner();
        let Some(least) = inner.levels.values().min().copied() else { return };
        let unanswered = match inner.told {
            Some(told) if told == (Some(generation), least) => return,
            Some((_, level)) if level == least => self.unanswered.load(Ordering::Relaxed),
            _ => 0,
        };
        if unanswered < UNANSWERED_MAX {
            inner.told = Some((Some(generation), least));
            self.unanswered.store(unanswered + 1, Ordering::Relaxed);
            tell(least, Answered(self.unanswered.clone()));
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 16.8.
    #[test]
    fn a_server_is_told_the_least_that_is_wanted_once_for_each_connection() {
        let (levels, [a, b]) = (LogLevels::default(), [1, 2].map(SessionId));
        let told = |generation| {
            let mut told = None;
            levels.tell(Generation(generation), |level, answered| {
                told = Some(level);
                answered.tell();
            });
            told
        };
        assert_eq!(told(1), None);
        levels.set(a, LogLevel::Error);
        assert_eq!(
            (told(1), told(1), told(2)),
            (Some(LogLevel::Error), None, Some(LogLevel::Error))
        );
        levels.set(b, LogLevel::Debug);
        assert_eq!((levels.of(a), levels.of(b)), (Some(LogLevel::Error), Some(LogLevel::Debug)));
        assert_eq!((told(2), told(2)), (Some(LogLevel::Debug), None));
        levels.forget(b);
        assert_eq!(told(2), Some(LogLevel::Error));
        assert_eq!(levels.take_over(b, LogLevel::Alert), LogLevel::Error);
        assert_eq!(told(2), Some(LogLevel::Error));
        levels.forget(a);
        levels.forget(b);
        assert_eq!(told(3), None);
    }

    /// SPEC 16.8, 8.1: a server that dies of a level comes back without it.
    #[test]
    fn a_level_that_was_never_answered_is_not_told_for_ever() {
        let (levels, a) = (LogLevels::default(), SessionId(1));
        let told = |generation| {
            let mut told = None;
            levels.tell(Generation(generation), |level, _| told = Some(level));
            told
        };
        levels.set(a, LogLevel::Info);
        let first = Some(LogLevel::Info);
        assert_eq!([1, 2, 3, 4].map(told), [first, first, None, None]);
        levels.set(a, LogLevel::Debug);
        let other = Some(LogLevel::Debug);
        assert_eq!([4, 5, 6].map(told), [other, other, None]);
        levels.take_over(a, LogLevel::Info);
        assert_eq!([7, 8].map(told), [first, None]);
    }
}
