//! The parts of a connection's state. They do not know the connection.

pub(super) mod handshake;
pub(super) mod ignored_counts;
pub(super) mod list_capabilities;
pub(super) mod liveness;
pub(super) mod next_round;
pub(super) mod open_requests;
pub(super) mod outbox;
pub(super) mod streams;
