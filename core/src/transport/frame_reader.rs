//! Incoming bytes, cut into lines without copying them.
//!
//! Buffers belong to threads: smaller ones cost system calls, and giving one back to the allocator
//! costs microseconds.

use std::cell::Cell;
use std::ops::Range;

use crate::platform::Room;

/// Bytes of a new buffer: what a pipe holds.
const BUFFER_BYTES: usize = 64 << 10;

/// A buffer that grew up to here for large frames is kept for the next one; a larger one is given
/// back.
const BUFFER_KEPT_BYTES: usize = 512 << 10;

thread_local! {
    /// The buffer of the last reader on this thread, for the next one: a connection at rest has
    /// none.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// How much of a frame above the limit is shown, to find whose it is.
pub(super) const OVERSIZED_HEAD_BYTES: usize = 4 << 10;

/// One line of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerLine<'a> {
    /// All of it, without what is white around it. Never empty.
    Whole(&'a [u8]),
    /// One above the limit: its beginning. The rest is passed over.
    Oversized(&'a [u8]),
}

/// What comes next, while it is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ahead<'a> {
    /// A whole frame, within the limit.
    Frame(&'a [u8]),
    /// Nothing yet, or the beginning of a line that may become one.
    Part,
    /// Anything else.
    Other,
}

/// Cuts a stream of bytes into lines; a carriage return before the newline and a byte order mark at
/// the start are dropped, blank lines are passed over.
#[derive(Debug)]
pub(crate) struct FrameReader {
    buffer: Vec<u8>,
    /// Where the first line begins that was not given out.
    start: usize,
    /// Up to where no newline was found.
    scanned: usize,
    limit: usize,
    /// The rest of a frame above the limit is being passed over.
    skipping: bool,
    at_stream_start: bool,
}

impl FrameReader {
    /// A reader of frames of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        FrameReader {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
            skipping: false,
            at_stream_start: true,
        }
    }

    /// The next whole line.
    pub(crate) fn next_line(&mut self) -> Option<ServerLine<'_>> {
        loop {
            match memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
                Some(found) => {
                    let line = self.start..self.scanned + found;
                    self.start = line.end + 1;
                    self.scanned = self.start;
                    if std::mem::take(&mut self.skipping) {
                        continue;
                    }
                    if let Some(line) = self.trim(line) {
                        return Some(self.sort(line));
                    }
                }
                None => {
                    self.scanned = self.buffer.len();
                    return self.unfinished();
                }
            }
        }
    }

    /// What [`next_line`](Self::next_line) would give, which nothing changes for.
    pub(crate) fn ahead(&mut self) -> Ahead<'_> {
        let found = memchr::memchr(b'\n', &self.buffer[self.scanned..]);
        self.scanned = found.map_or(self.buffer.len(), |found| self.scanned + found);
        let line = &self.buffer[self.start..self.scanned];
        match found {
            _ if self.skipping || self.at_stream_start || line.len() > self.limit => Ahead::Other,
            None => Ahead::Part,
            Some(_) if line.first() == Some(&b'{') => Ahead::Frame(line.trim_ascii_end()),
            Some(_) => Ahead::Other,
        }
    }

    /// Whether nothing was read that was not given out.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }

    /// What was read and not given out.
    #[cfg(test)]
    pub(super) fn unread(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// At the end of the stream: a last line without its newline.
    pub(crate) fn last_line(&mut self) -> Option<ServerLine<'_>> {
        let line = self.start..self.buffer.len();
        self.start = line.end;
        self.scanned = line.end;
        if self.skipping {
            return None;
        }
        self.trim(line).map(|line| self.sort(line))
    }

    /// Bounds what is kept of a line that has not ended yet.
    fn unfinished(&mut self) -> Option<ServerLine<'_>> {
        if self.skipping {
            self.start = self.buffer.len();
            return None;
        }
        // It may belong to the newline that is not there yet.
        let carriage_return = usize::from(self.buffer.ends_with(b"\r"));
        if self.buffer.len() - self.start - carriage_return <= self.limit {
            return None;
        }
        self.skipping = true;
        let line = self.start..self.buffer.len();
        self.start = line.end;
        self.trim(line).map(|line| self.oversized(line))
    }

    fn sort(&self, line: Range<usize>) -> ServerLine<'_> {
        match line.len() > self.limit {
            true => self.oversized(line),
            false => ServerLine::Whole(&self.buffer[line]),
        }
    }

    fn oversized(&self, line: Range<usize>) -> ServerLine<'_> {
        let bytes = &self.buffer[line];
        ServerLine::Oversized(&bytes[..bytes.len().min(OVERSIZED_HEAD_BYTES)])
    }

    /// The line without what surrounds it; `None` when nothing is left.
    fn trim(&mut self, mut line: Range<usize>) -> Option<Range<usize>> {
        const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
        if std::mem::take(&mut self.at_stream_start)
            && self.buffer[line.clone()].starts_with(BYTE_ORDER_MARK)
        {
            line.start += BYTE_ORDER_MARK.len();
        }
        let bytes = &self.buffer[line.clone()];
        let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let last = bytes.iter().rposition(|byte| !byte.is_ascii_whitespace())?;
        Some(line.start + first..line.start + last + 1)
    }

    /// Moves what is left to the front, when there is no room behind it.
    fn compact(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() > BUFFER_KEPT_BYTES {
                self.buffer = Vec::new();
            }
        } else if self.start > 0 && self.buffer.len() == self.buffer.capacity() {
            self.buffer.copy_within(self.start.., 0);
            self.buffer.truncate(self.buffer.len() - self.start);
        } else {
            return;
        }
        self.scanned -= self.start;
        self.start = 0;
    }
}

