//! Where the system itself says that a user's folder is, whatever the environment says (SPEC 18.9).

use std::path::PathBuf;

/// More than any user's row of the table takes, in bytes.
#[cfg(unix)]
const ROW_BYTES_MAX: usize = 1 << 20;

/// The home folder of this process's user in the system's table of users. It may ask a server of
/// the network, and blocks meanwhile.
#[cfg(unix)]
pub(crate) fn home_of_user() -> Option<PathBuf> {
    use std::ffi::{CStr, OsStr};
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    let mut room: Vec<libc::c_char> = vec![0; 1 << 12];
    loop {
        let (mut row, mut found) = (MaybeUninit::<libc::passwd>::uninit(), std::ptr::null_mut());
        // SAFETY: it takes nothing and cannot fail.
        let user = unsafe { libc::geteuid() };
        // SAFETY: the row, the room with its length and the pointer are ours, and are written to
        // during the call alone.
        let failed = unsafe {
            libc::getpwuid_r(user, row.as_mut_ptr(), room.as_mut_ptr(), room.len(), &mut found)
        };
        if failed == libc::ERANGE && room.len() < ROW_BYTES_MAX {
            room.resize(room.len() * 2, 0);
            continue;
        }
        if failed != 0 || found.is_null() {
            return None;
        }
        // SAFETY: it was found, so that the row is filled, and its texts end with NUL in the room,
        // which is still there.
        let home = unsafe { CStr::from_ptr((*found).pw_dir) };
        let home = PathBuf::from(OsStr::from_bytes(home.to_bytes()));
        return Some(home).filter(|home| home.is_absolute());
    }
}

/// There is no such table here.
#[cfg(not(unix))]
pub(crate) fn home_of_user() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    /// SPEC 18.9: it is where a shell says that the home folder of a user of that name is, which
    /// does not look at `HOME`.
    #[cfg(unix)]
    #[test]
    fn the_home_folder_is_that_of_the_table_of_users() {
        let script = "eval printf %s \"~$(id -un)\"";
        let mut shell = std::process::Command::new("sh");
        let told = shell.args(["-c", script]).env("HOME", "/nowhere").output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        assert_eq!(super::home_of_user(), Some(std::path::PathBuf::from(told)));
    }
}
