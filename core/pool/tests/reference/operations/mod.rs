//! What is written from the table of operations, and that the table has all of them.

mod c;
mod complete;
pub mod page;
mod rust;
mod text;

use std::path::{Path, PathBuf};

use trunkline_pool::interface::operations::Owner;

const OWNERS: [Owner; 3] = [Owner::Pool, Owner::Session, Owner::Lease];

/// SPEC 16.1: what is written from the table is as the table says.
#[test]
fn what_is_written_from_the_table_is_current() {
    let mut stale = Vec::new();
    let mut compare = |path: &str, text: String| {
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::write(place(path), &text).unwrap();
        }
        if std::fs::read_to_string(place(path)).ok() != Some(text) {
            stale.push(path.to_owned());
        }
    };
    for owner in OWNERS {
        compare(&format!("ffi/src/{}_work.rs", owner.word()), c::file(owner));
    }
    assert!(stale.is_empty(), "write the files anew with UPDATE_REFERENCE=1: {stale:?}");
}

fn place(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
