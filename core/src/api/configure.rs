//! Changes of a live session: its filters and marks, what it wants, its roots, and servers that it does without (SPEC 6.3, 6.5).
//!
//! A change is written down first, and then everything is brought in line with what is written down, by the same function
//! that a reconcile ends in. So of two changes at once the newest state stands, and equal states do nothing.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use trunkline_pool::options::{ConfigureOptions, SessionOptions};

use super::held::disabled;
use super::session::{Session, SessionCore};
use crate::Result;
use crate::driver::folders;

/// The servers that a session does without (SPEC 6.5). It is read apart from its session: whoever had the session at hand could
/// be the one to end it, which must not happen under a lock.
#[derive(Default)]
pub(super) struct Disabled(Mutex<BTreeSet<Box<str>>>);

impl Session {
    /// Changes what it sees and wants, at once and without touching a connection: filters, marks, and the list of wanted
    /// servers. What `change` does not name stays. Events tell what is different; equal options change nothing.
    ///
    /// Other `roots` are told to the servers of its own connections, whose lists are then asked for again; a connection that it
    /// shares is left as it is, with the warning `roots_not_shared`.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path` (`roots[0]`) for a root that is no folder, with nothing changed; `closed`, `forked`.
    pub fn configure(&self, change: ConfigureOptions) -> Result<()> {
        let core = self.core();
        core.check()?;
        let roots = change.roots.as_deref();
        let roots = roots.map(|roots| folders(&core.driver.workspace, roots)).transpose()?;
        let tells = roots.is_some();
        {
            let mut options = core.options_mut();
            if let Some(roots) = roots {
                core.roots.store(Arc::new(roots));
            }
            let mut new = SessionOptions::clone(&options);
            new.configure(change);
            *options = Arc::new(new);
        }
        core.follow();
        if tells {
            core.driver.session_roots_changed(&**core);
        }
        Ok(())
    }

    /// Takes a server away from this session alone: its tools, prompts and resources go, calls of them are refused with the
    /// reason `disabled`, and the session holds it no longer. Calls under way finish. Leases on it stay, of no use until
    /// [`enable`](Self::enable). Repeating it does nothing.
    ///
    /// # Errors
    /// `not_admitted` for a server that neither the pool nor the session knows, `closed`, `forked`.
    pub fn disable(&self, server: &str) -> Result<()> {
        let core = self.core();
        core.check()?;
        core.check_known(server)?;
        if core.disabled().insert(server.into()) {
            core.follow();
        }
        Ok(())
    }

    /// Undoes [`disable`](Self::disable): the server is acquired again for whatever held it, in the background. Its return is
    /// told as its going was; resource subscriptions are to be made anew. Repeating it does nothing.
    ///
    /// # Errors
    /// Those of [`disable`](Self::disable).
    pub fn enable(&self, server: &str) -> Result<()> {
        let core = self.core();
        core.check()?;
        if core.disabled().remove(server) {
            core.follow();
            return Ok(());
        }
        core.check_known(server)
    }
}

impl SessionCore {
    /// Its options as they are now.
    pub(super) fn options(&self) -> Arc<SessionOptions> {
        self.options_mut().clone()
    }

    /// Whether it does without this server.
    pub(super) fn has_disabled(&self, server: &str) -> bool {
        self.disabled().contains(server)
    }

    /// The servers that it does without.
    pub(super) fn disabled_servers(&self) -> Vec<Box<str>> {
        self.disabled().iter().cloned().collect()
    }

    /// # Errors
    /// `not_admitted` with the reason `disabled`.
    pub(super) fn check_enabled(&self, server: &str) -> Result<()> {
        if self.has_disabled(server) { Err(self.named(server, disabled())) } else { Ok(()) }
    }

    /// Waits until it does without this server.
    pub(super) async fn until_disabled(&self, server: &str) {
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
    fn check_known(&self, server: &str) -> Result<()> {
        let known = self.either_spec(server).map(drop);
        if self.config.running().named(server).is_some() { Ok(()) } else { known }
    }

    pub(super) fn options_mut(&self) -> MutexGuard<'_, Arc<SessionOptions>> {
        self.options.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn disabled(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        self.disabled.servers()
    }
}

impl Disabled {
    pub(super) fn servers(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
