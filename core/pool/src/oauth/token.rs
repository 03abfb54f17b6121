//! The answer to a request for a token.

use serde_json::{Map, Value};

use super::Refusal;
use super::read::{members, number_of, refusal_in, text_of, texts_of};

/// What the resource asked for, as far as it says which kind of token it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// Its refusal named the scheme `Bearer`.
    Bearer,
    /// Nobody heard it name a scheme.
    Unknown,
}

/// What was issued.
#[derive(Clone, Debug, PartialEq)]
pub struct Issued {
    /// The members, of which those that count have the type that RFC 6749 5.1 gives them, and `token_type` is `bearer`.
    pub members: Map<String, Value>,
    /// What the token was called where it was not `bearer`: some other word, or nothing.
    pub called: Option<String>,
}

/// Kinds of tokens that are not sent as a bearer token is, as IANA or a draft has registered them. They are refused by name.
const OTHER_KINDS: &[&str] = &["dpop", "mac", "n_a", "pop"];

/// Reads the answer to a request for a token, written as JSON or as a form.
///
/// # Errors
/// What the server says instead, whatever the status of HTTP; a kind of token that is not understood; that there is none.
pub fn issued(body: &[u8], challenge: Challenge) -> Result<Issued, Refusal> {
    let no_token = Refusal::Lacks("access_token");
    let mut members = members(body, &["access_token", "error"]).ok_or(no_token.clone())?;
    if let Some(refusal) = refusal_in(&members) {
        return Err(refusal);
    }
    let is_denied = members.get("ok") == Some(&Value::Bool(false));
    let token = members.get("access_token").and_then(text_of).filter(|_| !is_denied);
    let token = token.ok_or(no_token)?;
    let kind = members.get("token_type").and_then(text_of);
    let called = bearer(kind.as_deref().map(str::trim), challenge)?;
    put(&mut members, "access_token", Some(token.into()));
    put(&mut members, "token_type", Some("bearer".into()));
    let lives = members.get("expires_in").and_then(number_of);
    put(&mut members, "expires_in", lives.map(Value::from));
    let renewal = members.get("refresh_token").and_then(text_of);
    put(&mut members, "refresh_token", renewal.map(Value::from));
    let scopes = members.get("scope").map(texts_of).filter(|scopes| !scopes.is_empty());
    put(&mut members, "scope", scopes.map(|scopes| scopes.join(" ").into()));
    Ok(Issued { members, called })
}

/// What a token is called that is sent as a bearer token, where that is not its name.
fn bearer(kind: Option<&str>, challenge: Challenge) -> Result<Option<String>, Refusal> {
    let Some(kind) = kind else { return Ok(Some(String::new())) };
    let is = |known: &str| kind.eq_ignore_ascii_case(known);
    if is("bearer") {
        return Ok(None);
    }
    let is_other = OTHER_KINDS.iter().any(|known| is(known));
    match challenge {
        Challenge::Bearer if !is_other => Ok(Some(kind.to_owned())),
        Challenge::Bearer | Challenge::Unknown => Err(Refusal::Kind(kind.to_owned())),
    }
}

/// Sets a member, or takes it away.
pub(super) fn put(members: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(members.insert(name.to_owned(), value)),
        None => drop(members.remove(name)),
    }
}
