//! Kept catalogs: what servers listed last, for sessions that want them while they are not
//! connected (SPEC 14.2).
//!
//! 1. No method waits for anything but locks that are held for an instant, so that each may be
//!    called under any other lock. Two threads of a pool at most are on the disk, one that looks
//!    and one that writes, and hold no lock meanwhile.
//! 2. What goes wrong on the disk is nobody's error: nothing is found or kept then, and `warn`
//!    hears of it once.
//! 3. A look-up is answered in its time, whatever happens, and once more when a look that takes
//!    longer is over.
//!
//! What was not found is not remembered: another host may list the server a moment later.

mod catalog_lookup;
mod disk;
mod jobs;
mod memory;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};
use trunkline_pool::catalog::Catalog;
use trunkline_pool::catalog_cache::{CacheKey, Kept, ListingTerms};
use trunkline_pool::options::CatalogCache;

pub(crate) use self::catalog_lookup::CatalogLookup;
pub(crate) use self::disk::now_ms;
use self::disk::{Disk, Write};
use self::jobs::{By, CatalogJobs, LookupRequest};
use self::memory::Memory;
use super::WarningHandler;
use crate::runtime::Runtime;
use crate::runtime::blocking_pool;
use crate::{Error, ErrorCode, Result};

/// A start waits no longer than this for a look: one at files in memory takes a millisecond or two.
const LOOK_WAIT_MAX: Duration = Duration::from_millis(20);

/// What was found before anybody asked counts for so long: a later caller looks for what is newest,
/// and still counts.
const AHEAD_FOR: Duration = Duration::from_secs(10);

/// What is remembered of what `warn` was told.
const WARNINGS_MAX: usize = 16;

/// The kept catalogs of one pool.
pub(crate) struct Catalogs {
    memory: Mutex<Memory>,
    disk: Option<Disk>,
    queue: Mutex<CatalogJobs>,
    /// Sessions that are about to show, or to look for, what is kept.
    showing: AtomicUsize,
    /// Wakes who waits for the queue to be empty, or for what is shown.
    idle: Notify,
    /// Hears what went wrong on the disk.
    warn: OnceLock<WarningHandler>,
    warned: Mutex<BTreeSet<String>>,
    runtime: Arc<Runtime>,
}

/// A session that is about to show what is kept.
pub(crate) struct Showing(Arc<Catalogs>);

impl Drop for Showing {
    fn drop(&mut self) {
        self.0.showing.fetch_sub(1, Ordering::AcqRel);
        self.0.idle.notify_waiters();
    }
}

/// How far what is looked up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookUp {
    /// What there is of it is known.
    Over,
    /// It takes long, and goes on.
    Overdue,
}

impl Catalogs {
    /// Those of a new pool, on the disk too where the option `cache` says so. The disk is not
    /// touched.
    ///
    /// # Errors
    /// `invalid_argument` for what is no whole path.
    pub(crate) fn open(option: &CatalogCache, runtime: Arc<Runtime>) -> Result<Arc<Catalogs>> {
        Ok(Arc::new(Catalogs {
            memory: Mutex::default(),
            disk: Disk::of_option(option)?,
            queue: Mutex::default(),
            showing: AtomicUsize::new(0),
            idle: Notify::new(),
            warn: OnceLock::new(),
            warned: Mutex::default(),
            runtime,
        }))
    }

    /// `warn` is told, in words, of each kind of thing that went wrong on the disk, once.
    pub(crate) fn on_warning(&self, warn: impl Fn(&str) + Send + Sync + 'static) {
        // Of several the first stays.
        let _ = self.warn.set(Box::new(warn));
    }

    /// What is known of the catalog of that key.
    pub(crate) fn known(&self, key: &CacheKey) -> CatalogLookup {
        guard(&self.memory).known(key)
    }

    /// Keeps what was listed, in the place of what was kept. An empty catalog leaves nothing known
    /// in this pool, and on the disk what was there: the next process would have nothing to show of
    /// a server that has nothing just now.
    #[cfg(test)]
    pub(crate) fn keep(
        self: &Arc<Self>,
        key: &CacheKey,
        catalog: &Arc<Catalog>,
        listing: &ListingTerms,
    ) {
        self.keep_without_held(key, (catalog, catalog), (listing, now_ms()));
    }

    /// The same for lists of that time, in milliseconds since 1970, with something held back: this
    /// pool knows what, and keeps all, and `usable` is for the disk.
    pub(crate) fn keep_without_held(
        self: &Arc<Self>,
        key: &CacheKey,
        (catalog, usable): (&Arc<Catalog>, &Arc<Catalog>),
        (listing, listed_at_ms): (&ListingTerms, u64),
    ) {
        guard(&self.memory).put(key, Some(catalog));
        if self.disk.is_none() || !usable.has_items() {
            return;
        }
        let write = Kept::of(usable, listing, listed_at_ms).map_or(Write::Remove, Write::Keep);
        let mut queue = guard(&self.queue);
        queue.add_write(key, write);
        if !std::mem::replace(&mut queue.writes_now, true) {
            self.begin(Catalogs::write_all);
        }
    }

