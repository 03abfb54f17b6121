//! The errors of one connection, each made in one place.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::calls::in_flight::{Flight, Missed};
use super::types::ConnectOptions;
use crate::base::escape::escape_line;
use crate::platform::Exit;
use crate::{Error, ErrorCode, Outcome};
use trunkline_pool::interface::words;
use trunkline_pool::options::Refusal;

/// Bytes of what a server says in an error that is kept: as much as anybody reads, and little
/// beside the rest of a status.
const KEPT_BYTES_MAX: usize = 2 << 10;

/// Characters of a revision of the protocol that are shown: more than any has.
const REVISION_CHARS_MAX: usize = 100;

/// Lines of stderr that an error carries.
const STDERR_LINES_MAX: usize = 20;

/// The connection was lost or closed while a call was under way, or before it could be sent.
pub(super) fn interrupted(server: &Arc<str>, outcome: Outcome) -> Error {
    let message = match outcome {
        Outcome::NotSent => "the connection was lost before the call was sent",
        Outcome::Unknown => "the connection was lost while the call was under way",
    };
    Error::new(ErrorCode::CallInterrupted, message)
        .with_server(server.as_ref())
        .with_outcome(outcome)
}

/// A panic came between a request and the wire: how much of it was sent is not known.
pub(super) fn unwritten(server: &Arc<str>) -> Error {
    Error::new(ErrorCode::Internal, "writing the request failed")
        .with_server(server.as_ref())
        .with_outcome(Outcome::Unknown)
}

/// Of two arguments with one name the server could take another than what stands in the headers of
/// the call.
pub(super) fn doubled(server: &Arc<str>) -> Error {
    Error::new(ErrorCode::InvalidArgument, "an argument that goes into a header is there twice")
        .with_server(server.as_ref())
        .with_detail("path", "arguments")
        .with_outcome(Outcome::NotSent)
}

/// The host no longer waits.
pub(super) fn cancelled(server: &Arc<str>, outcome: Outcome) -> Error {
    Error::new(ErrorCode::Cancelled, "the call was cancelled")
        .with_server(server.as_ref())
        .with_outcome(outcome)
}

/// A request missed a deadline.
pub(super) fn overdue(
    server: &Arc<str>,
    flight: &Flight,
    missed: Missed,
    outcome: Outcome,
) -> Error {
    let which = match missed {
        Missed::Total => words::deadline::TOTAL,
        Missed::Idle => words::deadline::IDLE,
    };
    let limit = u64::try_from(flight.clock.limit(missed).as_millis()).unwrap_or(u64::MAX);
    let (message, hint) = match missed {
        Missed::Total => (
            format!("no answer within {limit} ms"),
            "raise `timeout_ms` of the call, or `call_timeout_ms` of the pool, or call_timeout_ms in the server's configuration",
        ),
        Missed::Idle => (
            format!("neither an answer nor progress for {limit} ms"),
            "raise `idle_timeout_ms` of the call, or `call_idle_timeout_ms` of the pool, or call_idle_timeout_ms in the server's configuration",
        ),
    };
    Error::new(ErrorCode::Timeout, message)
        .with_server(server.as_ref())
        .with_detail("which", which)
        .with_detail("limit_ms", limit)
        .with_hint(hint)
        .with_outcome(outcome)
}

/// Connecting or listing took too long.
pub(super) fn slow(server: &Arc<str>, which: &'static str, limit: std::time::Duration) -> Error {
    let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let message = match which {
        words::deadline::LIST => format!("the server did not list everything within {limit} ms"),
        _ => format!("the server did not answer the handshake within {limit} ms"),
    };
    Error::new(ErrorCode::Timeout, message)
        .with_server(server.as_ref())
        .with_detail("which", which)
        .with_detail("limit_ms", limit)
        .with_hint(
            "raise `connect_timeout_ms` of the pool, or connect_timeout_ms in the server's configuration, if the server is only slow",
        )
}

/// What has to be looked at before the server is started did not answer within the time to connect.
pub(crate) fn out_of_reach(server: &Arc<str>, limit: std::time::Duration) -> Error {
    let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let message = format!("the server's program could not be looked up within {limit} ms");
    Error::new(ErrorCode::Timeout, message)
        .with_server(server.as_ref())
        .with_detail("which", words::deadline::CONNECT)
        .with_detail("limit_ms", limit)
        .with_hint("check that the file systems of its command and its working directory answer")
}

