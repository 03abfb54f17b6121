//! A listing that may be kept, and for how long it counts.

use std::sync::Arc;
use std::time::Duration;

use crate::catalog::{CacheScope, Catalog, ListKind};

/// How long a kept catalog counts (SPEC 14.2).
pub const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// The longest version of a server that is written down, in characters. It is the server's own
/// word.
const SERVER_VERSION_MAX: usize = 128;

/// What a server says of a listing, beside the lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingTerms {
    /// Whom it is for.
    pub scope: CacheScope,
    /// How long it is fresh, where the server says so.
    pub fresh_for: Option<Duration>,
    /// The server's own version, as it gave it.
    pub server_version: String,
}

/// A listing that may be kept beyond its process.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub(super) catalog: Arc<Catalog>,
    /// In milliseconds since 1970.
    pub(super) listed_at_ms: u64,
    /// How long it is fresh, where the server says so: no longer than anything is kept.
    pub(super) fresh_for: Option<Duration>,
    /// For people who look into the file.
    pub(super) server_version: String,
}

impl Kept {
    /// What was listed at that time, in milliseconds since 1970. `None` for what is not kept: an
    /// empty catalog, a `private` one, and one that is not fresh even when it comes.
    pub fn of(catalog: &Arc<Catalog>, listing: &ListingTerms, listed_at_ms: u64) -> Option<Kept> {
        let ListingTerms { scope, fresh_for, server_version } = listing;
        let fresh_for = fresh_for.map(|time| time.min(KEPT_FOR));
        let server_version = server_version.chars().take(SERVER_VERSION_MAX).collect();
        let kept = Kept { catalog: catalog.clone(), listed_at_ms, fresh_for, server_version };
        let is_kept = *scope == CacheScope::Shared && catalog.has_items();
        (is_kept && kept.counts_at(listed_at_ms)).then_some(kept)
    }

    /// The lists.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Whether it still counts at that time; never before it was listed, since then one of the two
    /// times is wrong.
    pub(super) fn counts_at(&self, now_ms: u64) -> bool {
        let limit = self.fresh_for.unwrap_or(KEPT_FOR).min(KEPT_FOR);
        let age = now_ms.checked_sub(self.listed_at_ms).map(Duration::from_millis);
        age.is_some_and(|age| age < limit)
    }

    /// Whether this one, which was listed later, is to take the place of what is kept: it is
    /// another, or the older one counts for only half of its time any more. Whatever a server lists
    /// again and again is not written again and again.
    pub fn is_worth_writing_over(&self, older: &Kept) -> bool {
        let Some(age) = self.listed_at_ms.checked_sub(older.listed_at_ms) else {
            // Another process listed later.
            return false;
        };
        let half = self.fresh_for.unwrap_or(KEPT_FOR).min(KEPT_FOR) / 2;
        self.fresh_for != older.fresh_for
            || Duration::from_millis(age) >= half
            || !has_same_lists(&self.catalog, &older.catalog)
    }
}

/// Those of the listed tools that run only as tasks: of one that is held back nothing is kept.
pub(super) fn tasks(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.tasks.iter().map(|name| &**name).filter(|name| catalog.tool(name).is_some())
}

/// Whether both have the same lists, whatever was left out of them.
fn has_same_lists(one: &Catalog, other: &Catalog) -> bool {
    tasks(one).eq(tasks(other))
        && ListKind::ALL.iter().all(|list| one.list(*list) == other.list(*list))
}
