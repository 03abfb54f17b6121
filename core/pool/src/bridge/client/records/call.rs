//! One request of a client to a server.

use super::question::Question;
use crate::bridge::ids::StreamId;
use crate::bridge::methods::MethodRow;
use crate::bridge::wire::meta::RequestMeta;
use crate::config::Era;

/// Who waits for an answer: a request of the client, by the JSON of its id, and its stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::bridge::client) struct OpenRequest {
    pub stream: StreamId,
    pub id: String,
}

/// What tells the requests of a client apart. The ids of a session are its own; a modern client is
/// many connections, each with ids of its own.
pub(in crate::bridge::client) type RequestKey = (Option<StreamId>, String);

/// A call that its server did not answer yet.
#[derive(Debug)]
pub(in crate::bridge::client) struct OpenCall {
    /// Who waits; nobody while it is parked.
    pub asker: Option<OpenRequest>,
    pub server: String,
    pub server_era: Era,
    pub method: &'static MethodRow,
    /// The name or URI that the client gave.
    pub shown: String,
    pub meta: RequestMeta,
    /// The client knows structured content that is an object alone, and this may be another.
    pub wraps_content: bool,
    /// What a state that the client carries for this call is bound to.
    pub binding: [u8; 32],
    /// The handle under which it is parked.
    pub handle: Option<String>,
    /// Questions that come when those are answered that the client has.
    pub queued: Vec<Question>,
    /// Ids of the addresses that a legacy client was asked to open for a modern server.
    pub visits: Vec<String>,
}
