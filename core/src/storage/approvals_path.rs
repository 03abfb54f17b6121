//! Where decisions are kept.

use std::ffi::OsString;
use std::path::Path;

use trunkline_pool::settings::Platform;

use super::{DirPurpose, OwnFile, host_variable, user_folder};
use crate::{Error, ErrorCode, Result};

/// Where decisions are kept.
pub(crate) enum ApprovalsLocation {
    Memory,
    File(OwnFile),
    /// There is no folder for them; why.
    Nowhere(String),
}

impl ApprovalsLocation {
    pub(crate) fn of_option(option: Option<&str>) -> Result<ApprovalsLocation> {
        match option {
            None => Ok(ApprovalsLocation::of_user(Platform::current(), host_variable)),
            Some("memory") => Ok(ApprovalsLocation::Memory),
            Some(path) => {
                let path = Path::new(path);
                if !path.is_absolute() || path.file_name().is_none() {
                    // A host that starts elsewhere would look for it elsewhere, or a repository
                    // would hold it.
                    let message = "`approvals` is neither `memory` nor the whole path of a file";
                    return Err(Error::new(ErrorCode::InvalidArgument, message)
                        .with_detail("path", "approvals")
                        .with_hint(
                            "give a path that begins at the root; `~` stands for nothing here",
                        ));
                }
                Ok(ApprovalsLocation::of_path(path))
            }
        }
    }

    /// The file in the user's folder of states, or where `TRUNKLINE_HOME` says.
    pub(crate) fn of_user(
        platform: Platform,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> ApprovalsLocation {
        match user_folder(DirPurpose::State, platform, variable) {
            Ok(folder) => ApprovalsLocation::of_path(&folder.join("approvals.json")),
            Err(why) => ApprovalsLocation::Nowhere(why.to_owned()),
        }
    }

    fn of_path(path: &Path) -> ApprovalsLocation {
        ApprovalsLocation::File(OwnFile::new(path, "approvals"))
    }
}
