//! The decisions about servers of projects, in memory or in a file that all hosts of a user share
//! (SPEC 12).
//!
//! Nothing is read before a decision is asked for. A caller waits for the disk, and at most ten
//! seconds for other processes that write. So these functions are for threads that may wait.
//! Reading what is known already waits for neither.
//!
//! The reader is strict: one that tolerates unknown members would lose them at its next save. A
//! version that adds one writes `v: 2`.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use trunkline_pool::approvals::{
    ApprovalHash, Book, Decided, Decision, Identity, ProjectRoot, Standing, ToolDigests, Unreadable,
};

use super::approvals_path::ApprovalsLocation;
use super::{FileContent, FileVersion, OwnFile, WarningHandler, lock_now};
use crate::{Error, ErrorCode, Result};

/// The decisions of a user.
pub(crate) struct Approvals {
    place: ApprovalsLocation,
    /// Hears what went wrong with the file while nobody waited for it.
    warn: OnceLock<WarningHandler>,
    known: Mutex<Option<BookSnapshot>>,
    /// Whether the last attempt to read them failed. What is known may be older than the file then,
    /// and nothing begins by it.
    is_unread: AtomicBool,
    /// Held by a reader or writer of the file; `known` never is meanwhile.
    at_work: Mutex<()>,
}

/// What was in the file last.
#[derive(Clone)]
struct BookSnapshot {
    book: Arc<Book>,
    /// Of the file that it was read from, or of an earlier one.
    stamp: Option<FileVersion>,
}

impl Approvals {
    /// The decisions of the option `approvals`: `memory`, or the whole path of a file; by default
    /// the file in the user's own folder of states. The disk is not touched.
    ///
    /// # Errors
    /// `invalid_argument` for what is no whole path.
    pub(crate) fn open(option: Option<&str>) -> Result<Approvals> {
        let place = ApprovalsLocation::of_option(option)?;
        Ok(Approvals {
            place,
            warn: OnceLock::new(),
            known: Mutex::default(),
            is_unread: AtomicBool::new(false),
            at_work: Mutex::default(),
        })
    }

    /// `warn` is told, in words, of a file that was set aside, and of approvals that made room.
    pub(crate) fn on_warning(&self, warn: impl Fn(&str) + Send + Sync + 'static) {
        // Of several the first stays.
        let _ = self.warn.set(Box::new(warn));
    }

    /// The newest decisions that are known; nothing before they are read. They stay while they
    /// cannot be read again. The disk is not touched.
    pub(crate) fn known(&self) -> Option<Arc<Book>> {
        guard(&self.known).as_ref().map(|known| known.book.clone())
    }

    /// All decisions, as far as is known; they are read when nothing is known yet, and when they
    /// could not be read last.
    ///
    /// # Errors
    /// `store`: nothing is decided then. The next call tries again.
    pub(crate) fn book(&self) -> Result<Arc<Book>> {
        if let Some(book) = self.read_book() {
            return Ok(book);
        }
        let _alone = guard(&self.at_work);
        // Somebody may have read it meanwhile.
        if let Some(book) = self.read_book() {
            return Ok(book);
        }
        let known = self.read()?;
        Ok(self.publish(known))
    }

    /// What is known, unless it could not be read last.
    fn read_book(&self) -> Option<Arc<Book>> {
        self.known().filter(|_| !self.is_unread.load(Ordering::Acquire))
    }

    /// What was decided about a configuration, as far as is known; nothing while it is pending.
    ///
    /// # Errors
    /// `store`: it is pending then.
    pub(crate) fn standing(
        &self,
        root: &ProjectRoot,
        server: &str,
        hash: ApprovalHash,
    ) -> Result<Option<Standing>> {
        Ok(self.book()?.standing(root, server, hash))
    }

    /// Looks whether another process wrote the file; whether there are other decisions now.
    ///
    /// # Errors
    /// `store`: then nothing is decided until it can be read again.
    pub(crate) fn reread_if_changed(&self) -> Result<bool> {
        let ApprovalsLocation::File(file) = &self.place else { return self.book().map(|_| false) };
        let _alone = guard(&self.at_work);
        let before = guard(&self.known).clone();
        let read = stamp_of(file).and_then(|stamp| match &before {
            Some(known) if known.stamp.as_ref() == Some(&stamp) && stamp.is_settled() => {
                Ok(known.clone())
            }
            _ => self.read(),
        });
        match read {
            Ok(known) => {
                let now = self.publish(known);
                Ok(before.is_none_or(|before| before.book != now))
            }
            Err(error) => {
                self.is_unread.store(true, Ordering::Release);
                Err(error)
            }
        }
    }

