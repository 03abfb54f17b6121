//! The catalog cache: one file for each key, in a folder that all hosts of a user share (SPEC 14.2,
//! S-12).
//!
//! Who reads takes no lock, since a file is the old one or the new one. Who writes holds the lock
//! of the folder, and makes room.
//!
//! A digest over the text finds damage; it is no seal. A damaged catalog is written over, since it
//! can be had again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trunkline_pool::catalog_cache::{CacheKey, KEPT_FOR, Kept, TEXT_BYTES_MAX};
use trunkline_pool::options::CatalogCache;
use trunkline_pool::settings::Platform;

use crate::platform::FileLock;
use crate::storage::{
    AHEAD_MAX, DirPurpose, FILE_BYTES_MAX, FileContent, OwnFile, host_variable, lock_now,
    user_folder,
};
use crate::{Error, ErrorCode, Result};

/// Files of the folder. Of more the oldest go: those of servers that nobody has listed for longest.
const FILES_MAX: usize = 4096;

/// Bytes of all files together.
const BYTES_MAX: u64 = 64 << 20;

/// What makes room makes this share of it, so that it is not done again with the next file.
const ROOM_SHARE: usize = 4;

/// What a file is called after its key.
const ENDING: &str = ".json";

/// What a file is called that is being written.
const ENDING_NEW: &str = ".json.new";

const _: () = assert!(TEXT_BYTES_MAX <= FILE_BYTES_MAX);

/// The folder of catalogs.
pub(super) struct Disk {
    place: CatalogsLocation,
    pub(super) files_max: usize,
    pub(super) bytes_max: u64,
}

enum CatalogsLocation {
    Folder(PathBuf),
    /// There is none; why.
    Nowhere(&'static str),
}

/// What becomes of one key.
pub(super) enum Write {
    /// This was listed.
    Keep(Kept),
    /// What was listed is not to be kept, so that what is there is out of date.
    Remove,
}

impl Disk {
    /// The folder of the option `cache`, if there is to be one. The disk is not touched.
    ///
    /// # Errors
    /// `invalid_argument` for what is no whole path.
    pub(super) fn of_option(option: &CatalogCache) -> Result<Option<Disk>> {
        let place = match option {
            CatalogCache::Off => return Ok(None),
            CatalogCache::On => {
                match user_folder(DirPurpose::Cache, Platform::current(), host_variable) {
                    Ok(folder) => CatalogsLocation::Folder(folder.join("catalogs")),
                    Err(why) => CatalogsLocation::Nowhere(why),
                }
            }
            CatalogCache::Folder(path) if Path::new(path).is_absolute() => {
                CatalogsLocation::Folder(path.into())
            }
            CatalogCache::Folder(_) => {
                // A host that starts elsewhere would look for it elsewhere.
                let message = "`cache` is neither `on` nor `off` nor the whole path of a folder";
                return Err(Error::new(ErrorCode::InvalidArgument, message)
                    .with_detail("path", "cache")
                    .with_hint(
                        "give a path that begins at the root; `~` stands for nothing here",
                    ));
            }
        };
        Ok(Some(Disk { place, files_max: FILES_MAX, bytes_max: BYTES_MAX }))
    }

    /// What is kept of these keys and counts now, and the first of what could not be read or is not
    /// to be trusted.
    pub(super) fn read(&self, keys: &[CacheKey]) -> (Vec<Option<Kept>>, Result<()>) {
        let folder = match self.trusted_folder() {
            Ok(folder) => folder,
            Err(error) => return (keys.iter().map(|_| None).collect(), Err(error)),
        };
        let mut outcome = Ok(());
        let read = |key| {
            read_one(folder, key, now_ms()).unwrap_or_else(|error| {
                if outcome.is_ok() {
                    outcome = Err(error);
                }
                None
            })
        };
        (keys.iter().map(read).collect(), outcome)
    }

