//! Files that hold what others must neither read nor choose (S-12).

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file for reading that is this user's, and that nobody else may write. Refuses a link and whatever else has that name, and
/// does not wait for whoever writes into a pipe.
#[cfg(unix)]
pub(crate) fn open_own(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let unfit = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let options = libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(options).open(path)?;
    let metadata = file.metadata()?;
    // SAFETY: it takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    if metadata.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    if !metadata.is_file() {
        return unfit("it is no regular file");
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
        false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is no regular file")),
    }
}
