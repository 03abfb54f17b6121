//! Grants in a file: what was signed in outlives the host, and is shared by the processes that name
//! the same file (SPEC 15.3).
//!
//! 1. The file is the old one or the new one, whatever happens: a new one is written beside it,
//!    brought to the disk, and takes its place in one step.
//! 2. Who writes holds the lock and reads first, so that no process undoes what another did. What a
//!    renewal brings takes the place of what it began with alone: not of what somebody signed in
//!    with meanwhile, nor of what somebody signed out of.
//! 3. Of one grant one renewal is under way on the machine at a time.
//! 4. A file that is damaged is kept aside, said to be so, and counts as empty. One that is not
//!    this user's alone, or that a later version wrote, is refused and left where it is.
//! 5. Nobody holds a thread while they wait for a lock.
//!
//! A file that others may read is taken and made private at the next save. One that others may
//! write is refused, since it could sign people in as somebody else.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::token_file::Grants;
pub(crate) use super::token_record::{GrantKey, TokenRecord, now_ms};
use super::{AHEAD_MAX, OwnFile, Unlocked, WRITE_WAIT_MAX, WarningHandler, lock};
use crate::platform::{FileLock, try_lock};
use crate::runtime::blocking_pool;
use crate::{Error, ErrorCode, Result};

/// Grants that are kept; of more the oldest goes. A configuration that is no more leaves one behind
/// for good.
const GRANTS_MAX: usize = 1024;

/// Waiting for another process that renews the same grant, which takes as long as an authorization
/// server and the save: who waits for less goes on without the token that is on its way.
pub(crate) const RENEWAL_WAIT_MAX: Duration = Duration::from_secs(30);

/// One file of grants.
pub(crate) struct Store {
    file: OwnFile,
    /// Hears of a file that was set aside.
    warn: OnceLock<WarningHandler>,
}

