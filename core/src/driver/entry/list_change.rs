//! A change of the lists of an entry, as sessions hear of it.

use std::sync::Arc;

use trunkline_pool::acceptance::QuarantinedTools;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::state::{Generation, Notice};

use crate::driver::EntryCell;
use crate::events::{EventSubject, ListEvents};

/// How the lists of an entry changed: made once for all who hold it.
pub(crate) struct ListChange {
    /// The entry.
    pub cell: Arc<EntryCell>,
    /// The connection that lists them.
    pub generation: Generation,
    /// The lists that the change begins with.
    pub before: Arc<Catalog>,
    /// The lists now.
    pub after: Arc<Catalog>,
    /// What is held back since.
    pub held_back: QuarantinedTools,
    /// The difference, as a session is told that hears the whole of it.
    pub whole: ListEvents,
}

impl ListChange {
    /// That of a notice, if it is one of a change.
    pub(crate) fn of(cell: &Arc<EntryCell>, notice: &Notice) -> Option<Arc<ListChange>> {
        let Notice::CatalogChanged { generation, before, after, difference, .. } = notice else {
            return None;
        };
        Some(Arc::new(ListChange {
            cell: cell.clone(),
            generation: *generation,
            before: before.clone(),
            after: after.clone(),
            held_back: cell.load().slot.held.clone(),
            whole: ListEvents::new(
                EventSubject::entry(&cell.named, *generation),
                difference.clone(),
            ),
        }))
    }
}
