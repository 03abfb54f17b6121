//! What the host and a server's keeper say to each other. The keeper's half is
//! `supervisor/message.rs`.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use tokio::io::unix::AsyncFd;

use super::fd_passing;
use crate::platform::{Exit, Expected, FileStamp, Launch, TreeSignal};

/// Three numbers of four bytes.
const MESSAGE_BYTES: usize = 12;

/// What a keeper says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeeperMessage {
    Started(libc::pid_t),
    Failed { step: i32, errno: i32 },
    Exited(Exit),
    Ended,
}

impl KeeperMessage {
    fn from_words([kind, first, second]: [i32; 3]) -> Option<KeeperMessage> {
        match (kind, first) {
            (1, pid) => Some(KeeperMessage::Started(pid)),
            (2, step) => Some(KeeperMessage::Failed { step, errno: second }),
            (3, 0) => Some(KeeperMessage::Exited(Exit::Status(second))),
            (3, 1) => Some(KeeperMessage::Exited(Exit::Signal(second))),
            (3, _) => Some(KeeperMessage::Exited(Exit::SupervisorLost)),
            (4, _) => Some(KeeperMessage::Ended),
            (_, _) => None,
        }
    }
}

/// What to start, as the keeper reads it: a length; the number of arguments; whether it is a binary
/// that was looked at, and how many files were; and texts that end with a zero byte.
pub(super) fn order(launch: &Launch) -> io::Result<Vec<u8>> {
    let args: Vec<_> = std::iter::once(&launch.name).chain(&launch.args).collect();
    let mut bytes = vec![0; 4];
    bytes.extend(u32_of(args.len())?.to_le_bytes());
    let Expected { files, is_binary } = &launch.expected;
    bytes.extend(u32::from(*is_binary && !files.is_empty()).to_le_bytes());
    bytes.extend(u32_of(files.len())?.to_le_bytes());
    let paths = [launch.program.as_os_str(), launch.cwd.as_os_str()];
    for text in paths.into_iter().chain(args.into_iter().map(|arg| &**arg)) {
        push(&mut bytes, &[text])?;
    }
    for (path, FileStamp(words)) in files {
        push(&mut bytes, &[path.as_os_str()])?;
        push(&mut bytes, &[OsStr::new(&words.map(|word| word.to_string()).join(" "))])?;
    }
    for (name, value) in &launch.env {
        push(&mut bytes, &[name, OsStr::new("="), value])?;
    }
    let length = u32_of(bytes.len() - 4)?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

fn push(bytes: &mut Vec<u8>, parts: &[&OsStr]) -> io::Result<()> {
    let from = bytes.len();
    parts.iter().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
    if bytes[from..].contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a value contains a zero byte"));
    }
    bytes.push(0);
    Ok(())
}

fn u32_of(number: usize) -> io::Result<u32> {
    u32::try_from(number).map_err(|_| io::Error::from_raw_os_error(libc::E2BIG))
}

/// The host's end of a server's socket. Its end, wherever it is dropped, is the server's.
#[derive(Debug)]
pub(super) struct ServerSocket {
    socket: AsyncFd<OwnedFd>,
    /// The process that opened it: a fork of the host must not end its parent's servers.
    owner: u32,
}

impl ServerSocket {
    /// Registers a non-blocking socket with the runtime of the caller.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        // SAFETY: an owned descriptor stays open, and the same, as long as it is owned.
        let socket = unsafe { AsyncFd::register(socket) }?;
        Ok(ServerSocket { socket, owner: std::process::id() })
    }

    /// Writes everything. A dropped future has written a part, which the keeper takes for nothing.
    pub(super) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.socket.writable().await?;
            if let Ok(written) = ready.try_io(|socket| fd_passing::send(socket.as_raw_fd(), bytes))
            {
                bytes = &bytes[written?..];
            }
        }
        Ok(())
    }

    /// Asks for a signal to the whole tree. A keeper that is gone needs none.
    pub(super) fn ask(&self, signal: TreeSignal) {
        let command = match signal {
            TreeSignal::Terminate => b"T",
            TreeSignal::Kill => b"K",
        };
        if self.is_ours() {
            let _ = fd_passing::send(self.socket.as_raw_fd(), command);
        }
    }

    /// The next message; `None` when there will be none. A dropped future has read nothing.
    pub(super) async fn read(&self) -> Option<KeeperMessage> {
        loop {
            let mut ready = self.socket.readable().await.ok()?;
            let mut bytes = [0; MESSAGE_BYTES];
            // A keeper writes each message whole, and each is read whole.
            match ready.try_io(|socket| fd_passing::receive(socket.as_raw_fd(), &mut bytes)) {
                Ok(Ok(MESSAGE_BYTES)) => return KeeperMessage::from_words(words(bytes)),
                Ok(_) => return None,
                Err(_) => {}
            }
        }
    }

    fn is_ours(&self) -> bool {
        self.owner == std::process::id()
    }
}

impl Drop for ServerSocket {
    fn drop(&mut self) {
        if self.is_ours() {
            // Closing alone says nothing to the keeper while a fork of the host has a copy.
            fd_passing::end(self.socket.as_raw_fd());
        }
    }
}

/// The numbers of a message.
pub(super) fn words(bytes: [u8; MESSAGE_BYTES]) -> [i32; 3] {
    [0, 4, 8].map(|at| {
        let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        i32::from_le_bytes(word)
    })
}
