//! A status that is no success: how far it reaches, and the error of the protocol that may be in
//! its body.

use std::ops::RangeInclusive;
use std::sync::Arc;

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use trunkline_pool::json::{readable_members, signed};
use trunkline_pool::lenient::{kinds, lenient};
use trunkline_pool::revision;

use super::body::{self, REFUSAL_BYTES_MAX, in_time};
use super::errors::access::RequestPurpose;
use super::errors::answer_words::{self, AnswerExcerpt};
use super::errors::status_class::{is_about_credentials, is_busy};
use super::errors::{self, Failure};
use super::http_session::HttpSession;
use crate::net::http_date::retry_after;
use crate::transport::{ServerLine, Via};
use crate::{Error, ErrorCode, Outcome};

/// The errors that only a server of the modern era gives: headers that do not match, a capability
/// that it must have, a revision that it does not speak.
pub(crate) const MODERN_ERRORS: RangeInclusive<i64> = -32022..=-32020;

/// The error of a server that does not know a method.
const METHOD_NOT_FOUND: i64 = trunkline_pool::options::Refusal::METHOD_NOT_FOUND as i64;

/// The same of one that may be an error of the protocol, which has data of its own.
const ERROR_BYTES_MAX: usize = 1 << 20;

/// Characters of a page that refuses a revision which are passed on as the words of an error.
const REVISION_WORDS_MAX: usize = 500;

/// A refusal as it came.
pub(super) struct HttpRefusal {
    status: StatusCode,
    headers: HeaderMap,
    /// Its beginning.
    body: Vec<u8>,
    /// Whether the request named a session.
    in_session: bool,
}

impl HttpRefusal {
    /// Reads what a refusal says; `in_session` says whether the request named a session.
    pub(super) async fn read(mut response: Response, in_session: bool) -> HttpRefusal {
        let (status, headers) = (response.status(), response.headers().clone());
        let is_json = answer_words::media_type(&headers).as_deref() == Some("application/json");
        let bytes_max = if is_json { ERROR_BYTES_MAX } else { REFUSAL_BYTES_MAX };
        let body = in_time(body::read_head(&mut response, bytes_max)).await;
        HttpRefusal { status, headers, body, in_session }
    }

    /// What it means for a request with that purpose (SPEC 8.4, 18.4).
    pub(super) fn failure(&self, channel: &HttpSession, purpose: RequestPurpose) -> Failure {
        let HttpRefusal { status, headers, body, in_session } = self;
        let said = AnswerExcerpt { status: *status, headers, body };
        if is_about_credentials(*status) && !self.is_of_a_gateway(&said) {
            let error = self.with_answer(channel, errors::auth(channel, &said));
            return match channel.standing.refused(*status, purpose) {
                true => Failure::Connection(error),
                false => Failure::Refused(self.of_request(error, purpose)),
            };
        }
        let error = self.of_status(channel, &said);
        if *in_session && self.loses_session() {
            return Failure::Session(self.with_answer(channel, error));
        }
        let error = match self.any_error() {
            Some((_, answer)) if is_answered(&error, purpose) => {
                errors::answered(channel.error_of_server(answer.get()), &error)
            }
            Some(_) | None => self.with_answer(channel, error),
        };
        match self.ends_the_work() {
            true => Failure::Refused(error),
            false => Failure::Message(error),
        }
    }

    /// The error of a status. Where the server speaks the protocol its address is right.
    fn of_status(&self, channel: &HttpSession, said: &AnswerExcerpt<'_>) -> Error {
        let error = errors::status(channel, said);
        let speaks = self.is_of_the_protocol() && errors::is_about_address(self.status);
        if speaks { error.with_hint(errors::SPOKEN) } else { error }
    }

    /// The error of a status, with the error of the protocol that came with it as its cause.
    fn with_answer(&self, channel: &HttpSession, error: Error) -> Error {
        match self.any_error().filter(|_| error.cause().is_none()) {
            Some((_, answer)) => error.with_cause(channel.error_of_server(answer.get())),
            None => error,
        }
    }

    /// Whether it says that the server does not know the session. A server that does not know a
    /// method says so with the same status.
    fn loses_session(&self) -> bool {
        let is_about_session = errors::is_about_session(&self.body);
        match self.status {
            StatusCode::NOT_FOUND => {
                let code = self.any_error().map(|(code, _)| code);
                is_about_session || code != Some(METHOD_NOT_FOUND)
            }
            StatusCode::BAD_REQUEST => is_about_session,
            _ => false,
        }
    }

