//! Answers of authorization servers: nothing is invented, nobody hears of a token that is none, and
//! what was read is read again as the same.

use serde_json::{Map, Value};
use trunkline_pool::oauth::{
    Authentication, Challenge, Registered, Way, document, is_of_resource, issued, registered, said,
};

pub const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"access_token\":\"t\"",
    "\"token_type\":\"bearer\"",
    "\"token_type\":\"dpop\"",
    "\"expires_in\":\"3600\"",
    "\"refresh_token\":null",
    "\"scope\":\"a b\"",
    "\"scope\":[\"a\",null]",
    "\"error\":\"invalid_grant\"",
    "\"error\":{\"code\":5}",
    "\"error\":0",
    "\"ok\":false",
    "\"client_id\":7",
    "\"client_secret\":\"s\"",
    "\"client_secret_expires_at\":\"0\"",
    "\"redirect_uris\":[]",
    "\"redirect_uris\":\"http://localhost:3000/callback\"",
    "\"token_endpoint_auth_method\":\"none\"",
    "\"issuer\":\"https://as\"",
    "\"authorization_servers\":\"https://as\"",
    "\"token_endpoint\":\"https://as/t\"",
    "\"scopes_supported\":\"a b\"",
    "\"code_challenge_methods_supported\":[\"s256\"]",
    "\"client_id_metadata_document_supported\":\"true\"",
    "access_token=t&",
    "token_type=Bearer&",
    "error=x&",
    "&",
    "=",
    "%20",
    "\\ud800",
    "\u{feff}",
    "null",
    "1e300",
    "-1",
];

const ASKED: &str = "http://localhost:3000/callback";

/// SPEC 18.2, 18.7.
pub fn run(bytes: &[u8]) {
    let _ = said(bytes);
    for challenge in [Challenge::Bearer, Challenge::Unknown] {
        token(bytes, challenge);
    }
    if let Ok(client) = registered(bytes, ASKED) {
        let Registered { id, secret, authentication, expires_at, members } = &client;
        assert!(!id.trim().is_empty());
        assert_eq!(members["redirect_uris"], serde_json::json!([ASKED]));
        assert_eq!(members.get("client_secret").and_then(Value::as_str), secret.as_deref());
        let proves = authentication.is_some_and(|it| it != Authentication::None);
        assert!(secret.is_some() || !(proves || expires_at.is_some()));
        let again = registered(&text(members), ASKED).expect("what was read is an answer");
        assert_eq!((&again.id, &again.secret), (id, secret));
    }
    for way in [Way::Person, Way::Client] {
        let Some(members) = document(bytes, way) else { continue };
        for name in ["issuer", "resource", "token_endpoint", "authorization_endpoint"] {
            assert!(members.get(name).is_none_or(Value::is_string), "{name}");
        }
        let read = document(&text(&members), way);
        assert_eq!(read.as_ref(), Some(&members));
        assert!(!(is_of_resource(&members) && members.contains_key("token_endpoint")));
    }
}

fn token(bytes: &[u8], challenge: Challenge) {
    let Ok(read) = issued(bytes, challenge) else { return };
    assert_eq!(read.members["token_type"], "bearer");
    let token = read.members["access_token"].as_str().expect("a token is a text");
    assert!(!token.trim().is_empty());
    assert!(read.members.get("expires_in").is_none_or(Value::is_u64));
    let again = issued(&text(&read.members), challenge).expect("what was read is an answer");
    assert_eq!(again.members, read.members);
    assert_eq!(again.called, None);
}

fn text(members: &Map<String, Value>) -> Vec<u8> {
    Value::Object(members.clone()).to_string().into_bytes()
}
