//! Documents that are published: the metadata of a resource and of an authorization server (RFC
//! 9728, RFC 8414).

use serde_json::{Map, Value};

use super::read::members;
use super::token::put;
use crate::lenient::kinds;

/// How a token is come by, as far as it decides what a document has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A person signs in.
    Person,
    /// The client itself is known; nobody signs in.
    Client,
}

/// A document with the types that are meant, member by member; nothing where it is no object.
///
/// Texts stay as they were written, byte for byte: issuers and resources are compared, and
/// endpoints are judged by others.
pub fn document(body: &[u8], way: Way) -> Option<Map<String, Value>> {
    // An empty list says nothing: a server that supported nothing at all would publish nothing.
    let mut members = members(body, &kinds::METADATA, &[])?;
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

/// Whether these are the metadata of a resource, and not of an authorization server.
pub fn is_of_resource(members: &Map<String, Value>) -> bool {
    let names = ["resource", "authorization_servers", "authorization_server"];
    names.iter().any(|name| members.contains_key(*name)) && !members.contains_key("token_endpoint")
}
