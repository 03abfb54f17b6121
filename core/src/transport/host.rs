//! A server that the host itself provides: frames go to the host's code and come from it, within
//! the process.
//!
//! The host's code runs on one thread for each connection, so that it may block without holding up
//! anybody else. What it sends is queued, and brought to the connection by a task.
//!
//! Frames are JSON texts. Typed requests would be a server framework, and hosts have one.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use trunkline_pool::interface::words;
use trunkline_pool::state::CloseExit;

use super::frame_queue::FrameQueue;
use super::frame_reader::OVERSIZED_HEAD_BYTES;
use super::{
    BoxFuture, DisconnectCause, FrameKind, Graces, Inbound, ServerLine, Via, Wire, WriteOutcome,
};
use crate::runtime::handling::Apart;
use crate::{Error, ErrorCode, Result, platform};

/// Messages of the host that wait for the connection; more are refused.
const FRAMES_MAX: usize = 4096;

/// A server that the host itself provides, to one session
/// ([`Session::provide`](crate::Session::provide)).
///
/// Both functions run on a thread that is the connection's own, one call at a time, and may block:
/// that delays this server alone. A panic in them ends the connection.
pub trait HostServer: Send + Sync + 'static {
    /// A message of the pool: the text of one JSON-RPC message, in the order of sending. The
    /// answers, and whatever else the server says, go to [`HostConnection::send`], then or later,
    /// from any thread.
    fn receive(&self, connection: &HostConnection, frame: &str);

    /// The connection is over; what is sent to it from now on goes nowhere. Called once, and last.
    fn closed(&self, connection: &HostConnection) {
        let _ = connection;
    }
}

impl<T: HostServer> HostServer for Apart<T> {
    fn receive(&self, connection: &HostConnection, frame: &str) {
        if let Some(host) = self.get() {
            host.receive(connection, frame);
        }
    }

    fn closed(&self, connection: &HostConnection) {
        if let Some(host) = self.get() {
            host.closed(connection);
        }
    }
}

/// The server's end of one connection with a server that the host provides. Cheap to clone; usable
/// from any thread.
///
/// A server that is lost and reconnected gets another one: the protocol begins anew.
#[derive(Clone)]
pub struct HostConnection(Arc<HostChannel>);

impl HostConnection {
    /// A number that no other connection of the process has or had.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Sends a message of the server: the text of one JSON-RPC message. Never blocks.
    ///
    /// # Errors
    /// `limit` (`detail.limit` is `queued_frames`) while too many wait to be read; `closed` once
    /// the connection is over; `forked` in a child process.
    pub fn send(&self, frame: &str) -> Result<()> {
        if self.0.is_forked() {
            let message = "this process is a fork of the one that the connection is in";
            return Err(Error::new(ErrorCode::Forked, message).with_server(&*self.0.server));
        }
        let mut incoming = self.0.incoming();
        if incoming.closed {
            let error = Error::new(ErrorCode::Closed, "the connection is over");
            return Err(error.with_server(&*self.0.server));
        }
        let message = self.0.bounded(frame);
        let bytes = incoming.bytes + message.text.len();
        let is_full = bytes > self.0.frame_bytes.saturating_mul(2) && !incoming.queue.is_empty();
        if incoming.queue.len() >= FRAMES_MAX || is_full {
            let error = Error::new(ErrorCode::Limit, "too many messages wait to be read");
            return Err(error
                .with_detail("limit", words::limit::QUEUED_FRAMES)
                .with_server(&*self.0.server));
        }
        incoming.bytes = bytes;
        incoming.queue.push_back(message);
        drop(incoming);
        self.0.arrived.notify_one();
        Ok(())
    }

    /// Ends the connection from the server's side, as a process does that exits. What was sent
    /// before still counts.
    pub fn close(&self) {
        if self.0.is_forked() {
            return;
        }
        self.0.incoming().closed = true;
        self.0.arrived.notify_one();
    }
}

/// A server of the host's as a wire.
pub(crate) struct HostWire {
    channel: Arc<HostChannel>,
    host: Arc<dyn HostServer>,
    task: OnceLock<AbortHandle>,
}

