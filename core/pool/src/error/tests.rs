//! The one error type.

use std::error::Error as _;

use serde_json::json;

use super::*;

/// SPEC 5.12: every part of an error is there, in Rust and as JSON.
#[test]
fn an_error_carries_everything() {
    let cause = Error::new(ErrorCode::Exited, "the process ended");
    let error = Error::new(ErrorCode::CallInterrupted, "the connection was lost")
        .with_server("s")
        .with_session("a")
        .with_outcome(Outcome::NotSent)
        .with_detail("tool", "echo")
        .with_detail("generation", 2)
        .with_hint("call again")
        .with_cause(cause.clone())
        .with_arguments("{}".into());
    assert_eq!(error.code(), ErrorCode::CallInterrupted);
    assert_eq!(error.message(), "the connection was lost");
    assert_eq!((error.server(), error.session()), (Some("s"), Some("a")));
    assert_eq!(error.outcome(), Some(Outcome::NotSent));
    assert_eq!(error.detail()["generation"], 2);
    assert_eq!(error.hint(), Some("call again"));
    assert_eq!(error.cause(), Some(&cause));
    assert_eq!(error.source().unwrap().to_string(), "the process ended");
    assert_eq!(error.arguments(), Some("{}"));
    assert!(error.is_retryable());
    let expected = json!({
        "code": "call_interrupted", "number": 21, "message": "the connection was lost", "retryable": true,
        "server": "s", "session": "a", "outcome": "not_sent", "hint": "call again",
        "cause": {"code": "exited", "number": 17, "message": "the process ended", "retryable": true,
            "hint": ErrorCode::Exited.row().advice, "detail": {}},
        "detail": {"tool": "echo", "generation": 2},
    });
    assert_eq!(error.to_json(), expected);
    assert_eq!(error.to_string(), "s: the connection was lost");
    assert_eq!(
        format!("{error:?}"),
        format!(
            "Error(call_interrupted, s: the connection was lost; hint: call again; \
             cause: Error(exited, the process ended; hint: {}))",
            ErrorCode::Exited.row().advice
        )
    );
}

/// SPEC 5.12: a bare error has its code's defaults and advice, and nothing else.
#[test]
fn a_bare_error_has_nothing_else() {
    let error = Error::new(ErrorCode::Closed, "the pool is closed");
    assert_eq!((error.server(), error.session()), (None, None));
    assert_eq!(error.hint(), Some(ErrorCode::Closed.row().advice));
    assert_eq!((error.outcome(), error.cause(), error.arguments()), (None, None, None));
    assert!(error.source().is_none() && error.detail().is_empty() && !error.is_retryable());
    assert_eq!(error.to_string(), "the pool is closed");
    let expected = json!({
        "code": "closed", "number": 4, "message": "the pool is closed", "retryable": false, "detail": {},
        "hint": ErrorCode::Closed.row().advice,
    });
    assert_eq!(error.to_json(), expected);
}

/// SPEC 5.6, 18.12: what may have run is not to be repeated; that it did not run makes nothing else
/// better.
#[test]
fn an_outcome_never_makes_an_error_better_than_its_code() {
    let unavailable = Error::new(ErrorCode::Unavailable, "reconnecting");
    assert!(unavailable.is_retryable());
    assert!(!unavailable.with_outcome(Outcome::Unknown).is_retryable());
    let closed = Error::new(ErrorCode::Closed, "closed").with_outcome(Outcome::NotSent);
    assert!(!closed.is_retryable());
    assert_eq!((Outcome::NotSent.as_str(), Outcome::Unknown.as_str()), ("not_sent", "unknown"));
}

/// SPEC 5.12: a copy that is changed leaves the original as it was.
#[test]
fn errors_are_values() {
    let first = Error::new(ErrorCode::Limit, "too many");
    let second = first.clone().with_server("s");
    assert_eq!(first.server(), None);
    assert_ne!(first, second);
    assert_eq!(first, Error::new(ErrorCode::Limit, "too many"));
}

/// S-49: the name of a server is escaped where it is shown, and is itself where it is asked for.
#[test]
fn a_server_is_shown_escaped() {
    let error = Error::new(ErrorCode::Closed, "closed").with_server("a\u{1b}[2J");
    assert_eq!(error.to_string(), "a\\u{1b}[2J: closed");
    assert!(format!("{error:?}").starts_with("Error(closed, a\\u{1b}[2J: closed; hint: "));
    assert_eq!(error.server(), Some("a\u{1b}[2J"));
}

/// SPEC 5.12, 11.6: the hint of an error is the most exact that is known: its own, the remedy of
/// its reason or its limit, its code's advice.
#[test]
fn every_error_says_what_to_do() {
    for code in ErrorCode::ALL {
        let error = Error::new(*code, "so it was");
        assert_eq!(error.hint(), Some(code.row().advice));
        assert_eq!(error.to_json()["hint"], code.row().advice);
    }
    for reason in Reason::all() {
        let error = Error::new(ErrorCode::NotAdmitted, "no").with_detail("reason", reason.as_str());
        assert_eq!(error.hint(), Some(reason.remedy()));
        assert_eq!(error.with_hint("its own").hint(), Some("its own"));
    }
    let limit = |word| Error::new(ErrorCode::Limit, "full").with_detail("limit", word);
    for (word, _) in crate::interface::words::limit::ALL {
        let hint = remedies::of_limit(word).unwrap();
        assert_eq!(limit(*word).hint(), Some(hint));
    }
    assert_eq!(limit("another").hint(), Some(ErrorCode::Limit.row().advice));
    // `detail.reason` of other codes is another list of words.
    let closed = Error::new(ErrorCode::Closed, "over").with_detail("reason", "closing");
    assert_eq!(closed.hint(), Some(ErrorCode::Closed.row().advice));
}

/// What an error is told again as has its own hint, and never the advice of the code that it had.
#[test]
fn advice_of_another_code_is_not_handed_on() {
    let told = |error: Error| Error::new(ErrorCode::CallInterrupted, "over").with_hint_of(&error);
    let advised = told(Error::new(ErrorCode::ConnectFailed, "away"));
    assert_eq!(advised.hint(), Some(ErrorCode::CallInterrupted.row().advice));
    let own = told(Error::new(ErrorCode::ConnectFailed, "away").with_hint("check the address"));
    assert_eq!(own.hint(), Some("check the address"));
}
