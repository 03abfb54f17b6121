//! A stream of bytes whose every read is a sign of life: a long message is one long before it is
//! whole.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use reqwest::Upgraded;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::skim::Skim;
use crate::transport::Inbound;

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 16 << 10;

/// The connection under a websocket.
pub(super) struct WatchedStream {
    stream: Upgraded,
    inbound: Arc<dyn Inbound>,
    skim: Skim,
    /// What was read and not taken yet, from there on.
    ready: Vec<u8>,
    taken: usize,
}

impl WatchedStream {
    pub(super) fn new(stream: Upgraded, inbound: Arc<dyn Inbound>, skim: Skim) -> WatchedStream {
        WatchedStream { stream, inbound, skim, ready: Vec::new(), taken: 0 }
    }

    fn stream(&mut self) -> Pin<&mut Upgraded> {
        Pin::new(&mut self.stream)
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.taken == self.ready.len() {
            // An idle connection keeps no memory for it.
            (self.ready, self.taken) = (Vec::new(), 0);
            let mut piece = [0; PIECE_BYTES];
            let mut piece = ReadBuf::new(&mut piece);
            ready!(self.stream().poll_read(context, &mut piece))?;
            if piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.inbound.heard();
            let heard = &mut *self;
            heard.skim.feed(piece.filled(), &mut heard.ready);
        }
        let left = &self.ready[self.taken..];
        let taken = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..taken]);
        self.taken += taken;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}
