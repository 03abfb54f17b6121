//! What a connection sends with: its client, its headers, and what of both is a secret.
//!
//! The trusted roots and the TLS set-up are read once for the process; sockets belong to one
//! connection, and close with it.
//!
//! One client for the process would keep a server's sockets after its last session has gone, and
//! could not close those of one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use trunkline_pool::config::{RemoteKind, RemoteSpec};
use url::form_urlencoded;

use super::errors::network_errors;
use crate::net::cookies::Jar;
use crate::net::headers::basic_pair;
use crate::net::http_client::{Road, plain};
use crate::net::proxies::takes_proxy;
use crate::net::tls::{tls, trusting_nobody};
use crate::{Error, ErrorCode, Result};

/// An idle socket is used again for so long: the calls of one turn follow within it. Servers and
/// balancers close idle sockets without a word, and what is written to one then is lost with nobody
/// knowing whether it was read. This is less than the least time that `Keep-Alive: timeout` can
/// leave, which is a second.
const SOCKET_IDLE_MAX: Duration = Duration::from_millis(500);

/// Silence on a socket after which the system asks whether its other end is there.
const SOCKET_ASKED_AFTER: Duration = Duration::from_secs(30);

/// Idle sockets that are kept after a burst of calls.
const SOCKETS_IDLE_MAX: usize = 4;

