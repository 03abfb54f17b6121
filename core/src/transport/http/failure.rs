//! What goes wrong between here and a remote server, each with its error and how far it reaches.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};

use super::channel::Channel;
use crate::auth::challenge::Challenge;
use crate::transport::escape::escape_line;
use crate::{Error, ErrorCode, Outcome};
use trunkline_pool::interface::words;
use trunkline_pool::json::{lossy_members, readable, readable_members};

/// Characters of a server's own words that an error repeats.
pub(super) const SHOWN_CHARS_MAX: usize = 300;

/// A challenge is shown up to here: hosts read the scheme and the scope from it.
const CHALLENGE_CHARS_MAX: usize = 1000;

/// How far a failure reaches.
#[derive(Debug)]
pub(super) enum Failure {
    /// It is that of one message, of which it is not known what the server makes of it.
    Message(Error),
    /// The same, of one that the server does not work on: it says so.
    Refused(Error),
    /// The session is gone (SPEC 8.4).
    Session(Error),
    /// Nothing can be done with this connection any more.
    Connection(Error),
}

impl Failure {
    pub(super) fn error(&self) -> &Error {
        match self {
            Failure::Message(error)
            | Failure::Refused(error)
            | Failure::Session(error)
            | Failure::Connection(error) => error,
        }
    }
}

/// The server broke the protocol.
pub(super) fn protocol(server: &Arc<str>, message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Protocol, message).with_server(server.as_ref())
}

/// The connection has ended.
pub(super) fn over(server: &Arc<str>) -> Error {
    interrupted(server, "the connection has ended", Outcome::NotSent)
}

/// A bound of ours was reached.
pub(super) fn too_long(server: &Arc<str>) -> Error {
    Error::new(
        ErrorCode::Limit,
        "a message of the server is longer than `limits.frame_bytes` allows",
    )
    .with_server(server.as_ref())
    .with_detail("limit", words::limit::FRAME_BYTES)
}

/// A call that did not get its answer.
pub(super) fn interrupted(server: &Arc<str>, message: &str, outcome: Outcome) -> Error {
    Error::new(ErrorCode::CallInterrupted, message)
        .with_server(server.as_ref())
        .with_outcome(outcome)
}

/// A call that did not get its answer because of this failure. What the failure says in its detail is the call's as well: how long the
/// server wants to be left alone, above all.
pub(super) fn interrupted_by(
    server: &Arc<str>,
    message: &str,
    outcome: Outcome,
    cause: &Error,
) -> Error {
    let call = interrupted(server, message, outcome);
    let members = cause.detail().iter();
    let call = members.fold(call, |call, (name, value)| call.with_detail(name, value.clone()));
    call.with_cause(cause.clone())
}

/// The server wants other credentials (SPEC 8.4, 15.3).
pub(super) fn auth(channel: &Channel, status: StatusCode, headers: &HeaderMap) -> Error {
    let address = channel.shown_address();
    let challenges = headers.get_all(WWW_AUTHENTICATE).iter();
    let challenge = Challenge::of(challenges.filter_map(|value| value.to_str().ok()));
    let insufficient = challenge.error.as_deref() == Some("insufficient_scope");
    let (what, missing) = match status {
        StatusCode::FORBIDDEN if insufficient => {
            ("wants a token for more than this one", words::missing::SCOPE)
        }
        StatusCode::FORBIDDEN => {
            ("refuses what is asked with these credentials", words::missing::PERMISSION)
        }
        _ => ("wants credentials", words::missing::TOKEN),
    };
    let error = Error::new(ErrorCode::AuthRequired, format!("{address} {what}"))
        .with_server(channel.server.as_ref())
        .with_detail("status", status.as_u16())
        .with_detail("address", address)
        .with_detail("missing", missing)
        .with_hint("sign in, or set an `Authorization` header in the server's configuration");
    let error = match (channel.denial(), channel.unrenewed()) {
        (Some(denial), _) => denial.explain(error),
        // With a token that is good, and not for this, a renewal that failed has nothing to do.
        (None, Some(cause)) if missing == words::missing::TOKEN => error.with_cause(cause),
        (None, _) => error,
    };
    match headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()) {
        Some(challenge) => {
            error.with_detail("www_authenticate", shown(channel, challenge, CHALLENGE_CHARS_MAX))
        }
        None => error,
    }
}

