//! Calls of modern clients that wait until their client comes back with an answer (SPEC 19.5).
//!
//! Their handle is single-use: each answer to the client has another one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::forwarding::expired;
use super::forwarding::responses;
use super::records::input_step::InputStep;
use super::records::outcome::RouteEnd;
use super::records::outcome::ShownOutcome;
use super::records::parked_call::ParkedCall;
use super::records::question::Question;
use super::requests::ClientRequest;
use super::rounds::asking;
use super::served_client::ServedClient;
use super::served_client::next;
use crate::bridge::action::{Action, Unbridged};
use crate::bridge::ids::CallId;
use crate::bridge::seal::{CarriedState, handle};
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::json::members;
use crate::state::Moment;

impl ServedClient {
    /// Answers the client with questions, and lets the call wait for it.
    pub(super) fn park(
        &mut self,
        turn: &mut InputStep<'_>,
        call: CallId,
        questions: Vec<Question>,
    ) {
        let number = next(&mut self.counts.handles);
        let handle = handle(&self.facts.nonce, number);
        let Some(open) = self.calls.get_mut(&call) else { return };
        let Some(asker) = open.asker.take() else { return };
        open.handle = Some(handle.clone());
        let keys = (1..).map(|number: usize| number.to_string());
        let waiting: BTreeMap<String, Question> = keys.zip(questions).collect();
        let requests: serde_json::Map<String, Value> = waiting
            .iter()
            .map(|(key, question)| {
                let params = serde_json::from_str(&question.params).unwrap_or(Value::Null);
                (key.clone(), json!({ "method": question.method, "params": params }))
            })
            .collect();
        let limits = self.facts.limits;
        let until = turn.now.unix_seconds.saturating_add(limits.parked_for.as_secs());
        let body = json!({ "inputRequests": requests }).to_string();
        let identity = self.introducing(turn.offers).identity();
        let state = CarriedState::Parked(handle.clone());
        let sealed = self.calls.get(&call).map(|open| self.sealed(open, &state, until));
        let until = turn.now.moment.after(limits.parked_for);
        self.parked.insert(handle, ParkedCall { call, until, waiting, outcome: None });
        self.requests.remove(&self.request_key(&asker));
        let result = asking(&body, &sealed.unwrap_or_default(), None, &identity);
        self.answer(turn, &asker, ShownOutcome::Result(result));
    }

    /// A client comes back with answers.
    pub(super) fn resume(
        &mut self,
        turn: &mut InputStep<'_>,
        handle: &str,
        request: ClientRequest<'_>,
    ) -> Result<RouteEnd, Denial> {
        let given = responses(&request.params)?.map_or(String::new(), |(_, given)| given);
        let given = members(&given).unwrap_or_default();
        let parked = self.parked.get(handle).ok_or_else(expired)?;
        let get = |key: &str| {
            let found = given.iter().rfind(|(had, _)| had == key);
            found.map(|(_, value)| value.get()).filter(|value| *value != "null")
        };
        for key in parked.waiting.keys() {
            if get(key).is_some_and(|answer| members(answer).is_err()) {
                let message = format!("`params.inputResponses.{key}` is not an object");
                return Err(Denial::new(DenialKind::BadParams, message));
            }
        }
        let parked = self.parked.remove(handle).ok_or_else(expired)?;
        if let Some(outcome) = parked.outcome {
            return Ok(RouteEnd::Answered(outcome));
        }
        let key = self.request_key(&request.asker);
        let open = self.calls.get_mut(&parked.call).ok_or_else(expired)?;
        open.asker = Some(request.asker);
        open.meta = request.meta;
        open.handle = None;
        let queued = std::mem::take(&mut open.queued);
        self.requests.insert(key, parked.call);
        let mut open_questions = Vec::new();
        for (key, question) in parked.waiting {
            match get(&key) {
                Some(answer) => {
                    let answer = Ok(answer.to_owned());
                    turn.push(Action::Answer { question: question.id, answer });
                }
                // What is missing is asked again.
                None => open_questions.push(question),
            }
        }
        open_questions.extend(queued);
        if !open_questions.is_empty() {
            self.park(turn, parked.call, open_questions);
        }
        Ok(RouteEnd::Later)
    }

    /// The server of a parked call is done with it: the client gets its answer when it comes back.
    pub(super) fn keep_outcome(&mut self, handle: &str, outcome: ShownOutcome) {
        if let Some(parked) = self.parked.get_mut(handle) {
            parked.waiting.clear();
            parked.outcome = Some(outcome);
        }
    }

    /// Gives up the calls whose client stayed away too long.
    pub(super) fn give_up_parked(
        &mut self,
        turn: &mut InputStep<'_>,
        is_over: impl Fn(Moment) -> bool,
    ) {
        let over: Vec<String> = self
            .parked
            .iter()
            .filter(|(_, parked)| is_over(parked.until))
            .map(|(handle, _)| handle.clone())
            .collect();
        for handle in over {
            let Some(call) = self.parked.get(&handle).map(|parked| parked.call) else { continue };
            if let Some(open) = self.calls.remove(&call) {
                self.withdraw_questions(turn, call, &open);
                turn.push(Action::Cancel { call });
                turn.push(Action::Dropped { server: open.server, what: Unbridged::ParkedCall });
            }
            self.parked.remove(&handle);
        }
    }
}
