//! Deferred tools: what a session lists of a server that it is not connected to, from a kept
//! catalog (SPEC 14.1, 14.2).
//!
//! Only a want has some: what nobody admits, or the session does without, lists nothing. They are
//! shown until the session holds the server, and again when it holds it no longer and still wants
//! it.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::naming::Naming;
use trunkline_pool::options::SessionOptions;

use super::snapshot::{CachedServer, ServerSnapshot};
use crate::driver::server_config::ResolvedServer;

/// Whether a session hears of what it sees for the first time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InitialAnnounce {
    /// It has not looked yet.
    Untold,
    /// It may have looked before.
    Told,
}

/// All that a session defers, by server.
#[derive(Default)]
pub(crate) struct AllDeferred(BTreeMap<Arc<str>, Arc<CachedServer>>);

impl AllDeferred {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<CachedServer>> {
        self.0.values()
    }

    pub(crate) fn of(&self, server: &str) -> Option<&Arc<CachedServer>> {
        self.0.get(server)
    }

    pub(crate) fn put(&mut self, deferred: CachedServer) {
        self.0.insert(deferred.server.clone(), Arc::new(deferred));
    }

    pub(crate) fn remove(&mut self, server: &str) {
        self.0.remove(server);
    }

    /// Those of these wants go.
    pub(crate) fn forget(&mut self, wants: &[u64]) {
        self.0.retain(|_, deferred| !wants.contains(&deferred.want));
    }

    /// The server was held, and this says what it showed last.
    pub(crate) fn renew(&mut self, server: &str, last: impl FnOnce() -> ServerSnapshot) {
        let Some(deferred) = self.0.get_mut(server) else { return };
        let last = last();
        if last.shows {
            let CachedServer { server, want, view, configured, .. } = &**deferred;
            let (catalog, configured) = (last.catalog.clone(), configured.clone());
            let (server, view, want) = (server.clone(), view.clone(), *want);
            let held_back = last.held_back.clone();
            *deferred =
                Arc::new(CachedServer { server, want, catalog, held_back, view, configured });
        }
    }

    /// Brings the views in line with what the session is configured to now: with these options, and
    /// for each server with its newest configuration.
    pub(crate) fn review(
        &mut self,
        seen_by: (&SessionOptions, &Arc<Naming>),
        newest_of: impl Fn(&str, &Arc<ResolvedServer>) -> Arc<ResolvedServer>,
    ) {
        for deferred in self.0.values_mut() {
            let configured = newest_of(&deferred.server, &deferred.configured);
            let of = (&*deferred.server, deferred.want);
            let catalog = (deferred.catalog.clone(), deferred.held_back.clone());
            let newest = CachedServer::new(of, catalog, &configured, seen_by);
            if newest.view != deferred.view {
                *deferred = Arc::new(newest);
            }
        }
    }
}
