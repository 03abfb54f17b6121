//! The one reader of files and streams: what is read has a bound, and nobody is waited for who may
//! never write.
//!
//! A file is opened once, and everything is asked of that descriptor: between a look at a path and
//! its opening another file may have taken the name, or a pipe, on which the opening would wait.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

pub use super::bounded_stream::up_to;

/// Opens a regular file for reading. A pipe without a writer does not hold that up, and no terminal
/// becomes this process's.
///
/// # Errors
/// Those of the system; `InvalidInput`, in words, for what is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let file =
        open_any(path).map_err(|error| match std::fs::metadata(path).map(|it| it.file_type()) {
            // Some of these cannot be opened at all, for reasons that say nothing of them.
            Ok(kind) => kind_error(kind).unwrap_or(error),
            Err(_) => error,
        })?;
    match kind_error(file.metadata()?.file_type()) {
        None => Ok(file),
        Some(error) => Err(error),
    }
}

#[cfg(unix)]
fn open_any(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open_any(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Why something of that kind is not read.
fn kind_error(kind: FileType) -> Option<io::Error> {
    let refused = |what: &str| {
        let words = format!("it is {what}, and no regular file");
        Some(io::Error::new(io::ErrorKind::InvalidInput, words))
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return refused("a pipe");
        }
        if kind.is_socket() {
            return refused("a socket");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return refused("a device");
        }
    }
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => None,
        (_, true) => refused("a folder"),
        _ => refused("something else"),
    }
}

/// Everything in a file that was opened, or nothing where that is more than `bytes_max`. What says
/// that it is longer is not read at all; what says nothing true of its length, as files of `/proc`,
/// is read up to the bound.
///
/// # Errors
/// Those of the system.
pub fn of_file(file: File, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    match file.metadata()?.len() {
        length if length > bytes_max as u64 => Ok(None),
        // No longer than the bound, which is a length of memory.
        length => {
            super::bounded_stream::read_into(Vec::with_capacity(length as usize), file, bytes_max)
        }
    }
}

/// The same, where more is an error.
///
/// # Errors
/// Those of the system; `FileTooLarge`, in words.
pub fn content(file: File, bytes_max: usize) -> io::Result<Vec<u8>> {
    of_file(file, bytes_max)?.ok_or_else(|| too_long(bytes_max))
}

fn too_long(bytes_max: usize) -> io::Error {
    let words = format!("it is longer than {}", amount(bytes_max));
    io::Error::new(io::ErrorKind::FileTooLarge, words)
}

/// Everything in the regular file of that path.
///
/// # Errors
/// Those of [`open`] and [`content`].
pub fn file(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    content(open(path)?, bytes_max)
}

/// The same of a file of text.
///
/// # Errors
/// Those of [`file`]; `InvalidData`, in words, for what is no UTF-8.
pub fn text(path: &Path, bytes_max: usize) -> io::Result<String> {
    as_text(file(path, bytes_max)?)
}

/// The text that comes up to the end of a stream.
///
/// # Errors
/// Those of the reader; `FileTooLarge` and `InvalidData`, in words.
pub fn text_of(from: impl Read, bytes_max: usize) -> io::Result<String> {
    as_text(up_to(from, bytes_max)?.ok_or_else(|| too_long(bytes_max))?)
}

/// Bytes that are to be text.
///
/// # Errors
/// `InvalidData`, in words.
pub fn as_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// A bound as people say it.
fn amount(bytes: usize) -> String {
    for (size, unit) in [(1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= size && bytes.is_multiple_of(size) {
            return format!("{} {unit}", bytes / size);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(all(test, unix))]
mod tests;