/// The server did not answer the keep-alive's questions.
pub(super) fn silent(server: &Arc<str>, options: &ConnectOptions) -> Error {
    let (misses, apart) = (options.keepalive_misses, options.keepalive.as_millis());
    let message = format!(
        "the server sent nothing and left {misses} questions of the keep-alive, {apart} ms apart, unanswered"
    );
    Error::new(ErrorCode::Timeout, message)
        .with_server(server.as_ref())
        .with_detail("which", words::deadline::KEEPALIVE)
        .with_detail("misses", misses)
        .with_hint("raise `keepalive_ms` or `keepalive_misses` of the pool if the server is silent while it works")
}

/// A bound of ours was reached.
pub(super) fn limit(server: &Arc<str>, limit: &'static str) -> Error {
    let of_limit = |message: String| {
        Error::new(ErrorCode::Limit, message)
            .with_server(server.as_ref())
            .with_detail("limit", limit)
    };
    if limit == words::limit::FRAME_BYTES {
        let message =
            "a message, or all pages of a list, are longer than `limits.frame_bytes` allows";
        return of_limit(message.to_owned());
    }
    let meaning = words::limit::ALL.iter().find(|(word, _)| *word == limit);
    let meaning = meaning.map_or_else(String::new, |(_, meaning)| format!(": {meaning}"));
    of_limit(format!("the limit `{limit}` is reached{meaning}"))
}

/// The server broke the protocol.
pub(super) fn protocol(server: &Arc<str>, message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Protocol, message).with_server(server.as_ref())
}

/// The way to the server ended, and may be there again another time.
pub(super) fn unconnected(server: &Arc<str>, message: &str) -> Error {
    Error::new(ErrorCode::ConnectFailed, message)
        .with_server(server.as_ref())
        .with_detail("kind", words::connect_kind::CLOSED)
        .with_hint("the server, or a proxy before it, ended the connection")
}

/// The same error for later callers: the status and each event that tells of it have it again. So
/// the server's words in it, and in its causes, have a bound (S-24). The error of a call has all of
/// it.
pub(super) fn kept(error: Error) -> Error {
    let said = |name| Some((name, beginning(error.detail().get(name)?)?));
    let cut: Vec<(&str, String)> = ["message", "data"].into_iter().filter_map(said).collect();
    let cause = error.cause().cloned();
    let error = cut.into_iter().fold(error, |error, (name, said)| error.with_detail(name, said));
    match cause {
        Some(cause) => error.with_cause(kept(cause)),
        None => error,
    }
}

