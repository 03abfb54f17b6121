//! The user's own folders, in which files are that no option names.

use std::ffi::OsString;
use std::path::PathBuf;

use trunkline_pool::settings::Platform;

/// What a folder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirPurpose {
    /// What was decided or done, and must not be lost.
    State,
    /// What can be had again.
    Cache,
}

/// The folder of the library for that purpose, or the one that `TRUNKLINE_HOME` names for all of
/// them. Where none is known, why.
///
/// # Errors
/// The reason, in words.
pub(crate) fn user_folder(
    purpose: DirPurpose,
    platform: Platform,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, &'static str> {
    if let Some(home) = variable("TRUNKLINE_HOME") {
        let home = PathBuf::from(home);
        // What was meant is not known, so that nothing is kept elsewhere.
        let whole = home.is_absolute().then_some(home);
        return whole.ok_or("the variable TRUNKLINE_HOME is not a whole path");
    }
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let (of_mac, of_freedesktop, of_others) = match purpose {
        DirPurpose::State => ("Library/Application Support", "XDG_STATE_HOME", ".local/state"),
        DirPurpose::Cache => ("Library/Caches", "XDG_CACHE_HOME", ".cache"),
    };
    let base = match platform {
        Platform::Windows => folder("LOCALAPPDATA"),
        Platform::MacOs => folder("HOME").map(|home| home.join(of_mac)),
        _ => folder(of_freedesktop).or_else(|| folder("HOME").map(|home| home.join(of_others))),
    };
    Ok(base.ok_or("no folder of the user is known")?.join("trunkline"))
}

/// A variable of the host's environment; one that is empty is none.
pub(crate) fn host_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
