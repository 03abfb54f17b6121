//! The end of one listing of an entry.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::EntryCell;
use crate::Error;

/// The end of one listing, which is told once.
pub(in crate::driver) struct ListingEnd {
    cell: Arc<EntryCell>,
    /// Among all of the entry.
    number: u64,
    /// Why no list could be had.
    pub failure: Option<Error>,
}

impl ListingEnd {
    /// That of a listing which begins.
    pub(in crate::driver) fn of_new(cell: Arc<EntryCell>) -> ListingEnd {
        let number = cell.listings.begun.fetch_add(1, Ordering::SeqCst) + 1;
        ListingEnd { cell, number, failure: None }
    }

    /// What came of it is published.
    pub(in crate::driver) fn tell(self) {
        if let Some(error) = self.failure {
            *self.cell.listings.failed() = Some((self.number, error));
        }
        self.cell.listings.ended.send_modify(|ended| *ended = self.number.max(*ended));
    }
}
