//! What is told of a server whose lists could not all be had, or that lists nothing (SPEC 4.4).

use trunkline_pool::catalog::{Catalog, Unlisted};
use trunkline_pool::interface::{EventKind, words::warning_code};
use trunkline_pool::state::Generation;

use super::{Driver, EntryCell};
use crate::events::About;

impl Driver {
    /// Warns of each list that could not be had, unless that was so `before`; and of nothing listed, after a connect.
    pub(super) fn warn_of_lists(&self, cell: &EntryCell, before: Option<&Catalog>, now: &Catalog) {
        let was_told = |unlisted: &&Unlisted| {
            let told = before.into_iter().flat_map(|before| &before.unlisted);
            told.into_iter().any(|told| told.list == unlisted.list)
        };
        let of = (cell, cell.load().slot.generation);
        for Unlisted { list, error } in now.unlisted.iter().filter(|it| !was_told(it)) {
            let message = format!(
                "the {} list of the server could not be had: {}",
                list.noun(),
                error.message()
            );
            self.warn_of(of, warning_code::LIST_FAILED, &message);
        }
        if before.is_none() && now.is_empty() && now.unlisted.is_empty() {
            let message = "the server lists no tools, prompts or resources";
            self.warn_of(of, warning_code::NOTHING_LISTED, message);
        }
    }

    /// Tells who holds it, or the pool's subscribers alone.
    pub(super) fn warn_of(
        &self,
        (cell, generation): (&EntryCell, Generation),
        code: &str,
        message: &str,
    ) {
        let fields = [("code", code.into()), ("message", message.into())];
        let about = About::entry(&cell.named, generation);
        let holders = cell.holding();
        for session in &holders {
            self.hub.publish(EventKind::Warning, Some(&session.recipient), &about, &fields);
        }
        if holders.is_empty() {
            self.hub.publish(EventKind::Warning, None, &about, &fields);
        }
    }
}
