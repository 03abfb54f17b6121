//! What carries the frames of one connection, whichever transport it is.
//!
//! A [`Wire`] knows how frames travel and how the far end is ended; it knows nothing of requests,
//! lists or the pool. What it brings goes to an [`Inbound`], which is the connection.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use trunkline_pool::catalog::Catalog;
use trunkline_pool::state::CloseExit;

use super::child::Child;
use super::{AnswerReader, EventLoop, FrameKind, ServerLine, WriteOutcome};
use crate::{Error, Result};

/// A future behind a trait object.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The way of frames to and from one server.
pub(crate) trait Wire: Send + Sync + 'static {
    /// Starts to carry what the server sends, as tasks of the runtime it is called on. Called once.
    fn run(self: Arc<Self>, inbound: Arc<dyn Inbound>);

    /// Sends a frame, which ends with its newline, or queues it. Never waits.
    fn send(&self, frame: &[u8], kind: FrameKind) -> WriteOutcome;

    /// A request was written whole: the standing reader may look for its answer before it waits.
    fn request_written(&self, _inbound: &dyn Inbound) {}

    /// Somebody waits for an answer without reading it: from here on the standing reader does.
    fn recall_reader(&self) {}

    /// Reads the answer to this request on the calling thread, which waits for it, if nobody else
    /// needs to read. Returns when it came, or as soon as another reads; after the deadline of the
    /// request too.
    fn read_here(&self, _request: u64, _inbound: &dyn Inbound) {}

    /// Lets an event loop read the answer to this request of its own, if nobody else needs to read.
    fn lend_to(
        &self,
        _event_loop: &EventLoop,
        _request: u64,
        _inbound: &dyn Inbound,
    ) -> AnswerReader {
        AnswerReader::Library
    }

    /// Reads what there is for a loop that waits for the answer to this request; whether it is to
    /// go on with that.
    fn read_ready(&self, _request: u64, _inbound: &dyn Inbound) -> bool {
        false
    }

    /// Resolves when a notification or reply that was refused for want of room may be taken, or
    /// when none will be any more; `None` where what is refused stays refused.
    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Takes a request back; `true` means that nothing of it was sent, and nothing will be.
    fn withdraw(&self, request: u64) -> bool;

    /// The requests that wait to be sent and were not begun.
    fn unsent(&self) -> HashSet<u64>;

    /// Takes no frame any more, and gives back the requests that were not begun.
    fn stop(&self) -> Vec<u64>;

    /// Ends the far end, and resolves when nothing of it is left here. `killed` turns true when the
    /// graces are to be skipped. Called once, after `stop`.
    fn end(
        self: Arc<Self>,
        graces: Graces,
        killed: watch::Receiver<bool>,
    ) -> BoxFuture<'static, CloseExit>;

    /// Whether a request of the modern era that is withdrawn tells the server so by itself.
    fn tells_withdrawals(&self) -> bool {
        false
    }

    /// Whether arguments of calls in the modern era may have to be in headers too.
    fn mirrors_arguments(&self) -> bool {
        false
    }

    /// What a server of the modern era lists: tools whose calls cannot be carried as it demands are
    /// taken out of it.
    fn take_tools(&self, _catalog: &mut Catalog) {}

    /// The handshake was answered with this revision of the protocol.
    fn negotiated(&self, _revision: &str) {}

    /// The word for the transport in `status`, where only the connection knows.
    fn transport(&self) -> Option<&'static str> {
        None
    }

    /// Whether anything of what was sent was read, as far as the system says; also after the far
    /// end is gone.
    fn was_read(&self) -> bool {
        true
    }

    /// Whether the far end may have ended the connection for what it was sent, once it has ended.
    fn may_have_ended_by_word(&self) -> bool {
        self.child().is_some() && self.was_read()
    }

    /// Whether the far end has closed the pipe that frames are written into. The loss is reported
    /// once its cause is known.
    fn is_broken(&self) -> bool {
        false
    }

    /// The server's process, where it is one of this machine.
    fn child(&self) -> Option<&Child> {
        None
    }
}

