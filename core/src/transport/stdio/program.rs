//! Which file a command names: no shell, no relative entry of `PATH` (S-08, S-20).

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Where commands are looked for when the child's environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute path of a command: a name is looked up in `path`, anything with a separator is taken from `cwd`.
///
/// # Errors
/// `NotFound`, or `PermissionDenied` when only files were found that cannot be executed.
pub(super) fn find(command: &str, path: Option<&OsStr>, cwd: &Path) -> io::Result<PathBuf> {
    if command.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    if command.contains(std::path::is_separator) {
        let program = cwd.join(command);
        return check(&program).map(|()| program);
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut refusal = not_found();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let program = folder.join(command);
        match check(&program) {
            Ok(()) => return Ok(program),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refusal = error,
            Err(_) => {}
        }
    }
    Err(refusal)
}

/// Whether it is a file that somebody may execute; the exec itself has the last word.
fn check(program: &Path) -> io::Result<()> {
    let found = std::fs::metadata(program)?;
    if !found.is_file() {
        return Err(denied());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        const ANY_EXECUTE: u32 = 0o111;
        if found.permissions().mode() & ANY_EXECUTE == 0 {
            return Err(denied());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn not_found() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}

#[cfg(unix)]
fn denied() -> io::Error {
    io::Error::from_raw_os_error(libc::EACCES)
}

#[cfg(not(unix))]
fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

#[cfg(not(unix))]
fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-08.
    #[test]
    fn relative_entries_of_the_path_are_passed_over() {
        let path = OsStr::new(".::bin:/bin");
        let found = find("sh", Some(path), Path::new("/")).unwrap();
        assert_eq!(found, Path::new("/bin/sh"));
        assert!(find("sh", Some(OsStr::new(".:bin:")), Path::new("/")).is_err());
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_refused_with_its_reason() {
        let found = find("passwd", Some(OsStr::new("/etc")), Path::new("/"));
        assert_eq!(found.unwrap_err().raw_os_error(), Some(libc::EACCES));
        let missing = find("./nothing-here", None, Path::new("/"));
        assert_eq!(missing.unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }
}
