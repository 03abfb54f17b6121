//! A server's configuration and its fingerprint (SPEC 1).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::Result;

/// One server, parsed: an invalid one cannot be written.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerSpec {
    /// How it is reached.
    pub transport: Transport,
    /// Total time of a call, when the server's configuration sets one.
    pub call_timeout: Option<Duration>,
    /// Time of connect and list together, when the server's configuration sets one. Not hashed.
    pub connect_timeout: Option<Duration>,
    /// Whether sessions may share its connection, when the configuration says so. Not hashed.
    pub share: Option<Share>,
    /// The tools and prompts that sessions see by the server's own configuration. Not hashed.
    pub filter: crate::catalog::Filter,
    /// OAuth and service-account fields, normalised (SPEC 1.3). Hashed.
    pub oauth: Map<String, Value>,
    /// Members that no rule knows; kept and reported. Not hashed.
    pub unknown: Map<String, Value>,
}

/// How a server is reached.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Transport {
    /// A child process that speaks over its stdin and stdout.
    Stdio(StdioSpec),
    /// A remote server; `kind` says which protocol.
    Remote(RemoteSpec),
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

/// The identity of a transport configuration: SHA-256, compared whole. `Debug` prints nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint")
    }
}

impl ServerSpec {
    /// Parses the JSON of one server. `name` is for the errors.
    ///
    /// # Errors
    /// `invalid_config` with `detail.path`.
    pub fn from_value(name: &str, value: &Value) -> Result<ServerSpec> {
        let _ = value;
        Err(crate::Error::new(crate::ErrorCode::InvalidConfig, "not written").with_server(name))
    }

    /// The fingerprint, for an authorization context and the client capabilities that are offered.
    pub fn fingerprint(&self, authorization_context: &str, capabilities: &[&str]) -> Fingerprint {
        let _ = (authorization_context, capabilities);
        Fingerprint([0; 32])
    }

    /// The word for its transport in `status` and options: `stdio`, `http`, `sse`, `websocket`.
    pub fn transport_name(&self) -> &'static str {
        "stdio"
    }
}

/// Parses a map of servers: `{"name": {…}}`, with or without a `mcpServers` around it. A bad entry spoils itself alone.
///
/// # Errors
/// `invalid_config` when the text is no JSON object.
pub fn parse_servers(text: &str) -> Result<BTreeMap<String, Result<ServerSpec>>> {
    let _ = text;
    Ok(BTreeMap::new())
}
