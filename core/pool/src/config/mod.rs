//! A server's configuration and its fingerprint (SPEC 1).
//!
//! A member that differs from a known one only in its case is refused: other readers ignore the
//! case or the member. `disabled` is not hashed, so that switching a server off and on keeps its
//! connection's identity.

mod back;
mod debug;
mod fields;
mod fingerprint;
pub(crate) mod oauth;
mod parse;
mod servers;
#[cfg(test)]
mod tests;
mod value_files;

pub use back::{LEADS_BACK, leads_back};
pub use fingerprint::{Fingerprint, PoolKey};
pub use parse::check_name;
pub(crate) use parse::{ADDRESSES, check_address};
pub use servers::parse_servers;
pub use value_files::{Piece, ValueOfFiles};

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::json::joined;
use crate::options::{ServerReconnect, Start};

/// One server, parsed: an invalid one cannot be written.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerSpec {
    /// How it is reached.
    pub transport: Transport,
    /// Total time of a call, when the server's configuration sets one. More than a year counts as a
    /// year.
    pub call_timeout: Option<Duration>,
    /// Time of a call without progress, when the server's configuration sets one. More than a year
    /// counts as a year.
    pub call_idle_timeout: Option<Duration>,
    /// Time of connect and list together, when the server's configuration sets one: at most 300 s,
    /// which a longer one counts as. Not hashed.
    pub connect_timeout: Option<Duration>,
    /// How its lost connection comes back, as far as the server's configuration says. Not hashed.
    pub reconnect: Option<ServerReconnect>,
    /// Whether sessions may share its connection, when the configuration says so. Not hashed.
    pub share: Option<Share>,
    /// When it starts, where the configuration says so. Not hashed.
    pub start: Option<Start>,
    /// The protocol family, when the configuration settles it; otherwise it is found out.
    pub era: Option<Era>,
    /// The tools and prompts that sessions see by the server's own configuration. Not hashed.
    pub filter: crate::catalog::Filter,
    /// The trust mark of its tools. Not hashed; where it comes from a project's own file it counts
    /// for nothing.
    pub trust: bool,
    /// Patterns of its tools that are marked always-load. Not hashed.
    pub always_load: Vec<String>,
    /// What it is, for people. Not hashed.
    pub description: Option<String>,
    /// Whether its configuration switches it off. Not hashed.
    pub disabled: bool,
    /// OAuth and service-account fields, normalised (SPEC 1.3): names in snake_case, lists sorted.
    /// Hashed.
    pub oauth: Map<String, Value>,
    /// Members that no rule knows; kept and reported. Not hashed.
    pub unknown: Map<String, Value>,
    /// Values of `env`, `headers` and the client's secret that are what files say when a connection
    /// begins; no text has them. Hashed.
    pub value_files: Vec<ValueOfFiles>,
}

/// How a server is reached.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Transport {
    /// A child process that speaks over its stdin and stdout.
    Stdio(StdioSpec),
    /// A remote server; `kind` says which protocol.
    Remote(RemoteSpec),
    /// A server that the host itself provides to one session.
    Host(HostSpec),
}

/// A server that the host itself provides.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    /// Which one of the process it is: two that are provided never share a connection, whatever
    /// their names.
    pub provided: u64,
}

/// A child process. `Debug` prints no args and no env values.
#[derive(Clone, PartialEq)]
pub struct StdioSpec {
    /// The program: a path, or a name looked up in `PATH`.
    pub command: String,
    /// Its arguments, in order.
    pub args: Vec<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// Its own environment, over the base environment.
    pub env: BTreeMap<String, String>,
    /// Variables of the base environment that it does not get: `null` in its `env`.
    pub unset_env: BTreeSet<String>,
    /// Names or patterns of host variables that it inherits beyond the base environment.
    pub inherit_env: Vec<String>,
}

/// A remote server. `Debug` prints no header values.
#[derive(Clone, PartialEq)]
pub struct RemoteSpec {
    /// Which protocol.
    pub kind: RemoteKind,
    /// Its address.
    pub url: String,
    /// Header names lower-cased, and values.
    pub headers: BTreeMap<String, String>,
    /// The Unix socket over which it is reached, whatever host `url` names: an absolute path, or
    /// `@` and a name of Linux.
    pub socket_path: Option<String>,
}

