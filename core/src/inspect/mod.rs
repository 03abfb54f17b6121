//! What a person who mends a machine is told without a pool: which program a server would run, and
//! where files of the library are.

mod folders;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod network;
mod shell;
mod start;

use std::path::{Path, PathBuf, absolute};

use trunkline_pool::expand::{self, Commands};
use trunkline_pool::settings::{Platform, Template};

pub use self::folders::{FolderInUse, folders_in_use};
pub use self::network::{
    Way, certificate_variables, find_way, misread_proxies, proxy_variables, root_variables,
    trusted_roots,
};
pub use self::shell::{LoginShell, PATH_OF_DESKTOP, login_shell};
pub use self::start::{Start, Surroundings, find_start};

use crate::Result;
use crate::host_env::{HostVariables, looked_up_program};
use crate::storage::{DirPurpose, host_variable, user_folder};

/// The program that the start of a server would execute, by the very look-up of that start; `None`
/// for one that starts no program. Only looks.
///
/// The empty path is the current directory.
///
/// # Errors
/// `spawn_failed` when there is none, with `detail.command`; `invalid_config` and
/// `undefined_variable` of the fields that are looked at.
pub fn find_program(
    server: &str,
    template: &Template,
    workspace: impl AsRef<Path>,
) -> Result<Option<PathBuf>> {
    let workspace = whole(workspace.as_ref());
    let variables = HostVariables::new(&workspace);
    let looked_up = expand::look_up(template, &variables, Commands::Refused)?;
    let found = looked_up_program(server, &looked_up, &workspace, &[])?;
    Ok(found.map(|found| found.program))
}

/// The folders of this user in which the library keeps files that no option names; they need not be
/// there.
pub fn own_folders() -> Vec<PathBuf> {
    let folder = |purpose| user_folder(purpose, Platform::current(), host_variable).ok();
    let mut folders: Vec<PathBuf> =
        [DirPurpose::State, DirPurpose::Cache].into_iter().filter_map(folder).collect();
    folders.dedup();
    folders
}

/// The absolute path of a workspace; the empty one is the current directory.
fn whole(workspace: &Path) -> PathBuf {
    let folder = match workspace.as_os_str().is_empty() {
        true => std::env::current_dir(),
        false => absolute(workspace),
    };
    folder.unwrap_or_else(|_| workspace.to_owned())
}
