//! Which names a request may call this endpoint by, and which pages may send it (SERVING A7).
//!
//! A web page can reach a loopback port under a name of its own (DNS rebinding), or directly. The
//! first has a foreign `Host`, the second a foreign `Origin`.

use std::net::SocketAddr;

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::{Error, ErrorCode, Result};

/// The names and the origins that are allowed.
pub(super) struct OriginGuard {
    /// Lower case, each with the port that it must have if any.
    hosts: Vec<(String, Option<u16>)>,
    origins: Vec<String>,
}

/// Why a request is refused before anything else of it is looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unwelcome {
    pub status: u16,
    pub text: &'static str,
}

/// The port of a `Host` that names none.
const HTTP_PORT: u16 = 80;

impl OriginGuard {
    /// The guard of an address, with further hosts and with origins.
    ///
    /// # Errors
    /// `invalid_argument` for an entry that is no host or no origin, with its `path`.
    pub(super) fn new(
        bound: Option<SocketAddr>,
        hosts: &[String],
        origins: &[String],
    ) -> Result<OriginGuard> {
        let mut allowed = Vec::new();
        if let Some(bound) = bound {
            let port = Some(bound.port());
            let own = match bound {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            };
            allowed = vec![(own, port)];
            allowed.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| (name.into(), port)));
        }
        for (index, host) in hosts.iter().enumerate() {
            allowed.push(authority(host).ok_or_else(|| {
                unfit(format!("`{host}` is not a host or `host:port`"), "allowed_hosts", index)
            })?);
        }
        let mut accepted = Vec::new();
        for (index, text) in origins.iter().enumerate() {
            accepted.push(origin(text).ok_or_else(|| {
                unfit(format!("`{text}` is not `scheme://host[:port]`"), "allowed_origins", index)
            })?);
        }
        Ok(OriginGuard { hosts: allowed, origins: accepted })
    }

    /// Checks `Host`, which a Unix socket does not care for, and `Origin`. Gives the origin of a
    /// page that is allowed.
    pub(super) fn check(
        &self,
        head: &Parts,
        checks_host: bool,
    ) -> std::result::Result<Option<HeaderValue>, Unwelcome> {
        if checks_host {
            self.check_host(head)?;
        }
        let origin = only(&head.headers, ORIGIN)
            .map_err(|()| Unwelcome { status: 403, text: "more than one Origin header" })?;
        match origin {
            None => Ok(None),
            Some(value) if self.accepts(value) => Ok(Some(value.clone())),
            Some(_) => Err(Unwelcome { status: 403, text: "the Origin is not allowed" }),
        }
    }

    fn check_host(&self, head: &Parts) -> std::result::Result<(), Unwelcome> {
        let bad = |text| Unwelcome { status: 400, text };
        let host = only(&head.headers, HOST).map_err(|()| bad("more than one Host header"))?;
        let host = host.ok_or(bad("the Host header is missing"))?;
        let named = host.to_str().ok().and_then(authority).ok_or(bad("the Host is not a host"))?;
        // A request line may name a host too; it must be the same.
        if let Some(target) = head.uri.authority()
            && authority(target.as_str()).as_ref() != Some(&named)
        {
            return Err(bad("the request line and Host name different hosts"));
        }
        let (name, port) = named;
        let port = port.unwrap_or(HTTP_PORT);
        let is_allowed = self
            .hosts
            .iter()
            .any(|(allowed, wanted)| *allowed == name && wanted.is_none_or(|it| it == port));
        match is_allowed {
            true => Ok(()),
            false => Err(Unwelcome { status: 403, text: "the Host is not allowed" }),
        }
    }

    fn accepts(&self, value: &HeaderValue) -> bool {
        let value = value.to_str().ok().and_then(origin);
        value.is_some_and(|value| self.origins.contains(&value))
    }
}

/// The one value of a header; an error when there are more.
pub(super) fn only(
    headers: &HeaderMap,
    name: HeaderName,
) -> std::result::Result<Option<&HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { Err(()) } else { Ok(first) }
}

/// A host in lower case, and its port.
fn authority(text: &str) -> Option<(String, Option<u16>)> {
    let is_named = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !name.is_empty() && name.bytes().all(plain),
        }
    };
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => {
            let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            (name, Some(port.parse().ok().filter(|_| is_number)?))
        }
        _ => (text, None),
    };
    is_named(name).then(|| (name.to_ascii_lowercase(), port))
}

/// An origin as it is compared: scheme, host and port, and nothing behind them.
fn origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_bare = !text.ends_with('/') && url.path().len() <= 1 && url.query().is_none();
    let origin = url.origin();
    (is_bare && origin.is_tuple() && url.fragment().is_none() && url.username().is_empty())
        .then(|| origin.ascii_serialization())
}

