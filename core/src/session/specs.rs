//! Which configuration of a server a session goes by.

use std::sync::Arc;

use trunkline_pool::config::ServerSpec;
use trunkline_pool::interface::words;
use trunkline_pool::layers::Scope;

use super::pinned_config::PinnedConfig;
use super::session_core::SessionCore;
use crate::driver::server_config::{ConfigOwner, ResolvedServer};
use crate::runtime::deadline::Deadline;
use crate::{Error, ErrorCode, Result};

impl SessionCore {
    /// The pool's servers as this session goes by them.
    pub(crate) fn servers(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        self.kept.as_ref().map_or_else(|| self.config.servers(), PinnedConfig::servers)
    }

    /// Says of what it asked the pool for just now whether that has another configuration of it by
    /// now: what a session keeps is old from the first, and any other configuration may have become
    /// so since it was looked up.
    pub(crate) fn note_age(
        &self,
        name: &str,
        (origin, asked): (ConfigOwner, &Arc<ResolvedServer>),
    ) {
        if origin == ConfigOwner::Pool {
            self.config.judge_asked(name, asked);
        }
    }

    /// The configuration of a server by one of the two sources.
    pub(crate) fn spec(&self, server: &str, origin: ConfigOwner) -> Result<Arc<ResolvedServer>> {
        let found = match (origin, &self.kept) {
            // What the session brought stays with it to its end.
            (ConfigOwner::Session, _) => {
                return self.own_server(server).ok_or_else(|| self.closed());
            }
            (ConfigOwner::Pool, Some(kept)) => kept.server(&self.config, server),
            (ConfigOwner::Pool, None) => self.config.configured(server),
        };
        found.map_err(|error| error.with_session(&*self.recipient.id))
    }

    /// The configuration of a server by its own source, else by the pool's.
    pub(crate) fn either_spec(&self, server: &str) -> Result<Arc<ResolvedServer>> {
        self.own_server(server).map_or_else(|| self.spec(server, ConfigOwner::Pool), Ok)
    }

    /// Puts what is brought of a server into the session's own source. By which of the two sources
    /// it is asked for then.
    pub(crate) async fn bring(
        self: &Arc<Self>,
        server: &str,
        spec: Option<&ServerSpec>,
        of: Option<Scope>,
    ) -> Result<ConfigOwner> {
        let Some(spec) = spec else { return self.bring_again(server).await };
        self.check_enabled(server)?;
        self.put_own(server, self.brought(server, spec, of).await?);
        Ok(ConfigOwner::Session)
    }

    /// The configuration that counts for an acquire by one of the two sources: once it is known
    /// what becomes of it, and as far as it lets the server run.
    ///
    /// # Errors
    /// `not_admitted` with the reason; `timeout` while the host is asked; why there is none.
    pub(crate) async fn resolve(
        &self,
        server: &str,
        origin: ConfigOwner,
        deadline: Deadline,
    ) -> Result<Arc<ResolvedServer>> {
        self.check_enabled(server)?;
        // What the pool runs is known, and to look whether it is takes as long as to get it.
        let known = self.spec(server, origin).ok().filter(|_| self.kept.is_none());
        let configured = match known {
            Some(known) => known,
            None => {
                if origin == ConfigOwner::Pool {
                    let known = self.config.until_known(server, deadline).await;
                    known.map_err(|error| self.named(server, error))?;
                }
                self.spec(server, origin)?
            }
        };
        self.check_switched_on(server, &configured)?;
        Ok(configured)
    }

    /// Whether its configuration lets a server run.
    ///
    /// # Errors
    /// `not_admitted` with the reason.
    pub(crate) fn check_switched_on(
        &self,
        server: &str,
        configured: &ResolvedServer,
    ) -> Result<()> {
        check_switched_on(server, &configured.spec)
            .map_err(|off| self.config.check_admitted(server).err().unwrap_or(off))
            .map_err(|error| self.named(server, error))
    }

    /// Whether a lease on the pool's own configuration of a server still stands for it.
    pub(crate) fn stands(&self, server: &str, configured: &ResolvedServer) -> bool {
        let now = self.same_now(server, ConfigOwner::Pool, configured);
        now.is_some_and(|now| !now.spec.disabled)
    }

    /// What the source has of a server now, as long as that is the same connection; else what was.
    pub(crate) fn newest(
        &self,
        server: &str,
        origin: ConfigOwner,
        configured: &Arc<ResolvedServer>,
    ) -> Arc<ResolvedServer> {
        self.same_now(server, origin, configured).unwrap_or_else(|| configured.clone())
    }

    /// What the source has of a server now, if that is the same connection.
    pub(crate) fn same_now(
        &self,
        server: &str,
        origin: ConfigOwner,
        configured: &ResolvedServer,
    ) -> Option<Arc<ResolvedServer>> {
        let now = self.spec(server, origin).ok();
        now.filter(|now| now.is_same_connection(configured))
    }
}

impl SessionCore {
    /// A configuration that the host brought for this session, with the word that it runs by.
    ///
    /// # Errors
    /// `invalid_argument` for an origin that it cannot have.
    async fn brought(
        &self,
        name: &str,
        spec: &ServerSpec,
        origin: Option<Scope>,
    ) -> Result<Arc<ResolvedServer>> {
        match origin {
            None | Some(Scope::Session) => {
                Ok(ResolvedServer::new(Arc::new(spec.clone()), &self.driver.options))
            }
            Some(scope) if scope.is_gated() => self.config.claimed(name, spec, scope).await,
            Some(scope) => {
                let message = format!("a configuration of an acquire cannot be of `{scope}`");
                let error = Error::new(ErrorCode::InvalidArgument, message);
                Err(self.named(name, error).with_detail("path", "origin"))
            }
        }
    }

    /// What it brought and leads to another program by now is brought again, so that it runs by the
    /// decision about that. Whether it brought the server at all.
    ///
    /// # Errors
    /// `internal` when the process ends.
    async fn bring_again(&self, name: &str) -> Result<ConfigOwner> {
        let Some(own) = self.own_server(name) else { return Ok(ConfigOwner::Pool) };
        if let Some((spec, scope)) = self.config.claimed_elsewhere(&own) {
            self.put_own(name, self.config.claimed(name, &spec, scope).await?);
        }
        Ok(ConfigOwner::Session)
    }
}

/// Whether a configuration lets its server run.
///
/// # Errors
/// `not_admitted` with the reason.
pub(crate) fn check_switched_on(server: &str, spec: &ServerSpec) -> Result<()> {
    if !spec.disabled {
        return Ok(());
    }
    let message = "the server's configuration switches it off";
    let error = Error::new(ErrorCode::NotAdmitted, message).with_server(server);
    Err(error.with_detail("reason", words::gate::DISABLED))
}
