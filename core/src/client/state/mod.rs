//! The parts that the state of a connection is made of: none of them knows the connection.

pub(super) mod declared;
pub(super) mod handshake;
pub(super) mod ignored;
pub(super) mod liveness;
pub(super) mod next_round;
pub(super) mod open_requests;
pub(super) mod outbox;
pub(super) mod streams;