    /// Records decisions about configurations of one name by one write, all or none. Each comes
    /// with the decision that was in force when the person was asked. An approval does not replace
    /// a rejection that the person did not see; that rejection is returned.
    ///
    /// # Errors
    /// `store`: then it is not in force.
    pub(crate) fn decide_all(
        &self,
        root: &ProjectRoot,
        server: &str,
        all: &[(Identity, Option<Standing>)],
        decision: Decision,
    ) -> Result<Decided> {
        let at = (decision, now_ms());
        let decided = self.change(|book| {
            let mut sum: Option<Decided> = None;
            for (identity, seen) in all {
                let mut one = book.decide(root, server, identity, at, *seen)?;
                if let Some(before) = sum {
                    one.dropped += before.dropped;
                    one.unkept += before.unkept;
                }
                sum = Some(one);
            }
            sum.ok_or_else(|| Error::new(ErrorCode::Internal, "nothing was decided about"))
        })?;
        if decided.dropped > 0 {
            let dropped = decided.dropped;
            self.warn(&format!("the {dropped} oldest approvals of servers made room for another"));
        }
        self.warn_of_unkept(decided.unkept);
        Ok(decided)
    }

    /// The same about one.
    #[cfg(test)]
    pub(crate) fn decide(
        &self,
        root: &ProjectRoot,
        server: &str,
        identity: &Identity,
        decision: Decision,
        seen: Option<Standing>,
    ) -> Result<Decided> {
        self.decide_all(root, server, &[(identity.clone(), seen)], decision)
    }

    /// Keeps what is accepted by an approval, if it still stands; see [`Book::keep_tools`].
    ///
    /// # Errors
    /// `store`: then it is not kept.
    pub(crate) fn keep_tools(
        &self,
        of: (&ProjectRoot, &str, ApprovalHash),
        by: Standing,
        tools: &ToolDigests,
        accepted: &BTreeSet<Arc<str>>,
    ) -> Result<()> {
        if let ApprovalsLocation::File(file) = &self.place {
            // What was approved is gone with the file.
            if !file.exists()? {
                return Ok(());
            }
        }
        let unkept = self.change(|book| Ok(book.keep_tools(of, by, tools, accepted)))?;
        if unkept.tools > 0 {
            self.warn("there is no room to keep which of a server's tools are accepted");
        }
        self.warn_of_unkept(unkept.servers);
        Ok(())
    }

    fn warn_of_unkept(&self, servers: usize) {
        if servers > 0 {
            let what = "which tools are accepted";
            self.warn(&format!(
                "of the {servers} oldest approvals it was dropped {what}, for room"
            ));
        }
    }

    /// Makes a name pending, whatever its configuration is or was; how many decisions there were.
    ///
    /// # Errors
    /// `store`: then they are still in force.
    pub(crate) fn forget(&self, root: &ProjectRoot, server: &str) -> Result<usize> {
        if let ApprovalsLocation::File(file) = &self.place {
            // Without a file there is nothing to lock, and no folder to make for it.
            if !file.exists()? {
                // What was in it is gone with it, here as well.
                self.reread_if_changed()?;
                return Ok(0);
            }
        }
        self.change(|book| Ok(book.forget(root, server)))
    }

    /// Changes the decisions and keeps them.
    fn change<T>(&self, change: impl FnOnce(&mut Book) -> Result<T>) -> Result<T> {
        let _alone = guard(&self.at_work);
        match &self.place {
            ApprovalsLocation::Memory => {
                let mut book =
                    guard(&self.known).clone().map(|known| known.book).unwrap_or_default();
                let given = change(Arc::make_mut(&mut book))?;
                self.publish(BookSnapshot { book, stamp: None });
                Ok(given)
            }
            ApprovalsLocation::File(file) => self.change_file(file, change),
            ApprovalsLocation::Nowhere(why) => Err(nowhere(why)),
        }
    }

