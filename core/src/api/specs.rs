//! Which configuration of a server a session goes by.

use std::sync::Arc;

use trunkline_pool::config::ServerSpec;
use trunkline_pool::layers::Scope;

use super::configured::{Configured, Origin};
use super::deadline::Deadline;
use super::gates::check_switched_on;
use super::session::SessionCore;
use crate::Result;

impl SessionCore {
    /// The configuration of a server by one of the two sources.
    pub(super) fn spec(&self, server: &str, origin: Origin) -> Result<Arc<Configured>> {
        let found = match (origin, &self.kept) {
            // What the session brought stays with it to its end.
            (Origin::Session, _) => return self.own_server(server).ok_or_else(|| self.closed()),
            (Origin::Pool, Some(kept)) => kept.server(&self.pool, server),
            (Origin::Pool, None) => self.pool.configured(server),
        };
        found.map_err(|error| error.with_session(&*self.recipient.id))
    }

    /// The configuration of a server by its own source, else by the pool's.
    pub(super) fn either_spec(&self, server: &str) -> Result<Arc<Configured>> {
        self.own_server(server).map_or_else(|| self.spec(server, Origin::Pool), Ok)
    }

    /// Puts what is brought of a server into the session's own source. By which of the two sources it is asked for then.
    pub(super) async fn bring(
        self: &Arc<Self>,
        server: &str,
        spec: Option<&ServerSpec>,
        of: Option<Scope>,
    ) -> Result<Origin> {
        let Some(spec) = spec else { return self.bring_again(server).await };
        self.check_enabled(server)?;
        self.put_own(server, self.brought(server, spec, of).await?);
        Ok(Origin::Session)
    }

    /// The same, once it is known what becomes of it.
    pub(super) async fn known_spec(
        &self,
        server: &str,
        origin: Origin,
        deadline: Deadline,
    ) -> Result<Arc<Configured>> {
        // What the pool runs is known, and to look whether it is takes as long as to get it.
        if let (Ok(known), None) = (self.spec(server, origin), &self.kept) {
            return Ok(known);
        }
        if origin == Origin::Pool {
            let known = self.pool.until_known(server, deadline).await;
            known.map_err(|error| self.named(server, error))?;
        }
        self.spec(server, origin)
    }

    /// Whether its configuration lets a server run.
    ///
    /// # Errors
    /// `not_admitted` with the reason.
    pub(super) fn check_switched_on(&self, server: &str, configured: &Configured) -> Result<()> {
        check_switched_on(server, &configured.spec)
            .map_err(|off| self.pool.check_admitted(server).err().unwrap_or(off))
            .map_err(|error| self.named(server, error))
    }

    /// Whether a lease on the pool's own configuration of a server still stands for it.
    pub(super) fn stands(&self, server: &str, configured: &Configured) -> bool {
        let now = self.same_now(server, Origin::Pool, configured);
        now.is_some_and(|now| !now.spec.disabled)
    }

    /// What the source has of a server now, as long as that is the same connection; else what was.
    pub(super) fn newest(
        &self,
        server: &str,
        origin: Origin,
        configured: &Arc<Configured>,
    ) -> Arc<Configured> {
        self.same_now(server, origin, configured).unwrap_or_else(|| configured.clone())
    }

    /// What the source has of a server now, if that is the same connection.
    pub(super) fn same_now(
        &self,
        server: &str,
        origin: Origin,
        configured: &Configured,
    ) -> Option<Arc<Configured>> {
        let now = self.spec(server, origin).ok();
        now.filter(|now| now.is_same_connection(configured))
    }
}
