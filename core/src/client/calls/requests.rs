//! Requests of ours: their text, their way to the wire, and the ways in which they end early.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::in_flight::{Clock, Flight, Overdue, Purpose, RefusedRequest, Waiter};
use crate::client::connection::Link;
use crate::client::era::{Metadata, write_params};
use crate::client::errors;
use crate::client::state::next_round::NextRound;
use crate::client::state::outbox::PendingNotice;
use crate::client::types::{OutgoingRequest, Reply, ReplyCallback, RequestId};
use crate::transport::{FrameKind, WriteOutcome};
use crate::{Error, Outcome, Result};
use trunkline_pool::interface::{RetryAdvice, words};

/// A thread's frame buffer that grew beyond this is given back.
const FRAME_BUFFER_KEPT_BYTES: usize = 64 << 10;

thread_local! {
    /// Where a thread writes its frames: most go to the pipe at once and need no memory of their
    /// own.
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Link {
    /// Writes a request; `done` is called exactly once.
    pub(in crate::client) fn start(
        &self,
        request: OutgoingRequest<'_>,
        done: ReplyCallback,
        purpose: Purpose,
    ) -> RequestId {
        self.start_as(self.calls.new_id(), request, done, purpose)
    }

    /// The same, under an id that was taken before.
    fn start_as(
        &self,
        id: u64,
        request: OutgoingRequest<'_>,
        done: ReplyCallback,
        purpose: Purpose,
    ) -> RequestId {
        let OutgoingRequest { method, params, has_own_meta, caller, attempts, .. } = request;
        let OutgoingRequest { timeout, idle_timeout, progress, reads_here, relayed, .. } = request;
        let token = progress.as_ref().map(|_| id);
        let begun = attempts.as_ref().map(|attempts| *attempts.begun());
        let clock = Clock::new(timeout, idle_timeout, begun, Instant::now());
        let metadata = self.metadata.load();
        let metadata = match (metadata, relayed) {
            (Some(ours), Some(relayed)) => Some(Arc::new(ours.of_relayed(relayed))),
            (metadata, _) => metadata,
        };
        let modern = metadata.is_some() && purpose == Purpose::Call;
        let takes_input_requests = relayed.is_some_and(|relayed| relayed.takes_input_requests);
        let again = match modern && !takes_input_requests {
            true => NextRound::of(method, params, relayed.and(metadata.as_ref())),
            false => None,
        };
        let under_way = Vec::new();
        let waiter = Waiter { done, progress, attempts, again, takes_input_requests, under_way };
        let flight = Flight::new(purpose, caller, clock, waiter);
        match self.calls.register(id, flight) {
            Ok(()) => {}
            Err(RefusedRequest::Limit(waiter)) => {
                complete(waiter.done, Err(self.limit_reached(words::limit::IN_FLIGHT_PER_ENTRY)));
                return RequestId(id);
            }
            Err(RefusedRequest::Ended(waiter)) => {
                complete(waiter.done, Err(errors::interrupted(&self.server, Outcome::NotSent)));
                return RequestId(id);
            }
        }
        if !reads_here {
            // After it is in the table: a thread that lays the reader's role down looks there.
            self.wire.recall_reader();
        }
        let error = self.write(id, method, (params, has_own_meta), metadata.as_deref(), token);
        if let Some(error) = error
            && let Some(flight) = self.calls.take(id)
        {
            complete(flight.payload.done, Err(error));
        }
        RequestId(id)
    }

    /// Sends a call again, for its next round; the error, when that is not possible.
    ///
    /// One that has ended meanwhile is not sent; one that ends while it is written is taken back,
    /// since the code that ended it may have found nothing to take back yet.
    pub(in crate::client) fn put(
        &self,
        id: u64,
        (method, params): (&str, &str),
        relayed: Option<Arc<Metadata>>,
    ) -> Option<Error> {
        if !self.calls.contains(id) {
            return None;
        }
        let token = self.calls.wants_progress(id).then_some(id);
        let metadata = relayed.or_else(|| self.metadata.load());
        let error = self.write(id, method, (params, true), metadata.as_deref(), token);
        if error.is_none() && !self.calls.contains(id) {
            self.recall(id, "the caller no longer waits");
        }
        error
    }

    fn write(
        &self,
        id: u64,
        method: &str,
        params: (&str, bool),
        metadata: Option<&Metadata>,
        token: Option<u64>,
    ) -> Option<Error> {
        let send = |frame: &mut Vec<u8>| {
            frame.clear();
            write_request(frame, id, method, params, metadata, token);
            let fits = frame.len() <= self.options.frame_bytes;
            let sent = fits.then(|| self.wire.send(frame, FrameKind::Request(id)));
            if frame.capacity() > FRAME_BUFFER_KEPT_BYTES {
                *frame = Vec::new();
            }
            sent
        };
        let unwritten = Unwritten { link: self, id };
        // A thread that ends has none.
        let sent = FRAME.try_with(|frame| send(&mut frame.borrow_mut()));
        let error = match sent.unwrap_or_else(|_| send(&mut Vec::new())) {
            Some(WriteOutcome::Written) => {
                self.wire.request_written(self);
                None
            }
            Some(WriteOutcome::Queued) => None,
            Some(WriteOutcome::Full) => Some(self.limit_reached(words::limit::QUEUED_BYTES)),
            Some(WriteOutcome::Closed) => Some(errors::interrupted(&self.server, Outcome::NotSent)),
            Some(WriteOutcome::Doubled) => Some(errors::doubled(&self.server)),
            None => Some(self.too_long()),
        };
        std::mem::forget(unwritten);
        error
    }

    /// Writes a request of the connection's own, which has no deadline of its own; its end goes to
    /// `answer`.
    pub(in crate::client) fn start_own(
        &self,
        method: &str,
        params: &str,
        answer: oneshot::Sender<Result<Reply>>,
    ) -> RequestId {
        self.start_own_as(self.calls.new_id(), Purpose::Own, (method, params), answer)
    }

    /// The same, under an id that was taken before, and perhaps for a stream.
    pub(in crate::client) fn start_own_as(
        &self,
        id: u64,
        purpose: Purpose,
        (method, params): (&str, &str),
        answer: oneshot::Sender<Result<Reply>>,
    ) -> RequestId {
        const NEVER: Duration = Duration::MAX;
        let request = OutgoingRequest {
            method,
            params,
            has_own_meta: false,
            caller: None,
            attempts: None,
            timeout: NEVER,
            idle_timeout: NEVER,
            progress: None,
            reads_here: false,
            relayed: None,
        };
        let done = Box::new(move |result| {
            // Nobody waits any more when the caller was dropped.
            let _ = answer.send(result);
        });
        self.start_as(id, request, done, purpose)
    }

    /// Ends a request with an error, unless it ended.
    pub(in crate::client) fn end_flight(&self, id: u64, error: Error) {
        if let Some(flight) = self.calls.take(id) {
            fail(flight, error);
        }
    }

    /// Ends a request with `cancelled` and tells the server; nothing when it already ended.
    pub(in crate::client) fn cancel(&self, RequestId(id): RequestId) {
        if let Some((id, flight)) = self.calls.give_up_call(id) {
            let outcome = self.recall(id, "the caller no longer waits");
            fail(flight, errors::cancelled(&self.server, outcome));
        }
    }

    /// Ends a request whose deadline passed.
    pub(in crate::client) fn expire(&self, Overdue { id, flight, missed }: Overdue) {
        let outcome = self.recall(id, "the deadline passed");
        let error = errors::overdue(&self.server, &flight, missed, outcome);
        fail(flight, error);
    }

    /// Takes a request's frame back, or tells the server that the answer is no longer wanted.
    fn recall(&self, id: u64, reason: &'static str) -> Outcome {
        if self.wire.withdraw(id) {
            self.calls.forget_abandoned(id);
            return Outcome::NotSent;
        }
        if self.metadata.is_modern() && self.wire.tells_withdrawals() {
            // What the server says of it would come on the response that has ended.
            self.calls.forget_abandoned(id);
            return Outcome::Unknown;
        }
        self.pay(PendingNotice::Cancelled { id, reason });
        Outcome::Unknown
    }

    fn limit_reached(&self, limit: &'static str) -> Error {
        errors::limit(&self.server, limit).with_outcome(Outcome::NotSent)
    }

    /// The error of a request that no wait makes short enough.
    fn too_long(&self) -> Error {
        self.limit_reached(words::limit::FRAME_BYTES).with_retry(RetryAdvice::Never)
    }
}

/// A request that is in the table and not written yet. Dropped, because of a panic, it ends it:
/// its caller would wait for ever, and what counts it would count it for good.
struct Unwritten<'a> {
    link: &'a Link,
    id: u64,
}

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        self.link.end_flight(self.id, errors::unwritten(&self.link.server));
    }
}

