//! Answers, progress and messages of servers, on the stream of the request that they belong to.

use super::records::call::OpenCall;
use super::records::input_step::InputStep;
use super::records::outcome::ShownOutcome;
use super::served_client::ServedClient;
use crate::bridge::action::{Action, Unbridged};
use crate::bridge::ids::CallId;
use crate::bridge::presentation::errors::{ShownFailure, failure};
use crate::bridge::presentation::results::{Passage, ResultKind};
use crate::bridge::wire::edit::{Edit, edited};
use crate::bridge::wire::frames;
use crate::error::Error;
use crate::json::readable;
use crate::options::LogLevel;

impl ServedClient {
    pub(super) fn take_answered(
        &mut self,
        turn: &mut InputStep<'_>,
        call: CallId,
        result: Result<&str, &Error>,
    ) {
        if let Some(resource) = self.subscribing.remove(&call) {
            return self.take_subscribed(turn, resource, result);
        }
        let Some(open) = self.calls.remove(&call) else { return };
        self.withdraw_questions(turn, call, &open);
        if result.is_ok() {
            complete_visits(turn, &open);
        }
        let outcome = self.outcome(turn, &open, result);
        match (&open.asker, &open.handle) {
            (Some(asker), _) => {
                self.requests.remove(&self.request_key(asker));
                self.answer(turn, asker, outcome);
            }
            (None, Some(handle)) => self.keep_outcome(handle, outcome),
            (None, None) => {}
        }
    }

    fn outcome(
        &mut self,
        turn: &mut InputStep<'_>,
        open: &OpenCall,
        result: Result<&str, &Error>,
    ) -> ShownOutcome {
        let identity = self.introducing(turn.offers).identity();
        let facts = self.facts.clone();
        let passage = Passage {
            path: &facts.path,
            server: &open.server,
            server_era: open.server_era,
            method: open.method,
            client_era: facts.era,
            revision: self.revision(),
            identity: &identity,
            wraps_content: open.wraps_content,
        };
        match result {
            Ok(result) => match passage.kind(result) {
                Ok(ResultKind::Complete) => ShownOutcome::Result(passage.complete(result)),
                Ok(ResultKind::InputRequired) => self.relayed(turn, open, result, &identity),
                Err(denial) => ShownOutcome::Denied(denial),
            },
            Err(error) => match failure(&passage, error, &open.shown) {
                ShownFailure::Denied(denial) => ShownOutcome::Denied(denial),
                ShownFailure::Result(result) => ShownOutcome::Result(passage.complete(&result)),
                ShownFailure::Visits(visits) => self.visits(turn, open, &visits, &identity),
            },
        }
    }

    /// Progress reaches who asked for it, under the token that it gave.
    pub(super) fn take_progress(&mut self, turn: &mut InputStep<'_>, call: CallId, params: &str) {
        let Some(open) = self.calls.get(&call) else { return };
        let (Some(asker), Some(token)) = (&open.asker, &open.meta.progress_token) else { return };
        let edit = |name: &str, _: &str| match name {
            "progressToken" | "_meta" => Edit::Drop,
            _ => Edit::Keep,
        };
        let Some(params) = edited(params, edit, &[("progressToken", token)]) else { return };
        let frame = frames::notification("notifications/progress", &params);
        turn.send(asker.stream, frame, true);
    }

    /// A message goes to the request that it belongs to, or to the stream of the session.
    pub(super) fn take_logged(
        &mut self,
        turn: &mut InputStep<'_>,
        server: &str,
        params: &str,
        call: Option<CallId>,
    ) {
        let level = readable(params)
            .and_then(|params| LogLevel::from_word(params["level"].as_str()?))
            .unwrap_or(LogLevel::Info);
        let open = match call {
            Some(call) => self.calls.get(&call),
            None => self.only_call(server),
        };
        let asker = open.and_then(|open| open.asker.as_ref());
        let stream = if self.is_modern() {
            let wanted = open.and_then(|open| open.meta.log_level);
            asker.filter(|_| wanted.is_some_and(|wanted| wanted <= level)).map(|asker| asker.stream)
        } else {
            if self.log_level.is_some_and(|wanted| level < wanted) {
                return;
            }
            asker.map(|asker| asker.stream).or(self.open_stream)
        };
        match stream {
            Some(stream) => {
                turn.send(stream, frames::notification("notifications/message", params), true);
            }
            None => {
                turn.push(Action::Dropped { server: server.to_owned(), what: Unbridged::Log });
            }
        }
    }

    /// The one call to a server; nothing if there are several, or a modern one wants no messages.
    fn only_call(&self, server: &str) -> Option<&OpenCall> {
        let wants = |open: &&OpenCall| {
            open.server == server && (!self.is_modern() || open.meta.log_level.is_some())
        };
        let mut open = self.calls.values().filter(wants);
        open.next().filter(|_| open.next().is_none())
    }
}

/// A modern server went on, so the addresses were opened: a legacy client hears about each.
fn complete_visits(turn: &mut InputStep<'_>, open: &OpenCall) {
    let Some(asker) = &open.asker else { return };
    for id in &open.visits {
        let params = format!(r#"{{"elicitationId":{}}}"#, frames::text(id));
        let frame = frames::notification("notifications/elicitation/complete", &params);
        turn.send(asker.stream, frame, false);
    }
}
