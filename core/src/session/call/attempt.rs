//! The attempts of one call, one after another, and where the one under way can be cancelled.
//!
//! An attempt may end before its beginner knows where it can be cancelled, and the next may have
//! begun by then, through the same connection. So each has a number of its own.

/// The attempt under way, if there is one.
pub(crate) struct RunningAttempt<W> {
    last: AttemptNumber,
    current: Option<AttemptNumber>,
    /// Where the current one can be cancelled, once that is known.
    wire: Option<W>,
}

/// The number of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttemptNumber(u64);

/// What is to be done to cancel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cancel<W> {
    /// Cancel it there.
    There(W),
    /// The beginner of the attempt will see that it is cancelled.
    Seen,
    /// Nothing is under way.
    Nothing,
}

impl<W> RunningAttempt<W> {
    /// No attempt yet.
    pub(crate) fn none() -> RunningAttempt<W> {
        RunningAttempt { last: AttemptNumber::default(), current: None, wire: None }
    }

    /// One begins.
    pub(crate) fn begin(&mut self) -> AttemptNumber {
        self.last.0 += 1;
        self.current = Some(self.last);
        self.wire = None;
        self.last
    }

    /// That one can be cancelled there; `false` when it has ended, whatever has begun since.
    pub(crate) fn reach(&mut self, attempt: AttemptNumber, wire: W) -> bool {
        let is_under_way = self.current == Some(attempt);
        if is_under_way {
            self.wire = Some(wire);
        }
        is_under_way
    }

    /// The one under way has ended.
    pub(crate) fn end(&mut self) {
        self.current = None;
        self.wire = None;
    }

    /// How the one under way is cancelled.
    pub(crate) fn cancel(&mut self) -> Cancel<W> {
        match (self.current, self.wire.take()) {
            (_, Some(wire)) => Cancel::There(wire),
            (Some(_), None) => Cancel::Seen,
            (None, None) => Cancel::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.5: the second attempt goes through the same connection as the first, which had ended
    /// before its place was known.
    #[test]
    fn a_late_word_of_the_attempt_before_is_not_taken_for_this_one() {
        let mut under_way = RunningAttempt::none();
        let first = under_way.begin();
        under_way.end();
        let second = under_way.begin();
        assert!(!under_way.reach(first, "first"));
        assert_eq!(under_way.cancel(), Cancel::Seen);
        assert!(under_way.reach(second, "second"));
        assert_eq!(under_way.cancel(), Cancel::There("second"));
    }

    /// SPEC 5.5.
    #[test]
    fn nothing_is_cancelled_between_attempts() {
        let mut under_way = RunningAttempt::none();
        assert_eq!(under_way.cancel(), Cancel::Nothing);
        let first = under_way.begin();
        assert!(under_way.reach(first, "first"));
        under_way.end();
        assert_eq!(under_way.cancel(), Cancel::Nothing);
        assert!(!under_way.reach(first, "first"));
    }
}
