//! Answers of authorization servers as tables: what is odd and understood, and what is wrong and
//! refused at the least cost.

mod hosts;
mod odd;
mod wrong;

use serde_json::{Value, json};

use super::*;

const ASKED: &str = "http://localhost:3000/callback";

/// Which answer a row holds.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// To a request for a token of a resource that asked for `Bearer`.
    Token,
    /// The same of one that was not heard to.
    Unasked,
    /// To a registration.
    Client,
    /// A published document.
    Document,
    /// A document for a client that signs in itself.
    OwnDocument,
    /// A refusal of any status.
    Refused,
}

/// What comes of an answer: the members that count, or in words why it is refused.
fn read(of: Of, body: &str) -> Result<Value, String> {
    let said = |refusal: AnswerRefusal| match refusal {
        AnswerRefusal::Said { code, description: None } => format!("says {code}"),
        AnswerRefusal::Said { code, description: Some(words) } => format!("says {code}: {words}"),
        AnswerRefusal::Kind(kind) => format!("kind {kind}"),
        AnswerRefusal::Redirect { asked, registered } => {
            assert_eq!(asked, ASKED);
            format!("redirects {}", registered.join(" "))
        }
        AnswerRefusal::Authentication(name) => format!("authentication {name}"),
        AnswerRefusal::Lacks(what) => format!("lacks {what}"),
    };
    let body = body.as_bytes();
    match of {
        Of::Token => token(body, Challenge::Bearer).map_err(said),
        Of::Unasked => token(body, Challenge::Unknown).map_err(said),
        Of::Client => client(body).map_err(said),
        Of::Document => document(body, Way::Person).map(Value::Object).ok_or("no document".into()),
        Of::OwnDocument => {
            document(body, Way::Client).map(Value::Object).ok_or("no document".into())
        }
        Of::Refused => Err(super::said(body).map_or("says nothing".into(), said)),
    }
}

fn token(body: &[u8], challenge: Challenge) -> Result<Value, AnswerRefusal> {
    let Issued { mut members, called } = issued(body, challenge)?;
    assert_eq!(members.remove("token_type"), Some("bearer".into()));
    let mut read = Value::Object(members);
    if let Some(called) = called {
        read["called"] = called.into();
    }
    Ok(read)
}

fn client(body: &[u8]) -> Result<Value, AnswerRefusal> {
    let Registered { id, secret, authentication, expires_at, members } = registered(body, ASKED)?;
    assert_eq!(members["client_id"], *id);
    assert_eq!(members["redirect_uris"], json!([ASKED]));
    let read = json!({
        "id": id, "secret": secret, "by": authentication.map(Authentication::name), "until": expires_at,
    });
    let members = read.as_object().unwrap().clone().into_iter();
    Ok(Value::Object(members.filter(|(_, value)| !value.is_null()).collect()))
}

/// SPEC 18.2, S-48: no way to print a client shows its secret.
#[test]
fn a_registered_client_shows_no_secret() {
    let body = br#"{"client_id":"x","client_secret":"canary"}"#;
    let client = registered(body, ASKED).unwrap();
    assert_eq!(client.secret.as_deref(), Some("canary"));
    assert!(!format!("{client:?}").contains("canary"));
}
