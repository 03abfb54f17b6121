//! How much of an entry's log its sessions want to hear.
//!
//! In the modern era each request says it. A server of the legacy era has one level for all: it is
//! told the least that any session wants, and each session hears what it wants of that. A session
//! that names none wants what the server says unasked, as far as that is known.
//!
//! The server is not asked for `debug` always: the flood that one session wants would reach all.
//! The least of the named levels alone would let one session silence the server for all others.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use trunkline_pool::options::LogLevel;
use trunkline_pool::state::{Generation, SessionId};

use crate::client::LevelAnswer;

/// The levels that sessions asked for, and the one that the server was told.
#[derive(Default)]
pub(crate) struct LogLevels {
    /// Whether there ever was one: nearly no call has to look further.
    is_any: AtomicBool,
    standing: Arc<AnswerState>,
    inner: Mutex<LevelTable>,
}

/// What answers change.
#[derive(Default)]
struct AnswerState {
    /// How often in a row the server was told the level of `LevelTable::told` and no answer came.
    unanswered: AtomicU32,
    /// The connection whose server says by now what it was told, and no longer what it began with.
    told_to: Mutex<Option<Generation>>,
}

/// A server that was told a level so often, and answered never, may be one that dies of it: it is
/// not told that level again.
const UNANSWERED_MAX: u32 = 2;

/// What a server is taken to say unasked, as long as nothing less grave came from it: what most do.
const UNASKED: LogLevel = LogLevel::Info;

/// Says that a server answered, whatever it answered.
pub(crate) struct AnswerReport {
    standing: Arc<AnswerState>,
    /// The connection, where it was told a level for the first time.
    first: Option<Generation>,
}

impl AnswerReport {
    pub(crate) fn tell(self, answer: LevelAnswer) {
        if answer != LevelAnswer::Unknown {
            self.standing.unanswered.store(0, Ordering::Relaxed);
        }
        let is_as_it_began = matches!(answer, LevelAnswer::Refused | LevelAnswer::Untold);
        if let Some(generation) = self.first.filter(|_| is_as_it_began) {
            let mut told_to = lock(&self.standing.told_to);
            told_to.take_if(|told| *told == generation);
        }
    }
}

/// A session tells the server a level itself, by a request of its own.
pub(crate) struct TakenOver {
    /// The least of all, which it is to tell.
    pub level: LogLevel,
    generation: Generation,
    /// The decision that it carries out.
    decision: u64,
    answered: AnswerReport,
}

#[derive(Default)]
struct LevelTable {
    levels: BTreeMap<SessionId, LogLevel>,
    /// What it was told last, and by which connection, if it was told for all.
    told: Option<(Option<Generation>, LogLevel)>,
    /// How often it was decided what to tell.
    decisions: u64,
    /// The least grave that came from a server which was told nothing.
    unasked: Option<LogLevel>,
}

impl LevelTable {
    /// What those hear who name no level, once the server was told one.
    fn unasked(&self) -> LogLevel {
        self.unasked.map_or(UNASKED, |heard| heard.min(UNASKED))
    }

    /// The least that any session wants; `has_silent` says whether one of those that hold the
    /// server names none.
    fn least(&self, has_silent: bool) -> Option<LogLevel> {
        let named = self.levels.values().min().copied()?;
        Some(if has_silent { named.min(self.unasked()) } else { named })
    }
}

impl LogLevels {
    /// A session wants to hear this level and what is graver.
    pub(crate) fn set(&self, session: SessionId, level: LogLevel) {
        self.inner().levels.insert(session, level);
        self.is_any.store(true, Ordering::Release);
    }