    /// Writes what is news, and makes room.
    ///
    /// # Errors
    /// `store`, the first of them. The others are written all the same, unless nothing can be.
    pub(super) fn write(&self, writes: &[(CacheKey, Write)]) -> Result<()> {
        let folder = self.trusted_folder()?;
        let news: Vec<_> = writes.iter().filter(|write| is_news(folder, write)).collect();
        if news.is_empty() {
            return Ok(());
        }
        let _lock = self.lock(folder)?;
        let mut outcome = Ok(());
        // Looked at once more: another process may have listed meanwhile.
        for (key, write) in news.into_iter().filter(|write| is_news(folder, write)) {
            let written = match write {
                Write::Keep(kept) => write_one(folder, key, kept),
                Write::Remove => remove_one(folder, key),
            };
            outcome = outcome.and(written);
        }
        self.make_room(folder);
        outcome
    }

    /// The folder, which need not be there; never one in which others could put files of theirs.
    fn trusted_folder(&self) -> Result<&Path> {
        match &self.place {
            CatalogsLocation::Folder(folder) => {
                shared_file(folder).check_folder()?;
                Ok(folder)
            }
            CatalogsLocation::Nowhere(why) => Err(Error::new(ErrorCode::Store, *why)
                .with_hint("set the option `cache` or the variable TRUNKLINE_HOME")),
        }
    }

    /// The right to write in the folder, which is made if need be.
    fn lock(&self, folder: &Path) -> Result<FileLock> {
        let file = shared_file(folder);
        file.make_folder()?;
        file.check_folder()?;
        lock_now(&file)
    }

    /// Removes what counts no more or was left by a process that died, and the oldest of what is
    /// too much. The lock is held. What is not called as files are here is somebody else's.
    fn make_room(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let now = SystemTime::now();
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
            let age = now.duration_since(modified).unwrap_or_default();
            if is_named(name, ENDING_NEW) || (is_named(name, ENDING) && age > KEPT_FOR) {
                let _ = fs::remove_file(entry.path());
            } else if is_named(name, ENDING) {
                // A file of a time to come counts no more: the clock was set back, and what is
                // written by it is newer.
                let written = if modified > now + AHEAD_MAX { UNIX_EPOCH } else { modified };
                files.push((written, metadata.len(), entry.path()));
            }
        }
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        let mut count = files.len();
        if count <= self.files_max && bytes <= self.bytes_max {
            return;
        }
        let (files_max, bytes_max) = (part(self.files_max as u64) as usize, part(self.bytes_max));
        files.sort_unstable();
        for (_, length, path) in files {
            if count <= files_max && bytes <= bytes_max {
                return;
            }
            if fs::remove_file(path).is_ok() {
                count -= 1;
                bytes -= length;
            }
        }
    }
}

/// What is left of so many when room was made.
fn part(max: u64) -> u64 {
    max - max / ROOM_SHARE as u64
}

/// What stands for the whole folder: the name of its lock.
pub(super) fn shared_file(folder: &Path) -> OwnFile {
    OwnFile::new(folder.join("catalogs"), OF)
}

fn file_of(folder: &Path, key: &CacheKey) -> OwnFile {
    OwnFile::new(folder.join(key.digits() + ENDING), OF)
}

/// What errors call what a file is of.
const OF: &str = "kept catalogs";

fn is_named(name: &str, ending: &str) -> bool {
    let digits = name.strip_suffix(ending);
    digits
        .is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|it| it.is_ascii_hexdigit()))
}

fn read_one(folder: &Path, key: &CacheKey, now_ms: u64) -> Result<Option<Kept>> {
    Ok(match file_of(folder, key).read()? {
        FileContent::Bytes(bytes) => Kept::parse(key, &bytes, now_ms),
        FileContent::Nothing | FileContent::TooLong => None,
    })
}

/// Whether something is to be done. Of what cannot be read it comes out when it is written.
fn is_news(folder: &Path, (key, write): &(CacheKey, Write)) -> bool {
    match write {
        Write::Keep(kept) => match read_one(folder, key, now_ms()) {
            Ok(Some(older)) => kept.is_worth_writing_over(&older),
            Ok(None) | Err(_) => true,
        },
        Write::Remove => file_of(folder, key).exists().unwrap_or(false),
    }
}

fn write_one(folder: &Path, key: &CacheKey, kept: &Kept) -> Result<()> {
    match kept.to_text(key) {
        Some(text) => file_of(folder, key).write(text.as_bytes()),
        // What is there would be out of date.
        None => remove_one(folder, key),
    }
}

fn remove_one(folder: &Path, key: &CacheKey) -> Result<()> {
    file_of(folder, key).remove()
}

/// The time, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
