//! What a server writes to stderr: always drained, redacted and escaped line by line, kept in a
//! bounded ring (SPEC 4.7).
//!
//! A line counts with its place in memory, or blank lines would be kept without end.

use crate::base::escape::escape_line;
use crate::net::redact::Redactor;
use crate::platform::{ReadPipe, Room};
use crate::transport::Inbound;
use crate::transport::child::Child;

/// Bytes of one line that are kept; the rest of a longer one is dropped.
pub(crate) const LINE_BYTES_MAX: usize = 4096;

/// Bytes read at once.
const READ_BYTES: usize = 8192;

/// What is read at once. Most servers print nothing, and it takes nothing then.
#[derive(Default)]
struct Chunk(Vec<u8>);

impl Room for Chunk {
    fn room(&mut self) -> &mut Vec<u8> {
        self.0.reserve(READ_BYTES);
        &mut self.0
    }

    fn rest(&mut self) {
        self.0 = Vec::new();
    }
}

/// Reads until the last holder of the pipe has closed it.
pub(super) async fn drain(
    child: &Child,
    redactor: &Redactor,
    pipe: &ReadPipe,
    inbound: &dyn Inbound,
) {
    let mut chunk = Chunk::default();
    let mut line = Vec::new();
    while let Ok(1..) = pipe.read(&mut chunk).await {
        let known_max = LINE_BYTES_MAX + redactor.margin();
        for piece in chunk.0.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            let room = known_max.saturating_sub(line.len());
            line.extend_from_slice(&text[..text.len().min(room)]);
            if ended {
                keep(child, redactor, inbound, &line);
                line.clear();
            }
        }
        chunk.0.clear();
    }
    if !line.is_empty() {
        keep(child, redactor, inbound, &line);
    }
}

fn keep(child: &Child, redactor: &Redactor, inbound: &dyn Inbound, line: &[u8]) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = escape_line(&redactor.redact(line, LINE_BYTES_MAX));
    inbound.stderr(&line);
    child.stderr.push(line);
}
