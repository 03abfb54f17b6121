//! The way from the root to a declared path as the system goes it: through which folders, by which
//! names, over which links.
//!
//! A path means something else exactly when one of those names in one of those folders does. So
//! these folders are what is watched, and a trail ends where a name is not there: the folder that
//! would hold it is its last.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trail {
    /// In the order they are passed.
    pub(super) steps: Vec<Step>,
    pub(super) end: TrailEnd,
}

/// One name that is looked up on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) folder: Folder,
    /// `None` where every name in the folder counts: the path is that folder.
    pub(super) name: Option<Name>,
}

/// A folder on the way, by a path without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) id: FolderId,
}

/// Which folder it is, whatever it is called. Numbers come again after a folder is gone, so that
/// one which has the same is not always the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FolderId {
    #[cfg(unix)]
    inode: (u64, u64),
    #[cfg(not(unix))]
    path: PathBuf,
    created: Option<SystemTime>,
}

/// A name in a folder, without its case: where a file system tells case apart, a name that differs
/// in it alone is looked at for nothing. Where it does not, no name is missed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(String);

/// What is at the end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TrailEnd {
    There(Mark),
    Missing,
    /// The system did not say what is there: no permission, links without end, a file where a
    /// folder has to be.
    Unknown(ErrorKind),
}

/// What differs when a file was written, except within one tick of the file system's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    id: FolderId,
    bytes: u64,
    pub(super) changed: Option<SystemTime>,
}

impl Trail {
    /// Follows an absolute path as far as it goes. Looks things up and opens nothing.
    pub(super) fn of(path: &Path) -> Trail {
        let mut way = PathWalk::new(path);
        let end = match way.walk() {
            Ok(end) => end,
            Err(ErrorKind::NotFound) => TrailEnd::Missing,
            Err(kind) => TrailEnd::Unknown(kind),
        };
        Trail { steps: way.steps, end }
    }
}

impl Name {
    pub(super) fn of(name: &OsStr) -> Name {
        Name(name.to_string_lossy().to_lowercase())
    }
}

impl Mark {
    fn of(path: &Path, found: &Metadata) -> Mark {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt;
            let seconds = u64::try_from(found.ctime()).unwrap_or_default();
            let nanos = u64::try_from(found.ctime_nsec()).unwrap_or_default();
            let since = std::time::Duration::from_secs(seconds)
                .checked_add(std::time::Duration::from_nanos(nanos));
            since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since))
        };
        #[cfg(not(unix))]
        let changed = found.modified().ok();
        Mark { id: FolderId::of(path, found), bytes: found.len(), changed }
    }
}

impl FolderId {
    #[cfg(unix)]
    fn of(_path: &Path, found: &Metadata) -> FolderId {
        use std::os::unix::fs::MetadataExt;
        FolderId { inode: (found.dev(), found.ino()), created: found.created().ok() }
    }

    #[cfg(not(unix))]
    fn of(path: &Path, found: &Metadata) -> FolderId {
        FolderId { path: path.to_owned(), created: found.created().ok() }
    }
}

/// A walk along a path.
struct PathWalk {
    /// Where it is: a folder, by a path without links.
    here: PathBuf,
    /// What is still to go, the next one last.
    ahead: Vec<PathBuf>,
    links: usize,
    steps: Vec<Step>,
}

impl PathWalk {
    fn new(path: &Path) -> PathWalk {
        let mut way =
            PathWalk { here: PathBuf::new(), ahead: Vec::new(), links: 0, steps: Vec::new() };
        way.lead(path);
        way
    }

    /// Puts a path before what is still to go.
    fn lead(&mut self, path: &Path) {
        self.ahead.extend(path.components().rev().map(|part| PathBuf::from(part.as_os_str())));
    }

    fn walk(&mut self) -> Result<TrailEnd, ErrorKind> {
        let mut end = None;
        while let Some(part) = self.ahead.pop() {
            match part.components().next() {
                Some(Component::Prefix(prefix)) => self.here = prefix.as_os_str().into(),
                Some(Component::RootDir) => self.begin_at_root(),
                Some(Component::ParentDir) => drop(self.here.pop()),
                Some(Component::CurDir) | None => {}
                Some(Component::Normal(name)) => end = self.step(name)?,
            }
        }
        match end {
            Some(end) => Ok(end),
            None => self.arrive(),
        }
    }

    /// Goes to the root of where it is: an absolute target of a link need not name the drive.
    fn begin_at_root(&mut self) {
        let prefix = self.here.components().next();
        let prefix = prefix.filter(|part| matches!(part, Component::Prefix(_)));
        let mut root = prefix.map(|part| PathBuf::from(part.as_os_str())).unwrap_or_default();
        root.push(Component::RootDir);
        self.here = root;
    }

    /// Looks one name up; the mark of what is there when it is no folder.
    fn step(&mut self, name: &OsStr) -> Result<Option<TrailEnd>, ErrorKind> {
        let folder = self.folder()?;
        self.steps.push(Step { folder, name: Some(Name::of(name)) });
        let path = self.here.join(name);
        let found = fs::symlink_metadata(&path).map_err(|error| error.kind())?;
        if found.is_symlink() {
            self.links += 1;
            if self.links > LINKS_MAX {
                return Err(ErrorKind::Other);
            }
            let target = fs::read_link(&path).map_err(|error| error.kind())?;
            self.lead(&target);
            return Ok(None);
        }
        if found.is_dir() {
            self.here = path;
            return Ok(None);
        }
        match self.ahead.is_empty() {
            true => Ok(Some(TrailEnd::There(Mark::of(&path, &found)))),
            false => Err(ErrorKind::NotADirectory),
        }
    }

    /// The path is a folder.
    fn arrive(&mut self) -> Result<TrailEnd, ErrorKind> {
        let found = fs::metadata(&self.here).map_err(|error| error.kind())?;
        let mark = Mark::of(&self.here, &found);
        let folder = self.folder()?;
        self.steps.push(Step { folder, name: None });
        Ok(TrailEnd::There(mark))
    }

    fn folder(&self) -> Result<Folder, ErrorKind> {
        let found = fs::metadata(&self.here).map_err(|error| error.kind())?;
        Ok(Folder { path: self.here.clone(), id: FolderId::of(&self.here, &found) })
    }
}

/// As many as Linux follows.
const LINKS_MAX: usize = 40;
