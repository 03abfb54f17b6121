//! What a server writes to stderr: always drained, redacted and escaped line by line, kept in a bounded ring (SPEC 4.7).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::wire::StdioWire;
use crate::base::escape::escape_line;
use crate::platform::{ReadPipe, Room};
use crate::transport::Inbound;

/// Bytes of one line that are kept; the rest of a longer one is dropped.
pub(crate) const LINE_BYTES_MAX: usize = 4096;

/// Bytes read at once.
const READ_BYTES: usize = 8192;

/// The last lines, oldest first, bounded by their bytes and what each takes beside them.
pub(super) struct StderrTail {
    ring: Mutex<Ring>,
    bytes_max: usize,
}

#[derive(Default)]
struct Ring {
    lines: VecDeque<String>,
    bytes: usize,
}

impl StderrTail {
    pub(super) fn new(bytes_max: usize) -> Self {
        StderrTail { ring: Mutex::default(), bytes_max }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.lock().lines.iter().cloned().collect()
    }

    fn push(&self, line: String) {
        let mut ring = self.lock();
        ring.bytes += taken_by(&line);
        ring.lines.push_back(line);
        while ring.bytes > self.bytes_max {
            let Some(oldest) = ring.lines.pop_front() else {
                break;
            };
            ring.bytes -= taken_by(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A blank line takes room as well.
fn taken_by(line: &str) -> usize {
    line.len() + size_of::<String>()
}

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
pub(super) async fn drain(wire: &StdioWire, pipe: &ReadPipe, inbound: &dyn Inbound) {
    let mut chunk = Chunk::default();
    let mut line = Vec::new();
    while let Ok(1..) = pipe.read(&mut chunk).await {
        let known_max = LINE_BYTES_MAX + wire.redactor.margin();
        for piece in chunk.0.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            let room = known_max.saturating_sub(line.len());
            line.extend_from_slice(&text[..text.len().min(room)]);
            if ended {
                keep(wire, inbound, &line);
                line.clear();
            }
        }
        chunk.0.clear();
    }
    if !line.is_empty() {
        keep(wire, inbound, &line);
    }
}

fn keep(wire: &StdioWire, inbound: &dyn Inbound, line: &[u8]) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = escape_line(&wire.redactor.redact(line, LINE_BYTES_MAX));
    inbound.stderr(&line);
    wire.child.stderr.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 4.7, S-24: a line without anything in it takes room as well.
    #[test]
    fn blank_lines_are_bounded() {
        let lines_of = |bytes_max| {
            let tail = StderrTail::new(bytes_max);
            (0..10_000).for_each(|_| tail.push(String::new()));
            tail.lines().len()
        };
        assert!((1..1000).contains(&lines_of(1000)));
        assert_eq!(lines_of(0), 0);
    }
}
