//! Rounds of a call: a server of the modern era asks for input, and gets the request again with the
//! answers (SPEC 15.4).
//!
//! Between its rounds a call stays in flight under the id of its next request. So it can be
//! cancelled, and ends with its connection, as at any other time.
//!
//! An input that is refused ends the call with `declined`: a server has no other use for a request
//! that it cannot finish.

use std::collections::BTreeMap;
use std::time::Instant;

use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::value::RawValue;
use trunkline_pool::lenient::{kinds, lenient};
use trunkline_pool::options::Refusal;

use crate::client::calls::in_flight::{Hold, InputOutcome};
use crate::client::calls::requests::{complete, fail};
use crate::client::connection::Link;
use crate::client::server_requests::one_object;
use crate::client::state::next_round::NextRound;
use crate::client::state::open_requests::refused;
use crate::client::types::ServerQuestion;
use crate::client::{Callers, errors};
use crate::runtime::handling::contained;
use crate::{Error, ErrorCode, Outcome};

/// Rounds of one call: more than a server needs that makes progress.
pub(in crate::client) const ROUNDS_MAX: u32 = 10;

/// Requests for input in one round: more than a person can look at.
const REQUESTS_MAX: usize = 16;

/// What a server asks for.
#[derive(Deserialize)]
struct InputRequests<'a> {
    #[serde(borrow, default, rename = "inputRequests")]
    requests: Option<BTreeMap<String, Input<'a>>>,
    #[serde(borrow, default, rename = "requestState")]
    state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Input<'a> {
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// What is to be answered, and what goes back with the answers.
struct InputRound {
    /// Keys, methods and the texts of their params.
    requests: Option<Vec<RoundRequest>>,
    state: Option<String>,
    callers: Callers,
}

type RoundRequest = (String, String, String);

