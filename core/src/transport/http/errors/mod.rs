//! What goes wrong between here and a remote server, each with its error and how far it reaches.

pub(super) mod access;
pub(super) mod answer_words;
pub(super) mod error_context;
pub(super) mod network_errors;
pub(super) mod status_class;

use std::sync::Arc;

use reqwest::header::{HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode, Url};

use self::answer_words::AnswerExcerpt;
use self::error_context::{ErrorContext, SHOWN_CHARS_MAX, shown};
use super::body;
use crate::net::http_date::retry_after;
use crate::net::www_authenticate::Challenge;
use crate::{Error, ErrorCode, Outcome};
use trunkline_pool::interface::words;

/// Characters, and digits among them, of a part of a path that is taken for a word.
const WORD_CHARS_MAX: usize = 20;
const WORD_DIGITS_MAX: usize = 4;

/// A challenge is shown up to here: hosts read the scheme and the scope from it.
const CHALLENGE_CHARS_MAX: usize = 1000;

/// How far a failure reaches.
#[derive(Debug)]
pub(super) enum Failure {
    /// It is that of one message, and what the server makes of it is not known.
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

/// A call that did not get its answer because of this failure. What the failure says in its detail
/// is the call's as well: how long the server wants to be left alone, above all.
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

/// What it is, where it is no MCP. Its beginning is read for its words.
pub(super) async fn no_answer(context: &dyn ErrorContext, response: Response) -> Error {
    no_answer_after(context, response, Vec::new()).await
}

/// The same, where so much of it was read already.
pub(super) async fn no_answer_after(
    context: &dyn ErrorContext,
    mut response: Response,
    mut body: Vec<u8>,
) -> Error {
    body.extend(body::beginning(&mut response).await);
    let said =
        AnswerExcerpt { status: response.status(), headers: response.headers(), body: &body };
    no_mcp(context, &said)
}

pub(super) fn no_mcp(context: &dyn ErrorContext, said: &AnswerExcerpt<'_>) -> Error {
    let found = said.media_type().filter(|found| !found.is_empty());
    let what = match found {
        _ if said.is_page() => "the address answers with a web page, not with MCP".to_owned(),
        Some(found) => {
            let found = shown(context, &found, SHOWN_CHARS_MAX);
            format!("the server answered with content of the type {found}")
        }
        None => "the server answered with content of no type".to_owned(),
    };
    let words = said.words(context).map(|words| format!(": {words}")).unwrap_or_default();
    let message = format!("{what} (HTTP status {}){words}", said.status);
    let error = protocol(context.server(), message)
        .with_hint("check `url`: it must be the address of an MCP endpoint");
    said.told(context, error)
}

/// The server wants other credentials (SPEC 8.4, 15.3).
pub(super) fn auth(context: &dyn ErrorContext, said: &AnswerExcerpt<'_>) -> Error {
    let (address, status) = (context.shown_address(), said.status);
    let challenges = || said.headers.get_all(WWW_AUTHENTICATE).iter();
    let challenge = Challenge::of(challenges().filter_map(|value| value.to_str().ok()));
    let (what, missing) = match status {
        StatusCode::FORBIDDEN if challenge.wants_more() => {
            ("wants a token for more than this one", words::missing::SCOPE)
        }
        StatusCode::FORBIDDEN => {
            ("refuses what is asked with these credentials", words::missing::PERMISSION)
        }
        _ => ("wants credentials", words::missing::TOKEN),
    };
    let error = Error::new(ErrorCode::AuthRequired, format!("{address} {what}"))
        .with_server(context.server().as_ref())
        .with_detail("address", address)
        .with_detail("missing", missing)
        .with_hint("sign in, or set an `Authorization` header in the server's configuration");
    let error = match (context.denial(), context.unrenewed()) {
        (Some(denial), _) => denial.explain(error),
        // With a token that is good, and not for this, a renewal that failed has nothing to do.
        (None, Some(cause)) if missing == words::missing::TOKEN => error.with_cause(cause),
        (None, _) => error,
    };
    challenged(context, said.told(context, error), &challenge, challenges())
}

/// The error with all that the server asks for: every challenge, and of the one for a token its
/// scopes and its address.
fn challenged<'a>(
    context: &dyn ErrorContext,
    error: Error,
    challenge: &Challenge,
    values: impl Iterator<Item = &'a HeaderValue>,
) -> Error {
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    // That for a token is what a host reads: no other crowds it out of what is shown.
    let (of_token, others): (Vec<_>, Vec<_>) =
        values.into_iter().partition(|value| Challenge::is_in(value));
    let all = [of_token, others].concat().join(", ");
    let members = [
        ("www_authenticate", Some(all.as_str())),
        ("scope", challenge.scope.as_deref()),
        ("resource_metadata", challenge.resource_metadata.as_deref()),
    ];
    let named = members.into_iter().filter_map(|(name, text)| Some((name, text?)));
    named.filter(|(_, text)| !text.is_empty()).fold(error, |error, (name, text)| {
        error.with_detail(name, shown(context, text, CHALLENGE_CHARS_MAX))
    })
}