/// Headers that say how a message is framed or belong to the protocol: a configuration cannot set
/// them.
const OWN_HEADERS: &[&str] = &[
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "sec-websocket-extensions",
    "sec-websocket-key",
    "sec-websocket-protocol",
    "sec-websocket-version",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Where one connection goes, and what with.
pub(super) struct Target {
    pub kind: RemoteKind,
    pub address: Url,
    pub headers: HeaderMap,
    pub clients: HttpClients,
    pub cookies: Arc<Jar>,
    pub road: Road,
    /// How long the connect waits.
    pub patience: Duration,
}

/// The clients of one connection.
pub(super) struct HttpClients {
    /// Uses sockets again that were used just now.
    pub kept: reqwest::Client,
    /// Has a new one for each request.
    pub fresh: reqwest::Client,
    /// The server wants no socket used again.
    spends: AtomicBool,
}

impl HttpClients {
    /// The one that the next request is sent with.
    pub(super) fn next(&self) -> &reqwest::Client {
        if self.spends.load(Ordering::Relaxed) { &self.fresh } else { &self.kept }
    }

    /// From here on each request has a socket of its own.
    pub(super) fn spend(&self) {
        self.spends.store(true, Ordering::Relaxed);
    }
}

/// Whether a `Keep-Alive` leaves its socket no time, or no more requests. Any other leaves it more
/// time than it is kept here.
pub(super) fn spends_sockets(headers: &HeaderMap) -> bool {
    let values = headers.get_all("keep-alive").iter().filter_map(|value| value.to_str().ok());
    let hints = values.flat_map(|value| value.split(',')).filter_map(|hint| hint.split_once('='));
    let mut hints = hints.map(|(name, value)| (name.trim(), value.trim().trim_matches('"')));
    hints.any(|(name, value)| {
        ["timeout", "max"].iter().any(|hint| name.eq_ignore_ascii_case(hint))
            && value.parse() == Ok(0_u64)
    })
}

impl Target {
    /// That of a configuration. What cannot be reached within `patience` is given up.
    ///
    /// # Errors
    /// `invalid_config` for an address or header that cannot be sent; `connect_failed` when nothing
    /// can be trusted, or the proxy that is to be taken cannot be read.
    pub(super) fn of(
        server: &Arc<str>,
        spec: &RemoteSpec,
        patience: Duration,
        cookies: Arc<Jar>,
    ) -> Result<Target> {
        let (address, headers) = (address(server, spec)?, headers(server, spec)?);
        let road = match &spec.socket_path {
            Some(_) => Road::Socket,
            None if takes_proxy(server, &address)? => Road::Proxy,
            None => Road::Direct,
        };
        let client = |idle_max| {
            let builder = builder(server, &address, patience)?.pool_max_idle_per_host(idle_max);
            let builder = match (&spec.socket_path, road) {
                (Some(path), _) => over_socket(server, builder, path)?,
                (None, Road::Proxy) => builder,
                (None, _) => builder.no_proxy(),
            };
            builder.build().map_err(|error| network_errors::internal(server, &error))
        };
        let (kept, fresh) = (client(SOCKETS_IDLE_MAX)?, client(0)?);
        let clients = HttpClients { kept, fresh, spends: AtomicBool::new(false) };
        Ok(Target { kind: spec.kind, address, headers, clients, road, patience, cookies })
    }
}

/// What the Unix socket leads to is the server, whatever host the address names.
///
/// # Errors
/// `connect_failed` where there are no such sockets.
#[cfg(unix)]
fn over_socket(
    _server: &Arc<str>,
    builder: reqwest::ClientBuilder,
    path: &str,
) -> Result<reqwest::ClientBuilder> {
    // The system marks names that are in no folder in this way.
    let name = path.strip_prefix('@').map(|name| format!("\0{name}"));
    Ok(builder.unix_socket(name.as_deref().unwrap_or(path)))
}

#[cfg(not(unix))]
fn over_socket(
    server: &Arc<str>,
    _builder: reqwest::ClientBuilder,
    _path: &str,
) -> Result<reqwest::ClientBuilder> {
    Err(network_errors::no_sockets(server))
}

/// A client for one connection, which gives up reaching the server after `patience`.
///
/// # Errors
/// `connect_failed` when the system's trusted roots cannot be read, and something has to be
/// trusted.
fn builder(server: &Arc<str>, address: &Url, patience: Duration) -> Result<reqwest::ClientBuilder> {
    // Without any roots what is not encrypted can be reached still.
    let tls =
        if address.scheme() == "https" { tls() } else { tls().or_else(|_| trusting_nobody()) };
    let tls = tls.map_err(|reason| network_errors::no_trust(server, &reason))?;
    Ok(plain(tls)
        .connect_timeout(patience)
        .pool_idle_timeout(SOCKET_IDLE_MAX)
        // A stream that only announces may be silent for hours: whether its other end is there is
        // asked below it.
        .tcp_keepalive(SOCKET_ASKED_AFTER)
        .tcp_nodelay(true))
}

/// The configured headers; none is shown by what prints them.
///
/// # Errors
/// `invalid_config` for a value that no header can have.
fn headers(server: &Arc<str>, spec: &RemoteSpec) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in &spec.headers {
        if OWN_HEADERS.contains(&name.as_str()) {
            continue;
        }
        let path = format!("headers.{name}");
        let refused = || {
            Error::new(ErrorCode::InvalidConfig, format!("`{path}` cannot be sent as a header"))
                .with_server(server.as_ref())
                .with_detail("path", path.as_str())
        };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

/// The address to post to.
///
/// # Errors
/// `invalid_config` when it is none.
pub(crate) fn address(server: &Arc<str>, spec: &RemoteSpec) -> Result<Url> {
    // A websocket begins as a request of HTTP.
    let text = match spec.url.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ws") => format!("http:{rest}"),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("wss") => format!("https:{rest}"),
        _ => spec.url.clone(),
    };
    let url = Url::parse(&text).ok().filter(Url::has_host);
    url.ok_or_else(|| {
        Error::new(ErrorCode::InvalidConfig, "`url` is not a valid URL")
            .with_server(server.as_ref())
            .with_detail("path", "url")
    })
}

/// What must not be shown of a configuration: header values, whole and word by word since a scheme
/// stands before a token, and what of the address may hold one (S-48).
pub(crate) fn secrets(spec: &RemoteSpec) -> Vec<String> {
    let mut secrets = Vec::new();
    for value in spec.headers.values() {
        secrets.push(value.clone());
        secrets.extend(value.split_whitespace().map(str::to_owned));
        for [user, password] in value.split_whitespace().filter_map(basic_pair) {
            secrets.extend([format!("{user}:{password}"), user, password]);
        }
    }
    if let Ok(url) = Url::parse(&spec.url) {
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        let plain = [user, password].map(decoded);
        // How the client sends them.
        secrets.push(BASE64_STANDARD.encode(plain.join(":")));
        secrets.extend(plain);
        secrets.extend([user, password].map(str::to_owned));
        secrets.extend(url.query().map(str::to_owned));
        secrets.extend(query_values(&url));
    }
    secrets
}

/// The values of an address's query, as they stand there and as they are meant.
pub(super) fn query_values(url: &Url) -> Vec<String> {
    let pieces = url.query().unwrap_or_default().split('&');
    let raw = pieces.filter_map(|piece| Some(piece.split_once('=')?.1.to_owned()));
    raw.chain(url.query_pairs().map(|(_, value)| value.into_owned())).collect()
}

/// What a user or password in an address stands for.
fn decoded(escaped: &str) -> String {
    // As in a form, but for these, which stand for themselves.
    let escaped = escaped.replace('+', "%2B").replace('&', "%26");
    form_urlencoded::parse(escaped.as_bytes()).map(|(text, _)| text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trunkline_pool::config::{ServerSpec, Transport};

    use super::*;

    /// SPEC 18.6
    #[test]
    fn a_socket_that_is_left_no_time_is_not_used_again() {
        for (lines, spends) in [
            (&["timeout=0"][..], true),
            (&["Timeout = \"0\", max=5"], true),
            (&["timeout=5, max=0"], true),
            (&["timeout=5", "max=0"], true),
            (&["timeout=1"], false),
            (&["timeout=5, max=1"], false),
            (&["timeout=x, max"], false),
            (&["0"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("keep-alive", HeaderValue::from_static(line));
            }
            assert_eq!(spends_sockets(&headers), spends, "{lines:?}");
        }
    }

    /// S-48: the user of an address is sent as a header, and a server may say back any of the forms
    /// that it has then.
    #[test]
    fn the_user_of_an_address_is_a_secret_in_each_of_its_forms() {
        let url = "https://user%201:p%40ss+word@host/";
        let spec = ServerSpec::from_value("s", &json!({ "type": "http", "url": url })).unwrap();
        let Transport::Remote(remote) = &spec.transport else { panic!("it is remote") };
        let secrets = secrets(remote);
        let basic = "dXNlciAxOnBAc3Mrd29yZA==";
        for secret in ["user%201", "user 1", "p%40ss+word", "p@ss+word", basic] {
            assert!(secrets.iter().any(|known| known == secret), "{secret}: {secrets:?}");
        }
    }

    /// S-48: what is sent in one form is a secret in the others too, where a server may say it
    /// back.
    #[test]
    fn what_is_configured_in_one_form_is_a_secret_in_the_others() {
        let config = json!({
            "type": "http", "url": "https://host/?key=a%20key%2B1&other",
            "headers": { "Authorization": "Basic dXNlciAxOnBAc3Mrd29yZA==" },
        });
        let spec = ServerSpec::from_value("s", &config).unwrap();
        let Transport::Remote(remote) = &spec.transport else { panic!("it is remote") };
        let secrets = secrets(remote);
        let of_header = ["dXNlciAxOnBAc3Mrd29yZA==", "user 1:p@ss+word", "user 1", "p@ss+word"];
        for secret in of_header.into_iter().chain(["a%20key%2B1", "a key+1"]) {
            assert!(secrets.iter().any(|known| known == secret), "{secret}: {secrets:?}");
        }
    }
}