/// The protocols of remote servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RemoteKind {
    /// Streamable HTTP, falling back to HTTP+SSE when the configuration has a bare `url`.
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
    /// Websocket.
    Websocket,
}

/// Whether sessions share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    /// One per pool.
    Pool,
    /// One per session.
    Session,
}

/// The two families of the protocol (SPEC 4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// Revisions 2024-11-05 to 2025-11-25, which begin with `initialize`.
    Legacy,
    /// Revision 2026-07-28 and later, in which each request stands for itself.
    Modern,
}

impl Era {
    /// Its word in `status`, options and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}

impl ServerSpec {
    /// The configuration of a server that the host provides. No text has it: it is given to a
    /// session.
    pub fn of_host(provided: u64) -> ServerSpec {
        ServerSpec {
            transport: Transport::Host(HostSpec { provided }),
            connect_timeout: None,
            call_timeout: None,
            call_idle_timeout: None,
            reconnect: None,
            share: None,
            start: None,
            era: None,
            filter: crate::catalog::Filter::default(),
            trust: false,
            always_load: Vec::new(),
            description: None,
            disabled: false,
            oauth: Map::new(),
            unknown: Map::new(),
            value_files: Vec::new(),
        }
    }

    /// The members that no rule knows, by name, each with the known one that was probably meant.
    pub fn unknown_members(&self) -> impl Iterator<Item = (&str, Option<&'static str>)> {
        let names: BTreeSet<&String> = self.unknown.keys().collect();
        names.into_iter().map(|name| (name.as_str(), fields::nearest_known(name)))
    }

    /// The word for its transport in `status` and options: `stdio`, `http`, `sse`, `websocket`,
    /// `host`.
    ///
    /// A bare `url` is `http` until its server turns out to speak HTTP+SSE.
    pub fn transport_name(&self) -> &'static str {
        match &self.transport {
            Transport::Stdio(_) => "stdio",
            Transport::Remote(remote) => match remote.kind {
                RemoteKind::Auto | RemoteKind::Http => "http",
                RemoteKind::Sse => "sse",
                RemoteKind::Websocket => "websocket",
            },
            Transport::Host(_) => "host",
        }
    }

    /// Whether sessions share its connection, where those of these transports are shared (SPEC
    /// 2.1).
    ///
    /// One that the host provides never is. What the server's configuration says goes before its
    /// transport. Where nothing is shared it counts for nothing: the switch of the whole pool beats
    /// everything else (SPEC 2.4).
    pub fn share(&self, shared_transports: &[String]) -> Share {
        let is_host = matches!(self.transport, Transport::Host(_));
        if shared_transports.is_empty() || is_host {
            return Share::Session;
        }
        let by_transport = || match shared_transports.iter().any(|one| one == self.transport_name())
        {
            true => Share::Pool,
            false => Share::Session,
        };
        self.share.unwrap_or_else(by_transport)
    }

    /// Puts a value in the place of a field that [`value_files`](Self::value_files) name. Other
    /// fields are left alone.
    pub fn put_value(&mut self, field: &str, value: &str) {
        let (within, values) = match &mut self.transport {
            Transport::Stdio(stdio) => ("env", &mut stdio.env),
            Transport::Remote(remote) => ("headers", &mut remote.headers),
            Transport::Host(_) => return,
        };
        let named = |name: &str| joined(within, name);
        let known = values.iter_mut().find(|(name, _)| match within {
            "env" => named(name) == field,
            // The configuration has their names as they are written.
            _ => named(name).eq_ignore_ascii_case(field),
        });
        if let Some((_, place)) = known {
            *place = value.to_owned();
        }
    }

    /// What its secret is made of, where files say it.
    pub fn secret_of_files(&self) -> Option<&ValueOfFiles> {
        let is_of_oauth =
            |field: &str| ["oauth.", "auth."].iter().any(|member| field.starts_with(member));
        self.value_files.iter().find(|value| is_of_oauth(&value.field))
    }
}