    /// Whether a page says so in the place of the server, which a sign-in would not change: a 403
    /// without a challenge.
    fn is_of_a_gateway(&self, said: &AnswerExcerpt<'_>) -> bool {
        let is_challenge = self.headers.contains_key(WWW_AUTHENTICATE);
        self.status == StatusCode::FORBIDDEN && !is_challenge && said.is_page()
    }

    /// The error of one call that lacks credentials. Who names what is missing has not begun; a
    /// bare 403 may be about what was done.
    fn of_request(&self, error: Error, purpose: RequestPurpose) -> Error {
        let is_proved =
            self.status == StatusCode::UNAUTHORIZED || self.headers.contains_key(WWW_AUTHENTICATE);
        match purpose {
            RequestPurpose::Call if is_proved => error.with_outcome(Outcome::NotSent),
            RequestPurpose::Call => error.with_outcome(Outcome::Unknown),
            RequestPurpose::Opening | RequestPurpose::Tools | RequestPurpose::List => error,
        }
    }

    /// Whether it says that the server does not work on what it was sent (SPEC 15.1). What else is
    /// a status of 5xx may be the word of a gateway that waits no longer for a server at work.
    fn ends_the_work(&self) -> bool {
        let is_put_off = is_busy(self.status) && retry_after(&self.headers).is_some();
        self.status.is_client_error() || self.is_of_the_protocol() || is_put_off
    }

    /// Whether this is how a server refuses a handshake over Streamable HTTP that speaks HTTP+SSE
    /// alone (PROTOCOL 1.1). One that answers with an error of the modern era speaks that.
    pub(super) fn is_of_another_dialect(&self) -> bool {
        matches!(self.status.as_u16(), 400 | 404 | 405) && self.modern_error().is_none()
    }

    /// The error of the protocol in its body, where there is one.
    pub(super) fn error(&self) -> Option<&RawValue> {
        Some(self.coded_error()?.1)
    }

    /// An error that refuses the revision of the protocol, in an error of the protocol or in words
    /// (SPEC 18.5).
    pub(super) fn revision_error(&self) -> Option<String> {
        if self.status != StatusCode::BAD_REQUEST {
            return None;
        }
        if let Some(error) = self.error() {
            return revision::is_refused(error.get()).then(|| error.get().to_owned());
        }
        let words = String::from_utf8_lossy(&self.body);
        let shown: String = words.chars().take(REVISION_WORDS_MAX).collect();
        let error = || serde_json::json!({ "code": 0, "message": shown });
        revision::refuses_revision(&words).then(|| error().to_string())
    }

    /// The same, where only a server of the modern era says it.
    pub(super) fn modern_error(&self) -> Option<&RawValue> {
        let (code, error) = self.coded_error()?;
        MODERN_ERRORS.contains(&code).then_some(error)
    }

    /// Whether the server itself refuses, and no gateway before it.
    pub(super) fn is_of_the_protocol(&self) -> bool {
        self.any_error().is_some()
    }

    fn coded_error(&self) -> Option<(i64, &RawValue)> {
        self.any_error().filter(|_| self.status.is_client_error())
    }

    /// Gateways have errors with codes as well. It is one of the protocol where it says so, or
    /// where nothing else has its code.
    fn any_error(&self) -> Option<(i64, &RawValue)> {
        #[derive(Deserialize)]
        struct Body<'a> {
            #[serde(borrow)]
            jsonrpc: Option<&'a RawValue>,
            #[serde(borrow)]
            error: &'a RawValue,
        }
        let Body { jsonrpc, error } = serde_json::from_slice(&self.body).ok()?;
        let members = readable_members(&lenient(error.get(), &kinds::ERROR));
        let code = members.get("code").and_then(signed)?;
        let says_so = jsonrpc.is_some_and(|version| version.get() == r#""2.0""#);
        (says_so || MODERN_ERRORS.contains(&code)).then_some((code, error))
    }
}

/// Whether an error of the protocol that came with that error of a status is the answer to a
/// request (SPEC 5.12). What opens a connection is told as what could not be opened, and a list
/// that may be had another time is asked for again (SPEC 4.3).
fn is_answered(of_status: &Error, purpose: RequestPurpose) -> bool {
    match purpose {
        RequestPurpose::Opening => false,
        RequestPurpose::Tools | RequestPurpose::List => of_status.code() == ErrorCode::Protocol,
        RequestPurpose::Call => true,
    }
}

