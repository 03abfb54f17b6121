//! What goes wrong below HTTP: names, sockets, proxies, TLS, and words that are no HTTP.

use std::error::Error as _;
use std::io::ErrorKind as Io;

use super::http_client::Road;
use crate::base::escape::escape_line;
use trunkline_pool::interface::words::connect_kind;

/// Characters of a server's own words that an error repeats.
pub(crate) const SHOWN_CHARS_MAX: usize = 300;

/// What an error of the client comes from, as far as its chain says.
#[derive(Default)]
struct Causes<'a> {
    io: Option<Io>,
    tls: Option<&'a rustls::Error>,
    is_dns: bool,
    is_no_http: bool,
    /// What a proxy said to the wish for a tunnel.
    tunnel: Option<String>,
}

impl<'a> Causes<'a> {
    fn of(error: &'a reqwest::Error) -> Causes<'a> {
        let mut causes = Causes::default();
        let mut next = error.source();
        while let Some(cause) = next {
            // Those of the resolver and of the tunnel have no type of their own in the chain.
            let text = cause.to_string();
            causes.is_dns |= text.starts_with("dns error");
            if let Some(words) = text.strip_prefix("tunnel error: ") {
                causes.tunnel.get_or_insert_with(|| words.to_owned());
            }
            if let Some(error) = cause.downcast_ref::<std::io::Error>() {
                causes.io = Some(error.kind());
                causes.tls = causes.tls.or_else(|| tls_within(error));
            }
            causes.tls = causes.tls.or_else(|| cause.downcast_ref::<rustls::Error>());
            causes.is_no_http |= cause.downcast_ref().is_some_and(hyper::Error::is_parse);
            next = cause.source();
        }
        causes
    }
}

/// A kind for machines, words, and what to do about it.
pub(crate) type NetworkErrorParts = (&'static str, String, &'static str);

/// Why what is at the end of that road could not be reached, or the way to it broke.
pub(crate) fn why_unreached(error: &reqwest::Error, road: Road) -> NetworkErrorParts {
    let causes = Causes::of(error);
    // What TLS says comes from the server, at the other end of a tunnel.
    let is_below = error.is_connect() && causes.tls.is_none();
    let io = causes.io;
    let sorted = sort(error, causes);
    match road {
        Road::Proxy if is_below => of_proxy(&sorted.1),
        Road::Socket if is_below => of_socket(io, sorted.1),
        Road::Direct | Road::Proxy | Road::Socket => sorted,
    }
}

/// Whether a request was sent by a socket that was closed before an answer came, as idle ones are
/// without a word.
pub(crate) fn is_unanswered(error: &reqwest::Error) -> bool {
    if error.is_connect() || error.is_timeout() {
        return false;
    }
    let mut next = error.source();
    while let Some(cause) = next {
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let http = cause.downcast_ref::<hyper::Error>();
        let is_closed = http.is_some_and(|it| it.is_incomplete_message() || it.is_canceled());
        if is_closed || io.is_some_and(|kind| CLOSED.contains(&kind)) {
            return true;
        }
        next = cause.source();
    }
    false
}

/// How the system says that the other end closed a socket.
const CLOSED: [Io; 5] = [
    Io::BrokenPipe,
    Io::ConnectionAborted,
    Io::ConnectionReset,
    Io::NotConnected,
    Io::UnexpectedEof,
];

fn sort(error: &reqwest::Error, causes: Causes<'_>) -> NetworkErrorParts {
    let plain = |kind, what: &str, hint| (kind, what.to_owned(), hint);
    match causes {
        Causes { tls: Some(tls), .. } => (
            connect_kind::TLS,
            format!("TLS failed: {}", bounded(&tls.to_string().to_lowercase())),
            "check the server's certificate, and that the address is one of https",
        ),
        Causes { tunnel: Some(words), .. } => (connect_kind::PROXY, bounded(&words), ""),
        Causes { is_dns: true, .. } => {
            plain(connect_kind::DNS, "its name cannot be resolved", "check the host name in `url`")
        }
        Causes { is_no_http: true, .. } => plain(
            connect_kind::NOT_HTTP,
            "what answers there speaks no HTTP",
            "check the port in `url`, and whether it must begin with `https` or `wss`",
        ),
        Causes { io: Some(Io::ConnectionRefused), .. } => plain(
            connect_kind::REFUSED,
            "the connection was refused",
            "check that the server runs on that port",
        ),
        Causes { io, .. } if error.is_timeout() || io == Some(Io::TimedOut) => plain(
            connect_kind::TIMEOUT,
            "it did not answer in time",
            "check the address and the network",
        ),
        _ if error.is_connect() => plain(
            connect_kind::NETWORK,
            "no connection could be made",
            "check the address and the network",
        ),
        _ => plain(connect_kind::CLOSED, "the connection broke", "the server or a proxy closed it"),
    }
}

/// The proxy is where to look; of its address nothing is said, since there may be a password in it.
fn of_proxy(what: &str) -> NetworkErrorParts {
    let hint = "check `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` in the environment; what `NO_PROXY` names is reached without a proxy";
    (
        connect_kind::PROXY,
        format!("the proxy that the environment names does not lead there: {what}"),
        hint,
    )
}

/// The socket is where to look, and not the address.
fn of_socket(io: Option<Io>, what: String) -> NetworkErrorParts {
    let (what, hint) = match io {
        Some(Io::NotFound) => {
            ("nothing is there".to_owned(), "check that the server runs, and `socket_path`")
        }
        Some(Io::PermissionDenied) => {
            ("it may not be used".to_owned(), "check who may write to the socket at `socket_path`")
        }
        _ => (what, "check that the server runs, and that `socket_path` is its socket"),
    };
    (connect_kind::SOCKET, format!("its Unix socket: {what}"), hint)
}

/// A certificate may have names without end.
pub(crate) fn bounded(words: &str) -> String {
    let shown: String = words.chars().take(SHOWN_CHARS_MAX).collect();
    escape_line(shown.as_bytes())
}

/// An error of TLS that passes as one of IO, whose `source` leaves out what it holds itself.
fn tls_within(error: &std::io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    let nested = || tls_within(inner.downcast_ref::<std::io::Error>()?);
    inner.downcast_ref::<rustls::Error>().or_else(nested)
}
