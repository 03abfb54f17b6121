//! The map, `ARCHITECTURE.md`: each file and folder that it names exists.

use std::collections::BTreeSet;

use super::source::{self, Source};
use super::{Finding, finding};

const MAP: &str = "ARCHITECTURE.md";

/// A name in backticks that begins with one of these is a path.
const FOLDERS: [&str; 3] = ["core/", "ffi/", "bindings/"];

#[test]
fn what_the_map_names_exists() {
    let files = source::tracked();
    let map = files.iter().find(|file| file.path == MAP).expect("the map");
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    let missing: Vec<_> = missing_names(map, &paths)
        .into_iter()
        .map(|found| format!("{MAP}:{}: {}", found.line, found.what))
        .collect();
    assert!(missing.is_empty(), "{} names:\n{}", missing.len(), missing.join("\n"));
}

/// The names of files and paths that lead nowhere. One that is no path from the root is looked for
/// below the folder that its row names first.
fn missing_names(map: &Source, paths: &[&str]) -> Vec<Finding> {
    let mut known: BTreeSet<&str> = paths.iter().copied().collect();
    for path in paths {
        known.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    let mut found = Vec::new();
    for (line, text) in map.text.lines().enumerate() {
        let names: Vec<_> = text.split('`').skip(1).step_by(2).collect();
        let first =
            names.first().copied().filter(|name| text.starts_with('|') && known.contains(name));
        let folder = first.map(|name| match name.rsplit_once('/') {
            Some((folder, file)) if file.contains('.') => folder,
            _ => name,
        });
        let is_below = |name: &str| {
            let (Some(folder), tail) = (folder, format!("/{name}")) else { return false };
            let below =
                |path: &str| path.strip_prefix(folder).is_some_and(|it| it.starts_with('/'));
            paths.iter().any(|path| below(path) && path.ends_with(&tail))
        };
        // A function of a flow has its own test.
        let is_function = |name: &str| name.contains("::");
        let is_named = |name: &&str| {
            let is_path = FOLDERS.iter().any(|folder| name.starts_with(folder));
            name.ends_with(".rs") || is_path && !is_function(name)
        };
        let leads_nowhere =
            |name: &&str| !known.contains(name.trim_end_matches('/')) && !is_below(name);
        let missing = names.iter().copied().filter(is_named).filter(leads_nowhere);
        found.extend(missing.map(|name| finding(line + 1, format!("`{name}` does not exist"))));
    }
    found
}

/// Planted: each row of the table is a line of the map, and what of it leads nowhere.
#[test]
fn a_name_that_leads_nowhere_is_found() {
    let paths =
        ["core/src/net/tls.rs", "core/src/net/tls/tests.rs", "core/src/roots.rs", "ffi/src/a.rs"];
    let rows: [(&str, &[&str]); 11] = [
        ("| `core/src/net` | `tls.rs` has it, and `tls/tests.rs` |", &[]),
        ("| `core/src/net/tls.rs` | and `tests.rs` below `core/src/net/` |", &[]),
        ("| `ffi` | `a.rs`, `cargo test` and `docs/gone` |", &[]),
        ("see `core/src/roots.rs`", &[]),
        ("goes to `core/usage::count`", &[]),
        ("| `core/src/net` | `roots.rs` is not below it |", &["roots.rs"]),
        ("| `core/src/net` | `ls.rs` is the end of another name |", &["ls.rs"]),
        ("| `core/src/ne` | nor is `tls.rs` below that |", &["core/src/ne", "tls.rs"]),
        ("see `tls.rs`, which no row places", &["tls.rs"]),
        ("see `bindings/node` and `ffi/src/b.rs`", &["bindings/node", "ffi/src/b.rs"]),
        ("| `core/src/lookup` | it moved |", &["core/src/lookup"]),
    ];
    for (row, missing) in rows {
        let found = missing_names(&Source::new(MAP, row), &paths);
        let told: Vec<_> = found.into_iter().map(|found| found.what).collect();
        let expected: Vec<_> =
            missing.iter().map(|name| format!("`{name}` does not exist")).collect();
        assert_eq!(told, expected, "{row}");
    }
}
