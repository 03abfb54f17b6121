//! The bounds of what a client may have, and of how long it may take.

use std::time::Duration;

/// The bounds of what a client may have, and of how long it may take.
#[derive(Clone, Debug)]
pub(in crate::serve) struct LaneBounds {
    /// Of one principal.
    pub connections: u32,
    /// Of one principal.
    pub sessions: u32,
    /// Of one message.
    pub body_bytes: usize,
    /// Of the head of a request.
    pub header_bytes: usize,
    /// How long a session, or a connection without a request, is kept.
    pub idle: Duration,
    /// How long a client may take to read what waits for it.
    pub stall: Duration,
    /// How long the head of a request may take.
    pub header_wait: Duration,
    /// How long the body of a request may take.
    pub body_wait: Duration,
    /// Frames that wait for a client.
    pub outbox_bytes: usize,
    /// Frames of a request that are kept for a client that comes back.
    pub replay_bytes: usize,
    /// The same for all streams of a session.
    pub session_replay_bytes: usize,
    /// How long they are kept after their end.
    pub replay_time: Duration,
    /// After so long without a frame an event stream gets a comment, and a client that waits for an
    /// answer gets an event stream.
    pub keep_alive: Duration,
    /// How long a token is valid without another look at the file.
    pub token_recheck: Duration,
}

impl Default for LaneBounds {
    fn default() -> LaneBounds {
        LaneBounds {
            connections: 64,
            sessions: 256,
            body_bytes: 4 << 20,
            header_bytes: 16 << 10,
            idle: Duration::from_secs(15 * 60),
            stall: Duration::from_secs(30),
            header_wait: Duration::from_secs(10),
            body_wait: Duration::from_secs(30),
            outbox_bytes: 8 << 20,
            replay_bytes: 1 << 20,
            session_replay_bytes: 4 << 20,
            replay_time: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            token_recheck: Duration::from_secs(1),
        }
    }
}
