//! What an entry listed last, as it is kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trunkline_pool::catalog::Catalog;
use trunkline_pool::catalog_cache::{ListingTerms, WrittenHash};

/// Forms in which one configuration is written that its lists are kept under at a time. Of more the
/// one goes that came first.
const FORMS_MAX: usize = 8;

/// What an entry listed last, as it is kept.
#[derive(Default)]
pub(in crate::driver) struct LastKept(Mutex<Option<KeptLists>>);

pub(in crate::driver) struct KeptLists {
    /// All of it, and what of that may be used.
    pub(in crate::driver) lists: [Arc<Catalog>; 2],
    pub(in crate::driver) listing: ListingTerms,
    /// In milliseconds since 1970.
    pub(in crate::driver) listed_at_ms: u64,
    /// How the configuration is written where it is asked for, by which it is kept.
    pub(in crate::driver) forms: Vec<WrittenHash>,
}

impl LastKept {
    /// What was listed; where it is the same as the last time, that value. So an entry that has it
    /// keeps it and tells nothing new, and memory holds it once.
    pub(in crate::driver) fn shared(&self, listed: Catalog) -> Arc<Catalog> {
        let last = self.last();
        let same = last.as_ref().map(|last| &last.lists[0]).filter(|before| ***before == listed);
        same.cloned().unwrap_or_else(|| Arc::new(listed))
    }

    pub(in crate::driver) fn last(&self) -> MutexGuard<'_, Option<KeptLists>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptLists {
    pub(in crate::driver) fn add_form(&mut self, form: WrittenHash) {
        if self.forms.contains(&form) {
            return;
        }
        if self.forms.len() == FORMS_MAX {
            self.forms.remove(0);
        }
        self.forms.push(form);
    }
}
