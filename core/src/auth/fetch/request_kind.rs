//! What a request of a flow wants, and what the answers said that later requests go by.

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::Value;
use trunkline_pool::oauth::{Authentication, Registered};

/// What the answers so far said.
#[derive(Default)]
pub(super) struct AnswerFacts {
    /// Whether the resource takes bearer tokens, as it said itself.
    pub is_bearer: bool,
    /// What the server's document calls its resource.
    pub resource: Option<String>,
    /// What a document calls its resource that is not the server's.
    pub foreign: Option<String>,
    /// The client that was registered last.
    pub registered: Option<Registered>,
}

/// What a request wants.
pub(super) enum RequestKind {
    Document,
    /// A token, of a client that proves in this way who it is.
    Token(Authentication),
    /// A client for this redirect.
    Client(String),
}

impl RequestKind {
    pub(super) fn of(request: &http::Request<Vec<u8>>) -> RequestKind {
        if request.method() != Method::POST {
            return RequestKind::Document;
        }
        let is_json =
            request.headers().get(CONTENT_TYPE).is_some_and(|it| it == "application/json");
        if !is_json {
            return RequestKind::Token(proof_in(request));
        }
        let asked = serde_json::from_slice::<Value>(request.body()).unwrap_or_default();
        let redirect = asked["redirect_uris"][0].as_str().unwrap_or_default();
        RequestKind::Client(redirect.to_owned())
    }
}

/// How the client of a request for a token proves who it is.
fn proof_in(request: &http::Request<Vec<u8>>) -> Authentication {
    let mut form = url::form_urlencoded::parse(request.body());
    if request.headers().contains_key(AUTHORIZATION) {
        return Authentication::Basic;
    }
    match form.any(|(name, _)| name == "client_secret") {
        true => Authentication::Post,
        false => Authentication::None,
    }
}

/// A form, or the query of an address, in which this stands for the resource.
pub(in crate::auth) fn for_resource(form: &[u8], resource: &str) -> String {
    let mut written = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in url::form_urlencoded::parse(form) {
        let value = if name == "resource" { resource } else { &value };
        written.append_pair(&name, value);
    }
    written.finish()
}