/// Takes an error for the answer to a request. Servers need not repeat the id when they refuse by
/// the headers alone.
pub(super) fn answer(channel: &Arc<HttpSession>, id: u64, error: &str) -> Result<(), Failure> {
    let frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}");
    let inbound = channel.inbound()?;
    inbound.heard();
    inbound.take(ServerLine::Whole(frame.as_bytes()), Via::Response(id)).map_err(Failure::Message)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderValue, RETRY_AFTER};

    use crate::transport::http::http_session::tests::channel;

    use super::*;

    /// SPEC 15.1: in doubt is what a gateway may have said of a server that is still at work.
    #[test]
    fn a_refusal_ends_the_work_where_the_server_must_have_meant_it() {
        const ERROR: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"?"}}"#;
        const GATEWAY: &str =
            r#"{"error":{"code":504,"message":"?","status":"DEADLINE_EXCEEDED"}}"#;
        for (status, body, waits, expected) in [
            (400, "", false, true),
            (404, "<html>", false, true),
            (429, "", false, true),
            (500, "Internal Server Error", false, false),
            (500, ERROR, false, true),
            (502, "", false, false),
            (502, "", true, false),
            (503, "", false, false),
            (503, "", true, true),
            (504, "", false, false),
            (504, ERROR, false, true),
            (504, GATEWAY, false, false),
        ] {
            let seconds = HeaderValue::from_static("3600");
            let headers = waits.then_some((RETRY_AFTER, seconds)).into_iter().collect();
            let refusal = HttpRefusal { headers, ..refusal(status, body) };
            assert_eq!(refusal.ends_the_work(), expected, "{status} {waits} {body}");
        }
    }

    /// SPEC 8.3, 8.4: gateways have errors with codes as well, and theirs are no answers of the
    /// server.
    #[test]
    fn an_error_is_of_the_protocol_where_it_says_so_or_nothing_else_has_its_code() {
        for (body, is_error, is_modern) in [
            (r#"{"error":{"code":404,"message":"no route"}}"#, false, false),
            (r#"{"error":{"code":-32601,"message":"?"}}"#, false, false),
            (r#"{"jsonrpc":"1.0","error":{"code":-32601,"message":"?"}}"#, false, false),
            (r#"{"jsonrpc":2.0,"error":{"code":-32601,"message":"?"}}"#, false, false),
            (r#"{"jsonrpc":"2.0","error":{"code":"x","message":"?"}}"#, false, false),
            (r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"?"}}"#, true, false),
            (r#"{"jsonrpc":"2.0","error":{"message":"?"}}"#, false, false),
            (r#"{"jsonrpc":"2.0","error":{"code":-32601}}"#, true, false),
            (r#"{"jsonrpc":"2.0","error":{"code":"-32601","message":null}}"#, true, false),
            (r#"{"jsonrpc":"2.0","error":{"code":-32601.0,"message":"?"}}"#, true, false),
            (r#"{"jsonrpc":"2.0","error":{"code":-0.5,"message":"?"}}"#, false, false),
            (r#"{"error":{"code":"-32020","message":"?"}}"#, true, true),
            (r#"{"error":{"code":-32020,"message":"?"}}"#, true, true),
            (r#"{"jsonrpc":"2.0","error":{"code":-32022,"message":"?"}}"#, true, true),
        ] {
            let refusal = refusal(404, body);
            let found = (refusal.error().is_some(), refusal.modern_error().is_some());
            assert_eq!(found, (is_error, is_modern), "{body}");
            assert_eq!(refusal.is_of_the_protocol(), is_error, "{body}");
        }
    }

    /// SPEC 5.12, 18.4, 18.12: an error of the protocol keeps its code and its data whatever its
    /// status. It says no more of what ran than it did. What the status says of sessions,
    /// credentials and time goes before it.
    #[test]
    fn an_error_of_the_protocol_is_the_servers_whatever_its_status() {
        use RequestPurpose::{Call, List, Opening};
        type Expected = (&'static str, &'static str, Option<i64>, Option<&'static str>);
        const CALL: Expected = ("refused", "server_error", Some(-32000), None);
        const SESSION: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found","data":[1]}}"#;
        const UNKNOWN: &str = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method","data":[1]}}"#;
        const ERROR: &str =
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"as told","data":[1]}}"#;
        const GATEWAY: &str = r#"{"error":{"code":-32000,"message":"as told"}}"#;
        for (status, body, purpose, in_session, (reaches, code, of_error, of_cause)) in [
            (400, ERROR, Call, false, CALL),
            (400, ERROR, Call, true, CALL),
            (404, ERROR, Call, false, CALL),
            (422, ERROR, Call, false, CALL),
            (500, ERROR, Call, false, CALL),
            (503, ERROR, Call, false, CALL),
            (504, ERROR, Call, false, CALL),
            (500, ERROR, List, false, CALL),
            (404, UNKNOWN, List, true, ("refused", "server_error", Some(-32601), None)),
            (503, ERROR, List, false, ("refused", "connect_failed", None, Some("server_error"))),
            (500, ERROR, Opening, false, ("refused", "protocol", None, Some("server_error"))),
            (503, ERROR, Opening, false, ("refused", "connect_failed", None, Some("server_error"))),
            (404, ERROR, Call, true, ("session", "protocol", None, Some("server_error"))),
            (404, SESSION, Call, true, ("session", "protocol", None, Some("server_error"))),
            (400, SESSION, Call, true, ("session", "protocol", None, Some("server_error"))),
            (401, ERROR, Call, false, ("refused", "auth_required", None, Some("server_error"))),
            (403, ERROR, Call, false, ("refused", "auth_required", None, Some("server_error"))),
            (400, GATEWAY, Call, false, ("refused", "protocol", None, None)),
            (500, GATEWAY, Call, false, ("message", "protocol", None, None)),
            (500, "", Call, false, ("message", "protocol", None, None)),
        ] {
            let refusal = HttpRefusal { in_session, ..refusal(status, body) };
            let failed = refusal.failure(&channel(), purpose);
            let found = match failed {
                Failure::Message(_) => "message",
                Failure::Refused(_) => "refused",
                Failure::Session(_) => "session",
                Failure::Connection(_) => "connection",
            };
            let error = failed.error();
            let cause = error.cause().map(|cause| cause.code().name());
            let of_server = error.detail().get("code").and_then(serde_json::Value::as_i64);
            let found = (found, error.code().name(), of_server, cause);
            let row = format!("{status} {purpose:?} {body}: {error}");
            assert_eq!(found, (reaches, code, of_error, of_cause), "{row}");
            assert_eq!(error.detail()["status"], status, "{row}");
            if let Some(told) = [Some(error), error.cause()]
                .into_iter()
                .flatten()
                .find(|told| told.code() == ErrorCode::ServerError)
            {
                assert_eq!(told.detail()["data"], serde_json::json!([1]), "{row}");
            }
            if purpose == Call && code == "server_error" {
                assert_eq!(error.outcome(), Some(Outcome::Unknown), "{row}");
                assert!(!error.is_retryable(), "{row}");
            }
        }
    }

    /// SPEC 5.12: the hint of a refusal fits what the server said: one that speaks the protocol is
    /// at its address.
    #[test]
    fn no_hint_doubts_the_address_of_a_server_that_speaks_the_protocol() {
        const ERROR: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":"-32000","message":"no"}}"#;
        const PAGE: &str = "no such page";
        for (status, body, doubts) in [
            (404, ERROR, false),
            (405, ERROR, false),
            (400, ERROR, false),
            (404, PAGE, true),
            (405, PAGE, true),
            (404, r#"{"error":{"code":404,"message":"no route"}}"#, true),
        ] {
            let failed = refusal(status, body).failure(&channel(), RequestPurpose::Opening);
            let error = failed.error().clone();
            let is_told = |error: &Error| error.hint().is_some_and(|hint| hint.contains("`url`"));
            assert_eq!(is_told(&error), doubts, "{status} {body}: {error}");
            let events = errors::protocol(&"s".into(), "the stream is none");
            let neither = errors::neither(&channel(), &error, events);
            assert_eq!(is_told(&neither), doubts, "{status} {body}: {neither}");
            assert_eq!(neither.message().contains("neither"), doubts, "{status} {body}: {neither}");
        }
    }

    fn refusal(status: u16, body: &str) -> HttpRefusal {
        let (status, headers) = (StatusCode::from_u16(status).unwrap(), HeaderMap::new());
        HttpRefusal { status, headers, body: body.into(), in_session: false }
    }
}
