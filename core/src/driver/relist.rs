//! The listings of an entry: who waits for one that is newer than what they know, and who sees of
//! it what is kept.
//!
//! A connection that lists what the one before it did takes over those lists, so that equal lists
//! are in memory once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use trunkline_pool::state::{ConnectionId, Generation, PoolInput};

use super::{Driver, EntryCell};
use crate::Result;

impl Driver {
    /// A server was connected to: sessions that see of it what is kept, or failed to get it, have
    /// it from now on.
    pub(super) fn on_connected(&self, cell: &EntryCell) {
        if let Some(sessions) = self.session_set() {
            sessions.on_connected(cell);
        }
    }

    /// What a server listed is carried out and kept: sessions in which it sleeps, or is still to
    /// come, are shown that.
    pub(super) fn show_kept_of(&self, server: &str) {
        if let Some(sessions) = self.session_set() {
            sessions.refresh_from_cache(server);
        }
    }

    /// Whether lists of a connection are being read or are to be, or what came of them is not
    /// published yet. A server's word that they are others counts from when it was read, and so
    /// before any result that was read after it.
    pub(crate) fn owes_lists(&self, cell: &EntryCell, generation: Generation) -> bool {
        let connection = ConnectionId { entry: cell.entry, generation };
        // In this order: a listing has begun before the reducer hears of its end.
        let is_owed = self.core().state.owes_lists(connection);
        is_owed || cell.listings.are_read()
    }

    /// Waits until a connection owes no lists; not longer than it stands.
    pub(crate) async fn wait_until_listed(&self, cell: &EntryCell, generation: Generation) {
        let mut ended = cell.listings.ended.subscribe();
        while self.owes_lists(cell, generation) {
            tokio::select! {
                _ = ended.changed() => {}
                () = cell.left(generation) => return,
            }
        }
    }

    /// Has the lists of a connection read again, and waits for a listing that began after this; not
    /// longer than the connection stands. What came of it is published then; nothing when the
    /// connection is gone. A dropped future leaves the listing as it is.
    ///
    /// # Errors
    /// Why no list could be had.
    pub(crate) async fn list_anew(
        self: &Arc<Self>,
        cell: &EntryCell,
        generation: Generation,
    ) -> Option<Result<()>> {
        let mut ended = cell.listings.ended.subscribe();
        let before = cell.listings.begun.load(Ordering::SeqCst);
        let connection = ConnectionId { entry: cell.entry, generation };
        self.step(PoolInput::CatalogStale { connection });
        let last = tokio::select! {
            last = ended.wait_for(|ended| *ended > before) => last.ok().map(|last| *last)?,
            () = cell.left(generation) => return None,
        };
        let failed = cell.listings.failed().clone();
        Some(match failed.filter(|(number, _)| *number == last) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        })
    }
}

impl EntryCell {
    /// Waits until that connection is no longer what callers see.
    async fn left(&self, generation: Generation) {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // Registered before the look, so that nothing is missed between the look and the wait.
            changed.as_mut().enable();
            let published = self.load_full();
            if published.connection.is_none() || published.slot.generation != generation {
                return;
            }
            drop(published);
            changed.await;
        }
    }
}
