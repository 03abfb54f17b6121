//! The folders that servers are told of, and their changes (SPEC 15.2).

use std::sync::Arc;

use super::Pool;
use crate::driver::folders;
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
