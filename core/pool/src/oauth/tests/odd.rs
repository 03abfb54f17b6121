//! Odd but understood.

use serde_json::Value;

use super::{Of, read};

/// SPEC 18.2, 18.7: what can be understood without guessing is understood.
#[test]
fn what_is_odd_is_understood() {
    assert!(ROWS.len() >= 60, "{}", ROWS.len());
    let mut wrong = Vec::new();
    for (of, body, expected) in ROWS {
        let expected: Value = serde_json::from_str(expected).unwrap();
        let found = read(*of, body);
        if found.as_ref() != Ok(&expected) {
            wrong.push(format!("{of:?} {body}\n  is {found:?}\n  not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// What is left of a bearer token without anything else.
const T: &str = r#"{"access_token":"t"}"#;

/// The same, of a token that had no type.
const UNTYPED: &str = r#"{"access_token":"t","called":""}"#;

/// A client with nothing but its id.
const X: &str = r#"{"id":"x"}"#;

/// Which answer, its body, and what of it counts.
const ROWS: &[(Of, &str, &str)] = &[
    // The type.
    (Of::Token, r#"{"access_token":"t","token_type":"bearer"}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"BEARER"}"#, T),
    (Of::Unasked, r#"{"access_token":"t","token_type":" Bearer "}"#, T),
    (Of::Token, r#"{"access_token":"t"}"#, UNTYPED),
    (Of::Unasked, r#"{"access_token":"t"}"#, UNTYPED),
    (Of::Unasked, r#"{"access_token":"t","token_type":null}"#, UNTYPED),
    (Of::Token, r#"{"access_token":"t","token_type":""}"#, UNTYPED),
    (Of::Token, r#"{"access_token":"t","token_type":["bearer"]}"#, UNTYPED),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"user"}"#,
        r#"{"access_token":"t","called":"user"}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bot","ok":true}"#,
        r#"{"access_token":"t","called":"bot","ok":true}"#,
    ),
    // How long it lives.
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","expires_in":"5250"}"#,
        r#"{"access_token":"t","expires_in":5250}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","expires_in":" 5250 "}"#,
        r#"{"access_token":"t","expires_in":5250}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","expires_in":"3599.7"}"#,
        r#"{"access_token":"t","expires_in":3599}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","expires_in":3600.0}"#,
        r#"{"access_token":"t","expires_in":3600}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","expires_in":0}"#,
        r#"{"access_token":"t","expires_in":0}"#,
    ),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","expires_in":null}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","expires_in":-1}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","expires_in":"never"}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","expires_in":{}}"#, T),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","expires_in":1e300}"#,
        r#"{"access_token":"t","expires_in":4398046511104}"#,
    ),
    // Its scopes, and what renews it.
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","scope":null}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","scope":""}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","scope":[]}"#, T),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","scope":["a",null,"b"]}"#,
        r#"{"access_token":"t","scope":"a b"}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","scope":" a  b "}"#,
        r#"{"access_token":"t","scope":"a b"}"#,
    ),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","scope":{"a":true}}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","refresh_token":""}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","refresh_token":null}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","refresh_token":false}"#, T),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","refresh_token":{"r":1}}"#, T),
    (
        Of::Token,
        r#"{"access_token":17,"token_type":"bearer","refresh_token":18}"#,
        r#"{"access_token":"17","refresh_token":"18"}"#,
    ),
    // What nobody here reads, and what only is to be shown.
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","user":"\ud83d","n":1e400,"scope":"a"}"#,
        r#"{"access_token":"t","user":"\ufffd","scope":"a"}"#,
    ),
    (Of::Token, r#"{"access_token":"t","token_type":"bearer","refresh_token":"\ud83d"}"#, T),
    // What stands beside it.
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","error":null}"#,
        r#"{"access_token":"t","error":null}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","error":""}"#,
        r#"{"access_token":"t","error":""}"#,
    ),
    (
        Of::Token,
        r#"{"access_token":"t","token_type":"bearer","error":0}"#,
        r#"{"access_token":"t","error":0}"#,
    ),
    (Of::Token, "\u{feff}{\"access_token\":\"t\",\"token_type\":\"bearer\"}\r\n", T),
    (
        Of::Token,
        "\n\n {\"access_token\":\"t\",\"token_type\":\"bearer\",\"id_token\":\"i\"}",
        r#"{"access_token":"t","id_token":"i"}"#,
    ),
    // Forms.
    (Of::Token, "access_token=t&scope=&token_type=bearer", T),
    (
        Of::Token,
        "access_token=t&scope=a+b&token_type=Bearer&expires_in=5250&refresh_token=r%2Fr",
        r#"{"access_token":"t","scope":"a b","expires_in":5250,"refresh_token":"r/r"}"#,
    ),
    (Of::Token, "access_token=t%3D%3D", r#"{"access_token":"t==","called":""}"#),
    (Of::Token, "access_token=t&token_type=bearer&refresh_token=", T),
    (Of::Token, "access_token=t&token_type=bearer&expires_in=1&expires_in=2", T),
    (Of::Unasked, "token_type=bearer&access_token=t\n", T),
    // Clients.
    (Of::Client, r#"{"client_id":"x"}"#, X),
    (Of::Client, r#"{"client_id":"x","redirect_uris":[]}"#, X),
    (
        Of::Client,
        r#"{"client_id":"x","redirect_uris":null,"contacts":null,"client_uri":"","logo_uri":"","grant_types":null,"response_types":null,"token_endpoint_auth_method":"","client_secret":"","client_secret_expires_at":null}"#,
        X,
    ),
    (Of::Client, r#"{"client_id":"x","redirect_uris":""}"#, X),
    (Of::Client, r#"{"client_id":"x","redirect_uris":[null,""]}"#, X),
    (Of::Client, r#"{"client_id":"x","redirect_uris":"http://localhost:3000/callback"}"#, X),
    (
        Of::Client,
        r#"{"client_id":"x","redirect_uris":["https://other.example/","http://localhost:3000/callback"]}"#,
        X,
    ),
    (Of::Client, r#"{"client_id":"x","client_name":5,"redirect_uris":{}}"#, X),
    (Of::Client, r#"{"client_id":42}"#, r#"{"id":"42"}"#),
    (Of::Client, r#"{"client_id":"x","client_secret":"s"}"#, r#"{"id":"x","secret":"s"}"#),
    (Of::Client, r#"{"client_id":"x","client_secret":"s","token_endpoint_auth_method":"none"}"#, X),
    (
        Of::Client,
        r#"{"client_id":"x","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
        r#"{"id":"x","secret":"s","by":"client_secret_post"}"#,
    ),
    (
        Of::Client,
        r#"{"client_id":"x","client_secret":"s","token_endpoint_auth_method":"CLIENT_SECRET_BASIC"}"#,
        r#"{"id":"x","secret":"s","by":"client_secret_basic"}"#,
    ),
    (Of::Client, r#"{"client_id":"x","token_endpoint_auth_method":"client_secret_basic"}"#, X),
    (
        Of::Client,
        r#"{"client_id":"x","client_secret":"s","client_secret_expires_at":0}"#,
        r#"{"id":"x","secret":"s"}"#,
    ),
    (
        Of::Client,
        r#"{"client_id":"x","client_secret":"s","client_secret_expires_at":"1900000000"}"#,
        r#"{"id":"x","secret":"s","until":1900000000}"#,
    ),
    (
        Of::Client,
        r#"{"client_id":"x","client_secret":"s","client_secret_expires_at":"soon"}"#,
        r#"{"id":"x","secret":"s"}"#,
    ),
    (Of::Client, r#"{"client_id":"x","client_secret_expires_at":1900000000}"#, X),
    (Of::Client, "\u{feff}{\"client_id\":\"x\",\"error\":null}", X),
    // Documents.
    (
        Of::Document,
        r#"{"issuer":"https://as","scopes_supported":null,"jwks_uri":"","registration_endpoint":null}"#,
        r#"{"issuer":"https://as"}"#,
    ),
    (
        Of::Document,
        r#"{"issuer":"https://as","scopes_supported":"a b"}"#,
        r#"{"issuer":"https://as","scopes_supported":["a","b"]}"#,
    ),
    (
        Of::Document,
        r#"{"scopes_supported":["a",null,{},"b"],"response_types_supported":[]}"#,
        r#"{"scopes_supported":["a","b"]}"#,
    ),
    (Of::Document, r#"{"scopes_supported":{},"jwks_uri":7}"#, "{}"),
    (
        Of::Document,
        r#"{"issuer":"https://as\ud800","grant_types_supported":null,"revocation_endpoint":false,"bearer_methods_supported":"header"}"#,
        r#"{"bearer_methods_supported":["header"]}"#,
    ),
    (
        Of::Document,
        r#"{"code_challenge_methods_supported":"S256"}"#,
        r#"{"code_challenge_methods_supported":["S256"]}"#,
    ),
    (
        Of::Document,
        r#"{"code_challenge_methods_supported":["plain","s256"]}"#,
        r#"{"code_challenge_methods_supported":["plain","S256"]}"#,
    ),
    (
        Of::Document,
        r#"{"client_id_metadata_document_supported":"True","authorization_response_iss_parameter_supported":null}"#,
        r#"{"client_id_metadata_document_supported":true}"#,
    ),
    (
        Of::Document,
        r#"{"resource":"HTTPS://H/mcp/","authorization_servers":"https://as/"}"#,
        r#"{"resource":"HTTPS://H/mcp/","authorization_servers":["https://as/"]}"#,
    ),
    (
        Of::Document,
        r#"{"resource":"https://h","authorization_servers":[null,7,"https://as"],"authorization_server":null}"#,
        r#"{"resource":"https://h","authorization_servers":["https://as"]}"#,
    ),
    (Of::Document, "\u{feff}{\"issuer\":\"https://as\"}\n", r#"{"issuer":"https://as"}"#),
    (
        Of::OwnDocument,
        r#"{"token_endpoint":"https://as/t","authorization_endpoint":null}"#,
        r#"{"token_endpoint":"https://as/t","authorization_endpoint":"https://as/t"}"#,
    ),
    (
        Of::Document,
        r#"{"token_endpoint":"https://as/t","authorization_endpoint":null}"#,
        r#"{"token_endpoint":"https://as/t"}"#,
    ),
];
