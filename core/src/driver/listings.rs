//! The listings of an entry after its first: who waits for one that is newer than what they know.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use trunkline_pool::state::{ConnectionId, Generation, Input};

use super::{Driver, EntryCell};

/// Between two looks whether effects are carried out: that takes microseconds.
const CARRIED_OUT_LOOK: Duration = Duration::from_millis(1);

/// How many listings of an entry began, and the last of them that has ended and was stepped.
#[derive(Default)]
pub(crate) struct Listings {
    begun: AtomicU64,
    ended: watch::Sender<u64>,
}

impl Listings {
    /// The number of one that begins.
    pub(super) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// It has ended, and the reducer knows what came of it.
    pub(super) fn end(&self, number: u64) {
        self.ended.send_modify(|ended| *ended = number.max(*ended));
    }
}

impl Driver {
    /// Has the lists of a connection read again, and waits for a listing that began after this; not longer than the connection
    /// stands. What came of it is published then. A dropped future leaves the listing as it is.
    pub(crate) async fn list_anew(self: &Arc<Self>, cell: &EntryCell, generation: Generation) {
        let mut ended = cell.listings.ended.subscribe();
        let before = cell.listings.begun.load(Ordering::SeqCst);
        let connection = ConnectionId { entry: cell.entry, generation };
        self.step(Input::CatalogStale { connection });
        tokio::select! {
            _ = ended.wait_for(|ended| *ended > before) => {}
            () = cell.left(generation) => {}
        }
        // What the step wants done may be in the hands of another thread.
        while self.core().executing {
            tokio::time::sleep(CARRIED_OUT_LOOK).await;
        }
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
