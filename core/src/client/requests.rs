//! Requests of ours: their text, their way to the wire, and the ways in which they end early.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::in_flight::{Flight, Missed, Purpose, Refused};
use super::link::Link;
use super::{Done, Reply, Request, RequestId, failure};
use crate::transport::{FrameKind, Sent};
use crate::{Error, Outcome, Result};

/// A thread's frame buffer that grew beyond this is given back.
const FRAME_BUFFER_KEPT_BYTES: usize = 64 << 10;

thread_local! {
    /// Where a thread writes its frames: most go to the pipe at once and need no memory of their own.
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Link {
    /// Writes a request; `done` is called exactly once.
    pub(super) fn start(&self, request: Request<'_>, done: Done, purpose: Purpose) -> RequestId {
        let id = self.calls.new_id();
        let Request { method, params, begun, timeout, idle_timeout, progress } = request;
        let token = progress.as_ref().map(|_| id);
        let flight = Flight::new(done, purpose, progress, timeout, idle_timeout, begun);
        match self.calls.register(id, flight) {
            Ok(()) => {}
            Err(Refused::Limit(done)) => {
                complete(done, Err(self.limit_reached("in_flight_per_entry")));
                return RequestId(id);
            }
            Err(Refused::Ended(done)) => {
                complete(done, Err(failure::interrupted(&self.server, Outcome::NotSent)));
                return RequestId(id);
            }
        }
        let sent = FRAME.with_borrow_mut(|frame| {
            frame.clear();
            write_request(frame, id, method, params, token);
            let sent = match frame.len() > self.options.frame_bytes {
                true => Sent::Full,
                false => self.wire.send(frame, FrameKind::Request(id)),
            };
            if frame.capacity() > FRAME_BUFFER_KEPT_BYTES {
                *frame = Vec::new();
            }
            sent
        });
        let error = match sent {
            Sent::Written | Sent::Queued => return RequestId(id),
            Sent::Full => self.limit_reached("queued_bytes"),
            Sent::Closed => failure::interrupted(&self.server, Outcome::NotSent),
        };
        if let Some(flight) = self.calls.take(id) {
            complete(flight.done, Err(error));
        }
        RequestId(id)
    }

    /// Ends a request with `cancelled` and tells the server; nothing when it already ended.
    pub(super) fn cancel(&self, RequestId(id): RequestId) {
        if let Some(flight) = self.calls.take(id) {
            let outcome = self.recall(id, "the caller no longer waits");
            let error = failure::cancelled(&self.server, outcome);
            complete(flight.done, Err(error));
        }
    }

    /// Ends a request whose deadline passed.
    pub(super) fn expire(&self, id: u64, flight: Flight, missed: Missed) {
        let outcome = self.recall(id, "the deadline passed");
        let error = failure::overdue(&self.server, &flight, missed, outcome);
        complete(flight.done, Err(error));
    }

    /// Takes a request's frame back, or tells the server that the answer is no longer wanted.
    fn recall(&self, id: u64, reason: &str) -> Outcome {
        if self.wire.withdraw(id) {
            return Outcome::NotSent;
        }
        let notice = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":\
             {{\"requestId\":{id},\"reason\":\"{reason}\"}}}}\n"
        );
        self.wire.send(notice.as_bytes(), FrameKind::Notification);
        Outcome::Unknown
    }

    fn limit_reached(&self, limit: &'static str) -> Error {
        failure::limit(&self.server, limit).with_outcome(Outcome::NotSent)
    }
}

/// Answers a request. The closure is a host's: a panic in it stays here.
pub(super) fn complete(done: Done, result: Result<Reply>) {
    if catch_unwind(AssertUnwindSafe(|| done(result))).is_err() {
        tracing::error!("a completion panicked");
    }
}

/// Appends the frame of a request. Newlines between the members of `params` become spaces, since a newline ends a frame.
fn write_request(frame: &mut Vec<u8>, id: u64, method: &str, params: &str, token: Option<u64>) {
    // Writing to memory cannot fail.
    let _ = write!(frame, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":");
    let _ = serde_json::to_writer(&mut *frame, method);
    frame.extend_from_slice(b",\"params\":");
    let from = frame.len();
    match token {
        None => frame.extend_from_slice(params.as_bytes()),
        Some(token) => write_with_token(frame, params, token),
    }
    if memchr::memchr2(b'\n', b'\r', &frame[from..]).is_some() {
        for byte in &mut frame[from..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    frame.extend_from_slice(b"}\n");
}

/// Appends the params with a progress token in their `_meta`, everything else as it was.
fn write_with_token(frame: &mut Vec<u8>, params: &str, token: u64) {
    let token = token.to_string();
    let Ok(Members(members)) = serde_json::from_str(params) else {
        return frame.extend_from_slice(params.as_bytes());
    };
    let meta = members.iter().find(|(name, _)| name == "_meta").map(|(_, meta)| *meta);
    let mut inside = match meta.map(serde_json::from_str::<Members<'_>>) {
        Some(Ok(Members(inside))) => inside,
        Some(Err(_)) | None => Vec::new(),
    };
    inside.retain(|(name, _)| name != "progressToken");
    inside.push(("progressToken".into(), &token));
    let mut meta = Vec::new();
    write_members(&mut meta, &inside);
    let meta = String::from_utf8(meta).unwrap_or_default();
    let mut members: Vec<_> = members.into_iter().filter(|(name, _)| name != "_meta").collect();
    members.push(("_meta".into(), &meta));
    write_members(frame, &members);
}

fn write_members(out: &mut Vec<u8>, members: &[(String, &str)]) {
    out.push(b'{');
    for (place, (name, value)) in members.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let _ = serde_json::to_writer(&mut *out, name);
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b'}');
}

/// The members of an object, in order, their values as text.
struct Members<'a>(Vec<(String, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Collect<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Collect<'a> {
            type Value = Members<'a>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Members<'a>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, value.get()));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Collect(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(params: &str, token: Option<u64>) -> String {
        let mut frame = Vec::new();
        write_request(&mut frame, 7, "tools/call", params, token);
        String::from_utf8(frame).unwrap()
    }

    /// SPEC 5.3.
    #[test]
    fn params_go_out_as_they_came_with_line_breaks_as_spaces() {
        let sent = frame("{\"a\": 1e400,\n\"b\":\"\\n\"}", None);
        let expected =
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a": 1e400, "b":"\n"}}"#;
        assert_eq!(sent, format!("{expected}\n"));
    }

    /// SPEC 5.9.
    #[test]
    fn a_progress_token_joins_the_meta_that_is_there() {
        let sent = frame(r#"{"name":"x","_meta":{"k":[1.50],"progressToken":1}}"#, Some(7));
        let expected = r#""params":{"name":"x","_meta":{"k":[1.50],"progressToken":7}}}"#;
        assert!(sent.trim_end().ends_with(expected), "{sent}");
        assert!(frame("{}", Some(7)).contains(r#""params":{"_meta":{"progressToken":7}}"#));
    }
}
