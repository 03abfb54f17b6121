//! Bodies in both directions: one that knows whether it was begun to be sent, and one that is read up to a bound.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::Outcome;
use crate::transport::Inbound;

/// How far a message is on its way.
#[derive(Debug, Default)]
pub(super) struct Way(AtomicU8);

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Way {
    /// Takes the message back; `false` when some of it may have been sent.
    pub(super) fn withdraw(&self) -> bool {
        let changed =
            self.0.compare_exchange(WAITING, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire);
        changed.is_ok()
    }

    /// Whether some of it may have been sent.
    pub(super) fn outcome(&self) -> Outcome {
        if self.0.load(Ordering::Acquire) == BEGUN { Outcome::Unknown } else { Outcome::NotSent }
    }

    /// From here on it may have been sent; `false` when it was taken back before.
    fn begin(&self) -> bool {
        let changed = self.0.compare_exchange(WAITING, BEGUN, Ordering::AcqRel, Ordering::Acquire);
        changed.map_or_else(|now| now == BEGUN, |_| true)
    }
}

/// A message as a request's body. It is asked for only when there is a connection to write it to.
pub(super) struct Message {
    pub bytes: Option<Bytes>,
    pub way: Arc<Way>,
}

impl http_body::Body for Message {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if !self.way.begin() {
            // Its task is being ended; nothing of the message may go out meanwhile.
            return Poll::Ready(Some(Err(io::ErrorKind::Interrupted.into())));
        }
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Why a body could not be read.
pub(super) enum Unread {
    /// It is longer than allowed.
    TooLong,
    /// It was cut.
    Cut(reqwest::Error),
}

/// A whole body of at most `limit` bytes.
pub(super) async fn read(
    response: &mut reqwest::Response,
    limit: usize,
    inbound: &dyn Inbound,
) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unread::Cut)? {
        inbound.heard();
        if body.len() + chunk.len() > limit {
            return Err(Unread::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The beginning of a body that is read for what it says, whatever becomes of the rest.
pub(super) async fn read_head(response: &mut reqwest::Response, limit: usize) -> Vec<u8> {
    let mut head = Vec::new();
    while head.len() < limit {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                head.extend_from_slice(&chunk[..chunk.len().min(limit - head.len())])
            }
            Ok(None) | Err(_) => break,
        }
    }
    head
}
