//! What every HTTP client of this library has in common.

use reqwest::header::{ACCEPT_ENCODING, HeaderValue};

/// What every request of this library says of who sends it; the headers of a server's configuration
/// may say something else to that server (SPEC 18.6).
const USER_AGENT: &str = concat!("trunkline/", env!("CARGO_PKG_VERSION"));

/// What is between here and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Road {
    /// The network alone.
    Direct,
    /// A proxy of the environment.
    Proxy,
    /// A Unix socket.
    Socket,
}

/// A client as every one of this library is, whatever it is for: it says who it is and what it can
/// read, and leaves redirects to its caller. The rules for them stand beside the headers that must
/// not follow them.
pub(crate) fn plain(tls: rustls::ClientConfig) -> reqwest::ClientBuilder {
    const AS_IT_IS: HeaderValue = HeaderValue::from_static("identity");
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(USER_AGENT)
        .default_headers([(ACCEPT_ENCODING, AS_IT_IS)].into_iter().collect())
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
}
