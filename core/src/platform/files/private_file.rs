//! Files that hold what others must neither read nor choose (S-12).

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Opens a file for reading that is this user's, and that nobody else may write. Refuses a link and
/// whatever else has that name, and does not wait for a writer into a pipe.
#[cfg(unix)]
pub(crate) fn open_own(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let unfit = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let options = libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(options).open(path)?;
    let metadata = file.metadata()?;
    let user = own_user();
    if metadata.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    if !metadata.is_file() {
        return unfit("it is not a regular file");
    }
    if metadata.uid() != user {
        return unfit("it belongs to another user");
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return unfit("others may write it");
    }
    Ok(file)
}

/// The same where the rights of the folder say who may do what.
#[cfg(not(unix))]
pub(crate) fn open_own(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a regular file")),
    }
}

/// Whether what was found is this user's, and nobody else may write it.
#[cfg(unix)]
pub(crate) fn is_users_alone(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let user = own_user();
    found.uid() == user && found.mode() & WRITABLE_BY_OTHERS == 0
}

/// The same where the rights of the folder say who may do what.
#[cfg(not(unix))]
pub(crate) fn is_users_alone(_found: &Metadata) -> bool {
    true
}

/// Refuses what was found where others may read it.
#[cfg(unix)]
pub(crate) fn check_unreadable(found: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const READABLE_BY_OTHERS: u32 = 0o044;
    match found.mode() & READABLE_BY_OTHERS {
        0 => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "others may read it")),
    }
}

/// The same where the rights of the folder say who may do what.
#[cfg(not(unix))]
pub(crate) fn check_unreadable(_found: &Metadata) -> io::Result<()> {
    Ok(())
}

/// The number of this user.
#[cfg(unix)]
pub(crate) fn own_user() -> u32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether this user may make files in a folder.
#[cfg(unix)]
pub(crate) fn may_write(folder: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
    let wanted = libc::W_OK | libc::X_OK;
    // SAFETY: the path ends with NUL and outlives the call, which only reads it.
    let refused =
        unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), wanted, libc::AT_EACCESS) };
    if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The same where the rights of the folder decide.
#[cfg(not(unix))]
pub(crate) fn may_write(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Refuses a folder in which somebody else could give a file of theirs another's name.
#[cfg(unix)]
pub(crate) fn check_own_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    /// In such a folder each may rename what is theirs alone.
    const STICKY: u32 = 0o1000;
    let unfit = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let metadata = std::fs::metadata(path)?;
    let user = own_user();
    if ![user, 0].contains(&metadata.uid()) {
        return unfit("its folder belongs to another user");
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 && metadata.mode() & STICKY == 0 {
        return unfit("others may write its folder");
    }
    Ok(())
}

/// The same where the rights of the folder are the user's own affair.
#[cfg(not(unix))]
pub(crate) fn check_own_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}
