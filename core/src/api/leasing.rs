//! How a session comes to a lease: the configuration, the gates, and the wait for the connection
//! (SPEC 3.2).

use trunkline_pool::config::ServerSpec;

use super::lease::Lease;
use super::session::Session;
use crate::runtime::deadline::Deadline;
use crate::{AcquireOptions, Result};

impl Session {
    /// A lease on a server, waiting until it is connected.
    pub(super) async fn leased(
        &self,
        server: &str,
        spec: Option<&ServerSpec>,
        options: &AcquireOptions,
    ) -> Result<Lease> {
        let (core, deadline) = (self.core(), Deadline::after(options.timeout));
        core.check()?;
        // Pinned where it is made: what it may have to wait for is large, and would be moved
        // thrice.
        let brought = std::pin::pin!(core.bring(server, spec, options.origin));
        let origin = deadline.before(&core.driver.runtime, brought).await;
        let origin = origin.map_err(|error| core.named(server, error))??;
        loop {
            let configured = core.resolve(server, origin, deadline).await?;
            let hold = tokio::select! {
                biased;
                // Most often it is there at once. A hold on a server that was disabled meanwhile
                // makes no lease.
                hold = core.acquire(server, (origin, &configured), deadline) => hold?,
                () = core.until_disabled(server) => continue,
            };
            core.hears.set(server, options.log_level);
            if let Some(lease) = Lease::new(self.clone(), hold, origin, &configured)? {
                return Ok(lease);
            }
        }
    }
}