impl Room for FrameReader {
    fn room(&mut self) -> &mut Vec<u8> {
        self.compact();
        if self.buffer.capacity() == 0 {
            // A thread that ends has none.
            self.buffer = SPARE.try_with(Cell::take).unwrap_or_default();
            self.buffer.reserve(BUFFER_BYTES);
        } else if self.buffer.len() == self.buffer.capacity() {
            self.buffer.reserve(self.buffer.len());
        }
        &mut self.buffer
    }

    fn rest(&mut self) {
        self.compact();
        if self.buffer.is_empty() && self.buffer.capacity() > 0 {
            let buffer = std::mem::take(&mut self.buffer);
            let _ = SPARE.try_with(|spare| spare.set(buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader_of(bytes: &[u8]) -> FrameReader {
        let mut reader = FrameReader::new(1 << 20);
        reader.room().extend_from_slice(bytes);
        reader
    }

    #[test]
    fn a_reader_at_rest_has_a_buffer_only_while_something_is_in_it() {
        let mut reader = reader_of(b"{}\n{\"half");
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{}")));
        assert_eq!(reader.next_line(), None);
        reader.rest();
        assert!(reader.buffer.capacity() > 0);
        reader.room().extend_from_slice(b"\":1}\n");
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{\"half\":1}")));
        assert_eq!(reader.next_line(), None);
        reader.rest();
        assert_eq!(reader.buffer.capacity(), 0);
        reader.room().extend_from_slice(b"{}\n");
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{}")));
    }

    #[test]
    fn a_look_ahead_takes_nothing() {
        let mut reader = reader_of(b"\n{\"first\":1}\r\n noise\n{\"half");
        assert_eq!(reader.ahead(), Ahead::Other, "the start of the stream is not looked into");
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{\"first\":1}")));
        assert_eq!(reader.ahead(), Ahead::Other);
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"noise")));
        assert_eq!(reader.ahead(), Ahead::Part);
        reader.room().extend_from_slice(b"\":2}\r\n");
        assert_eq!(reader.ahead(), Ahead::Frame(b"{\"half\":2}"));
        assert_eq!(reader.ahead(), Ahead::Frame(b"{\"half\":2}"));
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{\"half\":2}")));
        assert!(reader.is_empty());
        assert_eq!(reader.ahead(), Ahead::Part);
    }

    #[test]
    fn no_frame_above_the_limit_is_ahead_however_it_comes() {
        let mut reader = FrameReader::new(8);
        reader.room().extend_from_slice(b"{}\n{\"whole\":1}\n{\"in");
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{}")));
        assert_eq!(reader.ahead(), Ahead::Other);
        assert_eq!(reader.next_line(), Some(ServerLine::Oversized(b"{\"whole\":1}")));
        assert_eq!(reader.ahead(), Ahead::Part);
        reader.room().extend_from_slice(b" parts\"");
        assert_eq!(reader.ahead(), Ahead::Other);
        assert_eq!(reader.next_line(), Some(ServerLine::Oversized(b"{\"in parts\"")));
        assert_eq!(reader.ahead(), Ahead::Other, "the rest of it is passed over");
        reader.room().extend_from_slice(b":1}\n{}\n");
        assert_eq!(reader.ahead(), Ahead::Other);
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{}")));
    }

    /// SPEC 5.10: a frame as long as the limit is one, wherever the line break before its end is
    /// cut.
    #[test]
    fn the_carriage_return_of_a_frame_does_not_count_before_its_newline_is_there() {
        let mut reader = FrameReader::new(8);
        reader.room().extend_from_slice(b"{\"a\":12}\r");
        assert_eq!(reader.next_line(), None);
        reader.room().extend_from_slice(b"\n{\"a\":12}\r\r");
        assert_eq!(reader.next_line(), Some(ServerLine::Whole(b"{\"a\":12}")));
        assert_eq!(reader.next_line(), Some(ServerLine::Oversized(b"{\"a\":12}")));
    }

    #[test]
    fn two_readers_of_one_thread_do_not_see_each_others_bytes() {
        let mut first = reader_of(b"{\"first\":1}\n");
        let mut second = reader_of(b"{\"second\"");
        assert_eq!(first.next_line(), Some(ServerLine::Whole(b"{\"first\":1}")));
        first.rest();
        second.rest();
        let mut third = reader_of(b"{\"third\":3}\n");
        second.room().extend_from_slice(b":2}\n");
        assert_eq!(third.next_line(), Some(ServerLine::Whole(b"{\"third\":3}")));
        assert_eq!(second.next_line(), Some(ServerLine::Whole(b"{\"second\":2}")));
    }

    /// SPEC 16.4: a host may call while a thread of its ends.
    #[test]
    fn a_thread_that_ends_reads_without_a_buffer_of_its_own() {
        struct Last(std::sync::mpsc::Sender<bool>);
        impl Drop for Last {
            fn drop(&mut self) {
                let read = std::panic::catch_unwind(|| {
                    let mut reader = reader_of(b"{}\n");
                    let read = reader.next_line() == Some(ServerLine::Whole(b"{}"));
                    reader.rest();
                    read
                });
                let _ = self.0.send(read.unwrap_or(false));
            }
        }
        // What a thread used first goes last.
        thread_local! {
            static LAST: Cell<Option<Last>> = const { Cell::new(None) };
        }
        let (said, read) = std::sync::mpsc::channel();
        let body = move || {
            LAST.set(Some(Last(said)));
            reader_of(b"").rest();
        };
        std::thread::spawn(body).join().unwrap();
        assert_eq!(read.recv(), Ok(true));
    }

    #[test]
    fn a_buffer_that_grew_for_a_huge_frame_is_not_kept() {
        let mut reader = reader_of(&vec![b' '; 2 * BUFFER_KEPT_BYTES]);
        reader.room().push(b'\n');
        assert_eq!(reader.next_line(), None);
        reader.rest();
        assert!(reader.room().capacity() <= BUFFER_KEPT_BYTES);
    }
}
