//! Reading a server's lists again: at most one listing under way and one to follow it (SPEC 7.2,
//! 7.3).

use std::sync::Arc;
use std::time::Duration;

use super::{ListReading, ListingProgress, Phase, Stage};
use crate::base::ids::{ConnectionId, EntryId, ListingNumber};
use crate::catalog::Catalog;
use crate::error::Error;
use crate::state::effect::Effect;
use crate::state::{DueTimer, PoolState};

impl PoolState {
    /// The server announced a change: list as soon as that may be, or once more after the listing
    /// under way.
    pub(in crate::state) fn catalog_stale(
        &mut self,
        connection: ConnectionId,
        out: &mut Vec<Effect>,
    ) {
        match self.listing(connection).map(|listing| listing.reading) {
            Some(ListReading::Quiet) => self.read_again(connection, out),
            Some(ListReading::Running) => self.set_reading(connection.entry, ListReading::Outdated),
            Some(ListReading::Due | ListReading::Outdated) | None => {}
        }
    }

    /// Whether the lists of a connection are being read, or are to be.
    pub fn owes_lists(&self, connection: ConnectionId) -> bool {
        let reading = self.listing(connection).map(|listing| listing.reading);
        reading.is_some_and(|reading| !matches!(reading, ListReading::Quiet))
    }

    /// A listing ended. A failed one leaves the old lists; either way a change seen meanwhile is
    /// looked at.
    pub(in crate::state) fn catalog_listed(
        &mut self,
        connection: ConnectionId,
        number: ListingNumber,
        result: Result<Arc<Catalog>, Error>,
        out: &mut Vec<Effect>,
    ) {
        let id = connection.entry;
        let listing = self.listing(connection).filter(|listing| listing.number == number);
        let is_outdated = match listing.map(|listing| listing.reading) {
            Some(ListReading::Running) => false,
            Some(ListReading::Outdated) => true,
            // It was answered before.
            Some(ListReading::Quiet | ListReading::Due) | None => return,
        };
        self.set_reading(id, ListReading::Quiet);
        let Some(server) = self.entries.get(id).map(|entry| entry.server) else {
            return;
        };
        match result {
            Ok(catalog) => {
                self.forget_error(server);
                self.replace_catalog(id, catalog, out);
            }
            Err(error) => self.remember_error(server, &error),
        }
        if is_outdated {
            self.read_again(connection, out);
        }
    }

    /// The lists may be read again now.
    pub(in crate::state) fn listing_is_due(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        if let Some(connection) = self.entries.get(id).and_then(|entry| entry.live_connection(id)) {
            self.read_again(connection, out);
        }
    }

    /// Begins a listing, now or when the last one began long enough ago: a server that announces
    /// changes without end costs a few listings a second.
    fn read_again(&mut self, connection: ConnectionId, out: &mut Vec<Effect>) {
        let (id, now) = (connection.entry, self.now);
        let Some(mut listing) = self.listing(connection) else {
            return;
        };
        if now < listing.next_at {
            self.set_reading(id, ListReading::Due);
            return;
        }
        let number = ListingNumber(listing.number.0 + 1);
        listing =
            ListingProgress { reading: ListReading::Running, number, next_at: now.after(SPACING) };
        self.set_listing(id, listing);
        out.push(Effect::ListCatalog { connection, number });
    }

    fn replace_catalog(&mut self, id: EntryId, listed: Arc<Catalog>, out: &mut Vec<Effect>) {
        if let Some(news) = self.take_lists(id, listed, out) {
            self.publish(id, out);
            self.tell_news(id, news, out);
        }
    }

    /// The state of the listing of a connection that is current and stands.
    fn listing(&self, connection: ConnectionId) -> Option<ListingProgress> {
        if self.current(connection) != Some(Stage::Established) {
            return None;
        }
        match self.entries.get(connection.entry)?.phase {
            Phase::Connected { listing, .. } => Some(listing),
            Phase::Waiting { .. }
            | Phase::Connecting { .. }
            | Phase::Backoff { .. }
            | Phase::Failed { .. }
            | Phase::Unauthorized { .. }
            | Phase::Ended { .. } => None,
        }
    }

    fn set_reading(&mut self, id: EntryId, reading: ListReading) {
        if let Some(Phase::Connected { listing, .. }) = self.entries.get(id).map(|e| &e.phase) {
            self.set_listing(id, ListingProgress { reading, ..*listing });
        }
    }

    /// Moves a listing and its deadline. Nothing else of the books depends on it.
    fn set_listing(&mut self, id: EntryId, listing: ListingProgress) {
        let phase = self.entries.get_mut(id).map(|entry| &mut entry.phase);
        let Some(Phase::Connected { listing: current, .. }) = phase else { return };
        let (before, after) = (current.due_at(), listing.due_at());
        *current = listing;
        if before != after {
            self.rearm(DueTimer::Listing(id), before, after);
        }
    }
}

/// From the beginning of one listing to that of the next: four a second, however often a server
/// announces changes. The first is not delayed.
const SPACING: Duration = Duration::from_millis(250);
