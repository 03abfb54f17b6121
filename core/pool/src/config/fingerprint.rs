//! The identity of a transport configuration (SPEC 1).

use std::fmt;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{HostSpec, RemoteKind, RemoteSpec, ServerSpec, StdioSpec, Transport, ValueOfFiles};
use crate::base::text::{digest_from_hex, escaped, hex};
use crate::json::canonical;

/// The identity of a transport configuration: SHA-256, compared whole with `==`. `Debug` prints
/// nothing of it.
///
/// It never leaves the process: a fingerprint that changes tells an observer when a secret was
/// rotated (SPEC 1.8).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// None comes before it.
    pub(crate) const LEAST: Fingerprint = Fingerprint([0; 32]);

    /// What may be written beside credentials to know their configuration again: another text for
    /// each salt, which tells nobody whether two are of one configuration.
    pub fn salted(&self, salt: &str) -> String {
        hex(&Sha256::new().chain_update(salt).chain_update(self.0).finalize())
    }

    /// Another one, for the same configuration where it needs approval.
    pub fn of_approved(self) -> Fingerprint {
        Fingerprint(self.0.map(|byte| !byte))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The first 16 hex digits, for a person at a debugger. Two different configurations can share
    /// them.
    pub fn printed(&self) -> String {
        hex(&self.0[..8])
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint")
    }
}

/// What a shared connection is found by: the server's name and its fingerprint.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey {
    /// The server's name; it may hold `::`.
    pub server: String,
    /// The fingerprint.
    pub fingerprint: Fingerprint,
}

impl PoolKey {
    /// The connection id inside the process: `name::fingerprint`, with the whole digest.
    pub fn connection_id(&self) -> String {
        format!("{}::{}", self.server, hex(&self.fingerprint.0))
    }

    /// Reads a connection id, at its last `::` (SPEC 1.1).
    pub fn from_connection_id(id: &str) -> Option<PoolKey> {
        let (server, digits) = id.rsplit_once("::")?;
        let fingerprint = Fingerprint(digest_from_hex(digits)?);
        Some(PoolKey { server: server.to_owned(), fingerprint })
    }
}

impl fmt::Debug for PoolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PoolKey({})", escaped(&self.server))
    }
}

impl ServerSpec {
    /// The fingerprint, for an authorization context and the client capabilities that are offered.
    ///
    /// Equal content gives an equal fingerprint whatever the order it was written in; one byte of
    /// anything that defines the connection gives another. The order of `capabilities` does not
    /// count.
    pub fn fingerprint(&self, authorization_context: &str, capabilities: &[&str]) -> Fingerprint {
        // Taken apart without `..`, so that a new field has to be put on one side or the other
        // (SPEC 1.6).
        let ServerSpec {
            transport,
            call_timeout,
            call_idle_timeout,
            oauth,
            era,
            connect_timeout: _,
            reconnect: _,
            share: _,
            start: _,
            filter: _,
            trust: _,
            always_load: _,
            description: _,
            disabled: _,
            unknown: _,
            value_files,
        } = self;
        let mut capabilities = capabilities.to_vec();
        capabilities.sort_unstable();
        capabilities.dedup();
        let mut identity = json!({
            "v": FORM,
            "transport": hashed_transport(transport),
            "call_timeout": call_timeout.map(|time| time.as_nanos().to_string()),
            "call_idle_timeout": call_idle_timeout.map(|time| time.as_nanos().to_string()),
            "oauth": oauth,
            "authorization_context": authorization_context,
            "capabilities": capabilities,
        });
        // One that is found out is no part of the identity, and the form of most servers stays what
        // it was.
        if let Some(era) = era {
            identity["era"] = era.as_str().into();
        }
        if !value_files.is_empty() {
            identity["value_files"] = value_files.iter().map(ValueOfFiles::hashed).collect();
        }
        // A value that this crate serialised has no double members and is not deep, since what is
        // parsed is neither; should it ever be, its plain text still tells every difference.
        let text = identity.to_string();
        let text = canonical(&text).unwrap_or(text);
        Fingerprint(Sha256::digest(text.as_bytes()).into())
    }
}

/// The version of the form that is hashed.
const FORM: u32 = 1;

fn hashed_transport(transport: &Transport) -> Value {
    match transport {
        Transport::Stdio(stdio) => {
            let StdioSpec { command, args, cwd, env, unset_env, inherit_env } = stdio;
            json!({
                "kind": "stdio",
                "command": command,
                "args": args,
                "cwd": cwd,
                "env": env,
                "unset_env": unset_env,
                "inherit_env": inherit_env,
            })
        }
        Transport::Remote(remote) => {
            let RemoteSpec { kind, url, headers, socket_path } = remote;
            let kind = match kind {
                RemoteKind::Auto => "auto",
                RemoteKind::Http => "http",
                RemoteKind::Sse => "sse",
                RemoteKind::Websocket => "websocket",
            };
            let mut hashed = json!({ "kind": kind, "url": url, "headers": headers });
            // As for the era: the form of most servers stays what it was.
            if let Some(path) = socket_path {
                hashed["socket_path"] = path.as_str().into();
            }
            hashed
        }
        Transport::Host(HostSpec { provided }) => json!({ "kind": "host", "provided": provided }),
    }
}