    pub(in crate::driver) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Acquire)
    }

    /// What a session asked for.
    pub(crate) fn of(&self, session: SessionId) -> Option<LogLevel> {
        if !self.is_any() {
            return None;
        }
        self.inner().levels.get(&session).copied()
    }

    /// Whether a message of that level is for the session, or for nobody in particular: the server
    /// may have been told to say more, for another session.
    pub(in crate::driver) fn admits(
        &self,
        session: Option<SessionId>,
        generation: Generation,
        level: LogLevel,
    ) -> bool {
        let is_told = *lock(&self.standing.told_to) == Some(generation);
        let mut inner = self.inner();
        if !is_told {
            inner.unasked = Some(inner.unasked.map_or(level, |heard| heard.min(level)));
        }
        let Some(session) = session else { return true };
        match inner.levels.get(&session) {
            Some(wanted) => level >= *wanted,
            None => !is_told || level >= inner.unasked(),
        }
    }

    /// A session tells the server its level itself, by this connection: the least of all then. What
    /// comes of it says [`over`](Self::over). `has_silent` says whether some hold the server who
    /// named none.
    pub(crate) fn take_over(
        &self,
        (session, level): (SessionId, LogLevel),
        generation: Generation,
        has_silent: impl FnOnce(&BTreeMap<SessionId, LogLevel>) -> bool,
    ) -> TakenOver {
        self.set(session, level);
        let mut inner = self.inner();
        inner.levels.insert(session, level);
        let least = inner.least(has_silent(&inner.levels)).unwrap_or(level);
        inner.told = Some((None, least));
        inner.decisions += 1;
        self.standing.unanswered.store(1, Ordering::Relaxed);
        let answered = self.telling(generation);
        TakenOver { level: least, generation, decision: inner.decisions, answered }
    }

    /// A request with a level of its own is over. Another level that was decided since may have
    /// reached the server before it: then it is told again, by the [`tell`](Self::tell) that is to
    /// follow. Whether it is to: nobody knows how one fares that had no answer.
    pub(crate) fn over(&self, taken: TakenOver, answer: LevelAnswer) -> bool {
        let mut inner = self.inner();
        let is_last = inner.decisions == taken.decision;
        match answer {
            LevelAnswer::Taken | LevelAnswer::Refused if is_last => {
                inner.told = Some((Some(taken.generation), taken.level));
            }
            LevelAnswer::Unknown if is_last => {}
            _ => inner.told = None,
        }
        taken.answered.tell(answer);
        !is_last || answer != LevelAnswer::Unknown
    }

    /// A session is gone.
    pub(crate) fn forget(&self, session: SessionId) {
        self.inner().levels.remove(&session);
    }

    /// Has the server told the least that is wanted, unless that connection told it so. Nothing
    /// when nobody wants any, unless some hold it who named no level and it was told one: what the
    /// server began with is not known.
    pub(in crate::driver) fn tell(
        &self,
        generation: Generation,
        has_silent: impl FnOnce(&BTreeMap<SessionId, LogLevel>) -> bool,
        tell: impl FnOnce(LogLevel, AnswerReport),
    ) {
        if !self.is_any() {
            return;
        }
        // Under the lock, so that the last to be sent is the last to be decided; sending never
        // waits.
        let mut inner = self.inner();
        let has_silent = has_silent(&inner.levels);
        let is_told = || *lock(&self.standing.told_to) == Some(generation);
        let silent = || (has_silent && is_told()).then(|| inner.unasked());
        let Some(least) = inner.least(has_silent).or_else(silent) else { return };
        let unanswered = match inner.told {
            Some(told) if told == (Some(generation), least) => return,
            Some((_, level)) if level == least => self.standing.unanswered.load(Ordering::Relaxed),
            _ => 0,
        };
        if unanswered < UNANSWERED_MAX {
            inner.told = Some((Some(generation), least));
            inner.decisions += 1;
            self.standing.unanswered.store(unanswered + 1, Ordering::Relaxed);
            tell(least, self.telling(generation));
        }
    }

    /// The server of that connection is told a level from now on.
    fn telling(&self, generation: Generation) -> AnswerReport {
        let before = lock(&self.standing.told_to).replace(generation);
        let first = (before != Some(generation)).then_some(generation);
        AnswerReport { standing: self.standing.clone(), first }
    }

    fn inner(&self) -> MutexGuard<'_, LevelTable> {
        lock(&self.inner)
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests;