fn unfit(message: String, path: &str, index: usize) -> Error {
    Error::new(ErrorCode::InvalidArgument, message).with_detail("path", format!("{path}[{index}]"))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// SERVING A7.2: the target, the headers, and the status of the refusal or 0.
    type Row = (&'static str, &'static [(&'static str, &'static str)], u16);

    const REQUESTS: &[Row] = &[
        ("/mcp", &[("host", "localhost:4000")], 0),
        ("/mcp", &[("host", "LOCALHOST:4000")], 0),
        ("/mcp", &[("host", "127.0.0.1:4000")], 0),
        ("/mcp", &[("host", "[::1]:4000")], 0),
        ("/mcp", &[("host", "gate.example")], 0),
        ("/mcp", &[("host", "gate.example:1")], 0),
        ("/mcp", &[("host", "door.example:443")], 0),
        ("/mcp", &[("host", "door.example")], 403),
        ("/mcp", &[("host", "localhost")], 403),
        ("/mcp", &[("host", "localhost:4001")], 403),
        ("/mcp", &[("host", "localhost.:4000")], 403),
        ("/mcp", &[("host", "evil.example:4000")], 403),
        ("/mcp", &[("host", "localhost.evil.example:4000")], 403),
        ("/mcp", &[("host", "127.0.0.1.nip.io:4000")], 403),
        ("/mcp", &[("host", "evil@localhost:4000")], 400),
        ("/mcp", &[("host", "localhost:+4000")], 400),
        ("/mcp", &[("host", "localhost:")], 400),
        ("/mcp", &[("host", "")], 400),
        ("/mcp", &[], 400),
        ("/mcp", &[("host", "localhost:4000"), ("host", "localhost:4000")], 400),
        ("http://localhost:4000/mcp", &[("host", "localhost:4000")], 0),
        ("http://evil.example/mcp", &[("host", "localhost:4000")], 400),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "https://app.example")], 0),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "HTTPS://APP.example:443")], 0),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "http://app.example")], 403),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "https://app.example:8443")], 403),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "https://app.example.evil")], 403),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "http://localhost:4000")], 403),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "null")], 403),
        ("/mcp", &[("host", "localhost:4000"), ("origin", "")], 403),
        (
            "/mcp",
            &[
                ("host", "localhost:4000"),
                ("origin", "https://app.example"),
                ("origin", "https://app.example"),
            ],
            403,
        ),
    ];

    #[test]
    fn only_our_own_names_and_listed_origins_pass() {
        let bound = "127.0.0.1:4000".parse().unwrap();
        let hosts = ["gate.example".to_string(), "door.example:443".to_string()];
        let guard = OriginGuard::new(Some(bound), &hosts, &["https://app.example".into()]).unwrap();
        for (uri, headers, wanted) in REQUESTS {
            let mut request = Request::builder().uri(*uri);
            for (name, value) in *headers {
                request = request.header(*name, *value);
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            let status = guard.check(&head, true).err().map_or(0, |refused| refused.status);
            assert_eq!(status, *wanted, "{uri} {headers:?}");
        }
    }

    /// A7.2: clients of a Unix socket send any `Host`; `Origin` counts all the same.
    #[test]
    fn a_unix_socket_checks_the_origin_alone() {
        let guard = OriginGuard::new(None, &[], &[]).unwrap();
        let head = |name: &str| {
            Request::builder().header(name, "http://x").body(()).unwrap().into_parts().0
        };
        assert_eq!(guard.check(&head("host"), false), Ok(None));
        assert_eq!(guard.check(&head("origin"), false).map_err(|it| it.status), Err(403));
    }

    #[test]
    fn an_entry_that_cannot_match_is_a_typed_error() {
        let rows: &[(&[&str], &[&str], &str)] = &[
            (&["ok.example", "http://x"], &[], "allowed_hosts[1]"),
            (&["a b"], &[], "allowed_hosts[0]"),
            (&[], &["app.example"], "allowed_origins[0]"),
            (&[], &["https://app.example/path"], "allowed_origins[0]"),
            (&[], &["null"], "allowed_origins[0]"),
        ];
        for (hosts, origins, path) in rows {
            let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
            let error = OriginGuard::new(None, &owned(hosts), &owned(origins)).err().unwrap();
            assert_eq!(error.code(), ErrorCode::InvalidArgument);
            assert!(error.to_string().contains(hosts.last().or(origins.last()).unwrap()));
            assert_eq!(error.detail()["path"], *path);
        }
    }
}
