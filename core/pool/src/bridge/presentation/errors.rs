//! Errors of servers and of the pool, as a client of either era is told them.

use serde_json::{Value, json};

use super::results::Passage;
use crate::bridge::methods::Route;
use crate::bridge::wire::codes::{Denial, DenialKind, is_for_modern};
use crate::catalog::ListKind;
use crate::config::Era;
use crate::error::{Error, ErrorCode};
use crate::json::signed;

/// What a client is told in the place of a result.
#[derive(Debug, PartialEq)]
pub(in crate::bridge) enum ShownFailure {
    /// An error.
    Denied(Denial),
    /// The result of a tool that failed.
    Result(String),
    /// The client is asked to open these addresses, and to send its request again.
    Visits(Vec<Value>),
}

/// A resource does not exist, to legacy clients.
const UNKNOWN_RESOURCE: i64 = -32002;
/// The client lacks a capability, to modern clients.
const MISSING_CAPABILITY: i64 = -32021;
/// An address is to be opened first, to legacy clients.
const VISITS: i64 = -32042;

/// What the client hears about an error.
pub(in crate::bridge) fn failure(passage: &Passage<'_>, error: &Error, uri: &str) -> ShownFailure {
    let detail = error.detail();
    let code = detail.get("code").and_then(signed);
    let (Some(code), ErrorCode::ServerError) = (code, error.code()) else {
        return ShownFailure::Denied(of_pool(error, Some(passage.server)));
    };
    let message = detail.get("message").and_then(Value::as_str).unwrap_or(error.message());
    let attached = detail.get("data").cloned();
    let denied = |kind: DenialKind, attached: Option<Value>| {
        ShownFailure::Denied(Denial { kind, message: message.to_owned(), attached })
    };
    let is_read = passage.method.route == Route::ByUri;
    let names_uri = attached.as_ref().is_some_and(|attached| attached["uri"].is_string());
    match (passage.client_era, code) {
        (_, UNKNOWN_RESOURCE) if is_read => {
            denied(DenialKind::UnknownResource, Some(json!({ "uri": uri })))
        }
        (Era::Legacy, -32602) if is_read && names_uri => {
            denied(DenialKind::UnknownResource, Some(json!({ "uri": uri })))
        }
        (Era::Modern, VISITS) => {
            match attached.as_ref().and_then(|attached| attached["elicitations"].as_array()) {
                Some(visits) if !visits.is_empty() => ShownFailure::Visits(visits.clone()),
                _ => denied(DenialKind::Upstream, original(code, attached)),
            }
        }
        (Era::Modern, code) if !is_for_modern(code) => {
            denied(DenialKind::Upstream, original(code, attached))
        }
        (Era::Legacy, MISSING_CAPABILITY)
            if passage.method.route == Route::ByName(ListKind::Tools) =>
        {
            let content = json!([{ "type": "text", "text": message }]);
            ShownFailure::Result(json!({ "content": content, "isError": true }).to_string())
        }
        (Era::Legacy, -32099..=-32020) if code != VISITS => {
            denied(DenialKind::Upstream, original(code, attached))
        }
        (_, code) => denied(DenialKind::Passed(code), attached),
    }
}

/// The error of a server that cannot pass as it is.
fn original(code: i64, attached: Option<Value>) -> Option<Value> {
    Some(json!({ "original": { "code": code, "data": attached } }))
}

/// What the client hears about an error of the pool itself.
pub(in crate::bridge) fn of_pool(error: &Error, server: Option<&str>) -> Denial {
    let kind = match error.code() {
        ErrorCode::ToolNotFound | ErrorCode::InvalidArgument => DenialKind::BadParams,
        _ => DenialKind::Upstream,
    };
    let outcome = error.outcome().map(crate::error::Outcome::as_str);
    Denial::new(kind, error.message()).with(json!({
        "code": error.code().row().name,
        "retryable": error.is_retryable(),
        "outcome": outcome,
        "server": error.server().or(server),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::facts::ServedPath;
    use crate::bridge::methods::find;
    use crate::bridge::wire::codes::told;
    use crate::error::Outcome;

    fn word(client_era: Era, method: &str, error: &Error) -> String {
        let path = ServedPath { profile: None, server: Some("s".to_owned()) };
        let passage = Passage {
            path: &path,
            server: "s",
            server_era: Era::Legacy,
            method: find(method, Era::Legacy).unwrap(),
            client_era,
            revision: "2025-11-25",
            identity: "{}",
            wraps_content: false,
        };
        match failure(&passage, error, "x:y") {
            ShownFailure::Denied(denial) => {
                let attached = denial.attached.unwrap_or_default();
                format!("{} {attached}", told(denial.kind, client_era).0)
            }
            ShownFailure::Result(result) => result,
            ShownFailure::Visits(visits) => format!("visits {}", visits.len()),
        }
    }

    fn of_server(code: i64, attached: Value) -> Error {
        Error::new(ErrorCode::ServerError, "refused")
            .with_detail("code", code)
            .with_detail("message", "refused")
            .with_detail("data", attached)
    }

    /// SPEC 19.5: the codes that leave for a client of each era.
    #[test]
    fn an_error_has_a_code_that_its_client_knows() {
        let (read, call) = ("resources/read", "tools/call");
        let uri = json!({ "uri": "own" });
        for (method, code, attached, modern, legacy) in [
            (call, -32602, json!(1), "-32602 1", "-32602 1"),
            (call, -5, json!({ "a": 1 }), "-5 {\"a\":1}", "-5 {\"a\":1}"),
            (read, -32002, uri.clone(), r#"-32602 {"uri":"x:y"}"#, r#"-32002 {"uri":"x:y"}"#),
            (read, -32602, uri, r#"-32602 {"uri":"own"}"#, r#"-32002 {"uri":"x:y"}"#),
            (call, -32001, json!(2), r#"-32603 {"original":{"code":-32001,"data":2}}"#, "-32001 2"),
            (
                call,
                -32042,
                json!({ "elicitations": [{ "url": "u" }] }),
                "visits 1",
                r#"-32042 {"elicitations":[{"url":"u"}]}"#,
            ),
            (
                call,
                -32042,
                json!(null),
                r#"-32603 {"original":{"code":-32042,"data":null}}"#,
                "-32042 null",
            ),
            (
                call,
                -32021,
                json!(3),
                "-32021 3",
                r#"{"content":[{"type":"text","text":"refused"}],"isError":true}"#,
            ),
            (read, -32021, json!(3), "-32021 3", r#"-32603 {"original":{"code":-32021,"data":3}}"#),
        ] {
            let error = of_server(code, attached);
            assert_eq!(word(Era::Modern, method, &error), modern, "{method} {code}");
            assert_eq!(word(Era::Legacy, method, &error), legacy, "{method} {code}");
        }
    }

    #[test]
    fn an_error_of_the_pool_says_whether_the_call_can_have_run() {
        let lost = Error::new(ErrorCode::CallInterrupted, "the connection was lost")
            .with_outcome(Outcome::Unknown);
        let attached =
            r#"{"code":"call_interrupted","retryable":false,"outcome":"unknown","server":"s"}"#;
        for era in [Era::Legacy, Era::Modern] {
            assert_eq!(word(era, "tools/call", &lost), format!("-32603 {attached}"));
        }
        let unknown = Error::new(ErrorCode::ToolNotFound, "no such tool");
        assert!(word(Era::Modern, "tools/call", &unknown).starts_with("-32602 "));
    }
}