    fn change_file<T>(
        &self,
        file: &OwnFile,
        change: impl FnOnce(&mut Book) -> Result<T>,
    ) -> Result<T> {
        file.make_folder()?;
        // Before the lock, which is a file in it.
        file.check_folder()?;
        let _until_written = lock_now(file)?;
        let read = self.read_locked(file)?;
        let mut next = Book::clone(&read.book);
        // What others wrote is known whatever becomes of the change.
        let before = self.publish(read);
        let given = change(&mut next)?;
        if next != *before {
            file.write(next.to_text().as_bytes())?;
            self.publish(BookSnapshot { book: Arc::new(next), stamp: file.stamp().ok() });
        }
        Ok(given)
    }

    /// What is in the file now.
    fn read(&self) -> Result<BookSnapshot> {
        match &self.place {
            ApprovalsLocation::Memory => Ok(BookSnapshot { book: Arc::default(), stamp: None }),
            ApprovalsLocation::Nowhere(why) => Err(nowhere(why)),
            ApprovalsLocation::File(file) => match look(file)? {
                BookRead::Book(known) => Ok(known),
                BookRead::Damaged => {
                    // Set aside under the lock alone: another may be doing so.
                    let _until_aside = lock_now(file)?;
                    self.read_locked(file)
                }
            },
        }
    }

    /// The same by who has the lock: a file that is damaged is set aside and counts as empty.
    fn read_locked(&self, file: &OwnFile) -> Result<BookSnapshot> {
        match look(file)? {
            BookRead::Book(known) => Ok(known),
            BookRead::Damaged => {
                let aside = file.set_aside()?;
                self.warn(&format!("the file of approvals cannot be read; it is kept as {aside}"));
                Ok(BookSnapshot { book: Arc::default(), stamp: None })
            }
        }
    }

    fn publish(&self, known: BookSnapshot) -> Arc<Book> {
        let book = known.book.clone();
        *guard(&self.known) = Some(known);
        self.is_unread.store(false, Ordering::Release);
        book
    }

    fn warn(&self, message: &str) {
        tracing::warn!("the file of approvals could not be used as it was");
        if let Some(warn) = self.warn.get() {
            warn(message);
        }
    }
}

/// The root of a project's folder, with every link resolved: one directory has one, however it is
/// spelled (S-11).
///
/// # Errors
/// `invalid_argument` for a folder that is not there, or whose path is no Unicode.
pub(crate) fn root_of(folder: &Path) -> Result<ProjectRoot> {
    let wrong = |message: String| Err(Error::new(ErrorCode::InvalidArgument, message));
    // The empty path is the current directory, as for everything else.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match std::fs::canonicalize(folder).map(|root| root.into_os_string().into_string()) {
        Ok(Ok(root)) => Ok(ProjectRoot::of_canonical(root)),
        Ok(Err(_)) => wrong("the path of the workspace is no Unicode".to_owned()),
        Err(error) => wrong(format!("the workspace cannot be found: {error}").to_lowercase()),
    }
}

/// What a look at the file gave.
enum BookRead {
    Book(BookSnapshot),
    Damaged,
}

/// What tells one state of the file from another, where nobody else could have put it there.
fn stamp_of(file: &OwnFile) -> Result<FileVersion> {
    file.check_folder()?;
    file.stamp()
}

fn look(file: &OwnFile) -> Result<BookRead> {
    // Before the file is read, so that it is never newer than what was read.
    let stamp = Some(stamp_of(file)?);
    let book = match file.read()? {
        FileContent::Nothing => Book::default(),
        FileContent::TooLong => return Ok(BookRead::Damaged),
        FileContent::Bytes(bytes) => match Book::parse(&bytes) {
            Ok(book) => book,
            Err(Unreadable::Damaged) => return Ok(BookRead::Damaged),
            Err(Unreadable::Later) => return Err(file.later_version_error()),
        },
    };
    Ok(BookRead::Book(BookSnapshot { book: Arc::new(book), stamp }))
}

fn nowhere(why: &str) -> Error {
    Error::new(ErrorCode::Store, why)
        .with_hint("set the option `approvals` or the variable TRUNKLINE_HOME")
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Milliseconds since 1970.
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
