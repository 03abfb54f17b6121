//! The Unix socket of an endpoint: in a folder of the user's alone, and never taken from another
//! endpoint that lives.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::platform::{FileLock, try_lock};
use crate::storage::OwnFile;
use crate::{Error, ErrorCode, Result};

/// A socket with its file, which goes when this is dropped.
pub(super) struct BoundSocket {
    pub listener: Option<UnixListener>,
    path: PathBuf,
    /// Held as long as the socket is there, so that another start can tell it from a stale one.
    _lock: FileLock,
}

/// Bytes of the longest path, with the NUL behind it.
#[cfg(target_os = "linux")]
const PATH_BYTES: usize = 108;
#[cfg(not(target_os = "linux"))]
const PATH_BYTES: usize = 104;

/// Only the owner may look into the folder, and only the owner may connect.
const FOLDER_MODE: u32 = 0o700;
const SOCKET_MODE: u32 = 0o600;

impl BoundSocket {
    /// Makes the folder and the socket. It must be called inside the runtime, and may block.
    ///
    /// # Errors
    /// `invalid_argument` (`socket`) for a path that is too long, is not absolute or is taken by
    /// something else; `limit` where another endpoint has it; `store` for a folder that others may
    /// enter.
    pub(super) fn bind(path: &Path) -> Result<BoundSocket> {
        let length = path.as_os_str().len();
        if length >= PATH_BYTES {
            let most = PATH_BYTES - 1;
            let message =
                format!("the path of the socket has {length} bytes, and the system takes {most}");
            return Err(unfit(path, message));
        }
        if !path.is_absolute() {
            return Err(unfit(path, "the path of the socket is not absolute".into()));
        }
        let file = OwnFile::new(path, "the endpoint's socket");
        file.make_folder()?;
        file.check_folder()?;
        check_closed(path)?;
        let failed = |what: &str, error: io::Error| file.failed(what, &error);
        let lock = try_lock(&file.beside("lock")).map_err(|error| failed("locked", error))?;
        let Some(lock) = lock else { return Err(taken(path)) };
        remove_stale(path)?;
        let listener = UnixListener::bind(path).map_err(|error| failed("made", error))?;
        let bound = BoundSocket { listener: Some(listener), path: path.into(), _lock: lock };
        let mode = fs::Permissions::from_mode(SOCKET_MODE);
        fs::set_permissions(path, mode).map_err(|error| failed("protected", error))?;
        Ok(bound)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        // The next start removes what is left.
        let _ = fs::remove_file(&self.path);
    }
}

/// Refuses a folder that others may enter: between the making of a socket and its protection they
/// could connect.
fn check_closed(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let found = fs::metadata(folder).map_err(|error| {
        unfit(path, format!("the folder of the socket cannot be read: {error}"))
    })?;
    let mode = found.permissions().mode() & 0o777;
    if mode & !FOLDER_MODE == 0 {
        return Ok(());
    }
    let message = format!("others may enter the folder of the socket: its mode is {mode:o}");
    Err(unfit(path, message).with_hint("give the socket a folder of its own with mode 700"))
}

/// Removes the socket of an endpoint that was killed. The lock is held: who lives holds it too, but
/// for a server that is no trunkline.
fn remove_stale(path: &Path) -> Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(unfit(path, format!("the path of the socket cannot be read: {error}")));
        }
    };
    if !found.file_type().is_socket() {
        return Err(unfit(path, "the path of the socket is taken by something else".into()));
    }
    if BlockingStream::connect(path).is_ok() {
        return Err(taken(path));
    }
    fs::remove_file(path)
        .map_err(|error| unfit(path, format!("the stale socket cannot be removed: {error}")))
}

fn taken(path: &Path) -> Error {
    Error::new(ErrorCode::Limit, "another endpoint serves at this socket")
        .with_detail("path", path.display().to_string())
        .with_hint("connect to it, or serve at another path")
}

fn unfit(path: &Path, message: String) -> Error {
    Error::new(ErrorCode::InvalidArgument, message)
        .with_detail("path", "socket")
        .with_detail("socket", path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    fn closed_folder() -> Folder {
        let folder = Folder::new();
        fs::set_permissions(&*folder, fs::Permissions::from_mode(FOLDER_MODE)).unwrap();
        folder
    }

    /// SERVING A6.4.
    #[tokio::test]
    async fn only_the_owner_may_reach_a_socket_and_it_goes_with_its_endpoint() {
        let folder = closed_folder();
        let path = folder.join("run").join("trunkline.sock");
        let socket = BoundSocket::bind(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder.join("run"))), (0o600, 0o700));
        let second = BoundSocket::bind(&path).err().unwrap();
        assert_eq!(second.code(), ErrorCode::Limit, "{second}");
        assert!(BlockingStream::connect(&path).is_ok(), "the first still serves");
        drop(socket);
        assert!(!path.exists());
        BoundSocket::bind(&path).unwrap();
    }

    #[tokio::test]
    async fn a_stale_socket_is_replaced() {
        let folder = closed_folder();
        let path = folder.join("trunkline.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "as a process that was killed leaves it");
        BoundSocket::bind(&path).unwrap();
    }

    #[tokio::test]
    async fn a_path_that_cannot_be_a_socket_is_a_typed_error() {
        let folder = closed_folder();
        fs::write(folder.join("file"), "").unwrap();
        let open = folder.join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        let living = std::os::unix::net::UnixListener::bind(folder.join("other")).unwrap();
        let rows = [
            (folder.join("x".repeat(PATH_BYTES)), ErrorCode::InvalidArgument, "bytes"),
            (PathBuf::from("relative.sock"), ErrorCode::InvalidArgument, "not absolute"),
            (folder.join("file"), ErrorCode::InvalidArgument, "taken by something else"),
            (open.join("socket"), ErrorCode::InvalidArgument, "its mode is 755"),
            (folder.join("other"), ErrorCode::Limit, "another endpoint"),
        ];
        for (path, code, words) in rows {
            let error = BoundSocket::bind(&path).err().unwrap();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        assert_eq!(fs::read(folder.join("file")).unwrap(), b"", "what was there stays");
        drop(living);
    }
}
