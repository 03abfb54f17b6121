//! Lists that are asked for anew, and lists that are waited for (SPEC 7.9).

use std::time::Duration;

use tokio::time::timeout;
use trunkline_pool::options::AcquireOptions;

use super::call::not_connected;
use super::session::{Session, SessionCore};
use crate::Result;

/// The longest that lists are waited for which are read or owed.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

impl Session {
    /// Has the lists of a server read anew, for servers that announce nothing, and waits until what came of it is in force. The server is
    /// acquired for that: one that sleeps or is on its way back is connected to first.
    ///
    /// Lists stand by themselves: one that cannot be had is told of as ever, and keeps its last state. Dropping the future leaves the
    /// listing as it is.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire); why no list could be had; `unavailable` when the connection was lost meanwhile.
    pub async fn refresh(&self, server: &str) -> Result<()> {
        let core = self.core();
        let lease = self.acquire(server, None, &AcquireOptions::default()).await?;
        let (cell, driver) = (lease.cell(), &core.driver);
        let published = cell.load_full();
        let refreshed = async {
            if published.connection.is_none() {
                return Err(not_connected(&published));
            }
            match driver.list_anew(&cell, published.slot.generation).await {
                Some(listed) => listed,
                None => Err(not_connected(&cell.load_full())),
            }
        };
        let refreshed = tokio::select! {
            biased;
            refreshed = refreshed => refreshed,
            () = core.until_closed() => Err(core.closed()),
        };
        refreshed.map_err(|error| core.named(server, error))
    }

    /// Waits until no list of the session's servers, or of this one, is being read or has to be, and what came of it is in force; at most
    /// 5 s. A server that announced another list before a result is heard to the end: [`tools`](Self::tools) has it then.
    ///
    /// Most often it does not wait at all. Dropping the future leaves nothing.
    ///
    /// # Errors
    /// `closed`, `forked`.
    pub async fn listed(&self, server: Option<&str>) -> Result<()> {
        let core = self.core();
        core.check()?;
        // What cannot be waited for to its end is there as far as it is.
        let waited = timeout(PATIENCE, core.until_listed(server));
        tokio::select! {
            biased;
            _ = waited => Ok(()),
            () = core.until_closed() => Err(core.closed()),
        }
    }
}

impl SessionCore {
    async fn until_listed(&self, server: Option<&str>) {
        let is_meant = |name: &str| server.is_none_or(|server| server == name);
        for cell in self.holds.cells().into_iter().filter(|cell| is_meant(&cell.server)) {
            let generation = cell.load().slot.generation;
            self.driver.has_listed(&cell, generation).await;
        }
    }
}
