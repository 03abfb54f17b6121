//! How a client is answered.

use serde_json::json;

use super::records::call::OpenRequest;
use super::records::input_step::InputStep;
use super::records::outcome::ShownOutcome;
use super::served_client::ServedClient;
use crate::bridge::action::Action;
use crate::bridge::ids::StreamId;
use crate::bridge::wire::codes::{Denial, DenialKind, told};
use crate::bridge::wire::edit::{Edit, edited, stamped};
use crate::bridge::wire::frames;

impl ServedClient {
    /// Answers a request.
    pub(super) fn answer(
        &mut self,
        turn: &mut InputStep<'_>,
        asker: &OpenRequest,
        outcome: ShownOutcome,
    ) {
        match outcome {
            ShownOutcome::Result(result) => {
                let frame = frames::result(&asker.id, &result);
                self.reply(turn, asker.stream, frame, 200);
            }
            ShownOutcome::Denied(denial) => self.deny(turn, asker.stream, Some(&asker.id), denial),
        }
    }

    /// Answers with an error.
    pub(super) fn deny(
        &mut self,
        turn: &mut InputStep<'_>,
        stream: StreamId,
        id: Option<&str>,
        denial: Denial,
    ) {
        let (code, status) = told(denial.kind, self.facts.era);
        let frame = frames::error(id, code, &denial.message, denial.attached.as_ref());
        self.reply(turn, stream, frame, status);
    }

    /// Sends an answer: behind the last one the stream of a POST ends.
    fn reply(&mut self, turn: &mut InputStep<'_>, stream: StreamId, frame: String, status: u16) {
        let last = self.count_answer(stream);
        turn.push(Action::Send { stream, frame, last, status, droppable: false });
    }

    /// Ends a request without an answer.
    pub(super) fn leave_unanswered(&mut self, turn: &mut InputStep<'_>, stream: StreamId) {
        if self.count_answer(stream) {
            turn.push(Action::End { stream });
        }
    }

    /// Counts an answer, and says whether nothing more comes on this stream.
    fn count_answer(&mut self, stream: StreamId) -> bool {
        let Some(unanswered) = self.posts.get_mut(&stream) else { return false };
        *unanswered = unanswered.saturating_sub(1);
        let last = *unanswered == 0;
        if last {
            self.posts.remove(&stream);
        }
        last
    }

    /// A result of our own, with the members that each result of the client's era has.
    pub(super) fn own_result(&self, turn: &InputStep<'_>, body: String) -> String {
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
