//! A folder of one process, for its socket.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use crate::console::exit::Exit;
use crate::console::failure::Failure;

/// It goes with this.
pub(super) struct OwnFolder(PathBuf);

impl OwnFolder {
    /// Makes it in that folder.
    ///
    /// # Errors
    /// `Failed` where it cannot be made.
    pub(super) fn new(parent: PathBuf) -> Result<OwnFolder, Failure> {
        let folder = parent.join(std::process::id().to_string());
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&folder).map_err(|error| {
            Failure::new(Exit::Failed, format!("{} cannot be made: {error}", folder.display()))
        })?;
        Ok(OwnFolder(folder))
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // What stays of it is empty, and of no use to anybody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
