//! Streams of remote servers, read from bytes that are there.

use std::io::{self, Read, Write};

use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

use super::sse::parser::{self, EventReader};
use super::websocket;
use crate::transport::ServerLine;

/// What a stream said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// The text of a message.
    Message(Vec<u8>),
    /// Where messages go.
    Endpoint(Vec<u8>),
    /// The text of an event of another type.
    Other(Vec<u8>),
    /// What the stream ended in.
    Unended(Vec<u8>),
    /// The beginning of what is too long.
    Oversized(Vec<u8>),
    /// The id to go on after.
    Id(Vec<u8>),
    /// The wait before the next attempt, in milliseconds.
    Retry(u64),
}

/// The events of a stream that comes in pieces, and whether it could be followed to its end.
pub fn events(pieces: &[&[u8]], limit: usize) -> (Vec<StreamEvent>, bool) {
    let mut reader = EventReader::new(limit);
    let is_whole = pieces.iter().all(|piece| reader.feed(piece).is_ok());
    let mut events: Vec<StreamEvent> = std::iter::from_fn(|| reader.next()).map(shown).collect();
    events.extend(reader.unended().map(StreamEvent::Unended));
    (events, is_whole)
}

fn shown(event: parser::SseEvent) -> StreamEvent {
    match event {
        parser::SseEvent::Message(text) => StreamEvent::Message(text),
        parser::SseEvent::Endpoint(text) => StreamEvent::Endpoint(text),
        parser::SseEvent::Other(text) => StreamEvent::Other(text),
        parser::SseEvent::Oversized(head) => StreamEvent::Oversized(head),
        parser::SseEvent::Id(id) => StreamEvent::Id(id.as_bytes().to_vec()),
        parser::SseEvent::Retry(wait) => StreamEvent::Retry(wait.as_millis() as u64),
    }
}

/// What came over a websocket.
#[derive(Debug, PartialEq, Eq)]
pub struct SocketTranscript {
    /// Texts, but blank ones.
    pub texts: Vec<Vec<u8>>,
    /// Why it ended.
    pub end: String,
    /// Bytes that were written in answer.
    pub answered: usize,
}

/// Bytes that come in pieces and then end, and what is answered to them.
struct Pieces<'a> {
    left: std::slice::Iter<'a, &'a [u8]>,
    piece: &'a [u8],
    answered: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            self.piece = self.left.next().copied().unwrap_or_default();
        }
        self.piece.read(buffer)
    }
}

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.answered += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a websocket whose bytes come in pieces.
pub fn socket(pieces: &[&[u8]], limit: usize) -> SocketTranscript {
    let stream = Pieces { left: pieces.iter(), piece: &[], answered: 0 };
    let mut socket =
        WebSocket::from_raw_socket(stream, Role::Client, Some(websocket::bounds(limit)));
    let mut texts = Vec::new();
    let end = loop {
        let bytes = match socket.read() {
            Ok(Message::Text(text)) => text.as_bytes().to_vec(),
            Ok(Message::Binary(bytes)) => bytes.to_vec(),
            Ok(_) => continue,
            Err(error) => break error.to_string(),
        };
        match websocket::line(&bytes) {
            Some(ServerLine::Whole(text) | ServerLine::Oversized(text)) => {
                texts.push(text.to_vec())
            }
            None => {}
        }
    };
    SocketTranscript { texts, end, answered: socket.get_ref().answered }
}
