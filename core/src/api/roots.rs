//! The folders that servers are told of, and their changes (SPEC 15.2).

use std::sync::Arc;

use super::pool::Pool;
use super::session_core::SessionCore;
use crate::driver::{EntryCell, folders};
use crate::{Error, ErrorCode, Result};

impl Pool {
    /// Replaces the folders that servers are told of, as the option `roots` gives them: absolute,
    /// or relative to the workspace. Servers that can be told are told so, and the lists of every
    /// connection are asked for again, in the background. Folders that are equal to those before do
    /// nothing.
    ///
    /// The folders are looked at on a thread of their own: a file system that does not answer (a
    /// share whose server is away) keeps this change waiting and those after it, and nothing else.
    /// Changes are made in the order of the calls. Dropping the future does not take back one that
    /// was begun.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path` (`roots[0]`) for one that is no folder, with nothing
    /// changed; `closing`, `closed`, `forked`; `limit` (`threads`) when no thread can be started.
    pub async fn set_roots(&self, roots: &[String]) -> Result<()> {
        let driver = &self.0.driver;
        driver.check_process()?;
        driver.check_open()?;
        let (workspace, given) = (driver.workspace.clone(), roots.to_vec());
        let pool = Arc::downgrade(driver);
        let change = move || {
            let folders = folders(&workspace, &given)?;
            // Nothing waits for the file system with the pool in its hands.
            let closed = || Error::new(ErrorCode::Closed, "the pool is closed");
            let driver = pool.upgrade().ok_or_else(closed)?;
            driver.check_open()?;
            driver.set_roots(folders);
            Ok(())
        };
        driver.roots.change(change).await
    }
}

impl SessionCore {
    /// It holds a connection: one that others share is not told of its own folders (SPEC 15.2,
    /// S-47). The server is told how much of its log is wanted (SPEC 16.8).
    pub(super) fn begins_to_hold(&self, cell: &Arc<EntryCell>) {
        self.hears_of(cell);
        if !self.roots.load().is_empty() {
            self.leaves_out(cell);
        }
    }

    /// Warns of a connection that others share and that is not told of its own folders, unless it
    /// was warned of the same.
    pub(super) fn leaves_out(&self, cell: &Arc<EntryCell>) {
        if cell.owner.is_none() && self.untold.note(cell, &self.roots.load_full()) {
            self.driver.warn_of_untold_roots(&self.recipient, cell);
        }
    }
}
