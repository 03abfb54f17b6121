//! What a session sees of one server at one moment: the server itself, or what is kept of it.

use std::sync::Arc;

use trunkline_pool::acceptance::QuarantinedTools as HeldBack;
use trunkline_pool::catalog::{Catalog, CatalogDifference};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::naming::Naming;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::state::{EntryState, Generation};
use trunkline_pool::view::{CatalogView, Unmatched, View};

use crate::driver::EntryCell;
use crate::driver::server_config::ResolvedServer;
use crate::session::lease::lease_state::LeaseState;

/// What a session sees of one server.
#[derive(Clone)]
pub(crate) enum VisibleServer {
    /// The server itself.
    Held(Arc<LeaseState>),
    /// What is kept of it.
    Deferred(Arc<CachedServer>),
}

/// What is kept of one server, as a session sees it. Another takes its place whole.
pub(crate) struct CachedServer {
    pub(crate) server: Arc<str>,
    /// The want that it is of, for as long as that is wanted.
    pub(crate) want: u64,
    pub(crate) catalog: Arc<Catalog>,
    /// What is held back of the server.
    pub(crate) held_back: HeldBack,
    pub(crate) view: Arc<View>,
    pub(crate) configured: Arc<ResolvedServer>,
}

/// What an entry shows to a session at one moment.
#[derive(Clone)]
pub(crate) struct ServerSnapshot {
    pub(crate) server: Arc<str>,
    pub(crate) source: ListSource,
    /// Whether it shows anything: while it is connected, and while it is on the way back (SPEC
    /// 5.8).
    pub(crate) shows: bool,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) held_back: HeldBack,
    pub(crate) view: Arc<View>,
    /// Whether the view hides nothing.
    pub(crate) sees_all: bool,
}

/// Where lists come from.
#[derive(Clone)]
pub(crate) enum ListSource {
    /// This entry, by that connection.
    Entry(Arc<EntryCell>, Generation),
    /// They were kept.
    Kept,
}

impl VisibleServer {
    pub(crate) fn server(&self) -> &Arc<str> {
        match self {
            VisibleServer::Held(held) => &held.server,
            VisibleServer::Deferred(deferred) => &deferred.server,
        }
    }

    /// How the server is configured.
    pub(crate) fn spec(&self) -> Arc<ServerSpec> {
        match self {
            VisibleServer::Held(held) => held.cell().spec.clone(),
            VisibleServer::Deferred(deferred) => deferred.configured.spec.clone(),
        }
    }
}

impl CachedServer {
    pub(crate) fn new(
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

impl ListSource {
    pub(crate) fn entry(&self) -> Option<&Arc<EntryCell>> {
        match self {
            ListSource::Entry(cell, _) => Some(cell),
            ListSource::Kept => None,
        }
    }

    pub(crate) fn is_same(&self, other: &ListSource) -> bool {
        self.entry().map(|cell| cell.entry) == other.entry().map(|cell| cell.entry)
    }
}

impl ServerSnapshot {
    /// What is seen now.
    pub(crate) fn of(seeing: &VisibleServer) -> ServerSnapshot {
        match seeing {
            VisibleServer::Held(held) => ServerSnapshot::of_held(held),
            VisibleServer::Deferred(deferred) => ServerSnapshot::of_deferred(deferred),
        }
    }

    /// What is kept of a server.
    pub(crate) fn of_deferred(deferred: &CachedServer) -> ServerSnapshot {
        let CachedServer { server, catalog, held_back, view, .. } = deferred;
        let (server, catalog, view) = (server.clone(), catalog.clone(), view.clone());
        let (held_back, sees_all) = (held_back.clone(), view.hides_nothing());
        ServerSnapshot {
            server,
            source: ListSource::Kept,
            shows: true,
            catalog,
            held_back,
            view,
            sees_all,
        }
    }

    /// What it shows now.
    pub(crate) fn of_held(held: &LeaseState) -> ServerSnapshot {
        let cell = held.cell();
        let published = cell.load_full();
        let slot = &published.slot;
        let shows = slot.state.is_connected() || slot.state == EntryState::Reconnecting;
        let catalog = if shows { slot.catalog.clone() } else { Arc::default() };
        let held_back = if shows { slot.held.clone() } else { HeldBack::default() };
        let (server, view) = (cell.server.clone(), held.view());
        let (source, sees_all) = (ListSource::Entry(cell, slot.generation), view.hides_nothing());
        ServerSnapshot { server, source, shows, catalog, held_back, view, sees_all }
    }

    /// Whether it is what was kept, and not the server itself.
    pub(crate) fn is_deferred(&self) -> bool {
        matches!(self.source, ListSource::Kept)
    }

    /// What it shows now, but for the lists of an entry that `told` told already: another catalog
    /// has a notice of its own. In that case also what is held back now.
    pub(crate) fn after(
        told: Option<&ServerSnapshot>,
        seeing: &VisibleServer,
    ) -> (ServerSnapshot, Option<HeldBack>) {
        let mut now = ServerSnapshot::of(seeing);
        match told.filter(|told| !now.is_deferred() && told.source.is_same(&now.source)) {
            None => (now, None),
            Some(told) => {
                now.catalog = told.catalog.clone();
                let current = std::mem::replace(&mut now.held_back, told.held_back.clone());
                (now, Some(current))
            }
        }
    }

    /// Whether it is the same entry, or the same that is kept, through the same view.
    pub(crate) fn is_through(&self, seeing: &VisibleServer) -> bool {
        match seeing {
            VisibleServer::Held(held) => {
                self.source.entry().is_some_and(|cell| held.sees(cell.entry, &self.view))
            }
            VisibleServer::Deferred(deferred) => {
                self.is_deferred()
                    && Arc::ptr_eq(&self.catalog, &deferred.catalog)
                    && self.held_back.is_same(&deferred.held_back)
                    && Arc::ptr_eq(&self.view, &deferred.view)
            }
        }
    }

    /// It is of the newest connection from now on.
    pub(crate) fn renew(&mut self) {
        if let ListSource::Entry(cell, generation) = &mut self.source {
            *generation = cell.load().slot.generation;
        }
    }

    /// Whether the two show the same.
    pub(crate) fn is_same(&self, other: &ServerSnapshot) -> bool {
        self.source.is_same(&other.source)
            && Arc::ptr_eq(&self.catalog, &other.catalog)
            && self.held_back.is_same(&other.held_back)
            && Arc::ptr_eq(&self.view, &other.view)
    }

    pub(crate) fn difference(
        before: Option<&ServerSnapshot>,
        after: Option<&ServerSnapshot>,
    ) -> CatalogDifference {
        if let (Some(before), Some(after)) = (before, after)
            && Arc::ptr_eq(&before.catalog, &after.catalog)
            && Arc::ptr_eq(&before.view, &after.view)
        {
            return CatalogDifference::default();
        }
        CatalogView::difference(before.map(ServerSnapshot::shown), after.map(ServerSnapshot::shown))
    }

    pub(crate) fn shown(&self) -> CatalogView<'_> {
        CatalogView { catalog: &self.catalog, view: &self.view }
    }

    /// The patterns that match nothing of what it shows.
    pub(crate) fn unmatched(&self) -> Vec<Unmatched> {
        let held_back = self.held_back.tools().iter().map(|held| &*held.item.name);
        self.view.unmatched(&self.catalog, held_back)
    }
}
