//! Questions of servers: they reach the client whose call caused them, or nobody.

use serde_json::json;

use super::kept::call::OpenCall;
use super::kept::input_step::InputStep;
use super::kept::outcome::ShownOutcome;
use super::kept::question::AskedQuestion;
use super::kept::question::Question;
use super::served_client::ServedClient;
use super::served_client::next;
use crate::bridge::action::{Action, Unbridged};
use crate::bridge::capabilities::ClientCapabilities;
use crate::bridge::ids::{CallId, QuestionId};
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::edit::restamped;
use crate::bridge::wire::frames;
use crate::options::Parking;

/// A server is told that nobody takes its question.
const NOT_TAKEN: i32 = -32601;
/// A server is told that its question was given up.
const GIVEN_UP: i32 = -32603;

impl ServedClient {
    pub(super) fn take_asked(
        &mut self,
        turn: &mut InputStep<'_>,
        (question, call): (QuestionId, Option<CallId>),
        server: &str,
        (method, params): (&str, &str),
    ) {
        let refuse = |turn: &mut InputStep<'_>, (code, why): (i32, &str)| {
            let answer = Err((code, why.to_owned()));
            turn.push(Action::Answer { question, answer });
            turn.push(Action::Dropped { server: server.to_owned(), what: Unbridged::Question });
        };
        let open = call.and_then(|call| Some((call, self.calls.get(&call)?)));
        let Some((call, open)) = open.filter(|(_, open)| open.server == server) else {
            return refuse(turn, (NOT_TAKEN, "no call of a client caused this question"));
        };
        let lacks = self.capabilities_of(open).lacks(method, params);
        if lacks.is_some() {
            return refuse(turn, (NOT_TAKEN, "the client does not take this question"));
        }
        let named = match self.facts.path.server {
            Some(_) => restamped(params, &[]),
            None => restamped(params, &[("trunkline/server", &frames::text(server))]),
        };
        let params = named.unwrap_or_else(|| "{}".to_owned());
        let is_parked = open.asker.is_none();
        let question = Question { id: question, method: method.to_owned(), params };
        if !self.is_modern() {
            return self.ask(turn, call, &question);
        }
        if self.facts.parking == Parking::Refuse {
            refuse(turn, (GIVEN_UP, "the call ends: its client cannot be asked meanwhile"));
            return self.refuse_call(turn, call, server);
        }
        if is_parked {
            if let Some(open) = self.calls.get_mut(&call) {
                open.queued.push(question);
            }
            return;
        }
        if self.parked.len() >= self.facts.limits.parked {
            return refuse(turn, (GIVEN_UP, "too many calls of this client wait for it"));
        }
        self.park(turn, call, vec![question]);
    }

    fn capabilities_of(&self, open: &OpenCall) -> ClientCapabilities {
        match self.opened {
            Some(opened) if !self.is_modern() => opened.capabilities,
            _ => open.meta.capabilities,
        }
    }

    /// Asks a legacy client on the stream of its call.
    fn ask(&mut self, turn: &mut InputStep<'_>, call: CallId, question: &Question) {
        let asker = self.calls.get(&call).and_then(|open| open.asker.as_ref());
        let Some(stream) = asker.map(|asker| asker.stream) else { return };
        let id = next(&mut self.counts.questions);
        self.asked.insert(id, AskedQuestion { question: question.id, call, stream });
        turn.send(stream, frames::request(id, &question.method, &question.params), false);
    }

    /// Ends a call whose server asks what cannot be asked.
    fn refuse_call(&mut self, turn: &mut InputStep<'_>, call: CallId, server: &str) {
        let Some(open) = self.calls.remove(&call) else { return };
        self.withdraw_questions(turn, call, &open);
        turn.push(Action::Cancel { call });
        let Some(asker) = open.asker else { return };
        self.requests.remove(&self.request_key(&asker));
        let message = "the server asks the client meanwhile, as servers of older revisions do, and \
                       this endpoint does not let calls wait for that (SEP-2322)";
        let attached = json!({ "server": server, "outcome": "unknown", "retryable": false });
        let denial = Denial::new(DenialKind::Upstream, message).with(attached);
        self.answer(turn, &asker, ShownOutcome::Denied(denial));
    }

    /// A legacy client answers.
    pub(super) fn take_client_answer(
        &mut self,
        turn: &mut InputStep<'_>,
        id: u64,
        answer: Result<&str, (i32, String)>,
    ) {
        let Some(asked) = self.asked.remove(&id) else { return };
        let answer = answer.map(str::to_owned);
        turn.push(Action::Answer { question: asked.question, answer });
    }

    /// A server takes its question back.
    pub(super) fn take_unasked(&mut self, turn: &mut InputStep<'_>, question: QuestionId) {
        let found = self.asked.iter().find(|(_, asked)| asked.question == question);
        if let Some((id, stream)) = found.map(|(id, asked)| (*id, asked.stream)) {
            self.asked.remove(&id);
            turn.send(stream, withdrawal(id), false);
        }
        for open in self.calls.values_mut() {
            open.queued.retain(|queued| queued.id != question);
        }
        for parked in self.parked.values_mut() {
            parked.waiting.retain(|_, waiting| waiting.id != question);
        }
    }

    /// Gives up every question of a call that ends.
    pub(super) fn withdraw_questions(
        &mut self,
        turn: &mut InputStep<'_>,
        call: CallId,
        open: &OpenCall,
    ) {
        let of_call = |asked: &AskedQuestion| asked.call == call;
        let ids: Vec<u64> =
            self.asked.iter().filter(|(_, asked)| of_call(asked)).map(|(id, _)| *id).collect();
        let mut given_up = Vec::new();
        for id in ids {
            if let Some(asked) = self.asked.remove(&id) {
                turn.send(asked.stream, withdrawal(id), false);
                given_up.push(asked.question);
            }
        }
        if let Some(parked) = open.handle.as_ref().and_then(|handle| self.parked.get_mut(handle)) {
            given_up.extend(std::mem::take(&mut parked.waiting).into_values().map(|w| w.id));
        }
        given_up.extend(open.queued.iter().map(|queued| queued.id));
        for question in given_up {
            let answer = Err((GIVEN_UP, "the call ended before its client answered".to_owned()));
            turn.push(Action::Answer { question, answer });
        }
    }
}

fn withdrawal(id: u64) -> String {
    let params = json!({ "requestId": id, "reason": "the question is not open any more" });
    frames::notification("notifications/cancelled", &params.to_string())
}
