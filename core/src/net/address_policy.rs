//! Which addresses a flow may reach (S-30, S-31): a server, or a stranger that answers in its name,
//! chooses them.
//!
//! The server's own origin was configured, so it may be anything. Whatever else is named must be
//! public, and reached by https. What the user or the host configures beside it may be anything
//! too. Their server on this machine may name others on this machine, as in development and in
//! tests. A source whose servers need approval chooses neither (SPEC 12.9): the person who approved
//! it saw its addresses, and not what they lead to.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use trunkline_pool::oauth::{Way, is_public_name};
use url::Host;

use crate::{Error, ErrorCode};

/// Longer addresses are refused: nobody needs them, and they are shown to people.
const URL_BYTES_MAX: usize = 4096;

/// What a configured server's flow may reach.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    home: Url,
    /// Addresses of the configuration itself.
    configured: Vec<Url>,
    author: Author,
    way: Way,
}

/// Who wrote a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Author {
    /// The user or the host.
    Host,
    /// A source whose servers need approval.
    Source,
}

impl Guard {
    /// Of a server at `home`; `configured` are the addresses that its configuration names.
    pub(crate) fn new(home: Url, configured: Vec<Url>, way: Way, author: Author) -> Guard {
        Guard { home, configured, author, way }
    }

    /// How a token is come by.
    pub(crate) fn way(&self) -> Way {
        self.way
    }

    /// The server's address.
    pub(crate) fn home(&self) -> &Url {
        &self.home
    }

    /// Whether an address has an origin that may be anything: the server's own, or one that the
    /// user or the host configured.
    pub(crate) fn is_configured(&self, url: &Url) -> bool {
        let is_its = |known: &Url| known.origin() == url.origin();
        is_its(&self.home) || (self.author == Author::Host && self.configured.iter().any(is_its))
    }

    /// Checks what is asked of a proxy, which resolves names where nobody here sees what they lead
    /// to. For a source whose servers need approval no more is asked than what the approval showed.
    ///
    /// # Errors
    /// `protocol`, with `detail.refused`.
    pub(crate) fn check_proxied(&self, url: &Url) -> Result<(), Error> {
        if self.is_configured(url) {
            return Ok(());
        }
        let is_shown = || self.configured.iter().any(|known| known.origin() == url.origin());
        if self.author == Author::Source && !is_shown() {
            return Err(refusal("an address that it leads to", "is none that the approval showed"));
        }
        match url.domain() {
            Some(name) if !is_public_name(name) => {
                Err(refusal("the name of a host", "is not public, and a proxy would resolve it"))
            }
            _ => Ok(()),
        }
    }

    /// Checks what can be seen of an address before its name is resolved; `what` says whose it is.
    ///
    /// # Errors
    /// `protocol`, with `detail.refused`.
    pub(crate) fn check(&self, url: &Url, what: &str) -> Result<(), Error> {
        let refused = |why: &str| Err(refusal(what, why));
        if url.as_str().len() > URL_BYTES_MAX {
            return refused("is too long");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("holds a name or password");
        }
        if self.is_configured(url) && matches!(url.scheme(), "http" | "https") {
            return Ok(());
        }
        let Some(host) = url.host() else { return refused("names no host") };
        let is_near = self.admits_loopback() && is_loopback(&host);
        match url.scheme() {
            "https" => {}
            "http" if is_near => {}
            _ => return refused("must use https"),
        }
        let literal = match host {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
            Host::Domain(_) => None,
        };
        match literal {
            Some(address) if !is_public(address) && !is_near => refused("is not a public address"),
            _ => Ok(()),
        }
    }

    /// Checks an address that secrets are sent to, or that a person is sent to: https, or a server
    /// on this machine.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn check_endpoint(&self, text: &str, what: &str) -> Result<Url, Error> {
        // What a parser would silently drop or turn into something else is not what was meant.
        let odd =
            |c: char| c.is_ascii_control() || c.is_whitespace() || "\\\"'`<>{}|^$;".contains(c);
        if !text.is_ascii() || text.contains(odd) {
            return Err(refusal(what, "holds characters that no address has"));
        }
        let names_host = text.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'));
        let url = Url::parse(text).ok().filter(|_| names_host);
        let url = url.ok_or_else(|| refusal(what, "is not a valid URL"))?;
        self.check(&url, what)?;
        let is_near = url.host().is_some_and(|host| is_loopback(&host));
        if url.scheme() != "https" && !is_near {
            return Err(refusal(what, "must use https"));
        }
        if url.fragment().is_some() {
            return Err(refusal(what, "has a fragment"));
        }
        Ok(url)
    }

    /// Whether names may lead to this machine.
    pub(crate) fn admits_loopback(&self) -> bool {
        self.author == Author::Host && self.home.host().is_some_and(|host| is_loopback(&host))
    }
}

/// An address that is not gone to. It is not repeated: it may be made to look like something else.
fn refusal(what: &str, why: &str) -> Error {
    Error::new(ErrorCode::Protocol, format!("{what} {why}"))
        .with_detail("refused", "address")
        .with_hint("the server, or an authorization server that it names, leads to an address that is not trusted")
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// Resolves names, and gives back no address that must not be reached. What it gives back is what
/// is connected to, so that a second answer of the name's owner counts for nothing.
pub(crate) struct PublicNames {
    /// Addresses of this machine count as public.
    pub loopback: bool,
    pub lookup: Lookup,
}

/// What the addresses of a name are asked of, once for each connection.
pub(crate) type Lookup =
    Arc<dyn Fn(Name) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// The system's way.
pub(crate) fn system() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.collect()) })
    })
}

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        let (loopback, found) = (self.loopback, (self.lookup)(name));
        Box::pin(
            async move { Ok(Box::new(admitted(found.await?, loopback)?.into_iter()) as Addrs) },
        )
    }
}

/// These addresses, unless one of them must not be reached: a name that leads to both kinds is made
/// to.
///
/// # Errors
/// A sentence.
pub(crate) fn admitted(
    addresses: Vec<SocketAddr>,
    loopback: bool,
) -> Result<Vec<SocketAddr>, Forbidden> {
    let may = |address: &SocketAddr| {
        is_public(address.ip()) || loopback && address.ip().to_canonical().is_loopback()
    };
    if addresses.iter().all(may) { Ok(addresses) } else { Err(Forbidden) }
}

/// A name leads to an address that must not be reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forbidden;

impl std::fmt::Display for Forbidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the name leads to an address that is not public")
    }
}

impl std::error::Error for Forbidden {}

impl From<Forbidden> for Error {
    fn from(_: Forbidden) -> Error {
        refusal("the name of a host", "leads to an address that is not public")
    }
}

/// Whether an address can be that of somebody on the internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |network: [u8; 4], bits: u32| {
        let mask = u32::MAX << (32 - bits);
        u32::from(address) & mask == u32::from(Ipv4Addr::from(network)) & mask
    };
    !RESERVED_V4.iter().any(|(network, bits)| within(*network, *bits))
}

/// Networks that are this machine's, private, shared, reserved, for documents, or for many (IANA's
/// special-purpose registry).
const RESERVED_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Only what is handed out, and of that nothing which holds an address of the other kind or stands
/// for no host: mapped addresses, NAT64 and local ones are outside of it, 6to4 and Teredo inside.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let handed_out = segments[0] & 0xe000 == 0x2000;
    let special = match segments[0] {
        0x2001 => segments[1] < 0x200 || segments[1] == 0xdb8,
        0x2002 => true,
        0x3fff => segments[1] < 0x1000,
        _ => false,
    };
    handed_out && !special
}

#[cfg(test)]
mod tests;
