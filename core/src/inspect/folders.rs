//! The folders of this machine that the library uses.

use std::io;
use std::path::{Path, PathBuf};

use trunkline_pool::settings::Platform;

use crate::host_env::runners;
use crate::host_env::settings_discovery::folders;
use crate::platform::{check_own_folder, may_write};
use crate::storage::{DirPurpose, host_variable, user_folder};

/// One folder.
#[derive(Clone, Debug)]
pub struct FolderInUse {
    /// What it is for: `state`, `cache`, `runners`, `temporary`, `home` or `config`.
    pub purpose: &'static str,
    /// Its path, or why there is none.
    pub path: std::result::Result<PathBuf, String>,
    /// Whether it is there.
    pub is_there: bool,
    /// Whether the library writes there.
    pub is_written: bool,
    /// Why it cannot be written or read.
    pub refusal: Option<String>,
}

/// Every folder that the library uses and that no option names. Only looks.
pub fn folders_in_use(workspace: impl AsRef<Path>) -> Vec<FolderInUse> {
    let own = |purpose| {
        let folder = user_folder(purpose, Platform::current(), host_variable);
        folder.map_err(str::to_owned)
    };
    let read = folders(Platform::current(), workspace.as_ref());
    let named = |path: Option<String>| path.map(PathBuf::from).ok_or("no folder is known".into());
    let runners = runners::folder().ok_or("no folder of the user is known".into());
    vec![
        written("state", own(DirPurpose::State), check_own_folder),
        written("cache", own(DirPurpose::Cache), check_own_folder),
        written("runners", runners, check_own_folder),
        written("temporary", Ok(std::env::temp_dir()), |_| Ok(())),
        only_read("home", named(read.home)),
        only_read("config", named(read.config)),
    ]
}

fn written(
    purpose: &'static str,
    path: std::result::Result<PathBuf, String>,
    trusted: fn(&Path) -> io::Result<()>,
) -> FolderInUse {
    let is_there = path.as_ref().is_ok_and(|path| path.exists());
    let refused = path.as_ref().ok().and_then(|path| {
        let trusted = if is_there { trusted(path) } else { Ok(()) };
        // One that is not there is made in the nearest that is.
        let nearest = path.ancestors().find(|folder| folder.exists()).unwrap_or(path);
        trusted.and_then(|()| as_folder(nearest)).and_then(|()| may_write(nearest)).err()
    });
    let refusal = refused.map(|error| error.to_string());
    FolderInUse { purpose, path, is_there, is_written: true, refusal }
}

fn only_read(purpose: &'static str, path: std::result::Result<PathBuf, String>) -> FolderInUse {
    let is_there = path.as_ref().is_ok_and(|path| path.exists());
    let refused = path.as_ref().ok().filter(|_| is_there).and_then(|path| as_folder(path).err());
    let refusal = refused.map(|error| error.to_string());
    FolderInUse { purpose, path, is_there, is_written: false, refusal }
}

fn as_folder(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path)?.is_dir() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}