/// The beginning of what a server said, where it is too long to be kept: of a text, or else of its
/// JSON.
fn beginning(said: &Value) -> Option<String> {
    let text = match said {
        Value::String(text) => Cow::from(text),
        said => Cow::from(said.to_string()),
    };
    if text.len() <= KEPT_BYTES_MAX {
        return None;
    }
    let end = (0..=KEPT_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    Some(format!("{}…", &text[..end]))
}

/// A revision of the protocol that a server named, for people to read.
pub(super) fn revision(named: &str) -> String {
    let shown = escape_line(named.as_bytes());
    match shown.char_indices().nth(REVISION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

/// The server's process has ended by itself.
pub(super) fn exited(server: &Arc<str>, exit: Exit, stderr: &[String]) -> Error {
    let (message, detail) = match exit {
        Exit::Status(status) => {
            (format!("the server exited with status {status}"), Some(("status", status)))
        }
        Exit::Signal(signal) => {
            (format!("the server was ended by signal {signal}"), Some(("signal", signal)))
        }
        Exit::SupervisorLost => {
            ("the supervisor was ended from outside, and the server with it".to_owned(), None)
        }
        Exit::Unknown => ("the server exited".to_owned(), None),
    };
    let error = Error::new(ErrorCode::Exited, message).with_server(server.as_ref());
    let error = match detail {
        Some((name, value)) => error.with_detail(name, value),
        None => error,
    };
    let hint = match exit {
        Exit::Status(127) => "a program that the command needs was not found",
        Exit::Status(126) => "a program that the command needs cannot be executed",
        Exit::Status(0) => "the command ended without serving; check its arguments",
        Exit::SupervisorLost => "look for what ends processes here, such as a lack of memory",
        Exit::Status(_) | Exit::Signal(_) | Exit::Unknown => {
            "see the server's stderr in the detail"
        }
    };
    with_stderr(error, stderr).with_hint(hint)
}

/// Adds the last lines that the server wrote to stderr (SPEC 4.6).
pub(super) fn with_stderr(error: Error, lines: &[String]) -> Error {
    if lines.is_empty() {
        return error;
    }
    let last: Vec<Value> = lines[lines.len().saturating_sub(STDERR_LINES_MAX)..]
        .iter()
        .cloned()
        .map(Value::from)
        .collect();
    error.with_detail("stderr", last)
}

/// Whether the way to the server failed, and the same request may well succeed.
pub(super) fn is_of_network(error: &Error) -> bool {
    error.code() == ErrorCode::CallInterrupted
}

/// Whether the server does not know the method at all.
pub(super) fn is_method_not_found(error: &Error) -> bool {
    is_answer_of_code(error, Refusal::METHOD_NOT_FOUND)
}

/// Whether a server answered that it does not take what it was given.
pub(super) fn is_invalid_params(error: &Error) -> bool {
    is_answer_of_code(error, Refusal::INVALID_PARAMS)
}

fn is_answer_of_code(error: &Error, code: i32) -> bool {
    let detail: &Map<String, Value> = error.detail();
    error.code() == ErrorCode::ServerError
        && detail.get("code").and_then(Value::as_i64) == Some(code.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::of_server;

    /// SPEC 9.4, S-24.
    #[test]
    fn what_a_server_says_has_a_bound_in_an_error_that_is_kept() {
        let refused = |message: &str, data: Value| {
            let error = serde_json::json!({ "code": -5, "message": message, "data": data });
            of_server(&"s".into(), &error.to_string())
        };
        let whole = refused(&"m".repeat(KEPT_BYTES_MAX), vec!["d"; 500].into());
        assert_eq!(kept(whole.clone()), whole);
        let long = refused(&"é".repeat(KEPT_BYTES_MAX), vec!["d"; 1000].into());
        let error = kept(Error::new(ErrorCode::Protocol, "refused").with_cause(long));
        let cut = error.cause().unwrap();
        assert_eq!((error.message(), cut.code()), ("refused", ErrorCode::ServerError));
        assert_eq!(cut.detail()["code"], -5);
        let message = "é".repeat(KEPT_BYTES_MAX / 2) + "…";
        assert_eq!(cut.detail()["message"], message);
        let data = format!("[{}", r#""d","#.repeat(KEPT_BYTES_MAX));
        assert_eq!(cut.detail()["data"], format!("{}…", &data[..KEPT_BYTES_MAX]));
        assert!(cut.message().len() < 2 * KEPT_BYTES_MAX, "{cut}");
    }

    /// SPEC 4.8, S-24.
    #[test]
    fn of_a_revision_as_much_is_shown_as_any_has() {
        assert_eq!(revision("2025-06-18"), "2025-06-18");
        assert_eq!(revision(&"9".repeat(1 << 20)), "9".repeat(REVISION_CHARS_MAX) + "…");
    }

    /// SPEC 5.12: what cannot be read beside the code hides neither it nor the rest.
    #[test]
    fn half_a_character_or_an_odd_number_leaves_the_code_of_an_error() {
        let deep = "[".repeat(400) + &"]".repeat(400);
        for rest in [
            r#""message":"bad \ud83d","data":{"why":1}"#.to_owned(),
            r#""message":"bad","data":{"why":1e400}"#.to_owned(),
            format!(r#""message":"bad","data":{deep}"#),
            r#""message":7"#.to_owned(),
            r#""\ud83d":0"#.to_owned(),
        ] {
            let failure = of_server(&"s".into(), &format!(r#"{{"code":-32601,{rest}}}"#));
            assert!(is_method_not_found(&failure), "{rest}: {failure}");
            let is_said = rest.contains("bad");
            assert_eq!(failure.message().contains("-32601: bad"), is_said, "{failure}");
            assert_eq!(failure.detail().get("data").is_some(), rest.contains(r#""why":1}"#));
        }
        for code in [r#""-32601""#, "-32601.0", "-3.2601e4", r#"" -32601.0 ""#] {
            let failure = of_server(&"s".into(), &format!(r#"{{"code":{code}}}"#));
            assert_eq!(
                failure.detail().get("code"),
                Some(&serde_json::json!(-32601)),
                "{code}: {failure}"
            );
        }
        for unreadable in
            [r#"{"message":"bad"}"#, r#"{"code":"x"}"#, r#"{"code":-1.5}"#, "[-32601]", "7"]
        {
            assert_eq!(of_server(&"s".into(), unreadable).code(), ErrorCode::Protocol);
        }
    }
}