/// What let a connection in is forgotten, and the connection would go on without being asked for
/// it.
pub(super) fn signed_out(context: &dyn ErrorContext) -> Error {
    Error::new(ErrorCode::AuthRequired, "the server was signed out of")
        .with_server(context.server().as_ref())
        .with_detail("address", context.shown_address())
        .with_detail("missing", words::missing::TOKEN)
        .with_hint("sign in")
}

/// An HTTP status that is no answer.
pub(super) fn status(context: &dyn ErrorContext, said: &AnswerExcerpt<'_>) -> Error {
    let status = said.status;
    let temporary = matches!(status.as_u16(), 429 | 502 | 503 | 504);
    let code = if temporary { ErrorCode::ConnectFailed } else { ErrorCode::Protocol };
    let words = said.words(context).map(|words| format!(": {words}")).unwrap_or_default();
    let error = Error::new(code, format!("the server answered with HTTP status {status}{words}"))
        .with_server(context.server().as_ref());
    let error = said.told(context, error);
    match retry_after(said.headers) {
        Some(wait) => {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            error.with_detail("retry_after_ms", wait)
        }
        None => match status {
            _ if is_about_address(status) => {
                error.with_hint("check the path of `url`: nothing there speaks Streamable HTTP")
            }
            StatusCode::FORBIDDEN if said.is_page() => error.with_hint(
                "a web page refuses this, as firewalls and proxies do: ask who runs it; signing in changes nothing there",
            ),
            _ => error,
        },
    }
}

/// The hint of a refusal by a server that speaks the protocol.
pub(super) const SPOKEN: &str =
    "the server speaks MCP at this address; the cause has the error that it answered with";

/// Whether a status says that an address leads to nothing, or to what takes no messages.
pub(super) fn is_about_address(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
}

/// An error of the protocol that came with a status, with what that says beside it.
pub(super) fn answered(answer: Error, of_status: &Error) -> Error {
    let members = ["status", "content_type", "retry_after_ms"].into_iter();
    let told = members.filter_map(|name| Some((name, of_status.detail().get(name)?.clone())));
    told.fold(answer, |answer, (name, value)| answer.with_detail(name, value))
}

/// The server's answer is coded in a way that is not read here.
pub(super) fn coded(context: &dyn ErrorContext, coding: &str) -> Error {
    let coding = shown(context, coding, SHOWN_CHARS_MAX);
    let message = format!("the server compressed its answer ({coding}), which nobody asked for");
    protocol(context.server(), message)
        .with_detail("content_encoding", coding)
        .with_hint("have the server, or the proxy before it, obey `Accept-Encoding: identity`")
}

/// The server leads from one place of its own to the next, without end.
pub(super) fn redirects(context: &dyn ErrorContext) -> Error {
    protocol(context.server(), "the server redirects again and again")
        .with_hint("check `url`: it must be the address of an MCP endpoint")
}

