//! The committed header is what the sources stand for.

use trunkline_header::{generate, header_path};

/// SPEC 16.1. `UPDATE_HEADER=1` rewrites the header instead of comparing it.
#[test]
fn the_committed_header_is_current() {
    let generated = generate().unwrap();
    if std::env::var_os("UPDATE_HEADER").is_some_and(|value| value == "1") {
        std::fs::write(header_path(), &generated).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(header_path()).unwrap_or_default();
    let line = committed.lines().zip(generated.lines()).position(|(one, other)| one != other);
    assert!(
        committed == generated,
        "include/trunkline.h differs from line {} on; rewrite it with\n    \
         UPDATE_HEADER=1 cargo test -p trunkline-header",
        line.map_or_else(|| committed.lines().count(), |line| line + 1)
    );
}