/// What let a connection in is forgotten, and the connection would go on without being asked for it.
pub(super) fn signed_out(channel: &Channel) -> Error {
    Error::new(ErrorCode::AuthRequired, "the server was signed out of")
        .with_server(channel.server.as_ref())
        .with_detail("address", channel.shown_address())
        .with_detail("missing", words::missing::TOKEN)
        .with_hint("sign in")
}

/// An HTTP status that is no answer. `body` is its beginning.
pub(super) fn status(
    channel: &Channel,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Error {
    let temporary = matches!(status.as_u16(), 429 | 502 | 503 | 504);
    let code = if temporary { ErrorCode::ConnectFailed } else { ErrorCode::Protocol };
    let words = words(channel, body);
    let said = words.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
    let error = Error::new(code, format!("the server answered with HTTP status {status}{said}"))
        .with_server(channel.server.as_ref())
        .with_detail("status", status.as_u16());
    match retry_after(headers) {
        Some(wait) => {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            error.with_detail("retry_after_ms", wait)
        }
        None if status == StatusCode::NOT_FOUND || status == StatusCode::METHOD_NOT_ALLOWED => {
            error.with_hint("check the path of `url`: nothing there speaks Streamable HTTP")
        }
        None => error,
    }
}

/// The server answered with something else than MCP.
pub(super) fn content_type(channel: &Channel, found: Option<&str>) -> Error {
    let error = match found {
        Some("text/html") => {
            protocol(&channel.server, "the address answers with a web page, not with MCP")
        }
        Some(found) => {
            let found = shown(channel, found, SHOWN_CHARS_MAX);
            let message = format!("the server answered with content of the type {found}");
            protocol(&channel.server, message).with_detail("content_type", found)
        }
        None => protocol(&channel.server, "the server answered with content of no type"),
    };
    error.with_hint("check `url`: it must be the address of an MCP endpoint")
}

/// The server leads from one place of its own to the next, without end.
pub(super) fn redirects(channel: &Channel) -> Error {
    protocol(&channel.server, "the server redirects again and again")
        .with_hint("check `url`: it must be the address of an MCP endpoint")
}

/// The server leads to another origin: nothing of ours goes there (S-32).
pub(super) fn redirect(channel: &Channel, location: Option<&str>) -> Error {
    let to = location.and_then(|location| reqwest::Url::parse(location).ok());
    let error = protocol(&channel.server, "the server redirects to another place");
    match to.map(|to| to.origin().ascii_serialization()) {
        Some(to) => error
            .with_detail("location", shown(channel, &to, SHOWN_CHARS_MAX))
            .with_hint("if that place is the server's, write its address into the configuration"),
        None => error,
    }
}

/// The server wants messages of ours to be posted at another origin (S-32).
pub(super) fn endpoint(channel: &Channel, text: &str) -> Error {
    let to = reqwest::Url::parse(text).ok().map(|to| to.origin().ascii_serialization());
    let error = protocol(&channel.server, "the server names an endpoint at another origin");
    match to {
        Some(to) => error.with_detail("location", shown(channel, &to, SHOWN_CHARS_MAX)),
        None => error,
    }
}

/// An address without a stated transport, where neither of the two was found; the second attempt says what kind of failure it is.
pub(super) fn neither(channel: &Channel, probed: &Error, events: Error) -> Error {
    let message = format!(
        "the address speaks neither Streamable HTTP ({}) nor HTTP+SSE ({})",
        probed.message(),
        events.message()
    );
    let error = Error::new(events.code(), message).with_server(channel.server.as_ref());
    let members = events.detail().iter().chain(probed.detail());
    let error = members.fold(error, |error, (name, value)| error.with_detail(name, value.clone()));
    error.with_hint("check `url`: it must be the address of an MCP endpoint").with_cause(events)
}

/// The server ended a websocket, and says why.
pub(super) fn farewell(channel: &Channel, code: u16, reason: &str) -> Error {
    let reason = shown(channel, reason, SHOWN_CHARS_MAX);
    let said = if reason.is_empty() { reason } else { format!(": {reason}") };
    let message = format!("the server closed the websocket with code {code}{said}");
    protocol(&channel.server, message).with_detail("close_code", code)
}

/// Whether these are the words of a server that no longer knows the session, or wants to be spoken with anew.
pub(super) fn is_about_session(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_lowercase();
    text.contains("session") || text.contains("not initialized")
}

/// How long the server asks to be left alone. A date is one of the server's own clock, where it says what that shows.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| Some(headers.get(name)?.to_str().ok()?.trim());
    let asked = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    let shown = text(DATE).and_then(|date| httpdate::parse_http_date(date).ok());
    Some(until.duration_since(shown.unwrap_or_else(SystemTime::now)).unwrap_or_default())
}

