//! How remote servers of this machine would be reached, and whom the library trusts.

use std::path::Path;
use std::sync::Arc;

use trunkline_pool::config::Transport;
use trunkline_pool::expand::{self, Commands};
use trunkline_pool::settings::Template;

use super::whole;
use crate::Result;
use crate::auth::signs_in_straight;
use crate::host_env::{CERTIFICATES, HostVariables, PROXIES};
use crate::net::proxies::{misread, proxy_of};
use crate::net::roots::NAMED_BY;
use crate::net::tls::tls;
use crate::transport::http::address;

/// The way to a remote server.
#[derive(Clone, Debug)]
pub struct Way {
    /// Where it is: scheme, host and port of its address.
    pub origin: String,
    /// The proxy that is taken: its address without a user or password.
    pub proxy: Option<String>,
    /// Whether that proxy is one that the library can take.
    pub is_usable: bool,
    /// Whether the proxy's address has a user or password, which are shown nowhere.
    pub has_user: bool,
    /// The Unix socket that is taken in place of the network.
    pub socket: Option<String>,
    /// Whether its sign-ins take no proxy, whatever the environment names.
    pub signs_in_straight: bool,
}

/// The way to a remote server, by the rules of its connection; `None` for one that is not remote.
/// Nothing is sent.
///
/// # Errors
/// `invalid_config` and `undefined_variable` of the fields that are looked at.
pub fn find_way(
    server: &str,
    template: &Template,
    workspace: impl AsRef<Path>,
) -> Result<Option<Way>> {
    let variables = HostVariables::new(&whole(workspace.as_ref()));
    let looked_up = expand::look_up(template, &variables, Commands::Refused)?;
    let Transport::Remote(remote) = &looked_up.spec.transport else { return Ok(None) };
    let address = address(&Arc::from(server), remote)?;
    let proxy = match remote.socket_path {
        Some(_) => None,
        // One that cannot be read is among `misread_proxies`.
        None => proxy_of(&address).unwrap_or_default(),
    };
    let uri = proxy.as_ref().map(|proxy| proxy.uri());
    let is_usable = uri.is_none_or(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    let shown = uri.map(|uri| {
        let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
        let [scheme, host] = [uri.scheme_str(), uri.host()].map(Option::unwrap_or_default);
        format!("{scheme}://{host}{port}")
    });
    Ok(Some(Way {
        origin: address.origin().ascii_serialization(),
        proxy: shown,
        is_usable,
        has_user: proxy.is_some_and(|it| it.basic_auth().is_some() || it.raw_auth().is_some()),
        socket: remote.socket_path.clone(),
        signs_in_straight: signs_in_straight(&looked_up.spec.oauth),
    }))
}

/// Whether there are roots to trust.
///
/// # Errors
/// Why there are none, in words.
pub fn trusted_roots() -> std::result::Result<(), String> {
    tls().map(drop)
}

/// The variables that name roots which the library takes in place of those of the system.
pub fn root_variables() -> &'static [&'static str] {
    NAMED_BY
}

/// The variables, in upper case, that programs find certificates by.
pub fn certificate_variables() -> &'static [&'static str] {
    CERTIFICATES
}

/// The variables, in upper case, that programs find proxies by.
pub fn proxy_variables() -> &'static [&'static str] {
    PROXIES
}

/// The variables that are to name a proxy, and whose value is none: what would go by them is
/// refused.
pub fn misread_proxies() -> Vec<&'static str> {
    misread()
}
