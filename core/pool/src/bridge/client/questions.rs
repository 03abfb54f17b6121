//! Questions of servers: they reach the client whose call caused them, or nobody.

use serde_json::{Value, json};

use super::records::call::OpenCall;
use super::records::input_step::InputStep;
use super::records::outcome::ShownOutcome;
use super::records::question::AskedQuestion;
use super::records::question::Question;
use super::served_client::ServedClient;
use super::served_client::next;
use crate::bridge::action::{Action, Unbridged};
use crate::bridge::capabilities::ClientCapabilities;
use crate::bridge::ids::{CallId, QuestionId};
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::edit::{Edit, edited, restamped};
use crate::bridge::wire::frames;
use crate::config::Era;
use crate::json::readable;
use crate::options::Parking;

/// Questions of one call that are open at once: more than a person can look at.
const QUESTIONS_MAX: usize = 16;

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
        let ends_call = self.is_modern() && self.facts.parking == Parking::Refuse;
        if let Some(needed) = self.capabilities_of(open).lacks(method, params) {
            refuse(turn, (NOT_TAKEN, "the client does not take this question"));
            if ends_call {
                self.refuse_call(turn, call, undeclared(&needed));
            }
            return;
        }
        if self.open_questions(call, open) >= QUESTIONS_MAX {
            return refuse(turn, (GIVEN_UP, "too many questions of this call are open"));
        }
        let is_parked = open.asker.is_none();
        let params = self.question_params(server, params);
        let question = Question { id: question, method: method.to_owned(), params };
        if !self.is_modern() {
            return self.ask(turn, call, question);
        }
        if ends_call {
            refuse(turn, (GIVEN_UP, "the call ends: its client cannot be asked meanwhile"));
            return self.refuse_call(turn, call, unparked(server));
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

    /// The questions of a call that are not answered yet.
    fn open_questions(&self, call: CallId, open: &OpenCall) -> usize {
        let parked = open.handle.as_ref().and_then(|handle| self.parked.get(handle));
        let waiting = parked.map_or(0, |parked| parked.waiting.len());
        let asked = self.asked.values().filter(|asked| asked.call == call).count();
        open.queued.len() + waiting + asked
    }

    /// The params of a question for the client: no member of the server's leg. The aggregate names
    /// the server.
    fn question_params(&self, server: &str, params: &str) -> String {
        let stamped = match self.facts.path.server {
            Some(_) => restamped(params, &[]),
            None => restamped(params, &[("trunkline/server", &frames::text(server))]),
        };
        let params = stamped.unwrap_or_else(|| "{}".to_owned());
        // The modern era has no id for an address that is to be opened.
        let edit = |name: &str, _: &str| match name {
            "elicitationId" if self.is_modern() => Edit::Drop,
            _ => Edit::Keep,
        };
        edited(&params, edit, &[]).unwrap_or(params)
    }

    /// Asks a legacy client on the stream of its call.
    fn ask(&mut self, turn: &mut InputStep<'_>, call: CallId, question: Question) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        let Some(stream) = open.asker.as_ref().map(|asker| asker.stream) else { return };
        let id = next(&mut self.counts.questions);
        let mut params = question.params;
        let read = readable(&params).unwrap_or_default();
        if open.server_era == Era::Modern && read["mode"] == "url" {
            let (name, visit) = ("elicitationId", id.to_string());
            let appended = [(name, frames::text(&visit))];
            let appended = appended.each_ref().map(|(name, id)| (*name, id.as_str()));
            let drop = |had: &str, _: &str| if had == name { Edit::Drop } else { Edit::Keep };
            params = edited(&params, drop, &appended).unwrap_or(params);
            open.visits.push(visit);
        }
        self.asked.insert(id, AskedQuestion { question: question.id, call, stream });
        turn.send(stream, frames::request(id, &question.method, &params), false);
    }

    /// Ends a call whose server asks what cannot be asked.
    fn refuse_call(&mut self, turn: &mut InputStep<'_>, call: CallId, denial: Denial) {
        let Some(open) = self.calls.remove(&call) else { return };
        self.withdraw_questions(turn, call, &open);
        turn.push(Action::Cancel { call });
        let Some(asker) = open.asker else { return };
        self.requests.remove(&self.request_key(&asker));
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

/// The client did not declare what a server asks for.
fn undeclared(needed: &Value) -> Denial {
    let message = "the server asks for what the client did not declare";
    Denial::new(DenialKind::MissingCapability, message)
        .with(json!({ "requiredCapabilities": needed }))
}

/// The call would have to wait for its client, which this endpoint does not let it.
fn unparked(server: &str) -> Denial {
    let message = "the server asks the client meanwhile, as servers of older revisions do, and \
                   this endpoint does not let calls wait for that (SEP-2322)";
    let attached = json!({ "server": server, "outcome": "unknown", "retryable": false });
    Denial::new(DenialKind::Upstream, message).with(attached)
}

fn withdrawal(id: u64) -> String {
    let params = json!({ "requestId": id, "reason": "the question is not open any more" });
    frames::notification("notifications/cancelled", &params.to_string())
}