/// The message of an error body, where it has one: whatever else in it cannot be read.
fn words(channel: &Channel, body: &[u8]) -> Option<String> {
    let body = String::from_utf8_lossy(body);
    let members = lossy_members(&body).ok()?;
    let (_, error) = members.iter().rev().find(|(name, _)| name == "error")?;
    let message = readable_members(error.get()).remove("message");
    // Some give the words alone.
    let message = message.or_else(|| readable(error.get()))?;
    Some(shown(channel, message.as_str()?, SHOWN_CHARS_MAX))
}

fn shown(channel: &Channel, text: &str, chars: usize) -> String {
    escape_line(channel.redact(text).as_bytes()).chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trunkline_pool::config::{ServerSpec, Transport};

    use super::super::client::Target;
    use super::*;
    use crate::transport::redact::Redactor;

    /// SPEC 5.12: what a server says is repeated, whatever stands beside it that cannot be read.
    #[test]
    fn the_words_of_a_refusal_are_read_as_far_as_they_can_be() {
        let spec = ServerSpec::from_value("s", &json!({ "type": "http", "url": "http://h/" }));
        let spec = spec.unwrap();
        let Transport::Remote(remote) = &spec.transport else { panic!("it is remote") };
        let server: Arc<str> = "s".into();
        let target = Target::of(&server, remote, Duration::ZERO).unwrap();
        let redactor = Arc::new(Redactor::new(std::iter::empty(), 40));
        let channel = Channel::new(server, 1 << 20, redactor, target, None);
        let odd = &b"{\"error\":{\"message\":\"too \xff many\"}}"[..];
        for (body, expected) in [
            (&br#"{"error":{"code":1,"message":"too many"}}"#[..], Some("too many")),
            (br#"{"error":{"message":"too many","data":{"x":1e400}},"y":1e400}"#, Some("too many")),
            (
                br#"{"error":{"message":"too \ud800 many"}}"#,
                Some("too \u{fffd}\u{fffd}\u{fffd} many"),
            ),
            (odd, Some("too \u{fffd} many")),
            (br#"{"error":"no \ud800"}"#, Some("no \u{fffd}\u{fffd}\u{fffd}")),
            (br#"{"error":"no","error":{"message":"too many"}}"#, Some("too many")),
            (br#"{"error":{"message":1}}"#, None),
            (br#"{"error":{}}"#, None),
            (br#"{"error":{"message":"too"#, None),
        ] {
            assert_eq!(words(&channel, body).as_deref(), expected);
        }
    }
}
