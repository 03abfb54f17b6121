//! Whether a failed call can have run, and whether it may be repeated: the one answer to it, by
//! what its error says (SPEC 18.12).

use crate::interface::RetryAdvice;

/// Whether a failed call can have reached the server (SPEC 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Provably never written to the connection.
    NotSent,
    /// Written, or partly written: the server may have run it.
    Unknown,
}

impl Outcome {
    /// The name used in JSON and in every language.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::NotSent => "not_sent",
            Outcome::Unknown => "unknown",
        }
    }
}

/// Whether repeating may help, and does nothing twice that must not be done twice.
///
/// `is_safe` says that the tool may be repeated, by its definition and by the trust in its server
/// (SPEC 5.7).
pub(crate) fn may_repeat(retry: RetryAdvice, outcome: Option<Outcome>, is_safe: bool) -> bool {
    match (retry, outcome) {
        (RetryAdvice::Never, _) | (RetryAdvice::ByOutcome, None) => false,
        (RetryAdvice::Later, None)
        | (RetryAdvice::Later | RetryAdvice::ByOutcome, Some(Outcome::NotSent)) => true,
        (RetryAdvice::Later | RetryAdvice::ByOutcome, Some(Outcome::Unknown)) => is_safe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorCode};

    const SENT_NOT: Option<Outcome> = Some(Outcome::NotSent);
    const UNKNOWN: Option<Outcome> = Some(Outcome::Unknown);

    /// SPEC 18.12: what may have run is repeated only where that is safe.
    #[test]
    fn what_may_have_run_is_repeated_only_where_that_is_safe() {
        for (retry, outcome, is_safe, expected) in [
            (RetryAdvice::Never, None, true, false),
            (RetryAdvice::Never, SENT_NOT, true, false),
            (RetryAdvice::Never, UNKNOWN, true, false),
            (RetryAdvice::Later, None, false, true),
            (RetryAdvice::Later, SENT_NOT, false, true),
            (RetryAdvice::Later, UNKNOWN, false, false),
            (RetryAdvice::Later, UNKNOWN, true, true),
            (RetryAdvice::ByOutcome, None, true, false),
            (RetryAdvice::ByOutcome, SENT_NOT, false, true),
            (RetryAdvice::ByOutcome, UNKNOWN, false, false),
            (RetryAdvice::ByOutcome, UNKNOWN, true, true),
        ] {
            let told = may_repeat(retry, outcome, is_safe);
            assert_eq!(told, expected, "{retry:?}, {outcome:?}, safe: {is_safe}");
        }
    }

    /// SPEC 18.12: no error contradicts itself, whatever its code is, and in whichever order it was
    /// told of what.
    #[test]
    fn no_error_says_that_what_may_have_run_may_be_repeated() {
        for &code in ErrorCode::ALL {
            let unsafe_one = Error::new(code, "it").with_outcome(Outcome::Unknown);
            assert!(!unsafe_one.is_retryable(), "{code:?}");
            let later = Error::new(code, "it")
                .with_outcome(Outcome::Unknown)
                .with_retry(RetryAdvice::Later);
            assert!(!later.is_retryable(), "{code:?}");
            assert!(later.of_safe_tool().is_retryable(), "{code:?}");
        }
    }
}
