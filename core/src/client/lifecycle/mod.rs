//! The life of a connection: how it is made, watched and ended.

pub(super) mod capabilities;
pub(super) mod close;
pub(super) mod connect;
pub(super) mod keepalive;
pub(super) mod rmcp_handshake;
pub(super) mod timer;
