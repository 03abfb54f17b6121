//! The answer to a request for a token.

use serde_json::{Map, Value};

use super::read::{members, refusal_in, text, texts, whole};
use super::refusal::AnswerRefusal;
use crate::lenient::kinds;

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
    /// The members. Those that count have the type that RFC 6749 5.1 gives them, and `token_type`
    /// is `bearer`.
    pub members: Map<String, Value>,
    /// What the token was called where it was not `bearer`: some other word, or nothing.
    pub called: Option<String>,
}

/// Kinds of tokens that are not sent as a bearer token is, as IANA or a draft has registered them.
/// They are refused by name.
const OTHER_KINDS: &[&str] = &["dpop", "mac", "n_a", "pop"];

/// Reads the answer to a request for a token, written as JSON or as a form.
///
/// # Errors
/// What the server says instead, whatever the status of HTTP; a kind of token that is not
/// understood; that there is none.
pub fn issued(body: &[u8], challenge: Challenge) -> Result<Issued, AnswerRefusal> {
    let no_token = AnswerRefusal::Lacks("access_token");
    let members = members(body, &kinds::TOKEN, &["access_token", "error"]);
    let mut members = members.ok_or(no_token.clone())?;
    if let Some(refusal) = refusal_in(&members) {
        return Err(refusal);
    }
    let is_denied = members.get("ok") == Some(&Value::Bool(false));
    if is_denied || !members.contains_key("access_token") {
        return Err(no_token);
    }
    let called = bearer(text(&members, "token_type").map(str::trim), challenge)?;
    put(&mut members, "token_type", Some("bearer".into()));
    let lives = whole(&members, "expires_in");
    put(&mut members, "expires_in", lives.map(Value::from));
    let scopes = texts(&members, "scope").join(" ");
    put(&mut members, "scope", Some(scopes).filter(|it| !it.is_empty()).map(Value::from));
    Ok(Issued { members, called })
}

/// What a token is called that is sent as a bearer token, where that is not its name.
fn bearer(kind: Option<&str>, challenge: Challenge) -> Result<Option<String>, AnswerRefusal> {
    let Some(kind) = kind else { return Ok(Some(String::new())) };
    let is = |known: &str| kind.eq_ignore_ascii_case(known);
    if is("bearer") {
        return Ok(None);
    }
    let is_other = OTHER_KINDS.iter().any(|known| is(known));
    match challenge {
        Challenge::Bearer if !is_other => Ok(Some(kind.to_owned())),
        Challenge::Bearer | Challenge::Unknown => Err(AnswerRefusal::Kind(kind.to_owned())),
    }
}

/// Sets a member, or takes it away.
pub(super) fn put(members: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(members.insert(name.to_owned(), value)),
        None => drop(members.remove(name)),
    }
}
