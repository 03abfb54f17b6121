//! What goes over a websocket, in both directions, until it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};

use super::activity::WatchedStream;
use super::handshake;
use super::outbox::{Outbox, WriterStep};
use super::skim::{Cut, Skim};
use crate::transport::frame_reader::OVERSIZED_HEAD_BYTES;
use crate::transport::http::errors::{self, Failure};
use crate::transport::http::http_session::HttpSession;
use crate::transport::{DisconnectCause, Inbound, ServerLine, Via};

/// Bytes of the buffer at rest: messages that are longer are read into one of their own.
const READ_BUFFER_BYTES: usize = 16 << 10;

/// Bytes that are gathered before they are written.
const WRITE_BUFFER_BYTES: usize = 128 << 10;

/// Room for answers to pings beside the longest frame of ours: a server that pings and does not
/// read gets no more of them.
const PONGS_BYTES: usize = 64 << 10;

/// How long the answer to a farewell may take to be written, and the server to end the connection
/// first.
const FAREWELL_WAIT: Duration = Duration::from_millis(100);

type WatchedSocket = WebSocketStream<WatchedStream>;

/// Opens the websocket and carries what comes and goes. The body of the connection's one task.
pub(super) async fn carry(
    channel: Arc<HttpSession>,
    outbox: Arc<Outbox>,
    ended_by_word: Arc<AtomicBool>,
) {
    if let Err(failed) = connected(&channel, &outbox, &ended_by_word).await {
        channel.lose(DisconnectCause::Broken(failed.error().clone()));
    }
}

/// Opens it, and sees it through to its end, which is told.
async fn connected(
    channel: &Arc<HttpSession>,
    outbox: &Outbox,
    ended_by_word: &AtomicBool,
) -> Result<(), Failure> {
    let mut signed_out = std::pin::pin!(channel.until_signed_out());
    let stream = tokio::select! {
        biased;
        stream = handshake::open(channel) => stream?,
        () = &mut signed_out => return Err(Failure::Connection(errors::signed_out(channel))),
        // Nobody is there yet who could be told farewell.
        () = outbox.closed() => return Ok(()),
    };
    let inbound = channel.inbound()?;
    let skim = Skim::new(channel.frame_bytes);
    let cut = skim.cut.clone();
    let stream = WatchedStream::new(stream, inbound.clone(), skim);
    let bounds = Some(bounds(channel.frame_bytes));
    let socket = WebSocketStream::from_raw_socket(stream, Role::Client, bounds).await;
    let (sink, mut stream) = socket.split();
    let ended = tokio::select! {
        biased;
        ended = read(channel, &*inbound, &mut stream, &cut) => ended,
        sighting = write(outbox, sink) => ReadEnd::Seen(sighting),
        // Nothing of it is sent with the messages, so that the server would not ask.
        () = signed_out => ReadEnd::Seen(DisconnectCause::Broken(errors::signed_out(channel))),
    };
    // Before the loss is told: those who hear of it ask.
    ended_by_word.store(ended.may_be_by_word(), Ordering::SeqCst);
    match ended {
        ReadEnd::Seen(sighting) => channel.lose(sighting),
        ReadEnd::Farewell(farewell) => {
            channel.lose(parted(channel, farewell));
            // Nothing is written any more but the answer to the farewell, by the next look. Nothing
            // that comes of that says more, so that the loss does not wait for it; the end of the
            // connection does, since the socket goes with it.
            drop(tokio::time::timeout(FAREWELL_WAIT, stream.next()).await);
        }
    }
    Ok(())
}

/// How reading ends.
enum ReadEnd {
    Seen(DisconnectCause),
    /// The server said farewell; it may leave the connection open.
    Farewell(Option<CloseFrame>),
}

impl ReadEnd {
    /// Whether the server may have ended it for what it was sent: it does not say that it goes,
    /// starts anew or has no time, and the end is not one of ours.
    fn may_be_by_word(&self) -> bool {
        match self {
            ReadEnd::Seen(sighting) => matches!(sighting, DisconnectCause::OutputClosed),
            ReadEnd::Farewell(None) => true,
            ReadEnd::Farewell(Some(CloseFrame { code, .. })) => {
                !matches!(code, CloseCode::Away | CloseCode::Restart | CloseCode::Again)
            }
        }
    }
}

/// What is buffered, in both directions.
pub(in crate::transport::http) fn bounds(frame_bytes: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_write_buffer_size(WRITE_BUFFER_BYTES + frame_bytes + PONGS_BYTES)
        .max_message_size(Some(frame_bytes))
        .max_frame_size(Some(frame_bytes))
}

