//! Where a file is, as far as trust goes (SPEC 10.1, 11.3).
//!
//! The workspace is judged by the path, by its folder and by where links lead; any of them is
//! enough. Otherwise a link would make the workspace's settings the user's.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use trunkline_pool::layers::Scope;
use trunkline_pool::settings::{FileScope, Platform, known_files};

use crate::host_env::settings_discovery::{folders_of_home, home_folder, known_scope};
use crate::platform::{home_of_user, is_users_alone};
use crate::watch;

/// Whether what is in the workspace says what a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkspaceSide {
    /// The workspace holds it, or a link or a folder on the way to it.
    Inside,
    Outside,
}

impl WorkspaceSide {
    /// The place of an absolute path at this moment, whether it is there or not. Blocks for some
    /// look-ups.
    ///
    /// Of a way that ends early the last folder is one in which a name was looked up: one that
    /// leads into the workspace and is missing there is inside.
    ///
    /// What products keep in the user's own folder is the user's, whatever the workspace: see
    /// [`is_users_own`].
    pub(crate) fn of(path: &Path, workspace: &Path) -> WorkspaceSide {
        WorkspaceSide::of_found(path, workspace, &std::fs::metadata(path).ok())
    }

    /// The same of a file that was found or opened: its owner and mode count, and not those of
    /// another that has its name by now.
    pub(crate) fn of_found(
        path: &Path,
        workspace: &Path,
        found: &Option<Metadata>,
    ) -> WorkspaceSide {
        // The workspace is written as the system writes it, which a folder of the way need not be.
        let is_inside = |folder: &Path| {
            std::fs::canonicalize(folder).is_ok_and(|folder| folder.starts_with(workspace))
        };
        let is_named = path.starts_with(workspace);
        let ways_inside = || watch::folders_on_the_way(path).iter().any(|folder| is_inside(folder));
        match (is_named || ways_inside()) && !is_users_own(path, workspace, found) {
            true => WorkspaceSide::Inside,
            false => WorkspaceSide::Outside,
        }
    }

    /// Whether a file at that place may be a source of a scope: one of the workspace waits for
    /// approval, or was named at launch.
    pub(crate) fn allows(self, scope: Scope) -> bool {
        self == WorkspaceSide::Outside || scope.is_gated() || scope == Scope::Launch
    }

    /// The scope that the place implies.
    pub(crate) fn scope(self, path: &Path, workspace: &Path) -> Scope {
        match self {
            WorkspaceSide::Inside => {
                let folder = path.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
                let is_root = folder.is_some_and(|folder| folder == workspace);
                match is_root && path.file_name().is_some_and(|name| name == ".mcp.json") {
                    true => Scope::Project,
                    false => Scope::Workspace,
                }
            }
            // What the workspace does not hold, it cannot pass off as its own.
            WorkspaceSide::Outside => match known_scope(path, workspace) {
                Some(scope) if !scope.is_gated() => scope,
                Some(_) | None => Scope::User,
            },
        }
    }
}

/// Whether a file of the workspace is one that a product keeps for the user: by its exact path in
/// the home folder, to which no link within the workspace leads, and which the user alone may write
/// (SPEC 18.9).
///
/// The home folder is that of the system's table of users: one that the environment names could be
/// a project's. Where the workspace is the folder that the environment names, who says so also says
/// that of the user's files.
fn is_users_own(path: &Path, workspace: &Path, found: &Option<Metadata>) -> bool {
    let named = home_folder(Platform::current()).filter(|home| is_same(home, workspace));
    let by_environment = named
        .filter(|_| known_scope(path, workspace) == Some(Scope::User))
        .map(|home| (home, true));
    let homes = by_environment.into_iter().chain(home_of_user().map(|home| (home, false)));
    homes.into_iter().any(|(home, is_known)| {
        let is_known = is_known || is_kept_in(path, &home);
        is_known && is_reached(path, &home, workspace) && found.as_ref().is_none_or(is_users_alone)
    })
}

/// Whether two paths lead to one folder. The second is written as the system writes it.
fn is_same(path: &Path, folder: &Path) -> bool {
    std::fs::canonicalize(path).is_ok_and(|path| path == folder)
}

/// Whether a product keeps a file for the user at that place of a home folder, by the table of
/// products alone.
fn is_kept_in(path: &Path, home: &Path) -> bool {
    let folders = folders_of_home(Platform::current(), home);
    let kept = known_files(Platform::current(), &folders);
    kept.iter().any(|file| file.scope == FileScope::User && Path::new(&file.path) == path)
}

