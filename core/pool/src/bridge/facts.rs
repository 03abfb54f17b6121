//! What is known of a client before it speaks.

use std::fmt;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::config::Era;
use crate::options::Parking;

/// What is known of a client before it speaks.
#[derive(Clone, Debug)]
pub struct ClientFacts {
    /// Its era: a legacy client is one session or connection, a modern one is everything of one
    /// principal on one path.
    pub era: Era,
    /// How its frames travel.
    pub lane: LaneKind,
    /// What it is served.
    pub path: ServedPath,
    /// Who it is, as its token or its socket says.
    pub principal: String,
    /// The name and version that the endpoint says of itself on an aggregate path.
    pub endpoint: EndpointName,
    /// What becomes of a question of a legacy server to a modern client.
    pub parking: Parking,
    /// The bounds of what is kept for it.
    pub limits: ClientLimits,
    /// Seals what the client brings back. Endpoints that share it accept each other's states.
    pub key: SealingKey,
    /// Random, of this client alone: handles of parked calls are made of it.
    pub nonce: [u8; 32],
}

/// The name and version that the endpoint says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointName {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// How the frames of a client travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// Streamable HTTP: a stream for each POST.
    Http,
    /// One JSON-RPC message a line: one stream for everything.
    Lines,
}

/// What a client is served.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServedPath {
    /// The profile, by its name.
    pub profile: Option<String>,
    /// The one server of a transparent path; all of them on the aggregate.
    pub server: Option<String>,
}

impl fmt::Display for ServedPath {
    /// As it stands in an URL: `/profiles/<name>/mcp/<server>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(profile) = &self.profile {
            write!(f, "/profiles/{profile}")?;
        }
        f.write_str("/mcp")?;
        self.server.as_ref().map_or(Ok(()), |server| write!(f, "/{server}"))
    }
}

/// The bounds of what is kept for one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Calls in flight.
    pub calls: usize,
    /// Calls that wait for their client to come back.
    pub parked: usize,
    /// Streams of `subscriptions/listen`.
    pub listens: usize,
    /// Resources that are subscribed to.
    pub subscriptions: usize,
    /// How long a parked call waits.
    pub parked_for: Duration,
    /// How long a client without an open call or stream is kept.
    pub idle: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        ClientLimits {
            calls: 128,
            parked: 16,
            listens: 16,
            subscriptions: 1024,
            parked_for: Duration::from_secs(5 * 60),
            idle: Duration::from_secs(15 * 60),
        }
    }
}

/// A secret that seals what clients bring back.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey(pub [u8; 32]);

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl SealingKey {
    /// The key that a secret of any length makes.
    pub fn of_secret(secret: &[u8]) -> SealingKey {
        SealingKey(Sha256::digest(secret).into())
    }
}
