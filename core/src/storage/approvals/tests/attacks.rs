//! What others, or a bad disk, put in the place of the file.

use super::*;

/// Approved as `s`, and what its file says.
fn approved() -> (Home, Vec<u8>) {
    let folder = Home::new();
    decide(&open(&folder.file()), "s", Approved).unwrap();
    let bytes = std::fs::read(folder.file()).unwrap();
    (folder, bytes)
}

/// Nothing is decided by such a file, and it stays as it is.
#[cfg(unix)]
fn assert_refused(folder: &Home, what: &str) {
    let approvals = open(&folder.file());
    let before = std::fs::symlink_metadata(folder.file()).unwrap();
    let hash = identity("c").hash;
    assert_eq!(
        approvals.standing(&root(), "s", hash).unwrap_err().code(),
        ErrorCode::Store,
        "{what}"
    );
    assert_eq!(approvals.reread_if_changed().unwrap_err().code(), ErrorCode::Store, "{what}");
    assert_eq!(decide(&approvals, "s", Approved).unwrap_err().code(), ErrorCode::Store, "{what}");
    assert_eq!(approvals.forget(&root(), "s").unwrap_err().code(), ErrorCode::Store, "{what}");
    let after = std::fs::symlink_metadata(folder.file()).unwrap();
    assert_eq!((before.file_type(), before.len()), (after.file_type(), after.len()), "{what}");
}

/// SPEC 12.6, S-12: no link, nothing but a file, of this user, written by nobody else, in a folder
/// where nobody else writes.
#[cfg(unix)]
#[test]
fn a_file_that_another_could_have_put_there_decides_nothing() {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    let (folder, bytes) = approved();
    let real = folder.0.join("real.json");
    std::fs::rename(folder.file(), &real).unwrap();
    symlink(&real, folder.file()).unwrap();
    assert_refused(&folder, "a link");
    assert_eq!(std::fs::read(&real).unwrap(), bytes);
    std::fs::remove_file(folder.file()).unwrap();
    symlink(folder.0.join("nothing"), folder.file()).unwrap();
    assert_refused(&folder, "a link to nothing");
    assert!(!folder.0.join("nothing").exists());
    std::fs::remove_file(folder.file()).unwrap();
    assert!(Command::new("mkfifo").arg(folder.file()).status().unwrap().success());
    assert_refused(&folder, "a pipe");
    std::fs::remove_file(folder.file()).unwrap();
    std::fs::create_dir(folder.file()).unwrap();
    assert_refused(&folder, "a folder");
    std::fs::remove_dir(folder.file()).unwrap();
    std::fs::write(folder.file(), &bytes).unwrap();
    for writable in [0o622, 0o660, 0o606, 0o666] {
        mode(&folder.file(), writable);
        assert_refused(&folder, "a file that others may write");
    }
    mode(&folder.file(), 0o600);
    // Who may not give a file away is no other user here.
    if chown(folder.file(), Some(65534), None).is_ok() {
        assert_refused(&folder, "a file of another user");
        chown(folder.file(), Some(owner_of(&real)), None).unwrap();
    }
    assert_eq!(standing(&open(&folder.file()), "s"), Some(Approved));
    mode(&folder.0.join("trunkline"), 0o777);
    assert_refused(&folder, "a folder that others may write");
    mode(&folder.0.join("trunkline"), 0o700);
}

/// The user whom a file of this test belongs to.
#[cfg(unix)]
fn owner_of(path: &Path) -> u32 {
    std::os::unix::fs::MetadataExt::uid(&path.metadata().unwrap())
}

