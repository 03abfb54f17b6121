//! Which proxy the environment names for an address.
//!
//! A proxy is never used for this machine: it would look for the server on its own. A value that
//! cannot be read is an error, since traffic would otherwise go straight.

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::Url;
use url::Host;

use crate::{Error, ErrorCode};
use trunkline_pool::interface::words::connect_kind;

/// A variable that is set and names no proxy: what is meant is not known, and nothing goes straight
/// for want of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misread(pub &'static str);

/// For both ways to write a name the one that counts first.
const HTTPS: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const HTTP: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
const ALL: [&str; 2] = ["ALL_PROXY", "all_proxy"];
const NO: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Set for a program that a web server runs, whose requests name `HTTP_PROXY` by a header: then no
/// proxy counts.
const CGI: &str = "REQUEST_METHOD";

impl From<Misread> for Error {
    fn from(Misread(variable): Misread) -> Error {
        let message = format!("`{variable}` in the environment is not the address of a proxy");
        Error::new(ErrorCode::ConnectFailed, message)
            .with_detail("kind", connect_kind::PROXY)
            .with_detail("variable", variable)
            .with_hint("write it as `http://host:port`, or unset it; what `NO_PROXY` names is reached without a proxy")
    }
}

/// The proxy that the environment names for this address. This machine is never reached through
/// one: it would look for the server on another, and see what is sent.
///
/// # Errors
/// The variable that would name one, and whose value is none.
pub(crate) fn proxy_of(address: &Url) -> Result<Option<Intercept>, Misread> {
    let is_here = match address.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    };
    let uri = address.as_str().parse::<http::Uri>().ok().filter(|_| !is_here);
    let Some(uri) = uri else { return Ok(None) };
    check(&uri, |name| std::env::var_os(name).map(|value| value.into_string().ok()))?;
    Ok(Matcher::from_env().intercept(&uri))
}

/// Whether a proxy is taken for this address of a server.
///
/// # Errors
/// Those of [`proxy_of`].
pub(crate) fn takes_proxy(server: &str, address: &Url) -> Result<bool, Error> {
    let proxy = proxy_of(address);
    let proxy = proxy.map_err(|misread| Error::from(misread).with_server(server));
    Ok(proxy?.is_some())
}

/// Whether what would name a proxy for this address can be read. `value` is that of a variable:
/// `None` if it is not set, and `Some(None)` if it is no text.
fn check(uri: &http::Uri, value: impl Fn(&str) -> Option<Option<String>>) -> Result<(), Misread> {
    let first = |names: [&'static str; 2]| names.into_iter().find(|name| value(name).is_some());
    let goes_straight = || {
        let no = first(NO).and_then(&value).flatten().unwrap_or_default();
        Matcher::builder().all("http://proxy").no(no).build().intercept(uri).is_none()
    };
    if value(CGI).is_some() || goes_straight() {
        return Ok(());
    }
    let own = if uri.scheme_str() == Some("https") { HTTPS } else { HTTP };
    // One that is set and empty leaves it to the next.
    let named = [own, ALL].into_iter().filter_map(first);
    let named = named.filter_map(|name| Some((name, value(name)?)));
    match named.into_iter().find(|(_, value)| value.as_deref() != Some("")) {
        Some((name, value)) if !value.as_deref().is_some_and(is_proxy) => Err(Misread(name)),
        Some(_) | None => Ok(()),
    }
}

/// The variables that are to name a proxy, and whose value is none.
pub(crate) fn misread() -> Vec<&'static str> {
    let is_misread = |name: &&str| {
        let value = std::env::var_os(name).unwrap_or_default();
        !value.is_empty() && !value.to_str().is_some_and(is_proxy)
    };
    [HTTPS, HTTP, ALL].into_iter().flatten().filter(is_misread).collect()
}

fn is_proxy(value: &str) -> bool {
    let somewhere = http::Uri::from_static("http://example.com/");
    Matcher::builder().all(value.to_owned()).build().intercept(&somewhere).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 18.6, 5.12: a proxy that is named so that nobody can tell which is named in the error;
    /// of its value nothing is.
    #[test]
    fn a_proxy_that_cannot_be_read_is_no_way_around_it() {
        const NO_TEXT: &str = "\u{0}";
        for (address, variables, expected) in [
            ("https://a.example/", &[][..], Ok(())),
            ("https://a.example/", &[("HTTPS_PROXY", "http://user:canary@proxy:1")], Ok(())),
            ("https://a.example/", &[("HTTPS_PROXY", "proxy:1")], Ok(())),
            ("https://a.example/", &[("HTTPS_PROXY", "http://canary word")], Err("HTTPS_PROXY")),
            ("https://a.example/", &[("https_proxy", "htp://proxy")], Err("https_proxy")),
            ("https://a.example/", &[("HTTPS_PROXY", NO_TEXT)], Err("HTTPS_PROXY")),
            ("https://a.example/", &[("HTTP_PROXY", "a b")], Ok(())),
            ("http://a.example/", &[("HTTP_PROXY", "a b")], Err("HTTP_PROXY")),
            ("http://a.example/", &[("ALL_PROXY", "a b")], Err("ALL_PROXY")),
            ("http://a.example/", &[("HTTP_PROXY", "proxy"), ("ALL_PROXY", "a b")], Ok(())),
            ("http://a.example/", &[("HTTP_PROXY", ""), ("ALL_PROXY", "a b")], Err("ALL_PROXY")),
            ("http://a.example/", &[("HTTP_PROXY", "a b"), ("ALL_PROXY", "p")], Err("HTTP_PROXY")),
            ("http://a.example/", &[("HTTP_PROXY", "a b"), ("http_proxy", "p")], Err("HTTP_PROXY")),
            ("http://a.example/", &[("HTTP_PROXY", "a b"), ("NO_PROXY", ".example")], Ok(())),
            ("http://a.example/", &[("HTTP_PROXY", "a b"), ("no_proxy", "*")], Ok(())),
            ("http://a.example/", &[("HTTP_PROXY", "a b"), ("NO_PROXY", "b")], Err("HTTP_PROXY")),
            ("http://a.example/", &[("HTTP_PROXY", "a b"), ("REQUEST_METHOD", "GET")], Ok(())),
        ] {
            let value = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name)?;
                Some((found.1 != NO_TEXT).then(|| found.1.to_owned()))
            };
            let found = check(&address.parse().unwrap(), value);
            assert_eq!(found, expected.map_err(Misread), "{address} {variables:?}");
        }
        let error = Error::from(Misread("HTTPS_PROXY"));
        assert_eq!(error.detail()["variable"], "HTTPS_PROXY");
    }
}
