//! Work that may wait for a file system which is away: on a thread that may wait, and one piece of a kind at a time.

use std::sync::Arc;

use tokio::sync::Mutex;

/// Does one after the other, so that one thread at most waits, however often the work is asked for and given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct OneByOne(Arc<Mutex<()>>);

impl OneByOne {
    /// Does it once what was begun before is over; nothing comes of work that panics.
    ///
    /// A dropped future leaves work that has begun, and begins none that has not.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let turn = self.0.clone().lock_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        done.await.ok()
    }
}
