//! The status of a pool in a file, each second anew.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::PoolCore;
use crate::report::status_file::PERIOD;
use crate::runtime::blocking_pool;
use crate::{Error, Result};

impl PoolCore {
    /// Writes the status down, now and each second from then on; nothing without a file for it.
    ///
    /// # Errors
    /// `store` when it cannot be written now. Later on that is logged, once until it can be again.
    pub(super) fn publish(self: &Arc<PoolCore>) -> Result<()> {
        let Some(published) = self.published.clone() else { return Ok(()) };
        let named = |error: Error| error.with_detail("option", "status_file");
        published.write(self.parts().status()).transpose().map_err(named)?;
        let pool = Arc::downgrade(self);
        self.driver.spawn(async move {
            let mut has_failed = false;
            loop {
                tokio::time::sleep(PERIOD).await;
                let (write, pool) = (published.clone(), pool.clone());
                let failed = match published.turns.run(move || write.write(status_of(&pool)?)).await
                {
                    Some(None) => return,
                    Some(Some(written)) => written.err(),
                    // It panicked, which was told.
                    None => continue,
                };
                if let Some(error) = failed.as_ref().filter(|_| !has_failed) {
                    tracing::warn!("{error}");
                }
                has_failed = failed.is_some();
            }
        });
        Ok(())
    }

    /// The file is gone once this has returned, unless its disk takes longer than that: then it
    /// goes when it can.
    pub(super) async fn unpublish(&self, patience: Duration) {
        let Some(published) = self.published.clone() else { return };
        let remove = published.clone();
        let gone = async move { published.turns.run(move || remove.remove()).await };
        // Not given up with the wait: a write that hangs may have the turn.
        let gone = self.driver.spawn(gone);
        tokio::select! {
            _ = gone => {}
            () = self.driver.runtime.sleep_until(Instant::now() + patience) => {}
        }
    }

    /// The same, for who may not wait.
    pub(super) fn unpublish_in_background(&self) {
        if let Some(published) = self.published.clone() {
            // It is done also where the runtime goes with the pool.
            blocking_pool::begin(move || published.remove());
        }
    }
}

/// What the pool says now; nothing once it is gone. It is not kept by a write that waits for its
/// disk.
fn status_of(pool: &Weak<PoolCore>) -> Option<Value> {
    Some(pool.upgrade()?.parts().status())
}
