//! What the errors of a connection say of it.

use std::sync::Arc;

use reqwest::Url;

use crate::Error;
use crate::auth::Denial;
use crate::base::escape::escape_line;
use crate::net::http_client::Road;
pub(in crate::transport::http) use crate::net::network_errors::SHOWN_CHARS_MAX;

/// A connection, as its errors see it.
pub(in crate::transport::http) trait ErrorContext: Send + Sync {
    /// The server's name.
    fn server(&self) -> &Arc<str>;

    /// The server's text without this connection's secrets.
    fn redact(&self, text: &str) -> String;

    /// What is between here and the server.
    fn road(&self) -> Road;

    /// The address as it may be shown: no path, no query, no user.
    fn shown_address(&self) -> String;

    /// The same of an address at which the server is.
    fn shown_origin(&self, url: &Url) -> String;

    /// Why the host gave no credentials, if it was asked last and did not.
    fn denial(&self) -> Option<Denial>;

    /// Why the authorization server issued nothing, if it was asked last and did not.
    fn unrenewed(&self) -> Option<Error>;
}

pub(in crate::transport::http) fn shown(
    context: &dyn ErrorContext,
    text: &str,
    chars: usize,
) -> String {
    escape_line(context.redact(text).as_bytes()).chars().take(chars).collect()
}

impl<T: ErrorContext + ?Sized> ErrorContext for Arc<T> {
    fn server(&self) -> &Arc<str> {
        (**self).server()
    }

    fn redact(&self, text: &str) -> String {
        (**self).redact(text)
    }

    fn road(&self) -> Road {
        (**self).road()
    }

    fn shown_address(&self) -> String {
        (**self).shown_address()
    }

    fn shown_origin(&self, url: &Url) -> String {
        (**self).shown_origin(url)
    }

    fn denial(&self) -> Option<Denial> {
        (**self).denial()
    }

    fn unrenewed(&self) -> Option<Error> {
        (**self).unrenewed()
    }
}
