//! Messages above the limit are cut below the reader of the websocket, which ends with the first of
//! them: their beginning is left, which says whose they are, so that one costs what it answers and
//! not the connection (SPEC 5.10, 18.1).
//!
//! 1. Frames that keep the rules pass as they are, but for a message in parts, which becomes one of
//!    bytes: it may be cut anywhere.
//! 2. What breaks a rule passes from there on as it comes: the reader knows what is wrong with it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::transport::frame_reader::OVERSIZED_HEAD_BYTES;

/// How many times the limit a message may have that is passed over. Of what is said to be longer no
/// end is waited for.
const PASSED_OVER_MAX: u64 = 4;

const LAST: u8 = 0x80;
const RESERVED: u8 = 0x70;
const KIND: u8 = 0x0F;
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7F;

const MORE: u8 = 0;
const TEXT: u8 = 1;
const BYTES: u8 = 2;
const CONTROL: std::ops::RangeInclusive<u8> = 8..=10;

/// The most bytes of a frame that controls.
const CONTROL_BYTES_MAX: u64 = 125;

/// Which messages were cut, by their number in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Cut(Mutex<VecDeque<u64>>);

impl Cut {
    /// Whether that message was; they are asked about in their order.
    pub(super) fn has(&self, number: u64) -> bool {
        let mut cut = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_cut = cut.front() == Some(&number);
        if is_cut {
            cut.pop_front();
        }
        is_cut
    }

    fn add(&self, number: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(number);
    }
}

pub(super) struct Skim {
    limit: u64,
    at: SkimState,
    /// What there is of the head of a frame.
    head: Vec<u8>,
    /// The bytes so far of a message in parts.
    begun: Option<u64>,
    /// Whether what is left of it is passed over.
    is_cut: bool,
    /// Messages that are over.
    number: u64,
    pub cut: Arc<Cut>,
}

#[derive(Clone, Copy)]
enum SkimState {
    Head,
    Payload {
        passes: u64,
        is_dropped: u64,
    },
    /// Nothing is looked at any more.
    Rest,
}

impl Skim {
    pub(super) fn new(limit: usize) -> Skim {
        let limit = limit as u64;
        let cut = Arc::default();
        Skim {
            limit,
            at: SkimState::Head,
            head: Vec::new(),
            begun: None,
            is_cut: false,
            number: 0,
            cut,
        }
    }

    /// Takes what comes, and gives what of it is to be read.
    pub(super) fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some(first) = bytes.first() {
            match self.at {
                SkimState::Rest => return out.extend_from_slice(bytes),
                SkimState::Head => {
                    self.head.push(*first);
                    bytes = &bytes[1..];
                    if let Some(length) = self.length() {
                        self.begin(length, out);
                        self.head.clear();
                    }
                }
                SkimState::Payload { passes, is_dropped } => {
                    let passed = fitting(passes, bytes);
                    out.extend_from_slice(&bytes[..passed]);
                    bytes = &bytes[passed..];
                    let dropped = fitting(is_dropped, bytes);
                    bytes = &bytes[dropped..];
                    self.go_to(passes - passed as u64, is_dropped - dropped as u64);
                }
            }
        }
    }

    /// The length that a whole head says.
    fn length(&self) -> Option<u64> {
        let (&[_, second], long) = self.head.split_first_chunk()?;
        match second & LENGTH {
            126 => Some(u64::from(u16::from_be_bytes(*long.first_chunk()?))),
            127 => Some(u64::from_be_bytes(*long.first_chunk()?)),
            short => Some(u64::from(short)),
        }
    }

    /// A frame begins.
    fn begin(&mut self, length: u64, out: &mut Vec<u8>) {
        let (first, kind) = (self.head[0], self.head[0] & KIND);
        let is_last = first & LAST != 0;
        let is_odd = first & RESERVED != 0 || self.head[1] & MASKED != 0;
        if CONTROL.contains(&kind) && !is_odd && is_last && length <= CONTROL_BYTES_MAX {
            out.extend_from_slice(&self.head);
            return self.go_to(length, 0);
        }
        let is_in_order = match kind {
            MORE => self.begun.is_some(),
            TEXT | BYTES => self.begun.is_none(),
            _ => false,
        };
        if is_odd || !is_in_order {
            out.extend_from_slice(&self.head);
            self.at = SkimState::Rest;
            return;
        }
        self.begin_part((kind, is_last), length, out);
    }

    fn begin_part(&mut self, (kind, is_last): (u8, bool), length: u64, out: &mut Vec<u8>) {
        let before = self.begun.unwrap_or_default();
        let bytes = before.saturating_add(length);
        if bytes > self.limit.saturating_mul(PASSED_OVER_MAX) {
            // The reader refuses what says so.
            write_head(LAST | BYTES, self.limit.saturating_add(1), out);
            self.at = SkimState::Rest;
            return;
        }
        self.begun = (!is_last).then_some(bytes);
        if self.is_cut {
            self.is_cut = !is_last;
            return self.go_to(0, length);
        }
        let of_parts = if kind == TEXT { BYTES } else { kind };
        if bytes > self.limit {
            let passes = length.min(OVERSIZED_HEAD_BYTES as u64).min(self.limit - before);
            write_head(LAST | of_parts, passes, out);
            self.cut.add(self.number);
            self.number += 1;
            self.is_cut = !is_last;
            return self.go_to(passes, length - passes);
        }
        if is_last {
            out.extend_from_slice(&self.head);
            self.number += 1;
        } else {
            write_head(of_parts, length, out);
        }
        self.go_to(length, 0);
    }

    fn go_to(&mut self, passes: u64, is_dropped: u64) {
        self.at = match (passes, is_dropped) {
            (0, 0) => SkimState::Head,
            _ => SkimState::Payload { passes, is_dropped },
        };
    }
}

