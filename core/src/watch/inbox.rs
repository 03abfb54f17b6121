//! What one thread leaves for another: `notify`'s thread what it heard, callers that something is
//! new.
//!
//! Its lock is held for a moment only and while nothing else is asked for. So the thread that hears
//! never waits for the thread that arms, which waits for the one that hears.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use notify::event::{AccessKind, Event, EventKind, ModifyKind};

use super::watch_set::{Declared, Interests, Touched};

/// What was left, and who waits for it. Bounded by the files of interest, and by [`MOVED_MAX`].
#[derive(Default)]
pub(super) struct Inbox {
    left: Mutex<Left>,
    bell: Condvar,
}

#[derive(Default)]
struct Left {
    interests: Interests,
    news: PathChanges,
    is_over: bool,
}

/// What came since the last look.
#[derive(Default)]
pub(super) struct PathChanges {
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
pub(super) enum WaitEnd {
    /// News, perhaps none: it may be time.
    News(PathChanges),
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
            let Touched { files, is_on_the_way } = left.interests.touched(path);
            if files.is_empty() {
                continue;
            }
            left.news.touched.extend(files);
            if is_on_the_way && !is_content(event.kind) {
                left.news.note_moved(path);
            }
            self.bell.notify_one();
        }
    }

    /// Events were lost.
    pub(super) fn miss(&self) {
        self.lock().news.is_gap = true;
        self.bell.notify_one();
    }

    /// The waiters shall look at these.
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
    pub(super) fn wait(&self, until: Option<Instant>) -> WaitEnd {
        let mut left = self.lock();
        loop {
            if left.is_over {
                return WaitEnd::Over;
            }
            let remaining = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.news.is_any() || remaining.is_some_and(|remaining| remaining.is_zero()) {
                return WaitEnd::News(std::mem::take(&mut left.news));
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

impl PathChanges {
    fn note_moved(&mut self, path: &Path) {
        if self.is_gap {
            return;
        }
        self.moved.insert(path.to_path_buf());
        if self.moved.len() > MOVED_MAX {
            tracing::warn!(
                limit = MOVED_MAX,
                "too many changes at once: every watched file is looked at again"
            );
            self.moved.clear();
            self.is_gap = true;
        }
    }

    fn is_any(&self) -> bool {
        self.is_gap || self.is_rung || !self.touched.is_empty() || !self.moved.is_empty()
    }
}

/// Paths that are left at one time, each of some hundred bytes. There are as many as names on the
/// ways to declared files, in whatever case; of more, everything is looked at again, which takes no
/// longer.
const MOVED_MAX: usize = 4096;

/// Whether an event says that a file was written where it is, and no more.
fn is_content(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(AccessKind::Close(_)) | EventKind::Modify(ModifyKind::Data(_)))
}

#[cfg(test)]
mod tests {
    use notify::event::CreateKind;

    use super::*;
    use crate::watch::watch_set::Plan;

    /// An inbox that hears of a declared path in this folder.
    fn hearing_of(path: PathBuf) -> Inbox {
        let inbox = Inbox::default();
        let plan = Plan::of(&BTreeSet::from([Declared::from(path)]));
        inbox.narrow(plan.interests());
        inbox
    }

    fn made(path: PathBuf) -> notify::Result<Event> {
        Ok(Event::new(EventKind::Create(CreateKind::File)).add_path(path))
    }

    /// SPEC 13.5: of very many names that come in a declared folder nothing is kept but that it is
    /// another.
    #[test]
    fn a_declared_folder_is_left_once_however_much_comes_in_it() {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let inbox = hearing_of(folder.clone());
        for number in 0..10_000 {
            inbox.hear(made(folder.join(number.to_string())));
        }
        let WaitEnd::News(news) = inbox.wait(None) else { panic!("it is not over") };
        assert_eq!((news.moved.len(), news.is_gap), (0, false));
        assert_eq!(news.touched, BTreeSet::from([Declared::from(folder)]));
    }

    /// SPEC 13.5: what is left is bounded; beyond that everything is looked at again.
    #[test]
    fn more_than_can_be_left_counts_as_a_gap() {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let inbox = hearing_of(folder.join("abcdefghijklmnop"));
        // The spellings of one name.
        for spelling in 0..=MOVED_MAX {
            let letter = |(place, letter): (usize, char)| match spelling >> place & 1 {
                1 => letter.to_ascii_uppercase(),
                _ => letter,
            };
            let name: String = ('a'..='p').enumerate().map(letter).collect();
            inbox.hear(made(folder.join(name)));
        }
        let WaitEnd::News(news) = inbox.wait(None) else { panic!("it is not over") };
        assert_eq!((news.moved.len(), news.is_gap), (0, true));
    }
}