/// Takes what the server sends, until the websocket ends.
async fn read(
    channel: &HttpSession,
    inbound: &dyn Inbound,
    stream: &mut SplitStream<WatchedSocket>,
    cut: &Cut,
) -> ReadEnd {
    let mut messages = 0..;
    let mut take = |bytes: &[u8]| {
        let is_cut = messages.next().is_some_and(|number| cut.has(number));
        take(inbound, bytes, is_cut)
    };
    while let Some(read) = stream.next().await {
        let taken = match &read {
            Ok(Message::Text(text)) => take(text.as_bytes()),
            Ok(Message::Binary(bytes)) => take(bytes),
            Ok(Message::Close(frame)) => return ReadEnd::Farewell(frame.clone()),
            // Pings are answered beneath.
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => Ok(()),
            Err(error) => return ReadEnd::Seen(seen(channel, error)),
        };
        if let Err(error) = taken {
            return ReadEnd::Seen(DisconnectCause::Broken(error));
        }
    }
    ReadEnd::Seen(DisconnectCause::OutputClosed)
}

fn take(inbound: &dyn Inbound, bytes: &[u8], is_cut: bool) -> crate::Result<()> {
    let line = match is_cut {
        true => Some(ServerLine::Oversized(&bytes[..bytes.len().min(OVERSIZED_HEAD_BYTES)])),
        false => line(bytes),
    };
    line.map_or(Ok(()), |line| inbound.take(line, Via::Common))
}

/// What a message holds; none where it is blank.
pub(in crate::transport::http) fn line(bytes: &[u8]) -> Option<ServerLine<'_>> {
    let text = bytes.trim_ascii();
    (!text.is_empty()).then_some(ServerLine::Whole(text))
}

/// Writes what waits, and in the end the farewell.
async fn write(outbox: &Outbox, mut sink: SplitSink<WatchedSocket, Message>) -> DisconnectCause {
    loop {
        let written = match outbox.next() {
            WriterStep::Frame(frame) => match Utf8Bytes::try_from(Bytes::from(frame)) {
                Ok(text) => sink.feed(Message::Text(text)).await,
                // JSON of ours is UTF-8.
                Err(_) => Ok(()),
            },
            WriterStep::Wait => {
                let flushed = sink.flush().await;
                if flushed.is_ok() {
                    outbox.woken().await;
                }
                flushed
            }
            WriterStep::Close => {
                let _ = sink.send(Message::Close(None)).await;
                // The server's farewell is the reader's to see.
                return std::future::pending().await;
            }
        };
        if written.is_err() {
            return DisconnectCause::OutputClosed;
        }
    }
}

/// How an error of the websocket is seen.
fn seen(channel: &HttpSession, error: &tungstenite::Error) -> DisconnectCause {
    use tungstenite::Error;
    let protocol = |what: &str| errors::protocol(&channel.server, what);
    DisconnectCause::Broken(match error {
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Io(_)
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            return DisconnectCause::OutputClosed;
        }
        Error::Capacity(_) => errors::too_long(&channel.server),
        Error::Protocol(broken) => {
            protocol(&format!("the server breaks the rules of the websocket: {broken}"))
        }
        Error::Utf8(_) => protocol("the server sent text that is not UTF-8"),
        _ => protocol("the websocket cannot be followed any more"),
    })
}

/// How a farewell of the server is seen. Most codes say that something is wrong, and some what.
fn parted(channel: &HttpSession, farewell: Option<CloseFrame>) -> DisconnectCause {
    match farewell {
        Some(CloseFrame { code, .. }) if code == CloseCode::Normal || code == CloseCode::Away => {
            DisconnectCause::OutputClosed
        }
        Some(CloseFrame { code, reason }) => {
            DisconnectCause::Broken(errors::farewell(channel, u16::from(code), &reason))
        }
        None => DisconnectCause::OutputClosed,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};

    use tungstenite::WebSocket;

    use super::*;

    /// A server that sends so many pings, and reads nothing.
    struct Deaf {
        pings: usize,
    }

    const PING: [u8; 127] = {
        let mut ping = [b'x'; 127];
        (ping[0], ping[1]) = (0x89, 125);
        ping
    };

    impl Read for Deaf {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.pings == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.pings -= 1;
            buffer[..PING.len()].copy_from_slice(&PING);
            Ok(PING.len())
        }
    }

    impl Write for Deaf {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    /// Whether a frame of ours finds room, after so many pings.
    fn has_room(pings: usize, frame_bytes: usize) -> bool {
        let bounds = Some(bounds(frame_bytes));
        let mut socket = WebSocket::from_raw_socket(Deaf { pings }, Role::Client, bounds);
        while socket.get_ref().pings > 0 {
            let read = socket.read();
            assert!(matches!(read, Ok(Message::Ping(_))), "{read:?}");
        }
        let frame = Message::Text("x".repeat(frame_bytes).into());
        !matches!(socket.write(frame), Err(tungstenite::Error::WriteBufferFull(_)))
    }

    /// SPEC 5.11, S-24: answers to pings fill what is set aside for them and no more, and leave
    /// room for a frame.
    #[test]
    fn a_server_that_pings_and_does_not_read_fills_no_memory() {
        const FRAME_BYTES: usize = 1 << 20;
        assert!(has_room(0, FRAME_BYTES) && has_room(100, FRAME_BYTES));
        assert!(!has_room(100_000, FRAME_BYTES));
    }
}
