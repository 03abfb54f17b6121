//! What a server answered in place of a result.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::escape::escape_line;
use crate::{Error, ErrorCode, Outcome};
use trunkline_pool::json::{readable_members, signed};
use trunkline_pool::lenient::{kinds, lenient};

/// Characters of a server's own error message that are repeated in ours.
const SERVER_MESSAGE_MAX: usize = 500;

/// The server answered with an error: the text of the `error` member.
pub(crate) fn of_server(server: &Arc<str>, error: &str) -> Error {
    let mut members = readable_members(&lenient(error, &kinds::ERROR));
    let Some(code) = members.get("code").and_then(signed) else {
        return unreadable(server, error, &members);
    };
    let message = members.get("message").and_then(Value::as_str).unwrap_or_default();
    let shown = shown(message);
    let failure = Error::new(
        ErrorCode::ServerError,
        format!("the server answered with error {code}: {shown}"),
    );
    let failure = failure.with_detail("code", code).with_detail("message", message);
    match members.remove("data").filter(|data| !data.is_null()) {
        Some(data) => failure.with_detail("data", data),
        None => failure,
    }
    .with_server(server.as_ref())
    .with_outcome(Outcome::Unknown)
}

/// The server answered with an error that is none, whose words say all the same what happened.
fn unreadable(server: &Arc<str>, error: &str, members: &Map<String, Value>) -> Error {
    let text = serde_json::from_str::<String>(error).ok();
    let words = text.as_deref().or_else(|| members.get("message")?.as_str());
    let words = words.filter(|words| !words.is_empty()).map(|words| format!(": {}", shown(words)));
    let words = words.unwrap_or_default();
    let message = format!("the server answered with an error that cannot be read{words}");
    Error::new(ErrorCode::Protocol, message)
        .with_server(server.as_ref())
        .with_outcome(Outcome::Unknown)
}

/// As much of a server's message as an error shows.
fn shown(message: &str) -> String {
    escape_line(message.as_bytes()).chars().take(SERVER_MESSAGE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.12: the data of an error is the server's, whatever it is.
    #[test]
    fn no_member_of_what_comes_with_it_hides_an_error() {
        let data = r#"{"$serde_json::private::RawValue":1}"#;
        let error = format!(r#"{{"code":-5,"message":"no","data":{data}}}"#);
        let failure = of_server(&"s".into(), &error);
        assert_eq!(failure.code(), ErrorCode::ServerError);
        assert_eq!(failure.detail()["data"].to_string(), data);
    }

    /// SPEC 5.12
    #[test]
    fn an_error_that_cannot_be_read_says_its_words() {
        for (error, words) in [
            (r#"{"message":"as told"}"#, ": as told"),
            (r#"{"code":null,"message":"as\ntold"}"#, r": as\u{a}told"),
            (r#""as told""#, ": as told"),
            (r#"{"message":""}"#, ""),
            (r#"{"message":7}"#, ": 7"),
            ("7", ""),
        ] {
            let failure = of_server(&"s".into(), error);
            assert_eq!(failure.code(), ErrorCode::Protocol, "{error}");
            assert!(failure.message().ends_with(&format!("cannot be read{words}")), "{failure}");
        }
        let long = format!("{:?}", "x".repeat(100_000));
        assert!(of_server(&"s".into(), &long).message().len() < 2 * SERVER_MESSAGE_MAX);
    }
}
