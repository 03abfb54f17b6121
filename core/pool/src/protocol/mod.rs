//! What servers and hosts say to one another: messages, revisions of the protocol, and traces.

pub mod message;
mod methods;
mod outer_members;
pub mod revision;
pub mod trace_context;