impl Store {
    /// The grants of that file, which need not be there. Its folder is made, and the file that
    /// stands for its lock: a place where nothing can be kept is refused while somebody hears of
    /// it, not after the first sign-in.
    ///
    /// # Errors
    /// `invalid_argument` for what is no whole path, `store` for a place where nothing can be read
    /// or kept.
    pub(crate) fn open(path: &str) -> Result<Arc<Store>> {
        let path = Path::new(path);
        if !path.is_absolute() || path.file_name().is_none() {
            // A host that starts elsewhere would look for it elsewhere, or put it into a
            // repository.
            let message = "`tokens` is neither `memory` nor the whole path of a file";
            return Err(Error::new(ErrorCode::InvalidArgument, message)
                .with_detail("path", "tokens")
                .with_hint("give a path that begins at the root; `~` stands for nothing here"));
        }
        let named = |error: Error| error.with_detail("option", "tokens");
        let file = OwnFile::new(path, "tokens");
        file.make_folder().map_err(named)?;
        Grants::read(&file).map_err(named)?;
        try_lock(&file.beside("lock")).map_err(|error| named(file.failed("written", &error)))?;
        Ok(Arc::new(Store { file, warn: OnceLock::new() }))
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// `warn` is told, in words, of a file that was set aside.
    pub(crate) fn on_warning(&self, warn: impl Fn(&str) + Send + Sync + 'static) {
        // Of several the first stays.
        let _ = self.warn.set(Box::new(warn));
    }

    /// Tells, in words, what went wrong with the file while nobody waited for it.
    pub(crate) fn warn(&self, message: &str) {
        tracing::warn!("the file of tokens could not be used");
        if let Some(warn) = self.warn.get() {
            warn(message);
        }
    }

    /// The newest grant that fits.
    ///
    /// # Errors
    /// `store`.
    pub(crate) async fn find(
        self: &Arc<Self>,
        fits: impl Fn(&GrantKey) -> bool + Send,
    ) -> Result<Option<TokenRecord>> {
        let grants = match self.beside(|store| Grants::read(&store.file)).await? {
            crate::storage::token_file::TokenFileContent::Whole(grants) => grants,
            // Set aside under the lock alone: another may be doing so.
            crate::storage::token_file::TokenFileContent::Damaged => self.change(|_| ()).await?.1,
        };
        let fitting = grants.grants.into_iter().filter(|kept| fits(&kept.key));
        Ok(fitting.max_by_key(|kept| kept.received_ms))
    }

    /// Keeps what was signed in, in place of what fits, and of the oldest when there are too many.
    ///
    /// # Errors
    /// `store`.
    pub(crate) async fn keep(
        self: &Arc<Self>,
        kept: TokenRecord,
        fits: impl Fn(&GrantKey) -> bool + Send + 'static,
    ) -> Result<()> {
        let changed = self.change(move |grants| {
            grants.retain(|old| !fits(&old.key));
            // A sign-in of a time to come goes first: the clock was set back, and what came since
            // is newer.
            let ahead = now_ms() + AHEAD_MAX.as_millis() as u64;
            let came =
                |old: &TokenRecord| if old.received_ms > ahead { 0 } else { old.received_ms };
            grants.sort_by_key(came);
            grants.drain(..(grants.len() + 1).saturating_sub(GRANTS_MAX));
            grants.push(kept);
            crate::storage::token_file::drop_what_does_not_fit(grants);
        });
        changed.await.map(drop)
    }

    /// Keeps what a renewal brought, in place of what it began with; nothing where that is there no
    /// more.
    ///
    /// # Errors
    /// `store`.
    pub(crate) async fn replace(
        self: &Arc<Self>,
        old: TokenRecord,
        new: TokenRecord,
    ) -> Result<()> {
        let changed = self.change(move |grants| {
            if let Some(place) = grants.iter_mut().find(|kept| kept.is(&old)) {
                *place = new;
            }
        });
        changed.await.map(drop)
    }

    /// Forgets the grants that fit; whether there was one.
    ///
    /// # Errors
    /// `store`: then they are still there.
    pub(crate) async fn forget(
        self: &Arc<Self>,
        fits: impl Fn(&GrantKey) -> bool + Send + 'static,
    ) -> Result<bool> {
        // Without a file there is nothing to lock, and no folder to make for it.
        if !self.beside(|store| store.file.exists()).await? {
            return Ok(false);
        }
        let changed = self.change(move |grants| {
            let before = grants.len();
            grants.retain(|kept| !fits(&kept.key));
            grants.len() < before
        });
        changed.await.map(|(removed, _)| removed)
    }

    /// The right to renew a grant, for as long as the answer is kept. Nothing where no lock is to
    /// be had, as on a disk that cannot be written: then what is renewed is not kept either.
    ///
    /// # Errors
    /// `store` when another process has it for too long.
    pub(crate) async fn renewing(self: &Arc<Self>, key: &GrantKey) -> Result<Option<FileLock>> {
        let path =
            self.file.beside(&format!("{:016x}.lock", crate::storage::token_file::digest(key)));
        match lock(path, RENEWAL_WAIT_MAX).await {
            Err(Unlocked::Held) => Err(Unlocked::Held.into_error(&self.file)),
            locked => Ok(locked.ok()),
        }
    }

    /// Changes what is in the file; what `change` gave, and what is there now.
    async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Vec<TokenRecord>) -> T + Send + 'static,
    ) -> Result<(T, Grants)> {
        self.beside(|store| store.file.make_folder()).await?;
        let locked = lock(self.file.beside("lock"), WRITE_WAIT_MAX).await;
        let locked = locked.map_err(|error| error.into_error(&self.file))?;
        self.beside(move |store| {
            let _until_written = locked;
            store.change_locked(change)
        })
        .await
    }

    fn change_locked<T>(
        &self,
        change: impl FnOnce(&mut Vec<TokenRecord>) -> T,
    ) -> Result<(T, Grants)> {
        let mut grants = match Grants::read(&self.file)? {
            crate::storage::token_file::TokenFileContent::Whole(grants) => grants,
            crate::storage::token_file::TokenFileContent::Damaged => {
                let aside = self.file.set_aside()?;
                self.warn(&format!("the file of tokens cannot be read; it is kept as {aside}"));
                Grants::default()
            }
        };
        let given = change(&mut grants.grants);
        grants.write(&self.file)?;
        Ok((given, grants))
    }

    /// Files are read and written beside the tasks of connections.
    async fn beside<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.clone();
        let done = blocking_pool::begin(move || work(&store)).await;
        let died = |_| Err(Error::new(ErrorCode::Internal, "the store of tokens died"));
        done.unwrap_or_else(died)
    }
}

#[cfg(test)]
mod tests;