/// How much of the bytes is within that length.
fn fitting(length: u64, bytes: &[u8]) -> usize {
    usize::try_from(length).map_or(bytes.len(), |length| length.min(bytes.len()))
}

fn write_head(first: u8, length: u64, out: &mut Vec<u8>) {
    out.push(first);
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short), _) if short < 126 => out.push(short),
        (_, Ok(long)) => {
            out.push(126);
            out.extend(long.to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend(length.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use tokio_tungstenite::tungstenite::protocol::Role;
    use tokio_tungstenite::tungstenite::{Message, WebSocket};

    use super::*;
    use crate::transport::http::websocket::pump::bounds;

    const LIMIT: usize = 300;

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        write_head(first, payload.len() as u64, &mut frame);
        frame.extend(payload);
        frame
    }

    /// What a reader makes of frames that come in pieces of that size: each message by its length,
    /// with a mark where it was cut.
    fn read(frames: &[Vec<u8>], piece: usize) -> Vec<String> {
        let mut skim = Skim::new(LIMIT);
        let mut out = Vec::new();
        frames.concat().chunks(piece).for_each(|piece| skim.feed(piece, &mut out));
        let stream = Cursor::new(out);
        let bounds = Some(bounds(LIMIT));
        let mut socket = WebSocket::from_raw_socket(stream, Role::Client, bounds);
        let (mut seen, mut number) = (Vec::new(), 0);
        loop {
            let bytes = match socket.read() {
                Ok(Message::Text(text)) => text.len(),
                Ok(Message::Binary(bytes)) => bytes.len(),
                Ok(Message::Ping(_)) => {
                    seen.push("ping".to_owned());
                    continue;
                }
                Ok(_) => continue,
                Err(error) => {
                    let words = error.to_string();
                    let is_end = words.contains("without closing") || words.contains("Utf8");
                    seen.extend((!is_end).then_some(words));
                    return seen;
                }
            };
            let mark = if skim.cut.has(number) { " cut" } else { "" };
            seen.push(format!("{bytes}{mark}"));
            number += 1;
        }
    }

    /// SPEC 5.10, 18.1: a message above the limit is cut wherever it passes it, in whatever pieces
    /// it comes, and the next is read.
    #[test]
    fn a_message_above_the_limit_ends_nothing() {
        let of = |bytes: usize| vec![b'x'; bytes];
        let next = || frame(LAST | TEXT, b"next");
        let ping = || frame(LAST | 9, b"hi");
        for (frames, expected) in [
            (vec![frame(LAST | TEXT, &of(300)), next()], &["300", "4"][..]),
            (vec![frame(LAST | TEXT, &of(301)), next()], &["300 cut", "4"]),
            (vec![frame(LAST | BYTES, &of(1_100)), next()], &["300 cut", "4"]),
            (
                vec![frame(LAST | TEXT, &[]), frame(LAST | TEXT, &of(301)), next()],
                &["0", "300 cut", "4"],
            ),
            (vec![frame(TEXT, &of(200)), frame(LAST, &of(100)), next()], &["300", "4"]),
            (vec![frame(TEXT, &of(200)), frame(LAST, &of(101)), next()], &["300 cut", "4"]),
            (
                vec![
                    frame(TEXT, &of(200)),
                    frame(0, &of(200)),
                    ping(),
                    frame(0, &of(9)),
                    frame(LAST, b""),
                    next(),
                ],
                &["300 cut", "ping", "4"],
            ),
            (
                vec![
                    frame(TEXT, &of(400)),
                    frame(LAST, &of(400)),
                    frame(LAST | TEXT, &of(400)),
                    next(),
                ],
                &["300 cut", "300 cut", "4"],
            ),
            (vec![frame(TEXT, "é".as_bytes()), frame(LAST, "é".as_bytes()), next()], &["4", "4"]),
        ] {
            for piece in [1, 2, 3, 7, 100_000] {
                assert_eq!(read(&frames, piece), expected, "in pieces of {piece}");
            }
        }
    }

    /// SPEC 5.10: what is said to be endless, and what breaks a rule, ends the reading as it always
    /// does.
    #[test]
    fn what_has_no_end_or_breaks_a_rule_is_left_to_the_reader() {
        let of = |bytes: usize| vec![b'x'; bytes];
        let mut terabyte = vec![LAST | TEXT, 127];
        terabyte.extend((1_u64 << 40).to_be_bytes());
        let endless: Vec<Vec<u8>> = std::iter::once(frame(TEXT, &of(300)))
            .chain((0..100).map(|_| frame(0, &of(300))))
            .collect();
        for (frames, seen, words) in [
            (vec![terabyte], 0, "too long"),
            (endless, 1, "too long"),
            (vec![frame(LAST | 3, b"x")], 0, "opcode"),
            (vec![frame(LAST | 0x40 | TEXT, b"x")], 0, "eserved"),
            (vec![frame(LAST, b"x")], 0, "ontinu"),
            (vec![frame(TEXT, b"x"), frame(LAST | TEXT, b"x")], 0, "fragment"),
            (vec![frame(LAST | 9, &of(126))], 0, "ontrol"),
        ] {
            let read = read(&frames, 5);
            assert!(read.len() == seen + 1 && read[seen].contains(words), "{words}: {read:?}");
        }
    }
}
