//! Messages of the modern era: each says in headers what intermediaries need to know of it, has its
//! whole answer on its own response, and ends with that. There is no session, nothing is resumed,
//! and nothing is asked for by GET.

use std::borrow::Cow;
use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::MessageBody;
use super::errors::Failure;
use super::errors::access::RequestPurpose;
use super::errors::answer_words::media_type;
use super::exchange::exchange;
use super::http_session::{Dialect, HttpSession};
use super::outgoing::Post;
use super::param_headers::{Doubled, Mirrors, encoded};
use super::sse::response;
use super::status_errors::{self, HttpRefusal};

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers of a message; none when it is one of the legacy era.
///
/// # Errors
/// When an argument that goes into one is there twice.
pub(super) fn headers(frame: &[u8], mirrors: &Mirrors) -> Result<Option<HeaderMap>, Doubled> {
    let Some((mut headers, called)) = of_frame(frame) else { return Ok(None) };
    if let Some((tool, arguments)) = called {
        mirrors.add(&mut headers, &tool, arguments)?;
    }
    Ok(Some(headers))
}

/// The headers that every message has, and of a call its tool and its arguments.
fn of_frame(frame: &[u8]) -> Option<(HeaderMap, Option<Called<'_>>)> {
    let ModernFrame { method, params } = serde_json::from_slice(frame).ok()?;
    let params = params?;
    let revision = params.meta?.revision?;
    let mut headers = HeaderMap::new();
    headers.insert(REVISION, HeaderValue::from_str(&revision).ok()?);
    headers.insert(METHOD, encoded(&method)?);
    let name = match &*method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        _ => None,
    };
    let name = name.and_then(|name| serde_json::from_str::<Cow<'_, str>>(name.get()).ok());
    headers.extend(name.as_deref().and_then(encoded).map(|value| (NAME, value)));
    let called = name.filter(|_| method == "tools/call").map(|tool| (tool, params.arguments));
    Some((headers, called))
}

type Called<'a> = (Cow<'a, str>, Option<&'a RawValue>);

#[derive(Deserialize)]
struct ModernFrame<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(rename = "_meta", borrow)]
    meta: Option<ModernFrameMeta<'a>>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ModernFrameMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    revision: Option<Cow<'a, str>>,
}

/// Sends a request and takes its answer, in either form.
pub(super) async fn ask(
    channel: &Arc<HttpSession>,
    post: &Post,
    id: u64,
    headers: &HeaderMap,
) -> Result<(), Failure> {
    let request = || {
        let message = MessageBody { bytes: Some(post.bytes.clone()), way: post.way.clone() };
        let request = channel.request(Method::POST)?.headers(headers.clone());
        Ok(request.body(reqwest::Body::wrap(message)))
    };
    let (mut response, _) = exchange(channel, Method::POST, Some(post), request).await?;
    if !response.status().is_success() {
        let refusal = HttpRefusal::read(response, false).await;
        if refusal.is_of_the_protocol() {
            channel.inbound()?.heard();
        }
        let purpose = post.purpose(channel);
        // The error in the body is the answer, where there is one.
        return match refusal.error().filter(|_| purpose != RequestPurpose::Call) {
            Some(error) => status_errors::answer(channel, id, error.get()),
            None => Err(refusal.failure(channel, purpose)),
        };
    }
    channel.speaks(Dialect::Streamable);
    match media_type(response.headers()).as_deref() {
        Some("application/json") => response::take_body(channel, &mut response, id).await,
        Some("text/event-stream") => response::take_once(channel, response, id).await,
        _ => response::take_untyped(channel, response, id).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(frame: &str) -> Option<Vec<(String, String)>> {
        let headers = headers(frame.as_bytes(), &Mirrors::default()).unwrap()?;
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        Some(headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect())
    }

    /// SPEC 4.8: what is in the body is in the headers, and nothing else is.
    #[test]
    fn a_modern_message_has_its_revision_its_method_and_its_name_in_headers() {
        const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let frame = |method: &str, params: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META}{params}}}}}"#)
        };
        let base = |method: &str| {
            vec![
                ("mcp-protocol-version".to_owned(), "2026-07-28".to_owned()),
                ("mcp-method".to_owned(), method.to_owned()),
            ]
        };
        assert_eq!(shown(&frame("tools/list", r#","name":"x""#)), Some(base("tools/list")));
        for (method, params, name) in [
            ("tools/call", r#","name":"x","uri":"y""#, "x"),
            ("prompts/get", r#","name":"ä""#, "=?base64?w6Q=?="),
            ("resources/read", r#","name":"x","uri":"file:\/\/y""#, "file://y"),
        ] {
            let mut expected = base(method);
            expected.push(("mcp-name".to_owned(), name.to_owned()));
            assert_eq!(shown(&frame(method, params)), Some(expected));
        }
        assert_eq!(shown(&frame("tools/call", r#","name":7"#)), Some(base("tools/call")));
        assert_eq!(shown(r#"{"id":1,"method":"tools/list","params":{}}"#), None);
        assert_eq!(shown(r#"{"method":"notifications/initialized"}"#), None);
    }
}