/// The server leads where nothing of ours goes (S-32).
pub(super) fn redirect(context: &dyn ErrorContext, from: &Url, response: &Response) -> Error {
    let own = format!("{}{}", context.shown_origin(from), shown_path(from));
    let own = shown(context, &own, SHOWN_CHARS_MAX);
    let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    let Some(to) = location.and_then(|location| from.join(location).ok()) else {
        return protocol(context.server(), format!("{own} redirects to no address"))
            .with_detail("address", own);
    };
    let there = format!("{}{}", to.origin().ascii_serialization(), shown_path(&to));
    let there = shown(context, &there, SHOWN_CHARS_MAX);
    let is_slash = differs_by_slash(from, &to);
    let is_clear = from.scheme() == "https" && to.scheme() == "http";
    let what = match (to.origin() == from.origin(), is_clear) {
        (true, _) => "in a way that no message can follow",
        (false, true) => "another place, in clear text",
        (false, false) => "another place",
    };
    let status = response.status().as_u16();
    let message = match to.origin() == from.origin() {
        true => format!("{own} redirects to {there} with HTTP status {status}, {what}"),
        false => format!("{own} redirects to {there}, which is {what}"),
    };
    let message = match is_slash {
        true => format!("{message}; the two paths differ in the final slash alone"),
        false => message,
    };
    let error = protocol(context.server(), message)
        .with_detail("address", own)
        .with_detail("location", there);
    match (is_slash, from.path().ends_with('/')) {
        (true, true) => error.with_hint("take the final slash out of `url`, and leave the rest of it as it is"),
        (true, false) => error.with_hint("put a slash at the end of the path of `url`, and leave the rest of it as it is"),
        (false, _) if is_clear => error.with_hint("have the server redirect to an address of https: nothing is sent in clear text to where `https` was configured"),
        (false, _) => error.with_hint("if that place is the server's, write its address into the configuration"),
    }
}

/// A path of words alone. In any other there may be a secret, and nothing of it is shown.
fn shown_path(url: &Url) -> &str {
    let is_word = |part: &str| {
        let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.len() <= WORD_CHARS_MAX && digits <= WORD_DIGITS_MAX && part.bytes().all(is_of_word)
    };
    match url.path() {
        path if path.split('/').all(is_word) => path,
        _ => "/…",
    }
}

/// Whether two addresses of one host are the same but for the slash at the end of their paths, and
/// for how they are reached.
fn differs_by_slash(one: &Url, other: &Url) -> bool {
    let [bare, other_bare] = [one, other].map(|url| url.path().trim_end_matches('/'));
    one.host_str() == other.host_str() && bare == other_bare && one.path() != other.path()
}

/// The server wants messages of ours to be posted at another origin (S-32).
pub(super) fn endpoint(context: &dyn ErrorContext, text: &str) -> Error {
    let to = reqwest::Url::parse(text).ok().map(|to| to.origin().ascii_serialization());
    let error = protocol(context.server(), "the server names an endpoint at another origin");
    match to {
        Some(to) => error.with_detail("location", shown(context, &to, SHOWN_CHARS_MAX)),
        None => error,
    }
}

/// An address without a stated transport, where neither of the two was found; the second attempt
/// says what kind of failure it is.
pub(super) fn neither(context: &dyn ErrorContext, probed: &Error, events: Error) -> Error {
    let refusal = probed.cause().filter(|cause| cause.code() == ErrorCode::ServerError);
    let (first, second) = (probed.message(), events.message());
    let message = match refusal {
        Some(_) => format!(
            "the server refuses the handshake over Streamable HTTP ({first}), and does not speak HTTP+SSE ({second})"
        ),
        None => {
            format!("the address speaks neither Streamable HTTP ({first}) nor HTTP+SSE ({second})")
        }
    };
    let error = Error::new(events.code(), message).with_server(context.server().as_ref());
    let members = events.detail().iter().chain(probed.detail());
    let error = members.fold(error, |error, (name, value)| error.with_detail(name, value.clone()));
    match refusal {
        Some(refusal) => error.with_hint(SPOKEN).with_cause(refusal.clone()),
        None => error
            .with_hint("check `url`: it must be the address of an MCP endpoint")
            .with_cause(events),
    }
}

