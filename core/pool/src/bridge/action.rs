//! What comes out of the bridge: what an input wants done, as imperatives, in order.

use super::ids::{CallId, QuestionId, StreamId};
use crate::options::LogLevel;

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send a frame to the client: one JSON-RPC message, without a line feed in it.
    Send {
        /// Where.
        stream: StreamId,
        /// The message.
        frame: String,
        /// The stream of a POST ends behind it. Never set for a client that speaks in lines.
        last: bool,
        /// The status, where nothing was sent on the stream yet.
        status: u16,
        /// Whether it may be lost when the client reads too slowly: progress and logs.
        droppable: bool,
    },
    /// Answer a POST that has nothing to be answered: status 202. Lines have no use for it.
    Accepted {
        /// Which.
        stream: StreamId,
    },
    /// End a stream on which nothing more comes: its calls were cancelled, or another GET stream
    /// took its place.
    End {
        /// Which.
        stream: StreamId,
    },
    /// A legacy `initialize` succeeds: the lane mints `Mcp-Session-Id` for the answer on this
    /// stream, which is the next action.
    OpenSession {
        /// Which.
        stream: StreamId,
    },
    /// Send a request to a server. It is answered by `BridgeInput::Answered`, once, unless a
    /// `Cancel` comes first.
    Call {
        /// Which.
        call: CallId,
        /// To which server.
        server: String,
        /// The method.
        method: String,
        /// The params: the server's own names, no reserved `_meta`, no progress token.
        params: String,
        /// What it needs besides.
        needs: CallNeeds,
    },
    /// Nobody waits for a call or subscription any more: cancel it as its server's transport does.
    Cancel {
        /// Which.
        call: CallId,
    },
    /// Answer a question of a server.
    Answer {
        /// Which.
        question: QuestionId,
        /// The text of the result; or the code and message of an error.
        answer: Result<String, (i32, String)>,
    },
    /// Subscribe to a resource, answered as a call is.
    Subscribe {
        /// Which.
        call: CallId,
        /// The server.
        server: String,
        /// The server's own URI.
        uri: String,
    },
    /// End a subscription that was answered.
    Unsubscribe {
        /// The server.
        server: String,
        /// The server's own URI.
        uri: String,
    },
    /// The least grave messages that this client wants.
    SetLogLevel {
        /// They.
        level: LogLevel,
    },
    /// Something could not be bridged, and was answered or dropped: it is counted.
    Dropped {
        /// The server.
        server: String,
        /// What it was.
        what: Unbridged,
    },
    /// The client is over: nothing is kept of it, and its session can go.
    Close,
}

/// What a call needs besides its params.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallNeeds {
    /// The client wants to be told of the progress.
    pub progress: bool,
    /// The least grave messages that it wants of this call; towards modern servers.
    pub log_level: Option<LogLevel>,
    /// What this client declares, as JSON: towards modern servers exactly this is declared, where
    /// `relays_input` is set.
    pub capabilities: Option<String>,
    /// A result that asks for input is the answer: the pool does not go on with it by itself.
    pub relays_input: bool,
}

/// What cannot be bridged (SPEC 19.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unbridged {
    /// A message that belongs to no call, or that could belong to several.
    Log,
    /// A question outside of a call, or to a client that did not declare what it takes.
    Question,
    /// A call that waited too long for its client to come back.
    ParkedCall,
}
