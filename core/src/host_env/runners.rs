//! The folder in which runners of packages work that the workspace names (SPEC 12.10).
//!
//! Such a runner prefers what it finds in the folder where it starts: packages, settings, another
//! registry. In the workspace that is what a repository brings, and nobody was shown it.

use std::path::{Path, PathBuf};

use trunkline_pool::approvals::is_package_runner;
use trunkline_pool::config::{ServerSpec, Transport};
use trunkline_pool::settings::Platform;

use crate::Result;
use crate::storage::{DirPurpose, OwnFile, host_variable, user_folder};

/// Gives a runner of packages that folder, unless its entry names one. Where no folder of the user
/// is known, it works in the workspace.
pub(crate) fn settle(spec: &mut ServerSpec) {
    let Transport::Stdio(stdio) = &mut spec.transport else { return };
    if stdio.cwd.is_none() && is_package_runner(stdio) {
        stdio.cwd = folder().and_then(|folder| folder.into_os_string().into_string().ok());
    }
}

/// Makes that folder, where a server works in it: for this user alone.
///
/// # Errors
/// `store` for a folder that cannot be made, or that others may write.
pub(crate) fn make(cwd: &Path) -> Result<()> {
    if folder().as_deref() != Some(cwd) {
        return Ok(());
    }
    let file = OwnFile::new(cwd.join("of-runners"), "package runners");
    file.make_folder()?;
    file.check_folder()
}

/// Its path, where a folder of the user is known.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = user_folder(DirPurpose::State, Platform::current(), host_variable).ok()?;
    Some(folder.join("runners"))
}
