//! What is written is what was read, for every file of the library's own tests and every product.

use std::path::{Path, PathBuf};

use trunkline::settings::{FORMATS, Format, ReadOptions, Source, read};

use super::made;

/// The settings files of the tests of the reader.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pool/tests/settings/files");
    let (mut folders, mut files) = (vec![root], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "reading") => {}
                false => files.push(path),
            }
        }
    }
    assert!(files.len() >= FORMATS.len());
    files
}

fn options(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, workspace: Some("/srv/project".into()) }
}

/// The template of that name, and whether it is there.
fn same(before: &Source, after: &Source, name: &str) -> bool {
    let of = |source: &Source| {
        let found = source.servers.iter().find(|server| server.name == name);
        found.map(|server| server.template.clone().unwrap())
    };
    of(before) == of(after)
}

#[test]
fn what_is_written_is_read_as_what_it_was() {
    let (mut whole, mut with_loss) = (0, 0);
    for path in files() {
        let (content, file) = (std::fs::read_to_string(&path).unwrap(), path.to_str().unwrap());
        let before = read(&content, file, &options(None)).unwrap();
        for to in FORMATS.iter().copied() {
            let made = made(&content, (file, &options(None)), to).ok().unwrap();
            let after = read(&made.text, "made", &options(Some(to)));
            let after = after
                .unwrap_or_else(|error| panic!("{file} as {}: {error}\n{}", to.name(), made.text));
            let names: Vec<&str> = after.servers.iter().map(|server| &*server.name).collect();
            assert_eq!(names, made.servers, "{file} as {}", to.name());
            for name in &made.servers {
                let server = after.servers.iter().find(|server| server.name == *name).unwrap();
                assert!(
                    server.template.is_ok(),
                    "{file} as {}: {:?}\n{}",
                    to.name(),
                    server.template,
                    made.text
                );
                if made.lost.iter().any(|row| row["server"] == **name) {
                    with_loss += 1;
                } else {
                    whole += 1;
                    assert!(
                        same(&before, &after, name),
                        "{file} as {}: {name}\n{}",
                        to.name(),
                        made.text
                    );
                }
            }
        }
    }
    assert!(whole > with_loss / 4, "{whole} written whole, {with_loss} with a loss");
}
