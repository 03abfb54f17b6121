//! The pages of the documentation: each is in the navigation, each link leads somewhere, each
//! example is run or said not to be.
//!
//! What needs the whole site, `cargo xtask docs` looks at; this takes a second, and is a part of
//! `cargo xtask test`.

mod examples;
mod figures;
mod links;
mod navigation;
mod page;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Fails with all that was found.
#[track_caller]
fn nothing(found: Vec<String>) {
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}
