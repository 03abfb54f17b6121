//! What one input is taken with, and how a client is answered in it.

use serde_json::json;

use super::ServedClient;
use super::call::Asker;
use crate::bridge::action::Action;
use crate::bridge::ids::StreamId;
use crate::bridge::input::Now;
use crate::bridge::offers::Offers;
use crate::bridge::wire::codes::{Denial, DenialKind, told};
use crate::bridge::wire::edit::{Edit, edited, stamped};
use crate::bridge::wire::frames;

/// What one input is taken with.
pub(super) struct Turn<'t> {
    pub offers: &'t dyn Offers,
    pub now: Now,
    pub actions: &'t mut Vec<Action>,
}

impl Turn<'_> {
    pub fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// A frame behind which its stream goes on.
    pub fn send(&mut self, stream: StreamId, frame: String, droppable: bool) {
        self.push(Action::Send { stream, frame, last: false, status: 200, droppable });
    }
}

/// What a client is told in the end of its request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Result(String),
    Denied(Denial),
}

impl ServedClient {
    /// Answers a request.
    pub(super) fn answer(&mut self, turn: &mut Turn<'_>, asker: &Asker, outcome: Outcome) {
        match outcome {
            Outcome::Result(result) => {
                let frame = frames::result(&asker.id, &result);
                self.reply(turn, asker.stream, frame, 200);
            }
            Outcome::Denied(denial) => self.deny(turn, asker.stream, Some(&asker.id), denial),
        }
    }

    /// Answers with an error.
    pub(super) fn deny(
        &mut self,
        turn: &mut Turn<'_>,
        stream: StreamId,
        id: Option<&str>,
        denial: Denial,
    ) {
        let (code, status) = told(denial.kind, self.facts.era);
        let frame = frames::error(id, code, &denial.message, denial.attached.as_ref());
        self.reply(turn, stream, frame, status);
    }

    /// Sends an answer: behind the last one the stream of a POST ends.
    fn reply(&mut self, turn: &mut Turn<'_>, stream: StreamId, frame: String, status: u16) {
        let last = self.is_last(stream);
        turn.push(Action::Send { stream, frame, last, status, droppable: false });
    }

    /// Ends a request without an answer.
    pub(super) fn leave_unanswered(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        if self.is_last(stream) {
            turn.push(Action::End { stream });
        }
    }

    /// Counts an answer; whether nothing more comes on this stream.
    fn is_last(&mut self, stream: StreamId) -> bool {
        let Some(unanswered) = self.posts.get_mut(&stream) else { return false };
        *unanswered = unanswered.saturating_sub(1);
        let last = *unanswered == 0;
        if last {
            self.posts.remove(&stream);
        }
        last
    }

    /// A result of our own, with the members that each result of the client's era has.
    pub(super) fn own_result(&self, turn: &Turn<'_>, body: String) -> String {
        if !self.is_modern() {
            return body;
        }
        let identity = self.introducing(turn.offers).identity();
        let mut meta = None;
        let take_meta = |name: &str, value: &str| match name {
            "_meta" => {
                meta = Some(value.to_owned());
                Edit::Drop
            }
            _ => Edit::Keep,
        };
        let bare = edited(&body, take_meta, &[]).unwrap_or(body);
        let meta = stamped(meta.as_deref(), &[("io.modelcontextprotocol/serverInfo", &identity)]);
        let meta = meta.unwrap_or_else(|| "{}".to_owned());
        let ours = [("resultType", "\"complete\""), ("_meta", meta.as_str())];
        edited(&bare, |_, _| Edit::Keep, &ours).unwrap_or(bare)
    }
}

/// A bound of the client is reached.
pub(super) fn full(what: &str, max: usize) -> Denial {
    let message = format!("this client has {max} {what} already, and may have no more");
    Denial::new(DenialKind::Upstream, message)
        .with(json!({ "limit": what, "max": max, "retryable": true }))
}
