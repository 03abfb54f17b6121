//! Documents that are published: the metadata of a resource and of an authorization server (RFC 9728, RFC 8414).

use serde_json::{Map, Value};

use super::read::{members, text_of, texts_of};
use super::token::put;

/// How a token is come by, as far as it decides what a document has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A person signs in.
    Person,
    /// The client itself is known; nobody signs in.
    Client,
}

/// Members that are texts.
const TEXTS: &[&str] = &[
    "authorization_endpoint",
    "authorization_server",
    "issuer",
    "jwks_uri",
    "registration_endpoint",
    "resource",
    "token_endpoint",
];

/// Members that are lists of texts.
const LISTS: &[&str] = &[
    "authorization_servers",
    "code_challenge_methods_supported",
    "response_types_supported",
    "scopes_supported",
    "token_endpoint_auth_methods_supported",
];

/// Members that are true or false.
const SWITCHES: &[&str] =
    &["authorization_response_iss_parameter_supported", "client_id_metadata_document_supported"];

/// A document with the types that are meant, member by member; nothing where it is no object.
///
/// Texts stay as they were written, byte for byte: issuers and resources are compared, and endpoints are judged by others.
pub fn document(body: &[u8], way: Way) -> Option<Map<String, Value>> {
    let mut members = members(body, &[])?;
    for name in TEXTS {
        let text = members.get(*name).filter(|value| value.is_string()).and_then(text_of);
        put(&mut members, name, text.map(Value::from));
    }
    for name in LISTS {
        // An empty list says nothing: a server that supported nothing at all would publish nothing.
        let texts = members.get(*name).map(texts_of).filter(|texts| !texts.is_empty());
        put(&mut members, name, texts.map(Value::from));
    }
    for name in SWITCHES {
        let is_on = members.get(*name).and_then(switch);
        put(&mut members, name, is_on.map(Value::from));
    }
    let methods = members.get_mut("code_challenge_methods_supported").and_then(Value::as_array_mut);
    for method in methods.into_iter().flatten() {
        if method.as_str().is_some_and(|name| name.eq_ignore_ascii_case("S256")) {
            *method = "S256".into();
        }
    }
    if way == Way::Client && !members.contains_key("authorization_endpoint") {
        // Nobody is sent there, but the reader of these documents wants one.
        let token = members.get("token_endpoint").cloned();
        put(&mut members, "authorization_endpoint", token);
    }
    Some(members)
}

fn switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(is_on) => Some(*is_on),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Whether these are the metadata of a resource, and not of an authorization server.
pub fn is_of_resource(members: &Map<String, Value>) -> bool {
    let names = ["resource", "authorization_servers", "authorization_server"];
    names.iter().any(|name| members.contains_key(*name)) && !members.contains_key("token_endpoint")
}
