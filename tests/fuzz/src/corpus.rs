//! The inputs that are kept: one file each, in a folder for each target.

use std::path::PathBuf;

use crate::Target;

/// Where those of a target are.
pub fn folder(target: &Target) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// All of a target, in the order of their names, and each with its name.
///
/// # Panics
/// When the folder cannot be read: a target without a corpus is none.
pub fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = folder(target);
    let shown = folder.display();
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{shown}: {error}"));
    let mut inputs: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap_or_else(|error| panic!("{shown}: {error}")).path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, bytes)
        })
        .collect();
    inputs.sort();
    inputs
}
