//! How an address is gone to: straight, or through the proxy that the environment of the host names
//! for it (SPEC 18.7).
//!
//! 1. Straight, a name is judged by what it leads to, and what was judged is what is connected to.
//! 2. Through a proxy nobody here sees what a name leads to, so that it is judged as a name, before
//!    anything is sent.
//! 3. Which of the two it is, is found once for each request: what was judged in one way never goes
//!    the other.
//!
//! A proxy's own client with the library's resolver would judge the name of the proxy, not of the
//! server.

use std::sync::Arc;

use hyper_util::client::proxy::matcher::Intercept;
use reqwest::Url;

use crate::auth::client_config::Route;
use crate::net::address_policy::{Forbidden, Guard, Lookup, PublicNames};
use crate::net::http_client::{Road, plain};
use crate::net::network_errors::why_unreached;
use crate::net::proxies::proxy_of;
use crate::net::tls::tls;
use crate::{Error, ErrorCode};
use trunkline_pool::interface::words::connect_kind;

/// The clients of one server's flows.
pub(super) struct Roads {
    route: Route,
    tls: rustls::ClientConfig,
    /// For what was configured.
    own: reqwest::Client,
    /// For what somebody named.
    named: reqwest::Client,
}

impl Roads {
    /// # Errors
    /// `connect_failed` when the system's trusted roots cannot be read.
    pub(super) fn new(guard: &Guard, route: Route, lookup: Lookup) -> Result<Roads, Error> {
        let tls = tls().map_err(unready)?;
        let names = PublicNames { loopback: guard.admits_loopback(), lookup };
        let own = made(builder(&tls))?;
        let named = made(builder(&tls).dns_resolver(Arc::new(names)))?;
        Ok(Roads { route, tls, own, named })
    }

    /// The client for an address, which has passed the guard already, and the way that it takes.
    ///
    /// # Errors
    /// `protocol` for a name that no proxy may be asked for; `connect_failed` for a proxy that
    /// cannot be used.
    pub(super) fn to(&self, url: &Url, guard: &Guard) -> Result<(reqwest::Client, Road), Error> {
        let proxy = match self.route {
            Route::Environment => proxy_of(url)?,
            Route::Direct => None,
        };
        if let Some(proxy) = proxy {
            guard.check_proxied(url)?;
            return Ok((self.through(&proxy)?, Road::Proxy));
        }
        let client = if guard.is_configured(url) { &self.own } else { &self.named };
        Ok((client.clone(), Road::Direct))
    }

    fn through(&self, proxy: &Intercept) -> Result<reqwest::Client, Error> {
        let unfit = |_| {
            Error::new(ErrorCode::ConnectFailed, "the proxy that the environment names is none")
                .with_detail("kind", connect_kind::PROXY)
        };
        let through = reqwest::Proxy::all(proxy.uri().to_string()).map_err(unfit)?;
        let through = match proxy.basic_auth() {
            Some(user) => through.custom_http_auth(user.clone()),
            None => through,
        };
        made(builder(&self.tls).proxy(through))
    }
}

fn builder(tls: &rustls::ClientConfig) -> reqwest::ClientBuilder {
    // What is issued is issued once: no request takes a socket that may be dead by now.
    plain(tls.clone()).no_proxy().pool_max_idle_per_host(0)
}

fn made(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, Error> {
    builder.build().map_err(|error| unready(error.without_url().to_string()))
}

fn unready(reason: String) -> Error {
    Error::new(ErrorCode::ConnectFailed, format!("there is no TLS to be had: {reason}"))
}

/// Nobody answered at an address.
pub(super) fn unreached(url: &Url, road: Road, error: &reqwest::Error) -> Error {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if inner.downcast_ref::<Forbidden>().is_some() {
            return Forbidden.into();
        }
        cause = inner.source();
    }
    let address = url.origin().ascii_serialization();
    let (kind, what, hint) = why_unreached(error, road);
    let failed =
        Error::new(ErrorCode::ConnectFailed, format!("{address} cannot be reached: {what}"))
            .with_detail("kind", kind)
            .with_detail("address", address);
    match road {
        Road::Proxy if kind == connect_kind::PROXY => failed.with_hint(hint),
        Road::Direct | Road::Proxy | Road::Socket => failed.with_hint(
            "check the network on the way there: sign-ins take the proxy that `HTTPS_PROXY` or `HTTP_PROXY` names, unless `NO_PROXY` or `oauth.proxy` says otherwise",
        ),
    }
}
