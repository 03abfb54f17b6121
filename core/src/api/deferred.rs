//! Deferred tools: what a session lists of a server that it is not connected to, from a kept
//! catalog (SPEC 14.1, 14.2).
//!
//! Only a want has some: what nobody admits, or the session does without, lists nothing. They are
//! shown until the session holds the server, and again when it holds it no longer and still wants
//! it.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::acceptance::QuarantinedTools as HeldBack;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::catalog_cache::CacheKey;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::naming::Naming;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::view::View;

use super::announcements::ServerSnapshot;
use super::lease_state::LeaseState;
use super::server_config::{ConfigOwner, ResolvedServer};
use super::session_core::SessionCore;
use crate::storage::catalogs::CatalogLookup;

/// What is kept of one server, as a session sees it. Another takes its place whole.
pub(super) struct CachedServer {
    pub(super) server: Arc<str>,
    /// The want that it is of, for as long as that is wanted.
    pub(super) want: u64,
    pub(super) catalog: Arc<Catalog>,
    /// What is held back of the server.
    pub(super) held_back: HeldBack,
    pub(super) view: Arc<View>,
    configured: Arc<ResolvedServer>,
}

/// What a session sees of one server.
#[derive(Clone)]
pub(super) enum VisibleServer {
    /// The server itself.
    Held(Arc<LeaseState>),
    /// What is kept of it.
    Deferred(Arc<CachedServer>),
}

/// Whether a session hears of what it sees for the first time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InitialAnnounce {
    /// It has not looked yet.
    Untold,
    /// It may have looked before.
    Told,
}

/// All that a session defers, by server.
#[derive(Default)]
pub(super) struct AllDeferred(BTreeMap<Arc<str>, Arc<CachedServer>>);

impl CachedServer {
    pub(super) fn new(
        (server, want): (&str, u64),
        (catalog, held_back): (Arc<Catalog>, HeldBack),
        configured: &Arc<ResolvedServer>,
        (options, naming): (&SessionOptions, &Arc<Naming>),
    ) -> CachedServer {
        let view = Arc::new(View::new(server, &configured.spec, options, naming));
        let (server, configured) = (server.into(), configured.clone());
        CachedServer { server, want, catalog, held_back, view, configured }
    }
}

impl VisibleServer {
    pub(super) fn server(&self) -> &Arc<str> {
        match self {
            VisibleServer::Held(held) => &held.server,
            VisibleServer::Deferred(deferred) => &deferred.server,
        }
    }

    /// How the server is configured.
    pub(super) fn spec(&self) -> Arc<ServerSpec> {
        match self {
            VisibleServer::Held(held) => held.cell().spec.clone(),
            VisibleServer::Deferred(deferred) => deferred.configured.spec.clone(),
        }
    }
}

impl AllDeferred {
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<CachedServer>> {
        self.0.values()
    }

    pub(super) fn of(&self, server: &str) -> Option<&Arc<CachedServer>> {
        self.0.get(server)
    }

    pub(super) fn put(&mut self, deferred: CachedServer) {
        self.0.insert(deferred.server.clone(), Arc::new(deferred));
    }

    pub(super) fn remove(&mut self, server: &str) {
        self.0.remove(server);
    }

    /// Those of these wants go.
    pub(super) fn forget(&mut self, wants: &[u64]) {
        self.0.retain(|_, deferred| !wants.contains(&deferred.want));
    }

    /// The server was held, and this says what it showed last.
    pub(super) fn renew(&mut self, server: &str, last: impl FnOnce() -> ServerSnapshot) {
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

    /// Brings the views in line with what the session is configured to now.
    pub(super) fn review(&mut self, session: &SessionCore) {
        let options = session.options();
        for deferred in self.0.values_mut() {
            let configured =
                session.newest(&deferred.server, ConfigOwner::Pool, &deferred.configured);
            let of = (&*deferred.server, deferred.want);
            let catalog = (deferred.catalog.clone(), deferred.held_back.clone());
            let newest =
                CachedServer::new(of, catalog, &configured, (&options, &session.driver.naming));
            if newest.view != deferred.view {
                *deferred = Arc::new(newest);
            }
        }
    }
}

/// What is kept of a server for a session.
pub(super) enum CachedCatalog {
    /// This may be shown.
    Catalog(Arc<Catalog>),
    /// Nothing is.
    Nothing,
    /// It has to be looked for.
    Unknown(CacheKey),
}

impl SessionCore {
    /// What is kept of a server, without what would be held back.
    pub(super) fn kept_of(&self, name: &str, configured: &ResolvedServer) -> CachedCatalog {
        let Some(key) = self.cache_key(name, configured) else { return CachedCatalog::Nothing };
        match self.driver.catalogs.known(&key) {
            CatalogLookup::Nothing => CachedCatalog::Nothing,
            CatalogLookup::Unknown => CachedCatalog::Unknown(key),
            CatalogLookup::Catalog(catalog) => {
                let fingerprint = configured.fingerprint(self.offered, &self.context);
                let of = (name, fingerprint);
                CachedCatalog::Catalog(self.driver.show(of, &configured.authority, catalog))
            }
        }
    }
}
