//! What the connections of an endpoint share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bounds::LaneBounds;
use super::guard::OriginGuard;
use super::http::sessions::{LegacySessions, ReplayBounds};
use super::quotas::Quotas;
use super::tokens::Tokens;
use crate::serve::lane::Clients;
use crate::serve::outlet::{OutletBounds, StreamId};

/// What every connection knows.
pub(super) struct Front {
    pub clients: Arc<dyn Clients>,
    pub bounds: LaneBounds,
    pub guard: OriginGuard,
    /// None where there is no port, so that the system says who a peer is.
    pub tokens: Option<Arc<Tokens>>,
    pub quotas: Arc<Quotas>,
    pub sessions: LegacySessions,
}

/// Streams that there were in this process.
static STREAMS: AtomicU64 = AtomicU64::new(1);

impl Front {
    /// The number of a new stream.
    pub(super) fn next_stream(&self) -> StreamId {
        StreamId(STREAMS.fetch_add(1, Ordering::Relaxed))
    }

    /// The bounds of the stream for what belongs to no request.
    pub(super) fn listening_bounds(&self) -> OutletBounds {
        OutletBounds { ends_with_last: false, ..self.request_bounds(self.bounds.replay_bytes) }
    }

    /// What a session keeps of its streams after their end.
    pub(super) fn replay_bounds(&self) -> ReplayBounds {
        ReplayBounds { bytes_max: self.bounds.session_replay_bytes, time: self.bounds.replay_time }
    }

    /// The bounds of a request's stream: so many bytes that were sent are kept.
    pub(super) fn request_bounds(&self, replay_bytes_max: usize) -> OutletBounds {
        OutletBounds {
            ends_with_last: true,
            unsent_bytes_max: self.bounds.outbox_bytes,
            replay_bytes_max,
        }
    }
}
