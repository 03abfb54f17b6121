//! Changes of a live session: its filters and marks, what it wants, its roots, and servers that it
//! does without (SPEC 6.3, 6.5).
//!
//! A change is written down first. Then the function that a reconcile ends in brings everything in
//! line with it. So of two changes at once the newest state stands, and equal states do nothing.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard};

use trunkline_pool::options::SessionOptions;

use super::lease::lease_state::disabled;
use super::session_core::SessionCore;
use crate::Result;

impl SessionCore {
    /// Its options as they are now.
    pub(crate) fn options(&self) -> Arc<SessionOptions> {
        self.options_mut().clone()
    }

    /// Whether it does without this server.
    pub(crate) fn has_disabled(&self, server: &str) -> bool {
        self.disabled().contains(server)
    }

    /// The servers that it does without.
    pub(crate) fn disabled_servers(&self) -> Vec<Box<str>> {
        self.disabled().iter().cloned().collect()
    }

    /// # Errors
    /// `not_admitted` with the reason `disabled`.
    pub(crate) fn check_enabled(&self, server: &str) -> Result<()> {
        if self.has_disabled(server) { Err(self.named(server, disabled())) } else { Ok(()) }
    }

    /// Waits until it does without this server.
    pub(crate) async fn until_disabled(&self, server: &str) {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            settled.as_mut().enable();
            if self.has_disabled(server) {
                return;
            }
            settled.await;
        }
    }

    /// What a source names is known, also while it may not run.
    pub(crate) fn check_known(&self, server: &str) -> Result<()> {
        let known = self.either_spec(server).map(drop);
        if self.config.running().named(server).is_some() { Ok(()) } else { known }
    }

    pub(crate) fn options_mut(&self) -> MutexGuard<'_, Arc<SessionOptions>> {
        self.options.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn disabled(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        self.disabled.servers()
    }
}
