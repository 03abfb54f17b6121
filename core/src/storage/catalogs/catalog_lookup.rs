//! What is known of a kept catalog.

use std::sync::Arc;

use trunkline_pool::catalog::Catalog;

/// What is known of a kept catalog without looking anywhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CatalogLookup {
    /// This was listed last. It is not empty.
    Catalog(Arc<Catalog>),
    /// What was listed last was empty.
    Nothing,
    /// It was not looked for (see [`Catalogs::look_up`](super::Catalogs::look_up)), or not found:
    /// another process may keep it at any time. One that was forgotten to make room for others is
    /// so again. A caller that looked for it once takes it for nothing.
    Unknown,
}
