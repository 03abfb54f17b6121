//! The answer to a registration (RFC 7591 3.2.1).

use serde_json::{Map, Value};

use super::read::{members, refusal_in, text, texts, whole};
use super::refusal::AnswerRefusal;
use super::token::put;
use crate::lenient::kinds;

/// How a client proves at the token endpoint who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// It does not: its id alone.
    None,
    /// Its secret in a header.
    Basic,
    /// Its secret in the body.
    Post,
}

/// A client as it was registered. Where the answer differs from what was asked for, the answer is
/// what counts.
#[derive(Clone, PartialEq)]
pub struct Registered {
    /// The client's id.
    pub id: String,
    /// Its secret, unless it is registered without one, or with one that it is not to show.
    pub secret: Option<String>,
    /// How it proves who it is; none where the answer does not say.
    pub authentication: Option<Authentication>,
    /// When its secret is good for nothing any more, in seconds since 1970; none for never.
    pub expires_at: Option<u64>,
    /// The members. Those that count have the type that is meant.
    pub members: Map<String, Value>,
}

/// Without the secret.
impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registered({}, {:?}, [redacted])", self.id, self.authentication)
    }
}

impl Authentication {
    /// Each with its name in metadata.
    const ALL: [(Authentication, &str); 3] = [
        (Authentication::None, "none"),
        (Authentication::Basic, "client_secret_basic"),
        (Authentication::Post, "client_secret_post"),
    ];

    /// Its name in metadata.
    pub fn name(self) -> &'static str {
        let named = Authentication::ALL.iter().find(|(known, _)| *known == self);
        named.map_or("none", |(_, name)| name)
    }

    /// The one of that name.
    pub fn of(name: &str) -> Option<Authentication> {
        let known = Authentication::ALL.iter().find(|(_, known)| name.eq_ignore_ascii_case(known));
        known.map(|(known, _)| *known)
    }
}

/// Reads the answer to a registration for that redirect.
///
/// # Errors
/// What the server says instead, whatever the status of HTTP; another redirect than was asked for;
/// a way to authenticate that is not understood; that there is no client.
pub fn registered(body: &[u8], asked: &str) -> Result<Registered, AnswerRefusal> {
    let members = members(body, &kinds::REGISTRATION, &[]);
    let mut members = members.ok_or(AnswerRefusal::Lacks("client_id"))?;
    if let Some(refusal) = refusal_in(&members) {
        return Err(refusal);
    }
    let id = text(&members, "client_id").ok_or(AnswerRefusal::Lacks("client_id"))?.to_owned();
    check_redirects(&texts(&members, "redirect_uris"), asked)?;
    let authentication = match text(&members, "token_endpoint_auth_method") {
        None => None,
        Some(name) => {
            let known = Authentication::of(name.trim());
            Some(known.ok_or_else(|| AnswerRefusal::Authentication(name.to_owned()))?)
        }
    };
    let secret = text(&members, "client_secret").map(str::to_owned);
    let secret = secret.filter(|_| authentication != Some(Authentication::None));
    // Without a secret there is nothing to prove anything with, whatever the answer says.
    let authentication = authentication.filter(|_| secret.is_some());
    let expires_at = whole(&members, "client_secret_expires_at");
    let expires_at = expires_at.filter(|at| *at > 0 && secret.is_some());
    put(&mut members, "client_secret", secret.clone().map(Value::from));
    put(&mut members, "redirect_uris", Some(vec![asked].into()));
    Ok(Registered { id, secret, authentication, expires_at, members })
}

/// What was registered, where that is said, holds what was asked for. It is compared byte for byte,
/// as the server will do.
fn check_redirects(registered: &[&str], asked: &str) -> Result<(), AnswerRefusal> {
    if registered.is_empty() || registered.contains(&asked) {
        return Ok(());
    }
    let registered = registered.iter().map(|one| (*one).to_owned()).collect();
    Err(AnswerRefusal::Redirect { asked: asked.to_owned(), registered })
}