/// The server ended a websocket, and says why.
pub(super) fn farewell(context: &dyn ErrorContext, code: u16, reason: &str) -> Error {
    let reason = shown(context, reason, SHOWN_CHARS_MAX);
    let said = if reason.is_empty() { reason } else { format!(": {reason}") };
    let message = format!("the server closed the websocket with code {code}{said}");
    protocol(context.server(), message).with_detail("close_code", code)
}

/// Whether these are the words of a server that no longer knows the session, or wants to be spoken
/// with anew.
pub(super) fn is_about_session(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_lowercase();
    text.contains("session") || text.contains("not initialized")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::http::http_session::tests::channel;

    fn redirected(from: &str, to: &str) -> Error {
        let mut response = http::Response::new("");
        *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        response.headers_mut().insert(LOCATION, HeaderValue::from_str(to).unwrap());
        let response = Response::from(response);
        redirect(&channel(), &Url::parse(from).unwrap(), &response)
    }

    /// SPEC 18.6: both addresses are named, a slash that is too many or missing too, and no hint
    /// leads to clear text.
    #[test]
    fn a_redirect_that_is_refused_says_where_it_leads() {
        const SLASH: &str = "final slash";
        const CLEAR: &str = "in clear text";
        for (from, to, there, words, hint) in [
            (
                "https://h/mcp/",
                "http://h:81/mcp",
                "http://h:81/mcp",
                &[SLASH, CLEAR][..],
                "take the final slash out",
            ),
            ("https://h/mcp", "http://h/mcp/", "http://h/mcp/", &[SLASH, CLEAR], "put a slash"),
            ("https://h/mcp", "https://h:81/mcp/", "https://h:81/mcp/", &[SLASH], "put a slash"),
            ("https://h/mcp", "http://other/mcp", "http://other/mcp", &[CLEAR], "https"),
            (
                "https://h/mcp",
                "https://other/mcp",
                "https://other/mcp",
                &["another place"],
                "its address",
            ),
            (
                "http://h/mcp",
                "//other/mcp/",
                "http://other/mcp/",
                &["another place"],
                "its address",
            ),
            ("http://h/mcp", "/login", "http://h/login", &["no message can follow"], "its address"),
            ("http://h/mcp", "http://u:p@other/x?canary", "http://other/x", &[], "its address"),
            (
                "http://h/mcp",
                "http://other/s/canary-0123456789",
                "http://other/…",
                &[],
                "its address",
            ),
            (
                "http://h/mcp",
                "http://other/averyveryverylongcanary",
                "http://other/…",
                &[],
                "its address",
            ),
            ("http://h/v2/mcp", "http://other/%63anary", "http://other/…", &[], "its address"),
        ] {
            let error = redirected(from, to);
            assert_eq!(error.detail()["location"], there, "{from} {to}");
            assert_eq!(error.detail()["address"], from, "{from} {to}");
            assert!(error.message().contains(from) && error.message().contains(there), "{error}");
            assert!(words.iter().all(|words| error.message().contains(words)), "{to}: {error}");
            let is_slash = error.message().contains(SLASH);
            assert_eq!(is_slash, words.contains(&SLASH), "{to}: {error}");
            let advice = error.hint().unwrap();
            assert!(advice.contains(hint), "{to}: {advice}");
            assert!(!(from.starts_with("https") && advice.contains("http:")), "{to}: {advice}");
            assert!(!error.message().contains("canary"), "{error}");
        }
        assert!(redirected("http://h/mcp", "http://[").message().contains("no address"));
    }
}
