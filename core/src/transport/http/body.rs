//! Bodies in both directions: one that knows whether it was begun to be sent, and one that is read
//! up to a bound.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::Outcome;
use crate::transport::Inbound;

/// How much of a refusal is read for what it says.
pub(super) const REFUSAL_BYTES_MAX: usize = 16 << 10;

/// How long it is read: it comes with its status, and one that does not end must hold nobody up.
const REFUSAL_WAIT: Duration = Duration::from_secs(2);

/// How far a message is on its way.
#[derive(Debug, Default)]
pub(super) struct SendStage(AtomicU8);

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;
/// Taken back when some of it may have been sent.
const RECALLED: u8 = 3;

impl SendStage {
    /// Takes the message back, so that it is not sent again either; `false` when some of it may
    /// have been sent.
    pub(super) fn withdraw(&self) -> bool {
        let is_unsent = self.step(WAITING, WITHDRAWN).is_ok();
        if !is_unsent {
            let _ = self.step(BEGUN, RECALLED);
        }
        is_unsent
    }

    /// Whether some of it may have been sent.
    pub(super) fn outcome(&self) -> Outcome {
        match self.0.load(Ordering::Acquire) {
            BEGUN | RECALLED => Outcome::Unknown,
            _ => Outcome::NotSent,
        }
    }

    /// From here on it may have been sent; `false` when it was taken back before.
    fn begin(&self) -> bool {
        self.step(WAITING, BEGUN).map_or_else(|now| now == BEGUN, |_| true)
    }

    /// From one state to the next; the one that it is in instead.
    fn step(&self, from: u8, to: u8) -> Result<u8, u8> {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

/// A message as a request's body. It is asked for only when there is a connection to write it to.
pub(super) struct MessageBody {
    pub bytes: Option<Bytes>,
    pub way: Arc<SendStage>,
}

impl http_body::Body for MessageBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Some(bytes) = self.bytes.take() else { return Poll::Ready(None) };
        if !self.way.begin() {
            // Nothing of it may go out: its task is being ended, or waits for what came of the
            // first time alone.
            return Poll::Ready(Some(Err(io::ErrorKind::Interrupted.into())));
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
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

/// A whole body of at most `limit` bytes, with `body` as the part read already.
pub(super) async fn read(
    response: &mut reqwest::Response,
    mut body: Vec<u8>,
    limit: usize,
    inbound: &dyn Inbound,
) -> Result<Vec<u8>, Unread> {
    while let Some(chunk) = response.chunk().await.map_err(Unread::Cut)? {
        inbound.heard();
        if body.len() + chunk.len() > limit {
            return Err(Unread::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The first bytes of a body; nothing where none come.
pub(super) async fn first(response: &mut reqwest::Response) -> Vec<u8> {
    let chunk = response.chunk().await.ok().flatten();
    chunk.map(Vec::from).unwrap_or_default()
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

/// The beginning of what came in the place of an answer, as far as it comes at once.
pub(super) async fn beginning(response: &mut reqwest::Response) -> Vec<u8> {
    in_time(read_head(response, REFUSAL_BYTES_MAX)).await
}

/// What is read of what is no answer, as long as that may take.
pub(super) async fn in_time(read: impl Future<Output = Vec<u8>>) -> Vec<u8> {
    tokio::time::timeout(REFUSAL_WAIT, read).await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http_body::Body;

    use super::*;

    /// SPEC 5.5: what was taken back is not sent again, whatever the server says of the first time.
    /// Some of it was sent all the same.
    #[test]
    fn a_message_that_was_taken_back_is_not_sent_again() {
        let way = Arc::<SendStage>::default();
        let message = || MessageBody { bytes: Some("{}".into()), way: way.clone() };
        let sent = |message: &mut MessageBody| {
            let mut context = Context::from_waker(Waker::noop());
            match Pin::new(message).poll_frame(&mut context) {
                Poll::Ready(Some(frame)) => Some(frame.is_ok()),
                Poll::Ready(None) | Poll::Pending => None,
            }
        };
        let (mut first, mut second) = (message(), message());
        assert_eq!((sent(&mut first), sent(&mut second)), (Some(true), Some(true)));
        assert!(!way.withdraw());
        assert_eq!(sent(&mut second), None, "one that went out whole is at its end");
        assert_eq!(sent(&mut message()), Some(false));
        assert_eq!(way.outcome(), Outcome::Unknown);
    }
}