/// The answer to a request that is in flight no more, which nobody was told of.
pub(crate) struct UndeliveredAnswer(Box<dyn FnOnce()>);

impl UndeliveredAnswer {
    pub(crate) fn new(tell: impl FnOnce() + 'static) -> UndeliveredAnswer {
        UndeliveredAnswer(Box::new(tell))
    }

    /// Ends the call: what a host does then happens on this thread.
    pub(crate) fn tell(self) {
        (self.0)();
    }
}

/// Where a wire brings what it carries.
pub(crate) trait Inbound: Send + Sync + 'static {
    /// Something came, whatever it is: the server lives.
    fn heard(&self);

    /// The server is busy, and asks to be left alone for that time: it lives, and is asked for no
    /// sign of life meanwhile.
    fn busy(&self, wait: Duration);

    /// A line or message of the server, in the order of the wire.
    ///
    /// # Errors
    /// When the connection cannot go on; it goes into [`DisconnectCause::Broken`].
    fn take(&self, line: ServerLine<'_>, via: Via) -> Result<()>;

    /// The last line of a stream that ended within it: half a frame is no fault of its own.
    ///
    /// # Errors
    /// As [`Inbound::take`].
    fn take_last(&self, line: ServerLine<'_>) -> Result<()>;

    /// Takes a frame that is nothing but the answer to this request, whose end is then told by
    /// [`UndeliveredAnswer::tell`]; `None`: it is something else, and nothing was done.
    fn take_answer(&self, request: u64, frame: &[u8]) -> Option<UndeliveredAnswer>;

    /// How many requests wait for an answer that comes soon.
    fn awaited(&self) -> usize;

    /// When the request of this id gives up; `None` when it has ended.
    fn deadline(&self, request: u64) -> Option<Instant>;

    /// Whether the request of this id is still without its answer.
    fn awaits(&self, request: u64) -> bool;

    /// When the connect gives up; `None` once the connection is made, or is not wanted any more.
    fn given_up_at(&self) -> Option<tokio::time::Instant>;

    /// Whether the handshake is wanted: resolves when no question is open beside it that may be
    /// answered instead.
    fn wants_handshake(&self) -> BoxFuture<'static, bool>;

    /// Ends one request with an error, where the server refused it or the wire failed under it
    /// alone; nothing when it already ended.
    fn refuse(&self, request: u64, error: Error, doubt: MayHaveRun);

    /// What the server said unasked may not have come for a while: what it lists is to be looked at
    /// again.
    fn gap(&self);

    /// What the server says unasked does not come any more: that nothing is announced says nothing
    /// of its lists.
    fn deaf(&self);

    /// A line that the server wrote to stderr, redacted and escaped.
    fn stderr(&self, line: &str);

    /// The connection is lost: answers every call in flight, and begins the end. Only the first
    /// loss counts.
    fn lost(self: Arc<Self>, sighting: DisconnectCause) -> BoxFuture<'static, ()>;
}

/// The way that something of the server came by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Via {
    /// One that says nothing of requests: a pipe, a websocket, the stream of what is unasked.
    #[default]
    Common,
    /// The response to this request: what comes with the answer belongs to the request (SPEC 15.1).
    Response(u64),
}

/// Whether the server may be at work on a request that ended without its answer (SPEC 15.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayHaveRun {
    /// It may.
    Open,
    /// It said that it is not.
    Settled,
}

/// How a loss is seen first. Of the first two, the process's exit is mostly the reason.
pub(crate) enum DisconnectCause {
    /// The server's output ended.
    OutputClosed,
    /// The server no longer reads.
    InputClosed,
    /// The stream cannot be followed any more.
    Broken(Error),
    /// The server no longer knows the session.
    SessionLost(Error),
    /// Nothing came any more, however often it was asked.
    Silent,
}

/// The patience of an ordered end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Graces {
    /// From the close of stdin to SIGTERM.
    pub exit: Duration,
    /// From SIGTERM to SIGKILL.
    pub kill: Duration,
}
