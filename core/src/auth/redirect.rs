//! The redirect that ends a sign-in: whether it belongs to it, whose it is, and what it says (RFC
//! 6749, RFC 9207).

use std::borrow::Cow;

use reqwest::Url;

use super::{errors, fetch};
use crate::{Error, ErrorCode};

/// Longer redirects are refused.
const URL_BYTES_MAX: usize = 16 << 10;

/// What the redirect of one sign-in must be like.
pub(super) struct Redirect {
    uri: Url,
    state: String,
    /// Who may answer.
    pub issuer: String,
    /// Whether an answer has to say whose it is.
    names_itself: bool,
}

impl Redirect {
    /// # Errors
    /// `invalid_argument` when nothing can be redirected there.
    pub(super) fn new(uri: &str, issuer: &str, names_itself: bool) -> Result<Redirect, Error> {
        let is_fit = |uri: &Url| {
            let unsafe_scheme = ["javascript", "data", "file", "vbscript", "blob", "about"];
            uri.fragment().is_none() && !unsafe_scheme.contains(&uri.scheme())
        };
        let uri = Url::parse(uri).ok().filter(is_fit).ok_or_else(|| {
            argument("nothing can be redirected to `redirect_uri`")
                .with_detail("path", "redirect_uri")
        })?;
        Ok(Redirect { uri, state: String::new(), issuer: issuer.to_owned(), names_itself })
    }

    /// With the word by which it is known again.
    pub(super) fn with_state(self, state: String) -> Redirect {
        Redirect { state, ..self }
    }

    /// Whether a URL belongs to this sign-in, whatever else it says.
    pub(super) fn is_named_by(&self, url: &str) -> bool {
        let url = Some(url).filter(|url| url.len() <= URL_BYTES_MAX);
        let Some(url) = url.and_then(|url| Url::parse(url).ok()) else { return false };
        let names_it = |(name, value): (Cow<'_, str>, Cow<'_, str>)| {
            name == "state" && value == self.state.as_str()
        };
        !self.state.is_empty() && url.query_pairs().any(names_it)
    }

    /// The code, or what the authorization server says instead. What somebody else made leaves the
    /// sign-in as it was.
    ///
    /// # Errors
    /// `protocol` when it is another's, or cannot be read.
    pub(super) fn check(&self, url: &str) -> Result<Result<String, Error>, Error> {
        let unread = || errors::broken("the redirect is another than was asked for", "redirect");
        let url = Url::parse(url).map_err(|_| unread())?;
        let place = |url: &Url| {
            (
                url.scheme().to_owned(),
                url.host_str().map(str::to_owned),
                url.port_or_known_default(),
                url.path().to_owned(),
            )
        };
        if place(&url) != place(&self.uri) {
            return Err(unread());
        }
        let answer = RedirectParams::of(&url)?;
        // Compared as text, byte for byte; nothing else of the answer counts before it is known
        // whose it is.
        let is_its = match &answer.issuer {
            Some(issuer) => *issuer == self.issuer,
            None => !self.names_itself,
        };
        if !is_its {
            let message = "the answer is that of another authorization server";
            let found = answer.issuer.as_deref();
            return Err(errors::differs(message, "issuer", &self.issuer, found));
        }
        match (answer.error, answer.code) {
            (Some(error), _) => {
                let error = errors::shown(&error);
                let message = format!("the authorization server refused: {error}");
                Ok(Err(errors::required(message).with_detail("error", error)))
            }
            (None, Some(code)) if !code.is_empty() => Ok(Ok(code)),
            (None, _) => Err(errors::broken("the redirect brings no code", "redirect")),
        }
    }
}

/// The parameters that count.
#[derive(Default)]
struct RedirectParams {
    /// By which it was found.
    state: Option<String>,
    issuer: Option<String>,
    code: Option<String>,
    error: Option<String>,
}

impl RedirectParams {
    fn of(url: &Url) -> Result<RedirectParams, Error> {
        let mut answer = RedirectParams::default();
        for (name, value) in url.query_pairs() {
            let field = match &*name {
                "state" => &mut answer.state,
                "iss" => &mut answer.issuer,
                "code" => &mut answer.code,
                "error" => &mut answer.error,
                _ => continue,
            };
            if field.replace(value.into_owned()).is_some() {
                return Err(errors::broken("the redirect says something twice", "redirect"));
            }
        }
        Ok(answer)
    }
}

/// The URL to sign in at, for the resource as its document has it.
pub(super) fn for_resource(url: &str, resource: Option<&str>) -> String {
    let Some(resource) = resource else { return url.to_owned() };
    match url.split_once('?') {
        Some((place, query)) => {
            format!("{place}?{}", fetch::for_resource(query.as_bytes(), resource))
        }
        None => url.to_owned(),
    }
}

/// What a URL to sign in at asks for: by which word it is known again, and which scopes.
pub(super) fn asked(url: &Url) -> (String, Vec<String>) {
    let value = |wanted: &str| {
        let found = url.query_pairs().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let scopes = value("scope").split_whitespace().map(str::to_owned).collect();
    (value("state"), scopes)
}

/// No redirect is known.
pub(super) fn missing() -> Error {
    argument("a sign-in needs a redirect").with_detail("path", "redirect_uri").with_hint(
        "give `redirect_uri`, or write it into the server's `oauth`: where the host gets the redirect",
    )
}

/// It belongs to no sign-in that is under way.
pub(super) fn unknown() -> Error {
    argument("the URL belongs to no sign-in that is under way")
        .with_detail("path", "redirect_url")
        .with_hint("begin the sign-in again: it took too long, or its URL was used already")
}

fn argument(message: &str) -> Error {
    Error::new(ErrorCode::InvalidArgument, message)
}