/// Whether no link leads to a file from one place of the workspace to another; links on the way to
/// the home folder are the system's.
fn is_reached(path: &Path, home: &Path, workspace: &Path) -> bool {
    let end = match (path.strip_prefix(home), std::fs::canonicalize(home)) {
        (Ok(rest), Ok(home)) => home.join(rest),
        _ => path.to_owned(),
    };
    let is_straight = |folder: PathBuf| match std::fs::canonicalize(folder) {
        Ok(folder) => !folder.starts_with(workspace) || end.starts_with(folder),
        // Nothing is reached through what is not there.
        Err(_) => true,
    };
    watch::folders_on_the_way(path).into_iter().all(is_straight) && is_straight(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use crate::host_env::settings_discovery::folders;

    /// SPEC 18.9: what products keep for the user is the user's where the workspace holds the home
    /// folder too, as `/` does.
    #[test]
    fn the_users_files_are_the_users_in_a_workspace_above_them() {
        let home = home_of_user().unwrap();
        for (file, place) in [
            (".cursor/mcp.json", WorkspaceSide::Outside),
            (".cursor/other.json", WorkspaceSide::Inside),
        ] {
            assert_eq!(WorkspaceSide::of(&home.join(file), Path::new("/")), place, "{file}");
        }
    }

    /// SPEC 10.1: the files that products are known by are of the scope that they are known to
    /// have, and of no other by another's name.
    #[test]
    fn a_known_file_is_of_the_scope_that_it_is_known_to_have() {
        // A folder that holds no file of the user's.
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
        let platform = Platform::current();
        let known = known_files(platform, &folders(platform, &workspace));
        let mut seen: Vec<Scope> = Vec::new();
        for file in known {
            let (path, scope) = (Path::new(&file.path), Scope::from(file.scope));
            let place = WorkspaceSide::of(path, &workspace);
            assert_eq!(place == WorkspaceSide::Inside, scope.is_gated(), "{path:?}");
            assert_eq!(place.scope(path, &workspace), scope, "{path:?}");
            seen.push(scope);
        }
        for scope in [Scope::User, Scope::Project, Scope::Workspace, Scope::Managed] {
            assert!(seen.contains(&scope), "{scope}");
        }
        let other = Path::new("/srv/other/.mcp.json");
        assert_eq!(WorkspaceSide::of(other, &workspace).scope(other, &workspace), Scope::User);
    }

    /// SPEC 18.9: in a workspace that holds the home folder, as `/` does, what a product keeps for
    /// the user at its exact place is the user's; what is elsewhere, what a link of the workspace
    /// leads to and what others may write is not.
    #[cfg(unix)]
    #[test]
    fn what_products_keep_in_the_home_folder_is_the_users() {
        use std::fs::Permissions;
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new();
        let (workspace, home) = (&*folder, folder.join("home/u"));
        let written = |file: &str, mode| {
            let path = home.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let is_own_from = |home: &Path, path: &Path| {
            let found = std::fs::metadata(path).ok();
            is_kept_in(path, home)
                && is_reached(path, home, workspace)
                && found.as_ref().is_none_or(is_users_alone)
        };
        let is_own = |path: &Path| is_own_from(&home, path);
        let dotfiles = written("dotfiles/mcp.json", 0o600);
        for (file, mode, expected) in [
            (".cursor/mcp.json", 0o600, true),
            (".config/zed/settings.json", 0o644, true),
            (".codex/config.toml", 0o664, false),
            (".qwen/settings.json", 0o646, false),
            (".mcp.json", 0o600, false),
            (".vscode/mcp.json", 0o600, false),
            ("project/.cursor/mcp.json", 0o600, false),
        ] {
            assert_eq!(is_own(&written(file, mode)), expected, "{file}");
        }
        // What is not there yet has its place.
        assert!(is_own(&home.join(".gemini/settings.json")));
        let kiro = home.join(".kiro/settings");
        std::fs::create_dir_all(&kiro).unwrap();
        symlink(&dotfiles, kiro.join("mcp.json")).unwrap();
        assert!(!is_own(&kiro.join("mcp.json")));
        symlink(home.join("dotfiles"), home.join(".gemini")).unwrap();
        assert!(!is_own(&home.join(".gemini/settings.json")));
        // A link of the system to the home folder does not belong to the workspace, and one beyond
        // the workspace is no link into it.
        let linked = folder.join("u");
        symlink(&home, &linked).unwrap();
        assert!(is_own_from(&linked, &linked.join(".cursor/mcp.json")));
        let outside = Folder::new();
        std::fs::write(outside.join("c.yaml"), "").unwrap();
        std::fs::create_dir_all(home.join(".continue")).unwrap();
        symlink(outside.join("c.yaml"), home.join(".continue/config.yaml")).unwrap();
        assert!(is_own(&home.join(".continue/config.yaml")));
    }
}
