//! Roots that are files, and what is none.

use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::folder::Folder;

fn certificate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/process/environment/certificates/authority.pem")
}

fn count(file: Option<&Path>, folders: &[&Path]) -> Option<Result<usize, String>> {
    let folders = (!folders.is_empty()).then(|| std::env::join_paths(folders).unwrap());
    let named = of_variables(file.map(|file| file.as_os_str().to_owned()), folders)?;
    Some(named.map(|roots| roots.len()))
}

fn pipe(folder: &Folder, name: &str) -> PathBuf {
    let pipe = folder.join(name);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

/// SPEC 18.9, 4.6: a file that is none, has no end or is too long is refused at once, by the
/// variable that names it.
#[test]
fn a_file_of_roots_that_cannot_be_read_is_named() {
    let folder = Folder::new();
    let (long, empty) = (folder.join("long"), folder.join("empty"));
    std::fs::File::create(&long).unwrap().set_len(BYTES_MAX as u64 + 1).unwrap();
    std::fs::write(&empty, "no certificate").unwrap();
    for (file, words) in [
        (pipe(&folder, "pipe"), "`SSL_CERT_FILE` names"),
        (pipe(&folder, "other"), "a pipe"),
        ("/dev/zero".into(), "a device"),
        (folder.join(""), "a folder"),
        (folder.join("missing"), "No such file"),
        (long, "longer than 16 MiB"),
        (empty, "neither `SSL_CERT_FILE`"),
        (PathBuf::new(), "`SSL_CERT_FILE` names"),
    ] {
        let refused = count(Some(&file), &[]).unwrap().unwrap_err();
        assert!(refused.contains(words), "{}: {refused}", file.display());
    }
    let refused = count(None, &[&folder.join("missing")]).unwrap().unwrap_err();
    assert!(refused.starts_with("`SSL_CERT_DIR` names"), "{refused}");
}

/// SPEC 4.6: what can be read counts, each certificate once; what is in a folder and is no file is
/// passed over.
#[test]
fn what_can_be_read_of_the_roots_counts() {
    let (folder, bare) = (Folder::new(), Folder::new());
    let of_folder = folder.join("a.pem");
    std::fs::copy(certificate(), &of_folder).unwrap();
    std::os::unix::fs::symlink(&of_folder, folder.join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("dangling")).unwrap();
    std::fs::create_dir(folder.join("folder")).unwrap();
    let pipe = pipe(&folder, "pipe");
    let (folder, bare) = (folder.join(""), bare.join(""));
    for (file, folders, expected) in [
        (Some(certificate()), vec![], Some(1)),
        (None, vec![&*folder], Some(1)),
        (Some(certificate()), vec![&*folder, &*bare], Some(1)),
        (Some(pipe), vec![&*folder], Some(1)),
        (None, vec![Path::new("")], None),
        (None, vec![], None),
    ] {
        let found = count(file.as_deref(), &folders);
        assert_eq!(found, expected.map(Ok), "{file:?} {folders:?}");
    }
}
