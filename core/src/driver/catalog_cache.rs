//! What is kept of the lists of servers (SPEC 4.1, 14.2).

use std::sync::Arc;

use trunkline_pool::catalog::{CacheScope, Catalog, Item, ListKind};
use trunkline_pool::catalog_cache::{Asker, CacheKey, ListingTerms, WrittenHash};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::Offered;

use super::entry::last_kept::KeptLists;
use super::{Driver, EntryCell};
use crate::auth::Context;
use crate::client::{Connection, ServerListing};
use crate::storage::catalogs::now_ms;

impl Driver {
    /// What the catalog of a server is kept by, for a session that offers so much and has the
    /// credentials of that context.
    pub(crate) fn cache_key(
        &self,
        (server, spec): (&str, &ServerSpec),
        written: &WrittenHash,
        offered: Offered,
        context: &Context,
    ) -> CacheKey {
        let asker = Asker {
            workspace: self.workspace.as_os_str().as_encoded_bytes(),
            context: &context.lasting_id(spec),
            capabilities: &offered.names(),
        };
        CacheKey::new(server, written, asker)
    }

    /// A connection listed all that there is: it is kept, before anybody hears of it.
    pub(super) fn keep_listed(
        &self,
        cell: &EntryCell,
        connection: &Connection,
        listed: ServerListing,
    ) -> Arc<Catalog> {
        let ServerListing { catalog, fresh_for, scope } = listed;
        let catalog = cell.kept.shared(catalog);
        let usable = without_secrets(connection, self.usable(cell, &catalog));
        let written = self.core().interner.keyed(cell.key).and_then(|keyed| keyed.written);
        // Half of what a server has is not what the next process should start from.
        let is_whole = catalog.unlisted.is_empty();
        if let Some(written) = written.filter(|_| is_whole) {
            let scope = match cell.context.is_passing(&cell.server, &cell.spec, cell.author) {
                true => CacheScope::Private,
                false => scope,
            };
            let server_version = connection.server_facts().version;
            let listing = ListingTerms { scope, fresh_for, server_version };
            let (lists, listed_at_ms) = ([catalog.clone(), usable], now_ms());
            let mut last = cell.kept.last();
            let forms = last.take().map(|last| last.forms).unwrap_or_default();
            let newest = last.insert(KeptLists { lists, listing, listed_at_ms, forms });
            newest.add_form(written);
            // Under the lock: no older list is kept after it.
            newest.forms.iter().for_each(|form| self.keep_by(cell, form, newest));
        }
        catalog
    }

    /// Somebody holds an entry whose configuration may be written in another way there: what it
    /// listed is found by that too.
    pub(crate) fn keep_as_written(&self, cell: &EntryCell, written: WrittenHash) {
        let mut last = cell.kept.last();
        if let Some(last) = last.as_mut().filter(|last| !last.forms.contains(&written)) {
            last.add_form(written);
            self.keep_by(cell, &written, last);
        }
    }

    fn keep_by(&self, cell: &EntryCell, written: &WrittenHash, kept: &KeptLists) {
        let asked_by = (&*cell.server, &*cell.spec);
        let key = self.cache_key(asked_by, written, cell.offered, &cell.context);
        let [catalog, usable] = &kept.lists;
        // What is held back leaves no process: the next one could not tell it from what is
        // accepted.
        let listing = (&kept.listing, kept.listed_at_ms);
        self.catalogs.keep_without_held(&key, (catalog, usable), listing);
    }
}

/// The lists without what says back a secret that the server has: no copy of that is written.
fn without_secrets(connection: &Connection, listed: Arc<Catalog>) -> Arc<Catalog> {
    let says = |item: &Item| connection.says_secret(&item.definition);
    if !ListKind::ALL.iter().flat_map(|list| listed.list(*list)).any(says) {
        return listed;
    }
    let mut kept = (*listed).clone();
    let lists =
        [&mut kept.tools, &mut kept.prompts, &mut kept.resources, &mut kept.resource_templates];
    lists.into_iter().for_each(|list| list.retain(|item| !says(item)));
    Arc::new(kept)
}
