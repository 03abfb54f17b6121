//! What the driver needs of sessions, which stand above it.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use trunkline_pool::acceptance::QuarantinedTools;
use trunkline_pool::options::Handlers;
use trunkline_pool::state::Generation;

use crate::driver::{EntryCell, ListChange};
use crate::events::Recipient;

/// One session. The driver keeps it by its number and a weak reference, and tells two apart by
/// their numbers: the address of one says nothing.
pub(crate) trait SessionPort: Send + Sync {
    /// What events have to know of it.
    fn recipient(&self) -> &Recipient;

    /// What answers the servers that it calls.
    fn handlers(&self) -> &Handlers;

    /// The folders that its own connections are told of beside the pool's.
    fn roots(&self) -> Arc<Vec<PathBuf>>;

    /// Resolves when the session is closed.
    fn closed(&self) -> CloseFuture<'_>;

    /// The lists of an entry that it holds changed. It tells its subscribers.
    fn on_list_change(&self, change: &Arc<ListChange>);

    /// Tools of an entry that it holds are held back newly. It tells its subscribers.
    fn on_quarantine(&self, entry: (&Arc<EntryCell>, Generation), tools: &QuarantinedTools);

    /// An entry that it holds failed: calls that wait for the server look again.
    fn on_failure(&self);

    /// It holds a connection that is not told of its own folders, since others share it.
    fn on_roots_not_shared(&self, cell: &Arc<EntryCell>);
}

/// The end of a session, to be waited for.
pub(crate) type CloseFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// All live sessions of a pool, for what they do together.
pub(crate) trait SessionSet: Send + Sync {
    /// The configuration is another: what they hold and want is brought in line with it, also what
    /// closed sessions left. Whether there is a live one.
    fn reconcile_all(&self) -> bool;

    /// What is decided can be read again: sessions that failed to get a server since it could not
    /// be read ask for it anew.
    fn retry_undecided(&self);

    /// The cache may have something newer of a server: sessions that show what was kept of it show
    /// that.
    fn refresh_from_cache(&self, server: &str);

    /// A server was connected to: sessions that see of it what was kept, or failed to get it, have
    /// it from now on.
    fn on_connected(&self, cell: &EntryCell);
}
