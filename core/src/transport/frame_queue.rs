//! Frames that wait to be written, in order and bounded.

use std::borrow::Cow;
use std::collections::VecDeque;

/// Frames that may wait, notifications apart: twice as many as there may be calls in flight by
/// default.
const QUEUE_FRAMES_MAX: usize = 8192;

/// Replies to the server that may wait. A server that asks without reading must not crowd out the
/// calls.
pub(crate) const QUEUE_REPLIES_MAX: usize = 256;

/// Bytes that may wait. A single frame above it is taken when it is alone.
pub(crate) const QUEUE_BYTES_MAX: usize = 16 << 20;

/// What a frame is, for the bounds and for taking it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// A request of ours, by its id.
    Request(u64),
    /// A notification of ours.
    Notification,
    /// An answer to the server.
    Reply,
}

/// The frames of one connection that wait.
#[derive(Debug, Default)]
pub(super) struct FrameQueue {
    frames: VecDeque<QueuedFrame>,
    /// Of all frames, whole.
    bytes: usize,
    replies: usize,
}

#[derive(Debug)]
struct QueuedFrame {
    bytes: Box<[u8]>,
    kind: FrameKind,
}

impl FrameQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether a frame may be added.
    pub(super) fn has_room(&self, bytes: usize, kind: FrameKind) -> bool {
        // A frame that was begun must be ended, and finds the queue empty. A notification always
        // has room. Most take back a request that was written, each once, so that the calls in
        // flight bound them; without them the server would work on. The others say that the
        // handshake is over, once, or that the roots are others, as often as the host changes them.
        self.frames.is_empty()
            || kind == FrameKind::Notification
            || (self.frames.len() < QUEUE_FRAMES_MAX
                && self.bytes.saturating_add(bytes) <= QUEUE_BYTES_MAX
                && (kind != FrameKind::Reply || self.replies < QUEUE_REPLIES_MAX))
    }

    pub(super) fn push(&mut self, frame: &[u8], kind: FrameKind) {
        self.bytes += frame.len();
        self.replies += usize::from(kind == FrameKind::Reply);
        self.frames.push_back(QueuedFrame { bytes: frame.into(), kind });
    }

    /// Of all frames, whole.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes of the first frame, and of those after it as long as they are no more than `most`
    /// together.
    pub(super) fn joined(&self, most: usize) -> Option<Cow<'_, [u8]>> {
        let first = self.frames.front()?;
        let mut end = 0;
        let fits = |frame: &&QueuedFrame| {
            end += frame.bytes.len();
            end <= most
        };
        let count = self.frames.iter().take_while(fits).count();
        if count < 2 {
            return Some(Cow::Borrowed(&first.bytes));
        }
        let joined: Vec<&[u8]> =
            self.frames.iter().take(count).map(|frame| &*frame.bytes).collect();
        Some(Cow::Owned(joined.concat()))
    }

    /// Takes the first frame out.
    pub(super) fn pop(&mut self) -> Option<Box<[u8]>> {
        self.remove(0)
    }

    /// Takes the first frames out as far as so many written bytes cover them whole; returns how
    /// much of the next was written.
    pub(super) fn pop_written(&mut self, mut written: usize) -> usize {
        while let Some(first) = self.frames.front()
            && first.bytes.len() <= written
        {
            written -= first.bytes.len();
            self.remove(0);
        }
        written
    }

    /// Takes a request out that is not among the first `begun` frames; whether it was there.
    pub(super) fn withdraw(&mut self, request: u64, begun: usize) -> bool {
        let wanted = FrameKind::Request(request);
        let place = self.frames.iter().skip(begun).position(|frame| frame.kind == wanted);
        place.and_then(|place| self.remove(begun + place)).is_some()
    }

    /// The requests that are not among the first `begun` frames.
    pub(super) fn requests(&self, begun: usize) -> impl Iterator<Item = u64> {
        self.frames.iter().skip(begun).filter_map(|frame| match frame.kind {
            FrameKind::Request(id) => Some(id),
            FrameKind::Notification | FrameKind::Reply => None,
        })
    }

    fn remove(&mut self, place: usize) -> Option<Box<[u8]>> {
        let QueuedFrame { bytes, kind } = self.frames.remove(place)?;
        self.bytes -= bytes.len();
        self.replies -= usize::from(kind == FrameKind::Reply);
        Some(bytes)
    }
}