/// SPEC 12.6, S-12, S-15: a damaged file decides nothing. It is kept aside as it was, no matter who
/// looks first, and that is told.
#[test]
fn a_damaged_file_is_set_aside_and_told() {
    let (folder, bytes) = approved();
    let text = String::from_utf8(bytes).unwrap();
    let damaged = [
        String::new(),
        "{".to_owned(),
        text.replacen("\"v\":1", "\"v\":1,\"v\":1", 1),
        text.replacen("approved", "Approved", 1),
        format!("{}{text}", " ".repeat(1 << 20)),
    ];
    for (number, damaged) in damaged.iter().enumerate() {
        std::fs::write(folder.file(), damaged).unwrap();
        let approvals = open(&folder.file());
        let warnings = warnings(&approvals);
        match number % 3 {
            0 => assert_eq!(standing(&approvals, "s"), None),
            1 => assert!(approvals.reread_if_changed().unwrap()),
            _ => drop(decide(&approvals, "t", Rejected).unwrap()),
        }
        assert_eq!(standing(&approvals, "s"), None);
        let aside = folder.beside("approvals.json.damaged-");
        assert_eq!(aside.len(), 1);
        assert_eq!(std::fs::read_to_string(&aside[0]).unwrap(), *damaged);
        let told = warnings.lock().unwrap().concat();
        assert!(told.contains(aside[0].to_str().unwrap()), "{told}");
        std::fs::remove_file(&aside[0]).unwrap();
    }
}

/// SPEC 12.6: a file that is damaged while this host runs counts as no decisions from the next look
/// on.
#[test]
fn damage_takes_back_what_was_known() {
    let (folder, _) = approved();
    let approvals = open(&folder.file());
    assert_eq!(standing(&approvals, "s"), Some(Approved));
    std::fs::write(folder.file(), "[]").unwrap();
    assert!(approvals.reread_if_changed().unwrap());
    assert_eq!(standing(&approvals, "s"), None);
    assert!(!folder.file().exists());
}

/// S-12: what a later version wrote is neither guessed at nor taken away.
#[test]
fn a_file_of_a_later_version_is_refused_and_left_alone() {
    let (folder, _) = approved();
    let known = open(&folder.file());
    assert_eq!(standing(&known, "s"), Some(Approved));
    let later = r#"{"v":3,"everything":"approved"}"#;
    std::fs::write(folder.file(), later).unwrap();
    assert_eq!(known.reread_if_changed().unwrap_err().code(), ErrorCode::Store);
    let hash = identity("c").hash;
    assert_eq!(known.standing(&root(), "s", hash).unwrap_err().code(), ErrorCode::Store);
    assert_eq!(decide(&known, "s", Approved).unwrap_err().code(), ErrorCode::Store);
    assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), later);
}

/// SPEC 12.6, 12.7: what was known stays known while the file cannot be read, and is not taken for
/// the newest.
#[test]
fn what_was_known_stays_known_while_the_file_cannot_be_read() {
    let (folder, bytes) = approved();
    let approvals = open(&folder.file());
    decide(&approvals, "s", Rejected).unwrap();
    let kept = approvals.known();
    assert!(kept.is_some());
    let saved = std::fs::read(folder.file()).unwrap();
    std::fs::write(folder.file(), r#"{"v":3}"#).unwrap();
    assert_eq!(approvals.reread_if_changed().unwrap_err().code(), ErrorCode::Store);
    assert_eq!(approvals.known(), kept);
    assert_eq!(approvals.book().unwrap_err().code(), ErrorCode::Store);
    std::fs::write(folder.file(), saved).unwrap();
    assert!(!approvals.reread_if_changed().unwrap());
    assert_eq!(approvals.book().ok(), kept);
    std::fs::write(folder.file(), bytes).unwrap();
    assert!(approvals.reread_if_changed().unwrap());
    assert_ne!(approvals.known(), kept);
}

/// S-12, S-14: names never become parts of paths, and reserved ones are names like any other.
#[test]
fn names_are_never_paths() {
    let (folder, _) = approved();
    let approvals = open(&folder.file());
    let names = ["../../x", "/etc/passwd", "a\\b", "__proto__", "constructor", ".", "a\0b", "::"];
    for name in names {
        decide(&approvals, name, Rejected).unwrap();
    }
    let again = open(&folder.file());
    assert!(names.iter().all(|name| standing(&again, name) == Some(Rejected)));
    assert_eq!(folder.beside("").len(), 3, "the file and its locks");
    assert_eq!(std::fs::read_dir(&*folder.0).unwrap().count(), 1);
}
