//! What reads what servers send, for tests that hand it anything: no part of the interface, and in
//! no library that is given away.

pub use crate::client::fuzzing::{MessageParts, MessageReadings, message};
use crate::platform::Room;
use crate::transport::FrameReader;
pub use crate::transport::fuzzing::{SocketTranscript, StreamEvent, events, socket};

/// How much is shown of what is too long.
pub const HEAD_BYTES: usize = 4 << 10;

/// One line of a server.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// The beginning of one above the limit.
    Oversized(Vec<u8>),
}

impl From<crate::transport::ServerLine<'_>> for Line {
    fn from(line: crate::transport::ServerLine<'_>) -> Line {
        match line {
            crate::transport::ServerLine::Whole(bytes) => Line::Whole(bytes.into()),
            crate::transport::ServerLine::Oversized(bytes) => Line::Oversized(bytes.into()),
        }
    }
}

/// The lines of a stream that comes in pieces.
pub fn lines<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> Vec<Line> {
    let mut reader = FrameReader::new(limit);
    let mut lines = Vec::new();
    for piece in pieces {
        reader.room().extend_from_slice(piece);
        while let Some(line) = reader.next_line() {
            lines.push(line.into());
        }
        reader.rest();
    }
    lines.extend(reader.last_line().map(Line::from));
    lines
}
