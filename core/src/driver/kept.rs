//! What is kept of the lists of servers (SPEC 4.1, 14.2).

use std::sync::Arc;

use trunkline_pool::cached::{Asker, CacheKey, Listing, Written};
use trunkline_pool::catalog::{CacheScope, Catalog};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::Offered;

use super::{Driver, EntryCell};
use crate::auth::Context;
use crate::client::{Connection, Listed};

impl Driver {
    /// What the catalog of a server is kept by, for a session that offers so much and has the credentials of that context.
    pub(crate) fn cache_key(
        &self,
        (server, spec): (&str, &ServerSpec),
        written: &Written,
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
        listed: Listed,
    ) -> Arc<Catalog> {
        let Listed { catalog, fresh_for, scope } = listed;
        let catalog = Arc::new(catalog);
        let usable = self.usable(cell, &catalog);
        let written = self.core().interner.keyed(cell.key).and_then(|keyed| keyed.written);
        if let Some(written) = written {
            let asked_by = (&*cell.server, &*cell.spec);
            let key = self.cache_key(asked_by, &written, cell.offered, &cell.context);
            let scope = match cell.context.is_passing(&cell.server, &cell.spec) {
                true => CacheScope::Private,
                false => scope,
            };
            let server_version = connection.server_facts().version;
            let listing = Listing { scope, fresh_for, server_version };
            // What is held back leaves no process: the next one could not tell it from what is accepted.
            self.catalogs.keep_without_held(&key, (&catalog, &usable), &listing);
        }
        catalog
    }
}
