//! Requests of the server: what is answered here, what goes to a handler of the host, and how that
//! ends (SPEC 15.1).
//!
//! Invariants:
//! 1. A request that a handler works on has one task. It alone takes the request off the list, lets
//!    the clocks of its calls go on, and answers, once.
//! 2. A request that the server took back, and one whose connection ended, is not answered.
//! 3. No lock is held while a handler begins or is polled, and what panics in it is a refusal.
//!
//! A handler's future is dropped on a thread of its own. With one worker, a blocked end would hold
//! up every server.

use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use trunkline_pool::config::Era;
use trunkline_pool::options::{HandlerFuture, HandlerKind, HandlerResult, Refusal};

use super::calls::in_flight::Hold;
use super::connection::Link;
use super::state::ignored_counts::count;
use super::state::open_requests::{Ticket, refused};
use super::state::outbox::PendingNotice;
use super::types::ServerQuestion;
use crate::runtime::handling::{contained, failed};
use crate::transport::Via;

/// Bytes of a request's id: ids are short, and each is kept while its request is open.
const ID_BYTES_MAX: usize = 256;

impl Link {
    /// A request of the server.
    pub(super) fn take_request(&self, id: &str, method: &str, params: &str, via: Via) {
        if self.facts.get().is_some_and(|facts| facts.era == Some(Era::Modern)) {
            // The modern era has none, and nothing that answers one may be written.
            return count(&self.ignored.notifications);
        }
        let answer = match method {
            "ping" => Ok("{}".to_owned()),
            "roots/list" => self.roots(),
            _ => match self.kind_of(method, params) {
                Ok(kind) => return self.ask_host(id, (kind, method, params), via),
                Err(refusal) => Err(refusal),
            },
        };
        self.answer(id, answer);
    }

    /// The result of `roots/list`.
    pub(super) fn roots(&self) -> HandlerResult {
        let mut roots = Err(refused("the roots are not known"));
        self.tell(|events| roots = Ok(events.roots()));
        roots
    }

    /// The server takes a request back.
    pub(super) fn take_cancelled(&self, params: &str) {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        let known = serde_json::from_str::<Cancelled<'_>>(params)
            .is_ok_and(|cancelled| self.asked.take_back(cancelled.id.get()));
        if !known {
            count(&self.ignored.notifications);
        }
    }

    /// Which handler a request is for, when the server was offered one.
    pub(super) fn kind_of(&self, method: &str, params: &str) -> Result<HandlerKind, Refusal> {
        let offered = |kind| self.options.offered.has(kind);
        let kind = kind_of(method, params)?;
        let (whole, missing) = match kind {
            HandlerKind::Sampling | HandlerKind::SamplingTools => {
                (offered(HandlerKind::Sampling), "sampling with tools was not offered")
            }
            _ => (
                offered(HandlerKind::Elicitation) || offered(HandlerKind::ElicitationUrl),
                "this mode of elicitation was not offered",
            ),
        };
        match (offered(kind), whole) {
            (true, _) => Ok(kind),
            (false, true) => Err(Refusal::new(Refusal::INVALID_PARAMS, missing)),
            (false, false) => Err(not_found()),
        }
    }

    /// Has a request answered by the host.
    fn ask_host(&self, id: &str, (kind, method, params): (HandlerKind, &str, &str), via: Via) {
        if id.len() > ID_BYTES_MAX {
            return self
                .answer(id, Err(Refusal::new(Refusal::INVALID_PARAMS, "the id is too long")));
        }
        let ticket = match self.asked.begin(id, Instant::now()) {
            None => return count(&self.ignored.notifications),
            Some(Err(refusal)) => return self.answer(id, Err(refusal)),
            Some(Ok(ticket)) => ticket,
        };
        let (callers, hold) = self.calls.hold_callers(via, Instant::now());
        let mut begun = Err(failed());
        self.tell(|events| begun = events.ask(ServerQuestion { kind, method, params, callers }));
        let (handling, link) = match (begun, self.me.upgrade()) {
            (Ok(handling), Some(link)) => (handling, link),
            (Ok(_), None) => return,
            (Err(refusal), _) => {
                hold.into_iter().for_each(|hold| self.calls.go_on(hold));
                if self.asked.finish(id, ticket.number) {
                    self.answer(id, Err(refusal));
                }
                return;
            }
        };
        self.runtime.spawn(async move { link.attend(ticket, handling, hold).await });
    }