/// What both ends of a connection share.
struct HostChannel {
    id: u64,
    fork_generation: u64,
    server: Arc<str>,
    frame_bytes: usize,
    outgoing: Mutex<Outgoing>,
    /// For the thread that has nothing to hand over.
    changed: Condvar,
    incoming: Mutex<Incoming>,
    /// For the task that has nothing to bring.
    arrived: Notify,
    /// Whether the thread of the host's code has returned.
    returned: watch::Sender<bool>,
}

/// What the host is to receive.
#[derive(Default)]
struct Outgoing {
    queue: FrameQueue,
    stopped: bool,
    /// Nothing more comes: the thread ends once the queue is empty.
    ended: bool,
}

/// What the host sent.
#[derive(Default)]
struct Incoming {
    queue: VecDeque<HostMessage>,
    bytes: usize,
    closed: bool,
}

struct HostMessage {
    text: Box<str>,
    /// Whether `text` is only the beginning of what is above the limit.
    is_oversized: bool,
}

impl HostWire {
    /// A connection with that server, to which nothing is said yet.
    pub(crate) fn new(server: Arc<str>, host: Arc<dyn HostServer>, frame_bytes: usize) -> HostWire {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(1);
        let channel = Arc::new(HostChannel {
            id: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
            fork_generation: platform::fork_generation(),
            server,
            frame_bytes,
            outgoing: Mutex::default(),
            changed: Condvar::new(),
            incoming: Mutex::default(),
            arrived: Notify::new(),
            returned: watch::Sender::new(false),
        });
        HostWire { channel, host, task: OnceLock::new() }
    }

    fn start_thread(&self) -> std::io::Result<()> {
        let (channel, host) = (self.channel.clone(), self.host.clone());
        let body = move || {
            channel.hand_over(&*host);
            drop(host);
            channel.returned.send_replace(true);
        };
        platform::start_callback_thread("trunkline-host", body)
    }
}

impl Wire for HostWire {
    fn run(self: Arc<Self>, inbound: Arc<dyn Inbound>) {
        let channel = self.channel.clone();
        let started = self.start_thread();
        let task = tokio::spawn(async move {
            let sighting = match started {
                Ok(()) => channel.bring(&*inbound).await,
                Err(error) => {
                    channel.returned.send_replace(true);
                    let message = format!("no thread for a server of the host's own: {error}");
                    let error = Error::new(ErrorCode::Limit, message);
                    DisconnectCause::Broken(error.with_detail("limit", words::limit::THREADS))
                }
            };
            inbound.lost(sighting).await;
        });
        let _ = self.task.set(task.abort_handle());
    }

    fn send(&self, frame: &[u8], kind: FrameKind) -> WriteOutcome {
        let mut outgoing = self.channel.outgoing();
        if outgoing.stopped {
            return WriteOutcome::Closed;
        }
        let frame = frame.trim_ascii_end();
        if !outgoing.queue.has_room(frame.len(), kind) {
            return WriteOutcome::Full;
        }
        outgoing.queue.push(frame, kind);
        drop(outgoing);
        self.channel.changed.notify_one();
        WriteOutcome::Queued
    }

    fn withdraw(&self, request: u64) -> bool {
        self.channel.outgoing().queue.withdraw(request, 0)
    }

    fn unsent(&self) -> HashSet<u64> {
        self.channel.outgoing().queue.requests(0).collect()
    }

    fn stop(&self) -> Vec<u64> {
        let mut outgoing = self.channel.outgoing();
        outgoing.stopped = true;
        let unsent: Vec<u64> = outgoing.queue.requests(0).collect();
        for request in &unsent {
            outgoing.queue.withdraw(*request, 0);
        }
        unsent
    }

