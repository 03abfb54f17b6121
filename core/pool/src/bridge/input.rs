//! What goes into the bridge: what a client says, what servers say, and time.

use super::ids::{CallId, QuestionId, StreamId};
use super::wire::headers::McpHeaders;
use crate::error::Error;
use crate::state::Moment;

/// The time of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// On the pool's monotonic clock: for deadlines.
    pub moment: Moment,
    /// Seconds since 1970: for states that outlive this process.
    pub unix_seconds: u64,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub enum BridgeInput<'a> {
    /// The client sent one JSON-RPC message, or a batch of them.
    Message {
        /// Where the answers go.
        stream: StreamId,
        /// The message.
        text: &'a str,
        /// The headers of the protocol; only over HTTP.
        headers: Option<&'a McpHeaders>,
    },
    /// A legacy GET stream opened, or the connection of a client that speaks in lines. Messages go
    /// there that belong to no call. It takes the place of an earlier one.
    Stream {
        /// Which.
        stream: StreamId,
    },
    /// A stream is gone. That cancels the calls of a modern client, and of one that speaks in
    /// lines.
    StreamClosed {
        /// Which.
        stream: StreamId,
    },
    /// A call, a subscription, or a retry ended.
    Answered {
        /// Which.
        call: CallId,
        /// The text of the server's result; or the error, with the server's own in its detail.
        result: Result<&'a str, &'a Error>,
    },
    /// A server told of its progress.
    Progress {
        /// With which call.
        call: CallId,
        /// The params of the notification.
        params: &'a str,
    },
    /// A server logged a message.
    Logged {
        /// Which server.
        server: &'a str,
        /// The params of the notification.
        params: &'a str,
        /// The call that it belongs to, where that is known.
        call: Option<CallId>,
    },
    /// A server asks the client: a request for sampling or elicitation. It is answered once, by
    /// `Action::Answer`, unless `Unasked` comes first.
    Asked {
        /// Which question.
        question: QuestionId,
        /// Who asks.
        server: &'a str,
        /// The call that caused it. Without one nobody is asked.
        call: Option<CallId>,
        /// The method.
        method: &'a str,
        /// The params.
        params: &'a str,
    },
    /// The server took its question back, or its time is over: no answer is awaited any more.
    Unasked {
        /// Which question.
        question: QuestionId,
    },
    /// Lists of this client's view changed, and the new view is what `Offers` shows.
    ListsChanged {
        /// Which.
        kinds: ListKinds,
    },
    /// A resource that was subscribed to was updated.
    ResourceUpdated {
        /// The server.
        server: &'a str,
        /// The server's own URI.
        uri: &'a str,
    },
    /// A deadline passed, or may have.
    Tick,
    /// The endpoint ends: no new requests, and `Action::Close` once the open ones are answered.
    Drain,
    /// The client is gone, or its session was ended: everything of it is cancelled at once.
    Close,
}

impl BridgeInput<'_> {
    /// Whether the client itself did it: that keeps it from being idle.
    pub(super) fn is_of_client(&self) -> bool {
        matches!(
            self,
            BridgeInput::Message { .. }
                | BridgeInput::Stream { .. }
                | BridgeInput::StreamClosed { .. }
        )
    }
}

/// The lists that changed: resources stand for their templates too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListKinds {
    /// `tools/list`.
    pub tools: bool,
    /// `prompts/list`.
    pub prompts: bool,
    /// `resources/list` and `resources/templates/list`.
    pub resources: bool,
}
