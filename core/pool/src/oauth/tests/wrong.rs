//! Wrong, and refused at the least cost: in the server's own words where it has some, else by the
//! name of what is wrong.

use super::{Of, read};

/// SPEC 18.2, 18.7: what cannot be understood is refused, and nothing else is with it.
#[test]
fn what_is_wrong_is_refused_by_its_name() {
    assert!(ROWS.len() >= 40, "{}", ROWS.len());
    let mut wrong = Vec::new();
    for (of, body, expected) in ROWS {
        let found = read(*of, body);
        if found.as_ref().err().map(String::as_str) != Some(*expected) {
            wrong.push(format!("{of:?} {body}\n  is {found:?}\n  not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// Which answer, its body, and why it is refused.
const ROWS: &[(Of, &str, &str)] = &[
    (Of::Token, r#"{"ok":false,"error":"invalid_code"}"#, "says invalid_code"),
    (
        Of::Token,
        r#"{"error":"bad_verification_code","error_description":"expired"}"#,
        "says bad_verification_code: expired",
    ),
    (
        Of::Token,
        "error=bad_verification_code&error_description=The+code+passed",
        "says bad_verification_code: The code passed",
    ),
    (
        Of::Token,
        r#"{"error":"invalid_grant","access_token":"t","token_type":"bearer"}"#,
        "says invalid_grant",
    ),
    (Of::Token, r#"{"error":{"code":"expired","message":"too late"}}"#, "says expired: too late"),
    (
        Of::Token,
        r#"{"error":{"code":190,"type":"OAuthException","message":"no"}}"#,
        "says OAuthException: no",
    ),
    (Of::Token, r#"{"error":{"code":190,"message":null}}"#, "says 190"),
    (Of::Token, r#"{"error":"x","error_description":["a"]}"#, "says x"),
    (Of::Token, r#"{"error":5}"#, "says 5"),
    (Of::Token, r#"{"ok":false}"#, "lacks access_token"),
    (Of::Token, r#"{"ok":false,"access_token":"t","token_type":"bearer"}"#, "lacks access_token"),
    (Of::Token, r#"{"access_token":"t","token_type":"DPoP"}"#, "kind DPoP"),
    (Of::Token, r#"{"access_token":"t","token_type":"mac"}"#, "kind mac"),
    (Of::Token, r#"{"access_token":"t","token_type":"PoP"}"#, "kind PoP"),
    (Of::Token, r#"{"access_token":"t","token_type":"N_A"}"#, "kind N_A"),
    (Of::Unasked, r#"{"access_token":"t","token_type":"n_a"}"#, "kind n_a"),
    (Of::Token, "access_token=t&token_type=dpop", "kind dpop"),
    (Of::Unasked, r#"{"access_token":"t","token_type":"user"}"#, "kind user"),
    (Of::Unasked, "access_token=t&token_type=user", "kind user"),
    (Of::Token, r#"{"token_type":"bearer"}"#, "lacks access_token"),
    (Of::Token, r#"{"access_token":""}"#, "lacks access_token"),
    (Of::Token, r#"{"access_token":null}"#, "lacks access_token"),
    (Of::Token, r#"{"access_token":{"t":1}}"#, "lacks access_token"),
    (Of::Token, r#"{"access_token":true}"#, "lacks access_token"),
    (Of::Token, r#"{"access_token":"t\ud83d"}"#, "lacks access_token"),
    (Of::Token, r#"{"error":"x","error_description":"no \ud83d"}"#, "says x: no \u{fffd}"),
    (Of::Token, r#"{"authed_user":{"access_token":"t"}}"#, "lacks access_token"),
    (Of::Token, r#"["t"]"#, "lacks access_token"),
    (Of::Token, "null", "lacks access_token"),
    (Of::Token, "", "lacks access_token"),
    (Of::Token, "<html>access_token=t</html>", "lacks access_token"),
    (Of::Token, "access_token=a&access_token=b", "lacks access_token"),
    (Of::Token, r#"{"access_token":"t""#, "lacks access_token"),
    (
        Of::Client,
        r#"{"error":"invalid_redirect_uri","error_description":"no"}"#,
        "says invalid_redirect_uri: no",
    ),
    (Of::Client, r#"{"error":"access_denied","client_id":"x"}"#, "says access_denied"),
    (
        Of::Client,
        r#"{"client_id":"x","redirect_uris":["https://other.example/a"]}"#,
        "redirects https://other.example/a",
    ),
    (
        Of::Client,
        r#"{"client_id":"x","redirect_uris":"https://other.example/a"}"#,
        "redirects https://other.example/a",
    ),
    (
        Of::Client,
        r#"{"client_id":"x","redirect_uris":["http://localhost:3000/callback/","http://localhost/callback"]}"#,
        "redirects http://localhost:3000/callback/ http://localhost/callback",
    ),
    (
        Of::Client,
        r#"{"client_id":"x","token_endpoint_auth_method":"private_key_jwt"}"#,
        "authentication private_key_jwt",
    ),
    (
        Of::Client,
        r#"{"client_id":"x","client_secret":"s","token_endpoint_auth_method":"tls_client_auth"}"#,
        "authentication tls_client_auth",
    ),
    (Of::Client, r#"{"client_id":""}"#, "lacks client_id"),
    (Of::Client, r#"{"client_id":null,"client_secret":"s"}"#, "lacks client_id"),
    (Of::Client, r#"{"client":{"client_id":"x"}}"#, "lacks client_id"),
    (Of::Client, "client_id=x", "lacks client_id"),
    (Of::Client, "[]", "lacks client_id"),
    (Of::Document, "<html>not found</html>", "no document"),
    (Of::Document, "[]", "no document"),
    (Of::Document, "issuer=https://as", "no document"),
    (Of::OwnDocument, "\"https://as\"", "no document"),
    (Of::Refused, r#"{"error":"invalid_grant","error_uri":null}"#, "says invalid_grant"),
    (Of::Refused, "error=invalid_client", "says invalid_client"),
    (Of::Refused, "<html>error=invalid_client</html>", "says nothing"),
    (Of::Refused, r#"{"message":"no"}"#, "says nothing"),
    (Of::Refused, r#"{"error":{}}"#, "says nothing"),
    (Of::Refused, "", "says nothing"),
];