    /// Looks for the catalogs of these keys that nothing is known of. `told` is called once that is
    /// over, and before that if it takes longer than `patience`; on threads of the library and
    /// never before this returns; not at all when the process ends first.
    pub(crate) fn look_up(
        self: &Arc<Self>,
        keys: Vec<CacheKey>,
        patience: Duration,
        told: impl Fn(LookUp) + Send + Sync + 'static,
    ) {
        let told = Arc::new(told);
        let (over, is_over) = oneshot::channel::<()>();
        let late = (self.clone(), told.clone());
        let done = move || {
            drop(over);
            told(LookUp::Over);
        };
        let mut queue = guard(&self.queue);
        match queue.add_look_up(LookupRequest { keys, by: By::Session, done: Box::new(done) }) {
            Ok(()) if std::mem::replace(&mut queue.looks, true) => {}
            Ok(()) => self.begin(Catalogs::read_all),
            Err(done) => drop(self.runtime.handle().spawn(async move { done() })),
        }
        drop(queue);
        self.runtime.handle().spawn(async move {
            if tokio::time::timeout(patience, is_over).await.is_err() {
                let (catalogs, told) = late;
                catalogs.warn(&Error::new(ErrorCode::Store, "kept catalogs take long to be read"));
                told(LookUp::Overdue);
            }
        });
    }

    /// Looks for them before anybody asks: a caller that does soon finds them known.
    pub(crate) fn look_ahead(self: &Arc<Self>, keys: Vec<CacheKey>) {
        let mut queue = guard(&self.queue);
        let looked_for = LookupRequest { keys, by: By::Nobody, done: Box::new(|| {}) };
        let is_added = queue.add_look_up(looked_for).is_ok();
        if is_added && !std::mem::replace(&mut queue.looks, true) {
            self.begin(Catalogs::read_all);
        }
    }

    /// A session is about to show what is kept, until this is dropped: starts wait for it.
    pub(crate) fn showing(self: &Arc<Self>) -> Showing {
        self.showing.fetch_add(1, Ordering::AcqRel);
        Showing(self.clone())
    }

    /// Waits until what is being looked for is shown, but no longer than [`LOOK_WAIT_MAX`].
    pub(crate) async fn shown(&self) {
        self.until(LOOK_WAIT_MAX, || {
            self.showing.load(Ordering::Acquire) == 0 && !guard(&self.queue).looks
        })
        .await;
    }

    /// Waits until nothing is to be done on the disk, but no longer than that.
    pub(crate) async fn settled(&self, patience: Duration) {
        self.until(patience, || !guard(&self.queue).is_at_work()).await;
    }

    async fn until(&self, patience: Duration, is_so: impl Fn() -> bool) {
        if is_so() {
            return;
        }
        let settled = async {
            loop {
                let idle = self.idle.notified();
                let mut idle = std::pin::pin!(idle);
                // Registered before the look, so that nothing is missed between the look and the
                // wait.
                idle.as_mut().enable();
                if is_so() {
                    return;
                }
                idle.await;
            }
        };
        let until = tokio::time::Instant::now() + patience;
        tokio::select! {
            () = settled => {}
            () = self.runtime.sleep_until(until) => {}
        }
    }

    /// Has a thread work on the queue.
    fn begin(self: &Arc<Self>, work: fn(&Self)) {
        let catalogs = self.clone();
        blocking_pool::begin(move || {
            work(&catalogs);
            catalogs.idle.notify_waiters();
        });
    }

    fn read_all(&self) {
        let next = || guard(&self.queue).next_look_up();
        while let Some(LookupRequest { keys, by, done }) = next() {
            self.guarded(|disk| self.read(disk, &keys, by));
            self.guarded(|_| {
                done();
                Ok(())
            });
        }
    }

    fn write_all(&self) {
        let next = || guard(&self.queue).next_writes();
        while let Some(writes) = next() {
            self.guarded(|disk| disk.map_or(Ok(()), |disk| disk.write(&writes)));
        }
    }

    /// What panics must not stop what comes after it.
    fn guarded(&self, work: impl FnOnce(Option<&Disk>) -> Result<()>) {
        let worked = catch_unwind(AssertUnwindSafe(|| work(self.disk.as_ref())));
        match worked {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.warn(&error),
            Err(_) => tracing::error!("work on kept catalogs panicked"),
        }
    }

    fn read(&self, disk: Option<&Disk>, keys: &[CacheKey], by: By) -> Result<()> {
        let unknown = |key: &&CacheKey| guard(&self.memory).known(key) == CatalogLookup::Unknown;
        let keys: Vec<CacheKey> = keys.iter().filter(unknown).cloned().collect();
        let (found, outcome) = match disk {
            Some(disk) => disk.read(&keys),
            None => (Vec::new(), Ok(())),
        };
        let counts_until = (by == By::Nobody).then(|| Instant::now() + AHEAD_FOR);
        for (key, kept) in keys.iter().zip(&found) {
            if let Some(kept) = kept {
                guard(&self.memory).found(key, kept.catalog(), counts_until);
            }
        }
        outcome
    }

    fn warn(&self, error: &Error) {
        tracing::warn!(%error, "catalogs could not be kept or read");
        let is_new = {
            let mut warned = guard(&self.warned);
            warned.len() < WARNINGS_MAX && warned.insert(error.message().to_owned())
        };
        if let Some(warn) = self.warn.get().filter(|_| is_new) {
            warn(error.message());
        }
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
