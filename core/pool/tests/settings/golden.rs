//! The files, one by one.

use std::path::{Path, PathBuf};

use trunkline_pool::settings::{FORMATS, ReadOptions, read};

use crate::shown::shown;

/// Every settings file below `files`: its path from there, and its text.
pub(crate) fn files() -> Vec<(String, String)> {
    let root = folder();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|end| end != "reading") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(found.len() >= FORMATS.len());
    found
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/settings/files")
}

/// SPEC 10.3, 10.4, 10.7, 10.9, 11.7: what each product writes is read unchanged, with the unit and
/// the meaning of its fields.
#[test]
fn every_file_has_its_reading() {
    let mut stale = Vec::new();
    for (name, text) in files() {
        let options =
            ReadOptions { workspace: Some("/srv/project".into()), ..ReadOptions::default() };
        let source = read(&text, &name, &options).unwrap();
        let reading = format!("{:#}\n", shown(&source));
        let path = folder().join(format!("{name}.reading"));
        if std::env::var_os("UPDATE_READINGS").is_some() {
            std::fs::write(&path, &reading).unwrap();
        }
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&reading) {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "read otherwise than written down: {stale:?}");
}

/// SPEC 10.3: the folder of a file names its product, and the file is known for one of that
/// product's by its name or its content.
#[test]
fn every_format_is_known_by_name_or_content() {
    let mut seen = Vec::new();
    for (name, text) in files() {
        let product = name.split('/').next().unwrap();
        let source = read(&text, &name, &ReadOptions::default()).unwrap();
        assert_eq!(source.format.name(), product, "{name}");
        seen.push(source.format);
    }
    let missing: Vec<_> = FORMATS.iter().filter(|format| !seen.contains(format)).collect();
    assert!(missing.is_empty(), "no file of {missing:?}");
}
