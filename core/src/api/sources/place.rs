//! Where a file is, as far as trust goes (SPEC 10.1, 11.3).

use std::path::Path;

use trunkline_pool::layers::Scope;
use trunkline_pool::settings::Platform;

use crate::detect::{home_folder, known_scope};
use crate::watch;

/// Whether what is in the workspace says what a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The workspace holds it, or a link or a folder on the way to it.
    Inside,
    Outside,
}

impl Place {
    /// The place of an absolute path at this moment, whether it is there or not. Blocks for some look-ups.
    ///
    /// Of a way that ends early the last folder is one in which a name was looked up: one that leads into the workspace and is missing
    /// there is inside.
    ///
    /// In the home folder itself, what products keep for its user is not the workspace's: who says where that folder is also says that
    /// of the user's files.
    pub(super) fn of(path: &Path, workspace: &Path) -> Place {
        if is_home(workspace) && known_scope(path, workspace) == Some(Scope::User) {
            return Place::Outside;
        }
        // The workspace is written as the system writes it, which a folder of the way need not be.
        let is_inside = |folder: &Path| {
            std::fs::canonicalize(folder).is_ok_and(|folder| folder.starts_with(workspace))
        };
        let is_named = path.starts_with(workspace);
        match is_named || watch::folders_on_the_way(path).iter().any(|folder| is_inside(folder)) {
            true => Place::Inside,
            false => Place::Outside,
        }
    }

    /// Whether a file at that place may be a source of a scope: one of the workspace waits for approval, or was named at launch.
    pub(super) fn allows(self, scope: Scope) -> bool {
        self == Place::Outside || scope.is_gated() || scope == Scope::Launch
    }

    /// The scope that the place implies.
    pub(super) fn scope(self, path: &Path, workspace: &Path) -> Scope {
        match self {
            Place::Inside => {
                let folder = path.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
                let is_root = folder.is_some_and(|folder| folder == workspace);
                match is_root && path.file_name().is_some_and(|name| name == ".mcp.json") {
                    true => Scope::Project,
                    false => Scope::Workspace,
                }
            }
            // What the workspace does not hold, it cannot pass off as its own.
            Place::Outside => match known_scope(path, workspace) {
                Some(scope) if !scope.is_gated() => scope,
                Some(_) | None => Scope::User,
            },
        }
    }
}

/// Whether a workspace is the user's own folder.
fn is_home(workspace: &Path) -> bool {
    let home = home_folder(Platform::current()).and_then(|home| std::fs::canonicalize(home).ok());
    home.is_some_and(|home| home == workspace)
}

#[cfg(test)]
mod tests {
    use trunkline_pool::settings::known_files;

    use super::*;
    use crate::detect::folders;

    /// SPEC 10.1: the files that products are known by are of the scope that they are known to have, and of no other by another's name.
    #[test]
    fn a_known_file_is_of_the_scope_that_it_is_known_to_have() {
        // A folder that holds none of the user's files.
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
        let platform = Platform::current();
        let known = known_files(platform, &folders(platform, &workspace));
        let mut seen: Vec<Scope> = Vec::new();
        for file in known {
            let (path, scope) = (Path::new(&file.path), Scope::from(file.scope));
            let place = Place::of(path, &workspace);
            assert_eq!(place == Place::Inside, scope.is_gated(), "{path:?}");
            assert_eq!(place.scope(path, &workspace), scope, "{path:?}");
            seen.push(scope);
        }
        for scope in [Scope::User, Scope::Project, Scope::Workspace, Scope::Managed] {
            assert!(seen.contains(&scope), "{scope}");
        }
        let other = Path::new("/srv/other/.mcp.json");
        assert_eq!(Place::of(other, &workspace).scope(other, &workspace), Scope::User);
    }
}
