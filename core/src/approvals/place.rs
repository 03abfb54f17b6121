//! Where decisions are kept.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use trunkline_pool::settings::Platform;

use crate::store::OwnFile;
use crate::{Error, ErrorCode, Result};

/// Where decisions are kept.
pub(super) enum Place {
    Memory,
    File(OwnFile),
    /// There is no folder for them; why.
    Nowhere(String),
}

impl Place {
    pub(super) fn of_option(option: Option<&str>) -> Result<Place> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match option {
            None => Ok(Place::of_user(Platform::current(), variable)),
            Some("memory") => Ok(Place::Memory),
            Some(path) => {
                let path = Path::new(path);
                if !path.is_absolute() || path.file_name().is_none() {
                    // Whoever starts the host elsewhere would look for it elsewhere, or a repository would hold it.
                    let message = "`approvals` is neither `memory` nor the whole path of a file";
                    return Err(Error::new(ErrorCode::InvalidArgument, message)
                        .with_detail("path", "approvals")
                        .with_hint(
                            "give a path that begins at the root; `~` stands for nothing here",
                        ));
                }
                Ok(Place::of_path(path))
            }
        }
    }

    /// The file in the user's folder of states, or where `TRUNKLINE_HOME` says.
    pub(super) fn of_user(
        platform: Platform,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Place {
        if let Some(home) = variable("TRUNKLINE_HOME") {
            let home = PathBuf::from(home);
            return match home.is_absolute() {
                true => Place::of_path(&home.join("approvals.json")),
                // What was meant is not known, so that nothing is kept elsewhere.
                false => Place::Nowhere("the variable TRUNKLINE_HOME is no whole path".to_owned()),
            };
        }
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let states = match platform {
            Platform::Windows => folder("LOCALAPPDATA"),
            Platform::MacOs => folder("HOME").map(|home| home.join("Library/Application Support")),
            _ => folder("XDG_STATE_HOME")
                .or_else(|| folder("HOME").map(|home| home.join(".local/state"))),
        };
        match states {
            Some(states) => Place::of_path(&states.join("trunkline/approvals.json")),
            None => {
                Place::Nowhere("no folder of the user is known to keep approvals in".to_owned())
            }
        }
    }

    fn of_path(path: &Path) -> Place {
        Place::File(OwnFile::new(path, "approvals"))
    }
}
