//! Whose calls a server may be working on: what it asks of a host goes to that session alone (SPEC
//! 15.1).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::state::SessionId;

/// The sessions that a message of a server can be on behalf of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// No session has a call in flight.
    Nobody,
    /// One session has.
    One(SessionId),
    /// More than one, or one beside a call that another gave up and that the server may still work
    /// on.
    Several,
}

impl Callers {
    /// Of sessions with calls in flight, and of those whose calls were given up.
    pub(super) fn of(
        in_flight: impl Iterator<Item = SessionId>,
        abandoned: impl Iterator<Item = SessionId>,
    ) -> Callers {
        let mut found = Callers::Nobody;
        for session in in_flight {
            match found {
                Callers::Nobody => found = Callers::One(session),
                Callers::One(one) if one == session => {}
                Callers::One(_) | Callers::Several => return Callers::Several,
            }
        }
        for session in abandoned {
            match found {
                Callers::One(one) if one != session => return Callers::Several,
                Callers::Nobody | Callers::One(_) | Callers::Several => {}
            }
        }
        found
    }
}

/// How long a server may still work on a call that was cancelled or timed out here: one that heeds
/// a cancellation stops at once, and one that does not has its answer mostly by then, which ends
/// the doubt too.
const DOUBT: Duration = Duration::from_secs(30);

/// Calls in doubt at one time; of more the oldest are forgotten.
const IN_DOUBT_MAX: usize = 1024;

/// Calls that ended here while the server may still be at work on them, oldest first.
#[derive(Debug, Default)]
pub(super) struct Abandoned(VecDeque<(u64, SessionId, Instant)>);

impl Abandoned {
    /// A call was given up.
    pub(super) fn add(&mut self, id: u64, session: SessionId, now: Instant) {
        if self.0.len() >= IN_DOUBT_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, session, now + DOUBT));
    }

    /// The server answered after all.
    pub(super) fn forget(&mut self, id: u64) {
        self.0.retain(|(other, _, _)| *other != id);
    }

    /// Whose call this one was.
    pub(super) fn caller_of(&self, id: u64) -> Option<SessionId> {
        self.0.iter().find(|(other, _, _)| *other == id).map(|(_, session, _)| *session)
    }

    /// The sessions of those that are still in doubt.
    pub(super) fn sessions(&mut self, now: Instant) -> impl Iterator<Item = SessionId> + '_ {
        while self.0.front().is_some_and(|(_, _, until)| *until <= now) {
            self.0.pop_front();
        }
        self.0.iter().map(|(_, session, _)| *session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(in_flight: &[u64], abandoned: &[u64]) -> Callers {
        let sessions = |ids: &[u64]| ids.iter().copied().map(SessionId).collect::<Vec<_>>();
        Callers::of(sessions(in_flight).into_iter(), sessions(abandoned).into_iter())
    }

    /// SPEC 15.1.
    #[test]
    fn one_session_is_the_caller_when_no_other_can_be() {
        assert_eq!(of(&[], &[]), Callers::Nobody);
        assert_eq!(of(&[], &[1]), Callers::Nobody);
        assert_eq!(of(&[1, 1], &[1]), Callers::One(SessionId(1)));
        assert_eq!(of(&[1, 2], &[]), Callers::Several);
        assert_eq!(of(&[1], &[1, 2]), Callers::Several);
    }

    /// SPEC 15.1: never guessed, but not for ever in doubt.
    #[test]
    fn a_call_that_was_given_up_is_in_doubt_until_its_answer_or_for_a_while() {
        let now = Instant::now();
        let mut abandoned = Abandoned::default();
        (1..=3).for_each(|id| abandoned.add(id, SessionId(id), now));
        abandoned.forget(2);
        let left = |abandoned: &mut Abandoned, at| abandoned.sessions(at).collect::<Vec<_>>();
        assert_eq!(left(&mut abandoned, now), [SessionId(1), SessionId(3)]);
        assert!(left(&mut abandoned, now + DOUBT).is_empty());
        (0..2 * IN_DOUBT_MAX as u64).for_each(|id| abandoned.add(id, SessionId(id), now));
        assert_eq!(left(&mut abandoned, now).len(), IN_DOUBT_MAX);
    }
}
