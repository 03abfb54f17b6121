//! A grant as it stands in the file.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use trunkline_pool::config::Fingerprint;
use trunkline_pool::json::Plain;

use crate::net::address_policy::Author;

/// Which grant: who issued it, for what, and for which configuration.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrantKey {
    pub issuer: String,
    pub resource: String,
    pub salt: String,
    /// The fingerprint and who wrote the configuration, with the salt.
    pub configuration: String,
}

impl GrantKey {
    /// One with a salt of its own.
    pub(crate) fn new(
        issuer: &str,
        resource: String,
        (fingerprint, author): (&Fingerprint, Author),
    ) -> GrantKey {
        let salt = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), now_ms());
        let salt = format!("{salt:016x}");
        let configuration = configuration(fingerprint, author, &salt);
        GrantKey { issuer: issuer.to_owned(), resource, salt, configuration }
    }

    /// Whether it is of this configuration, by this author.
    pub(crate) fn is_of(&self, fingerprint: &Fingerprint, author: Author) -> bool {
        self.configuration == configuration(fingerprint, author, &self.salt)
    }
}

/// What a user signed in to is never sent for an equal entry of a project (SPEC 12.11).
fn configuration(fingerprint: &Fingerprint, author: Author, salt: &str) -> String {
    match author {
        Author::Host => fingerprint.salted(salt),
        Author::Source => fingerprint.salted(&format!("{salt} source")),
    }
}

/// A grant as it is kept.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TokenRecord {
    #[serde(flatten)]
    pub key: GrantKey,
    pub client_id: String,
    /// Of a client that was registered; a configured one's is in the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// How a client that was registered proves who it is, where its registration said so, and until
    /// when its secret is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_authentication: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_expires_at: Option<u64>,
    /// Whether the server said that it takes bearer tokens, whatever its authorization server calls
    /// them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_bearer: bool,
    pub redirect_uri: String,
    pub scopes: Vec<String>,
    /// Milliseconds since 1970 when the token came.
    pub received_ms: u64,
    /// The same when somebody signed in for it, which a renewal leaves as it was. What was kept
    /// without it is older than all that has it.
    #[serde(default)]
    pub signed_in_ms: u64,
    /// The answer of the authorization server, whatever else it holds.
    #[serde(deserialize_with = "as_written")]
    pub token: Value,
}

fn as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Plain::deserialize(deserializer).map(|Plain(value)| value)
}

/// Without the token.
impl std::fmt::Debug for TokenRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept({}, [redacted])", self.key.resource)
    }
}

impl TokenRecord {
    /// Whether it is this, no matter who wrote it again: a process of an earlier version leaves out
    /// what it does not know.
    pub fn is(&self, other: &TokenRecord) -> bool {
        let same = TokenRecord {
            signed_in_ms: other.signed_in_ms,
            client_authentication: other.client_authentication.clone(),
            client_expires_at: other.client_expires_at,
            takes_bearer: other.takes_bearer,
            ..self.clone()
        };
        same == *other
    }

    /// When the token came, in milliseconds since 1970: not later than now, since a clock that was
    /// set back makes no token live longer.
    pub fn came_ms(&self) -> u64 {
        self.received_ms.min(now_ms())
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
