//! Reading a server's lists again: at most one listing under way and one to follow it (SPEC 7.2,
//! 7.3).

use std::sync::Arc;

use super::PoolState;
use super::entry::{Listing, Phase, Stage};
use super::ids::{ConnectionId, EntryId};
use super::protocol::Effect;
use crate::catalog::Catalog;
use crate::error::Error;

impl PoolState {
    /// The server announced a change: list now, or once more after the listing under way.
    pub(super) fn catalog_stale(&mut self, connection: ConnectionId, out: &mut Vec<Effect>) {
        match self.listing(connection) {
            Some(Listing::Quiet) => {
                self.set_listing(connection.entry, Listing::Running);
                out.push(Effect::ListCatalog { connection });
            }
            Some(Listing::Running) => self.set_listing(connection.entry, Listing::Outdated),
            Some(Listing::Outdated) | None => {}
        }
    }

    /// A listing ended. A failed one leaves the old lists; either way a change seen meanwhile is
    /// looked at.
    pub(super) fn catalog_listed(
        &mut self,
        connection: ConnectionId,
        result: Result<Arc<Catalog>, Error>,
        out: &mut Vec<Effect>,
    ) {
        let id = connection.entry;
        let next = match self.listing(connection) {
            Some(Listing::Running) => Listing::Quiet,
            Some(Listing::Outdated) => Listing::Running,
            // Nobody asked for it.
            Some(Listing::Quiet) | None => return,
        };
        self.set_listing(id, next);
        match result {
            Ok(catalog) => self.replace_catalog(id, catalog, out),
            Err(error) => {
                let server = self.entries.get(id).map(|entry| entry.server);
                if let Some(server) = server {
                    self.remember_error(server, &error);
                }
            }
        }
        if next == Listing::Running {
            out.push(Effect::ListCatalog { connection });
        }
    }

    fn replace_catalog(&mut self, id: EntryId, catalog: Arc<Catalog>, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(id).filter(|entry| entry.catalog != catalog) else {
            return;
        };
        let before = std::mem::replace(&mut entry.catalog, catalog.clone());
        self.publish(id, out);
        self.tell_change(id, before, catalog, out);
    }

    /// The state of the listing of a connection that is current and stands.
    fn listing(&self, connection: ConnectionId) -> Option<Listing> {
        if self.current(connection) != Some(Stage::Established) {
            return None;
        }
        match self.entries.get(connection.entry)?.phase {
            Phase::Connected { listing, .. } => Some(listing),
            Phase::Waiting { .. }
            | Phase::Connecting { .. }
            | Phase::Backoff { .. }
            | Phase::Failed
            | Phase::Ended { .. } => None,
        }
    }

    fn set_listing(&mut self, id: EntryId, next: Listing) {
        if let Some(entry) = self.entries.get_mut(id)
            && let Phase::Connected { listing, .. } = &mut entry.phase
        {
            *listing = next;
        }
    }
}