impl Link {
    /// Takes a result that asks for input; whether it is that of a call in flight.
    pub(in crate::client) fn take_round(&self, id: u64, result: &str) -> bool {
        let result = lenient(result, &kinds::INPUT_REQUIRED);
        let wanted = serde_json::from_str::<InputRequests<'_>>(&result).ok();
        // Without a question and without a state the same request would go again for no reason.
        let few = |wanted: &InputRequests<'_>| match &wanted.requests {
            Some(requests) if !requests.is_empty() => requests.len() <= REQUESTS_MAX,
            Some(_) | None => wanted.state.is_some(),
        };
        let Some(wanted) = wanted.filter(few) else {
            let message = "the server asks for input in a way that cannot be read";
            let error = errors::protocol(&self.server, message);
            return self.end_round(id, error.with_outcome(Outcome::Unknown));
        };
        let next = self.calls.new_id();
        let (again, caller, hold) = match self.calls.turn(id, next, ROUNDS_MAX) {
            InputOutcome::Gone => return false,
            InputOutcome::Refused(flight) => {
                let error = match flight.payload.again {
                    Some(_) => self.declined("the server asks for input too often"),
                    None => self.misplaced_input(),
                };
                complete(flight.payload.done, Err(error));
                return true;
            }
            InputOutcome::Next { again, caller, hold } => (again, caller, hold),
        };
        let callers = caller.map_or(Callers::Nobody, Callers::One);
        let state = wanted.state.map(|state| state.get().to_owned());
        let requests = wanted.requests.map(|requests| {
            let owned = |(key, input): (String, Input<'_>)| {
                let params = input.params.map_or("{}", RawValue::get).to_owned();
                (key, input.method, params)
            };
            requests.into_iter().map(owned).collect::<Vec<_>>()
        });
        let round = InputRound { requests, state, callers };
        let Some(link) = self.me.upgrade() else { return true };
        self.runtime.spawn(async move {
            link.answer_round(next, &again, round, hold).await;
        });
        true
    }

    async fn answer_round(
        &self,
        id: u64,
        again: &NextRound,
        InputRound { requests, state, callers }: InputRound,
        mut hold: Hold,
    ) {
        let answers = tokio::select! {
            biased;
            // The call has ended: nobody waits for the answers.
            () = hold.over() => return,
            answers = self.inputs(requests.as_deref(), callers) => answers,
        };
        self.calls.go_on(hold);
        match answers {
            Ok(responses) => {
                let params = with_responses(&again.params, responses, state.as_deref());
                let request = (&*again.method, &*params);
                if let Some(error) = self.put(id, request, again.relayed.clone()) {
                    self.end_round(id, error);
                }
            }
            Err(Refusal { code, message, .. }) => {
                let error = self.declined("the server needs an answer that it cannot have");
                let error = error.with_detail("code", code).with_detail("reason", message);
                self.end_round(id, error);
            }
        }
    }

    /// The answers to what is asked for, by the text of their keys; the first refusal ends it. A
    /// person may see all of it together, and each has the whole deadline of a handler.
    async fn inputs(
        &self,
        requests: Option<&[RoundRequest]>,
        callers: Callers,
    ) -> std::result::Result<Option<Vec<(String, String)>>, Refusal> {
        let Some(requests) = requests else { return Ok(None) };
        let inputs = requests.iter().map(|(_, method, params)| self.input(method, params, callers));
        let answers = try_join_all(inputs).await?;
        let keys = requests.iter().map(|(key, ..)| serde_json::Value::from(&**key).to_string());
        Ok(Some(keys.zip(answers).collect()))
    }

    /// The answer to one of it.
    async fn input(
        &self,
        method: &str,
        params: &str,
        callers: Callers,
    ) -> std::result::Result<String, Refusal> {
        if method == "roots/list" {
            return self.roots();
        }
        let kind = self.kind_of(method, params)?;
        let _open = self.asked.begin_input(Instant::now())?;
        let mut begun = Err(refused("the handler failed"));
        self.tell(|events| begun = events.ask(ServerQuestion { kind, method, params, callers }));
        let answer = tokio::time::timeout(self.options.handler_timeout, contained(begun?)).await;
        let late = |_| Err(refused("nobody answered in time"));
        answer.unwrap_or_else(late).and_then(one_object)
    }

    /// Ends a call between two rounds, unless it ended; whether it was there.
    fn end_round(&self, id: u64, error: Error) -> bool {
        let flight = self.calls.take(id);
        let was_there = flight.is_some();
        if let Some(flight) = flight {
            fail(flight, error);
        }
        was_there
    }

    /// Of a request whose result cannot ask for input: no handler of the host could help.
    fn misplaced_input(&self) -> Error {
        let message = "the server asks for input where the protocol has none";
        errors::protocol(&self.server, message).with_outcome(Outcome::Unknown)
    }

    fn declined(&self, message: &str) -> Error {
        Error::new(ErrorCode::Declined, message)
            .with_server(self.server.as_ref())
            .with_outcome(Outcome::Unknown)
    }
}

/// The params of the next round: those of the first, with what the server gave and asked for in the
/// last one alone.
fn with_responses(
    params: &str,
    responses: Option<Vec<(String, String)>>,
    state: Option<&str>,
) -> String {
    let mut out = params.trim_end().strip_suffix('}').unwrap_or(params).to_owned();
    let mut add = |member: &str, value: &str| {
        let separator = if out.trim_end().ends_with('{') { "" } else { "," };
        out.push_str(&format!("{separator}\"{member}\":{value}"));
    };
    if let Some(responses) = responses {
        let members: Vec<String> =
            responses.iter().map(|(key, answer)| format!("{key}:{answer}")).collect();
        add("inputResponses", &format!("{{{}}}", members.join(",")));
    }
    if let Some(state) = state {
        add("requestState", state);
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 15.4: the state goes back byte for byte, and nothing goes that was not given.
    #[test]
    fn a_round_adds_what_was_asked_for_and_what_was_given() {
        let params = r#"{"name":"t","arguments":{"a":1.50}}"#;
        let responses = vec![(r#""k""#.to_owned(), r#"{"action":"accept"}"#.to_owned())];
        let whole = with_responses(params, Some(responses), Some(r#""a\u0041\/""#));
        let expected = r#"{"name":"t","arguments":{"a":1.50},"inputResponses":{"k":{"action":"accept"}},"requestState":"a\u0041\/"}"#;
        assert_eq!(whole, expected);
        assert_eq!(with_responses("{}", None, None), "{}");
        assert_eq!(with_responses("{ }", None, Some("1")), r#"{ "requestState":1}"#);
    }
}