    /// Waits for the answer of a handler, and brings it to the server.
    async fn attend(&self, ticket: Ticket, handling: HandlerFuture, mut hold: Option<Hold>) {
        let Ticket { id, number, taken_back } = ticket;
        let calls_over = async {
            match &mut hold {
                Some(hold) => hold.over().await,
                None => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            biased;
            _ = taken_back => None,
            answer = contained(handling) => Some(answer),
            () = calls_over => Some(Err(refused("the call that this belongs to is over"))),
            () = tokio::time::sleep(self.options.handler_timeout) => {
                Some(Err(refused("nobody answered in time")))
            }
        };
        if let Some(hold) = hold {
            self.calls.go_on(hold);
        }
        // Off the list first: its id is free once the server has the answer.
        let answer = answer.filter(|_| self.asked.finish(&id, number));
        if let Some(answer) = answer {
            self.answer(&id, answer.and_then(one_object));
        }
    }

    fn answer(&self, id: &str, answer: HandlerResult) {
        let answer = match answer {
            Ok(result) if result.len() > self.options.frame_bytes => {
                Err(refused("the answer is too long"))
            }
            answer => answer,
        };
        let reply = match answer {
            Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"),
            Err(Refusal { code, message, .. }) => {
                let error = serde_json::json!({ "code": code, "message": message });
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n")
            }
        };
        self.pay(PendingNotice::Reply(reply.into()));
    }
}

/// Which handler a request is for.
fn kind_of(method: &str, params: &str) -> Result<HandlerKind, Refusal> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        tools: Option<&'a RawValue>,
        #[serde(borrow, rename = "toolChoice")]
        tool_choice: Option<&'a RawValue>,
        mode: Option<String>,
        url: Option<String>,
    }
    if !["sampling/createMessage", "elicitation/create"].contains(&method) {
        return Err(not_found());
    }
    let Ok(params) = serde_json::from_str::<Params<'_>>(params) else {
        return Err(Refusal::new(Refusal::INVALID_PARAMS, "the params cannot be read"));
    };
    if method == "sampling/createMessage" {
        return Ok(match params.tools.or(params.tool_choice) {
            Some(_) => HandlerKind::SamplingTools,
            None => HandlerKind::Sampling,
        });
    }
    match params.mode.as_deref() {
        None | Some("form") => Ok(HandlerKind::Elicitation),
        Some("url") if params.url.as_deref().is_some_and(is_web_address) => {
            Ok(HandlerKind::ElicitationUrl)
        }
        Some("url") => {
            Err(Refusal::new(Refusal::INVALID_PARAMS, "the url is not an http or https address"))
        }
        Some(_) => Err(Refusal::new(Refusal::INVALID_PARAMS, "the mode is unknown")),
    }
}

/// S-39: nothing else is handed to somebody who may open it.
fn is_web_address(url: &str) -> bool {
    let schemes = ["https://", "http://"];
    let begins = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let hidden = |c: char| c.is_control() || c.is_whitespace();
    schemes.into_iter().any(|scheme| begins(scheme) && url.len() > scheme.len())
        && !url.contains(hidden)
}

/// The answer of a handler, on one line: a frame must not hold a line break.
pub(super) fn one_object(answer: String) -> HandlerResult {
    match serde_json::from_str::<&RawValue>(&answer) {
        Ok(value) if value.get().starts_with('{') => {
            // Valid JSON has line breaks only between tokens.
            Ok(value.get().replace(['\n', '\r'], " "))
        }
        Ok(_) | Err(_) => Err(failed()),
    }
}

fn not_found() -> Refusal {
    Refusal::new(Refusal::METHOD_NOT_FOUND, "there is no such method")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 15.1, S-39.
    #[test]
    fn a_request_is_for_the_handler_of_its_form() {
        let sampling = |params| kind_of("sampling/createMessage", params);
        assert_eq!(sampling(r#"{"messages":[]}"#), Ok(HandlerKind::Sampling));
        assert_eq!(sampling(r#"{"tools":[]}"#), Ok(HandlerKind::SamplingTools));
        let eliciting = |params| kind_of("elicitation/create", params);
        assert_eq!(eliciting(r#"{"message":"m"}"#), Ok(HandlerKind::Elicitation));
        assert_eq!(eliciting(r#"{"mode":"form"}"#), Ok(HandlerKind::Elicitation));
        let address = r#"{"mode":"url","url":"HTTPS://a.example/b?c=d"}"#;
        assert_eq!(eliciting(address), Ok(HandlerKind::ElicitationUrl));
        for bad in [
            r#"{"mode":"url","url":"javascript:alert(1)"}"#,
            r#"{"mode":"url","url":"file:///etc/passwd"}"#,
            r#"{"mode":"url","url":"https://a\u000ab"}"#,
            r#"{"mode":"url","url":"https://"}"#,
            r#"{"mode":"url"}"#,
            r#"{"mode":"other"}"#,
            "[]",
        ] {
            assert_eq!(eliciting(bad).unwrap_err().code, Refusal::INVALID_PARAMS, "{bad}");
        }
        assert_eq!(kind_of("tools/call", "{}").unwrap_err().code, Refusal::METHOD_NOT_FOUND);
    }

    /// SPEC 16.2.
    #[test]
    fn an_answer_that_is_no_object_is_a_failure() {
        assert_eq!(one_object("{\"a\":\n1}".into()), Ok("{\"a\": 1}".into()));
        for bad in ["", "[]", "null", "{", "{} {}"] {
            assert_eq!(one_object(bad.into()), Err(failed()));
        }
    }
}