/// The detail of an error that ended a call which had a round before.
pub(crate) const EARLIER_ROUNDS: &str = "earlier_rounds";

/// Ends a request with an error. What was sent in an earlier round was sent, whatever became of
/// this one (SPEC 5.6, I-17).
pub(in crate::client) fn fail(flight: Flight, error: Error) {
    let error = match flight.was_sent() {
        true => error.with_outcome(Outcome::Unknown).with_detail(EARLIER_ROUNDS, true),
        false => error,
    };
    complete(flight.payload.done, Err(error));
}

/// Answers a request. The closure is a host's: a panic in it stays here.
pub(in crate::client) fn complete(done: ReplyCallback, result: Result<Reply>) {
    if catch_unwind(AssertUnwindSafe(|| done(result))).is_err() {
        tracing::error!("a completion panicked");
    }
}

/// Appends the frame of a request. Newlines between the members of `params` become spaces, since a
/// newline ends a frame.
fn write_request(
    frame: &mut Vec<u8>,
    id: u64,
    method: &str,
    params: (&str, bool),
    metadata: Option<&Metadata>,
    token: Option<u64>,
) {
    frame.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_number(frame, id);
    frame.extend_from_slice(br#","method":"#);
    write_method(frame, method);
    frame.extend_from_slice(br#","params":"#);
    let from = frame.len();
    write_params(frame, params, metadata, token);
    if memchr::memchr2(b'\n', b'\r', &frame[from..]).is_some() {
        for byte in &mut frame[from..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    frame.extend_from_slice(b"}\n");
}

/// Appends a number, for less than what formats it takes.
fn write_number(frame: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    while from == digits.len() || number > 0 {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    frame.extend_from_slice(&digits[from..]);
}

/// Appends the name of a method as a JSON string; nearly all calls are of one, and nearly all
/// others are made of characters that stand for themselves.
fn write_method(frame: &mut Vec<u8>, method: &str) {
    if method == "tools/call" {
        frame.extend_from_slice(br#""tools/call""#);
    } else if method.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_'))
    {
        frame.push(b'"');
        frame.extend_from_slice(method.as_bytes());
        frame.push(b'"');
    } else {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(frame, method);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.3.
    #[test]
    fn params_go_out_as_they_came_with_line_breaks_as_spaces() {
        let mut sent = Vec::new();
        let params = "{\"a\": 1e400,\n\"b\":\"\\n\"}";
        write_request(&mut sent, 7, "tools/call", (params, true), None, None);
        let expected =
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a": 1e400, "b":"\n"}}"#;
        assert_eq!(String::from_utf8(sent).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn an_id_of_any_size_is_written_in_full() {
        for id in [0, 9, 10, 1 << 32, u64::MAX - 1, u64::MAX] {
            let mut written = Vec::new();
            write_number(&mut written, id);
            assert_eq!(String::from_utf8(written).unwrap(), id.to_string());
        }
    }
}
