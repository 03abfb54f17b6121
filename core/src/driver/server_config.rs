//! What a server is configured with, and whose word that is.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use trunkline_pool::catalog_cache::WrittenHash;
use trunkline_pool::config::{Fingerprint, ServerSpec, Share, parse_servers};
use trunkline_pool::options::{Offered, PoolOptions, Reconnect, Start};
use trunkline_pool::plan::Connection;

use super::{Authority, Candidate, ConnectionKey};
use crate::Result;
use crate::auth::{Author, Context, context};
use crate::client::Provided;

/// Whose configuration of a server a hold goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigOwner {
    /// The pool's, which it follows.
    Pool,
    /// The session's own.
    Session,
}

/// A server's configuration with its fingerprints, each computed once.
pub(crate) struct ResolvedServer {
    pub(crate) spec: Arc<ServerSpec>,
    /// In the pool's own context, by what the server is offered.
    fingerprints: [OnceLock<Fingerprint>; Offered::COUNT],
    /// Whether the connection is the pool's or the session's own.
    pub(crate) share: Share,
    /// How a lost connection comes back, where that is not the pool's way.
    pub(crate) reconnect: Option<Arc<Reconnect>>,
    /// The server itself, when the host provides it.
    pub(crate) host: Option<Provided>,
    /// On whose word it is connected to.
    pub(crate) authority: Authority,
    /// The identity of what was written, where its values are not what was written.
    written: OnceLock<WrittenHash>,
}

impl ResolvedServer {
    pub(crate) fn new(spec: Arc<ServerSpec>, options: &PoolOptions) -> Arc<ResolvedServer> {
        ResolvedServer::by(Authority::Host, spec, None, options)
    }

    /// The configuration of a server that is connected to on that word, and the server itself when
    /// the host provides it.
    pub(crate) fn by(
        authority: Authority,
        spec: Arc<ServerSpec>,
        host: Option<Provided>,
        options: &PoolOptions,
    ) -> Arc<ResolvedServer> {
        let share = spec.share(&options.shared_transports);
        let reconnect = spec.reconnect.as_ref().map(|own| own.over(&options.reconnect).into());
        let (fingerprints, written) = ([const { OnceLock::new() }; _], OnceLock::new());
        Arc::new(ResolvedServer { spec, fingerprints, share, reconnect, host, authority, written })
    }

    /// The identity of what was written; nothing of a server that the host provides.
    pub(crate) fn written(&self) -> Option<WrittenHash> {
        match self.host {
            None => Some(*self.written.get_or_init(|| WrittenHash::literal(&self.spec))),
            Some(_) => None,
        }
    }

    /// What its lists are kept by: those of a server that needs approval are not those of an equal
    /// one that needs none (SPEC 12.11).
    pub(crate) fn kept_by(&self) -> Option<WrittenHash> {
        let written = self.written()?;
        Some(match self.authority.author() {
            Author::Source => written.of_approved(),
            Author::Host => written,
        })
    }

    /// Its values are not what was written; before anybody asks.
    pub(crate) fn set_written(&self, written: WrittenHash) {
        // Of several the first stays.
        let _ = self.written.set(written);
    }

    /// Whether its server runs for calls only.
    pub(crate) fn is_lazy(&self, options: &PoolOptions) -> bool {
        self.spec.start.unwrap_or(options.start) == Start::Lazy
    }

    /// What its gates are asked with.
    pub(crate) fn candidate<'a>(&'a self, name: &'a str) -> Candidate<'a> {
        Candidate { name, authority: &self.authority }
    }

    /// The configuration.
    pub(crate) fn spec(&self) -> &Arc<ServerSpec> {
        &self.spec
    }

    /// The identity of the connection for a session that offers so much, with the credentials of
    /// that context.
    pub(crate) fn fingerprint(&self, offered: Offered, context: &Context) -> Fingerprint {
        match context.id_for(&self.spec) {
            context::POOL => self.fingerprint_in_pool(offered),
            id => self.spec.fingerprint(id, &offered.names()),
        }
    }

    fn fingerprint_in_pool(&self, offered: Offered) -> Fingerprint {
        let computed = || self.spec.fingerprint(context::POOL, &offered.names());
        *self.fingerprints[offered.number()].get_or_init(computed)
    }

    /// Whether the two lead a session to the same connection.
    pub(crate) fn is_same_connection(&self, other: &ResolvedServer) -> bool {
        std::ptr::eq(self, other) || self.connection() == other.connection()
    }

    /// What tells its connection from others of one session.
    pub(crate) fn connection(&self) -> Connection {
        // What a session offers, and whose credentials it uses, is the same for all that it has.
        let fingerprint = self.fingerprint_in_pool(Offered::default());
        Connection { fingerprint, share: self.share, warrant: self.authority.id() }
    }

    /// Whether it is what that key stands for.
    pub(crate) fn leads_to(&self, key: &ConnectionKey) -> bool {
        let share = if key.owner.is_some() { Share::Session } else { Share::Pool };
        self.share == share
            && self.authority.id() == key.authority.id()
            && self.fingerprint(key.offered, &key.context) == key.fingerprint
    }
}

/// A map of servers by name; a bad entry spoils itself alone.
pub struct Servers(pub BTreeMap<String, Result<ServerSpec>>);

impl Servers {
    /// Parses a map of servers, with or without a `mcpServers` around it.
    ///
    /// # Errors
    /// `invalid_config` when the text is no JSON object of servers.
    pub fn from_json(text: &str) -> Result<Servers> {
        parse_servers(text).map(Servers)
    }
}
