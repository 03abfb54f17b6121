//! The one place that reads to an end: without a dependency, since the supervisor takes it in too.

use std::io::{self, ErrorKind, Read};

/// What is read at a time, in bytes: some files of the kernel are read in whole pieces alone. So no
/// read asks for the rest up to a bound.
const PIECE_BYTES: usize = 16 << 10;

/// Everything that comes up to the end, or nothing where that is more than `bytes_max`: then as
/// much as a piece more is taken from it.
///
/// # Errors
/// Those of the reader.
pub fn up_to(from: impl Read, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    read_into(Vec::new(), from, bytes_max)
}

/// The same, behind what is there already, which has the room that is expected to be needed.
///
/// # Errors
/// Those of the reader.
pub fn read_into(
    mut bytes: Vec<u8>,
    mut from: impl Read,
    bytes_max: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut piece = [0; PIECE_BYTES];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(length) if length > bytes_max - bytes.len() => return Ok(None),
            Ok(length) => bytes.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
