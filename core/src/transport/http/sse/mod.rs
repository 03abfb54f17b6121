//! Streams of events: their text, how they are followed, resumed and opened again.

pub(super) mod backoff;
pub(super) mod endpoint;
pub(super) mod get_stream;
pub(super) mod legacy;
pub(super) mod missed_events;
pub(super) mod parser;
pub(super) mod response;
