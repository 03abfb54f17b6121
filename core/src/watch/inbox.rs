//! What one thread leaves for another: `notify`'s thread what it heard, callers that something is new.
//!
//! Its lock is held for a moment only and while nothing else is asked for. So whoever hears never waits for who arms, who waits
//! for the one that hears.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use notify::event::{AccessKind, Event, EventKind, ModifyKind};

use super::plan::{Declared, Interests};

/// What was left, and who waits for it. Bounded by what is of interest.
#[derive(Default)]
pub(super) struct Inbox {
    left: Mutex<Left>,
    bell: Condvar,
}

#[derive(Default)]
struct Left {
    interests: Interests,
    news: News,
    is_over: bool,
}

/// What came since the last look.
#[derive(Default)]
pub(super) struct News {
    /// Files that may have changed.
    pub(super) touched: BTreeSet<Declared>,
    /// Paths of interest that may lead elsewhere than before.
    pub(super) moved: BTreeSet<PathBuf>,
    /// Events were lost, so that anything may have changed.
    pub(super) is_gap: bool,
    /// There may be another moment to wait for.
    is_rung: bool,
}

/// Why a wait ended.
pub(super) enum Woken {
    /// News, perhaps none: it may be time.
    News(News),
    /// The watcher goes.
    Over,
}

impl Inbox {
    /// Takes in what `notify` heard, if it is of interest.
    pub(super) fn hear(&self, heard: notify::Result<Event>) {
        let event = match heard {
            Ok(event) if !event.need_rescan() => event,
            Ok(_) | Err(_) => return self.miss(),
        };
        let mut left = self.lock();
        for path in &event.paths {
            let touched = left.interests.touched(path);
            if touched.is_empty() {
                continue;
            }
            left.news.touched.extend(touched);
            if !is_content(event.kind) {
                left.news.moved.insert(path.clone());
            }
            self.bell.notify_one();
        }
    }

    /// Events were lost.
    pub(super) fn miss(&self) {
        self.lock().news.is_gap = true;
        self.bell.notify_one();
    }

    /// Whoever waits shall look at these.
    pub(super) fn leave(&self, touched: BTreeSet<Declared>) {
        let mut left = self.lock();
        left.news.touched.extend(touched);
        left.news.is_rung = true;
        self.bell.notify_one();
    }

    /// Hears of these too.
    pub(super) fn widen(&self, interests: Interests) {
        self.lock().interests.widen(interests);
    }

    /// Hears of these alone.
    pub(super) fn narrow(&self, interests: Interests) {
        self.lock().interests = interests;
    }

    /// Ends every wait, and each later one at once.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.bell.notify_one();
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits for news, or until then.
    pub(super) fn wait(&self, until: Option<Instant>) -> Woken {
        let mut left = self.lock();
        loop {
            if left.is_over {
                return Woken::Over;
            }
            let remaining = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.news.is_any() || remaining.is_some_and(|remaining| remaining.is_zero()) {
                return Woken::News(std::mem::take(&mut left.news));
            }
            left = match remaining {
                Some(remaining) => {
                    let waited = self.bell.wait_timeout(left, remaining);
                    waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0
                }
                None => self.bell.wait(left).unwrap_or_else(|poisoned| poisoned.into_inner()),
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl News {
    fn is_any(&self) -> bool {
        self.is_gap || self.is_rung || !self.touched.is_empty() || !self.moved.is_empty()
    }
}

/// Whether an event says that a file was written where it is, and no more.
fn is_content(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(AccessKind::Close(_)) | EventKind::Modify(ModifyKind::Data(_)))
}
