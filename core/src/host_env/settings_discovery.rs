//! Which settings files of products there are for a user and a workspace.
//!
//! It looks up and does not read: opening all of them would read files of programs that the host
//! never meant.

use std::fs::Metadata;
use std::path::{Path, PathBuf, absolute};

use trunkline_pool::layers::Scope;
use trunkline_pool::settings::{FileScope, Folders, KnownFile, Platform, known_files};

/// Lists the settings files of products that exist for this user and a workspace, in the order of
/// `docs/reference/settings.md`: within a product the least of its sources first.
///
/// The empty path is the current directory. Only whether each known path is a file is looked up;
/// nothing is opened, and nothing is written. A file that cannot be looked at counts as absent. The
/// user's folders are those that the environment says: `HOME`, `XDG_CONFIG_HOME`, on Windows
/// `USERPROFILE` and `APPDATA`.
pub fn detect(workspace: impl AsRef<Path>) -> Vec<KnownFile> {
    known(workspace.as_ref(), |found| found.is_file())
}

/// The known places where something stands that is no file: a person who looks for the settings
/// there is to hear of it.
#[doc(hidden)]
pub fn misfits(workspace: impl AsRef<Path>) -> Vec<KnownFile> {
    known(workspace.as_ref(), |found| !found.is_file())
}

/// The known places, whether anything stands there or not.
#[doc(hidden)]
pub fn known_places(workspace: impl AsRef<Path>) -> Vec<KnownFile> {
    let platform = Platform::current();
    known_files(platform, &folders(platform, workspace.as_ref()))
}

fn known(workspace: &Path, holds: impl Fn(&Metadata) -> bool) -> Vec<KnownFile> {
    let mut files = known_places(workspace);
    files.retain(|file| std::fs::metadata(&file.path).is_ok_and(|found| holds(&found)));
    files
}

/// The scope of a known file, by its place.
pub(crate) fn known_scope(path: &Path, workspace: &Path) -> Option<Scope> {
    let platform = Platform::current();
    let files = known_files(platform, &folders(platform, workspace));
    files.into_iter().find(|file| Path::new(&file.path) == path).map(|file| file.scope.into())
}

/// The folder of the project that a file belongs to by its place, where that is not the workspace,
/// and the file not the user's.
pub(crate) fn project_of<'a>(path: &'a Path, workspace: &Path) -> Option<&'a Path> {
    if path.starts_with(workspace) || known_scope(path, workspace).is_some() {
        return None;
    }
    // No product keeps a project's settings deeper than one folder below it.
    path.ancestors().skip(1).take(2).find(|root| {
        let workspace = root.to_str().map(str::to_owned);
        let folders = Folders { workspace, ..Folders::default() };
        let known = known_files(Platform::current(), &folders);
        known.iter().any(|file| Path::new(&file.path) == path && file.scope != FileScope::Managed)
    })
}

/// Where products keep their files.
pub(crate) fn folders(platform: Platform, workspace: &Path) -> Folders {
    let workspace = match workspace.as_os_str().is_empty() {
        true => std::env::current_dir(),
        false => absolute(workspace),
    };
    let home = home_folder(platform);
    let config =
        folder("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
    let application = match platform {
        Platform::Windows => folder("APPDATA"),
        Platform::MacOs => home.as_ref().map(|home| home.join("Library/Application Support")),
        _ => config.clone(),
    };
    // A path that is no Unicode has no form in the other languages.
    let text =
        |path: Option<PathBuf>| path.and_then(|path| path.into_os_string().into_string().ok());
    Folders {
        workspace: text(workspace.ok()),
        home: text(home),
        config: text(config),
        application: text(application),
    }
}

/// The same of a home folder by its path alone, whatever the environment says of the folders in it.
pub(crate) fn folders_of_home(platform: Platform, home: &Path) -> Folders {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    let application = match platform {
        Platform::Windows => home.join("AppData/Roaming"),
        Platform::MacOs => home.join("Library/Application Support"),
        _ => home.join(".config"),
    };
    Folders {
        workspace: None,
        home: text(home.to_owned()),
        config: text(home.join(".config")),
        application: text(application),
    }
}

/// The user's own folder.
pub(crate) fn home_folder(platform: Platform) -> Option<PathBuf> {
    folder(if platform == Platform::Windows { "USERPROFILE" } else { "HOME" })
}

/// The folder that a variable names; a relative one is none.
fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
