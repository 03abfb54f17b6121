//! Event streams: the same by pieces as by the rule of the format, and never more kept than is
//! allowed.

use trunkline::fuzzing::{HEAD_BYTES, StreamEvent, events};

use crate::input::{Input, pieces};

pub const WORDS: &[&str] = &[
    "data: ",
    "data:",
    "data",
    "event: ",
    "event: message",
    "event: endpoint",
    "event: ping",
    "id: ",
    "id",
    "retry: ",
    "retry: 250",
    "retry: +1",
    ": comment",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\r\n\r\n",
    "\u{feff}",
    "{}",
    ":",
    " ",
    "\0",
];

/// The longest id that is given back.
const ID_BYTES_MAX: usize = 4 << 10;

/// The rule, for a stream in which nothing is too long.
fn read(stream: &[u8]) -> Vec<StreamEvent> {
    let (mut out, mut kind, mut id) = (Vec::new(), Vec::new(), None);
    let mut text: Option<Vec<u8>> = None;
    let mut rest = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        let line = &rest[..end];
        let ends_in_two = rest[end..].starts_with(b"\r\n");
        rest = &rest[end + 1 + usize::from(ends_in_two)..];
        if line.is_empty() {
            let whole = text.take().filter(|text| !text.is_empty());
            match (whole, std::mem::take(&mut kind).as_slice()) {
                (Some(text), b"" | b"message") => out.push(StreamEvent::Message(text)),
                (Some(text), b"endpoint") => out.push(StreamEvent::Endpoint(text)),
                (Some(text), _) => out.push(StreamEvent::Other(text)),
                (None, _) => {}
            }
            out.extend(id.take().map(StreamEvent::Id));
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => match &mut text {
                Some(text) => text.extend([b"\n", value].concat()),
                None => text = Some(value.to_vec()),
            },
            b"event" => kind = value.to_vec(),
            b"id" if value.len() <= ID_BYTES_MAX && value.iter().all(can_be_in_a_header) => {
                id = Some(value.to_vec());
            }
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let number = String::from_utf8_lossy(value).parse().ok();
                out.extend(number.map(StreamEvent::Retry));
            }
            _ => {}
        }
    }
    out
}

/// The same, and what the stream ended in: what a blank line would make an event of.
fn read_to_the_end(stream: &[u8]) -> Vec<StreamEvent> {
    let mut out = read(stream);
    let closed = read(&[stream, b"\n\n"].concat());
    let last = closed.into_iter().skip(out.len()).find_map(|event| match event {
        StreamEvent::Message(text) | StreamEvent::Other(text) => Some(StreamEvent::Unended(text)),
        _ => None,
    });
    out.extend(last);
    out
}

fn can_be_in_a_header(byte: &u8) -> bool {
    *byte == b'\t' || *byte >= b' ' && *byte != 0x7f
}

/// SPEC 5.10, S-24.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let seed = input.byte();
    let stream = input.rest();
    let expected = read_to_the_end(stream);
    for pieces in [vec![stream], pieces(stream, seed)] {
        assert_eq!(events(&pieces, stream.len()), (expected.clone(), true));
        let (given, _) = events(&pieces, SMALL);
        for event in &given {
            match event {
                StreamEvent::Message(text) | StreamEvent::Endpoint(text) => {
                    assert!(text.len() <= SMALL)
                }
                StreamEvent::Other(text) | StreamEvent::Unended(text) => {
                    assert!(text.len() <= SMALL)
                }
                StreamEvent::Oversized(head) => assert!(head.len() <= HEAD_BYTES),
                StreamEvent::Id(_) | StreamEvent::Retry(_) => {}
            }
        }
        // Up to what is too long, nothing is other than without a bound.
        let before = given.iter().take_while(|event| !matches!(event, StreamEvent::Oversized(_)));
        let before: Vec<_> = before.collect();
        assert!(expected.iter().take(before.len()).eq(before));
    }
}

const SMALL: usize = 64;
