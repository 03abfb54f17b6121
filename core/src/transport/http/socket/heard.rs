//! A stream of bytes whose every read is a sign of life: a long message is one long before it is whole.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use reqwest::Upgraded;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::transport::Inbound;

/// The connection under a websocket.
pub(super) struct Heard {
    stream: Upgraded,
    inbound: Arc<dyn Inbound>,
}

impl Heard {
    pub(super) fn new(stream: Upgraded, inbound: Arc<dyn Inbound>) -> Heard {
        Heard { stream, inbound }
    }

    fn stream(&mut self) -> Pin<&mut Upgraded> {
        Pin::new(&mut self.stream)
    }
}

impl AsyncRead for Heard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.stream().poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.inbound.heard();
        }
        read
    }
}

impl AsyncWrite for Heard {
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