    fn transport(&self) -> Option<&'static str> {
        Some("host")
    }

    fn end(
        self: Arc<Self>,
        graces: Graces,
        mut killed: watch::Receiver<bool>,
    ) -> BoxFuture<'static, CloseExit> {
        Box::pin(async move {
            self.channel.outgoing().ended = true;
            self.channel.changed.notify_one();
            self.channel.incoming().closed = true;
            let mut returned = self.channel.returned.subscribe();
            let patience = graces.exit.saturating_add(graces.kill);
            let exit = tokio::select! {
                biased;
                Ok(_) = returned.wait_for(|returned| *returned) => CloseExit::Clean,
                Ok(_) = killed.wait_for(|killed| *killed) => CloseExit::Forced,
                () = tokio::time::sleep(patience) => CloseExit::Forced,
            };
            if let Some(task) = self.task.get() {
                task.abort();
            }
            exit
        })
    }
}

impl HostChannel {
    /// Hands frames to the host until the connection ends. The body of its thread.
    fn hand_over(self: &Arc<Self>, host: &dyn HostServer) {
        let connection = HostConnection(self.clone());
        while let Some(frame) = self.next_outgoing() {
            let frame = String::from_utf8_lossy(&frame);
            let received = catch_unwind(AssertUnwindSafe(|| host.receive(&connection, &frame)));
            if received.is_err() {
                tracing::error!(server = %self.server, "a server of the host's own panicked");
                connection.close();
            }
        }
        connection.close();
        if catch_unwind(AssertUnwindSafe(|| host.closed(&connection))).is_err() {
            tracing::error!(server = %self.server, "a server of the host's own panicked at its end");
        }
    }

    fn next_outgoing(&self) -> Option<Box<[u8]>> {
        let mut outgoing = self.outgoing();
        loop {
            if let Some(frame) = outgoing.queue.pop() {
                return Some(frame);
            }
            if outgoing.ended {
                return None;
            }
            outgoing = self.changed.wait(outgoing).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Brings what the host sends, until it ends the connection or breaks the protocol.
    async fn bring(&self, inbound: &dyn Inbound) -> DisconnectCause {
        loop {
            // A host that always has more to say must not keep the other connections from their
            // thread.
            tokio::task::coop::consume_budget().await;
            let (message, is_over) = {
                let mut incoming = self.incoming();
                let message = incoming.queue.pop_front();
                incoming.bytes -= message.as_ref().map_or(0, |message| message.text.len());
                (message, incoming.closed)
            };
            match message {
                Some(message) => {
                    inbound.heard();
                    if let Some(line) = message.line()
                        && let Err(error) = inbound.take(line, Via::Common)
                    {
                        return DisconnectCause::Broken(error);
                    }
                }
                None if is_over => return DisconnectCause::OutputClosed,
                None => self.arrived.notified().await,
            }
        }
    }

    /// Whether this process is a child of the connection's: who holds a lock may not be here.
    fn is_forked(&self) -> bool {
        self.fork_generation != platform::fork_generation()
    }

    /// A message of the host, or its beginning when it is above the limit.
    fn bounded(&self, frame: &str) -> HostMessage {
        let is_oversized = frame.len() > self.frame_bytes;
        let most = if is_oversized { OVERSIZED_HEAD_BYTES } else { frame.len() };
        let end = (0..=most).rev().find(|end| frame.is_char_boundary(*end)).unwrap_or(0);
        HostMessage { text: frame[..end].into(), is_oversized }
    }

    fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn incoming(&self) -> MutexGuard<'_, Incoming> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostMessage {
    /// As a line of a stream; a blank one is none.
    fn line(&self) -> Option<ServerLine<'_>> {
        let bytes = self.text.trim().as_bytes();
        let line =
            if self.is_oversized { ServerLine::Oversized(bytes) } else { ServerLine::Whole(bytes) };
        (!bytes.is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Deaf;

    impl HostServer for Deaf {
        fn receive(&self, _: &HostConnection, _: &str) {}
    }

    /// SPEC 9.8, 16.2: graces that no clock reaches are long ones.
    #[tokio::test]
    async fn eternal_graces_hold_up_no_end() {
        let wire = Arc::new(HostWire::new("s".into(), Arc::new(Deaf), 1 << 10));
        wire.start_thread().unwrap();
        let graces = Graces { exit: Duration::MAX, kill: Duration::MAX };
        let killed = watch::Sender::new(false);
        assert_eq!(wire.end(graces, killed.subscribe()).await, CloseExit::Clean);
    }
}
