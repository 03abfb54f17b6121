//! What a client sends: requests that are answered here, and those that go to a server.

use serde_json::json;

use super::records::call::OpenRequest;
use super::records::call::RequestKey;
use super::records::input_step::InputStep;
use super::records::outcome::RouteEnd;
use super::records::outcome::ShownOutcome;
use super::served_client::ClientStage;
use super::served_client::Opened;
use super::served_client::ServedClient;
use crate::bridge::action::Action;
use crate::bridge::capabilities::ClientCapabilities;
use crate::bridge::ids::StreamId;
use crate::bridge::methods::{MethodRow, Route, find};
use crate::bridge::presentation::lists::page;
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::headers::{self, McpHeaders};
use crate::bridge::wire::meta::{self, RequestMeta, unspoken};
use crate::bridge::wire::reading::{ClientMessage, Params, batch, read};
use crate::bridge::wire::revisions::{LEGACY, MODERN};
use crate::config::Era;
use crate::options::LogLevel;

/// The one revision that knows batches.
const BATCHES: &str = LEGACY[1];

/// A request, as it came.
pub(super) struct ClientRequest<'a> {
    pub asker: OpenRequest,
    pub params: Params<'a>,
    pub meta: RequestMeta,
    pub headers: Option<&'a McpHeaders>,
}

impl ServedClient {
    pub(super) fn take_message(
        &mut self,
        turn: &mut InputStep<'_>,
        stream: StreamId,
        text: &str,
        headers: Option<&McpHeaders>,
    ) {
        let batch = batch(text);
        let is_wrong = batch.as_ref().is_some_and(|batch| {
            batch.is_empty() || self.is_modern() || self.revision() != BATCHES
        });
        let said: Vec<ClientMessage<'_>> = match batch {
            Some(_) if is_wrong => {
                let message = "a batch is known to the revision 2025-03-26 alone";
                let denial = Denial::new(DenialKind::InvalidRequest, message);
                vec![ClientMessage::Wrong { id: None, denial }]
            }
            Some(batch) => batch.into_iter().map(read).collect(),
            None => vec![read(text)],
        };
        let answered = said.iter().filter(|said| self.is_answered(said)).count();
        if self.is_http() && answered > 0 {
            *self.posts.entry(stream).or_default() += answered;
        }
        for said in said {
            self.take_said(turn, stream, said, headers);
        }
        if self.is_http() && answered == 0 {
            turn.push(Action::Accepted { stream });
        }
    }

    /// Whether an answer is due. Over HTTP a modern client is asked nothing, so that it can answer
    /// nothing.
    fn is_answered(&self, said: &ClientMessage<'_>) -> bool {
        match said {
            ClientMessage::Request { .. } | ClientMessage::Wrong { .. } => true,
            ClientMessage::Answer { .. } | ClientMessage::Stray => {
                self.is_modern() && self.is_http()
            }
            ClientMessage::Notification { .. } => false,
        }
    }

    fn take_said(
        &mut self,
        turn: &mut InputStep<'_>,
        stream: StreamId,
        said: ClientMessage<'_>,
        headers: Option<&McpHeaders>,
    ) {
        if self.is_answered(&said)
            && matches!(said, ClientMessage::Answer { .. } | ClientMessage::Stray)
        {
            let message = "a client of this revision is asked nothing, and answers nothing";
            return self.deny(turn, stream, None, Denial::new(DenialKind::InvalidRequest, message));
        }
        match said {
            ClientMessage::Request { id, method, params } => {
                let asker = OpenRequest { stream, id: id.to_owned() };
                let routed = self.route(turn, &asker, &method, params, headers);
                match routed {
                    Ok(RouteEnd::Answered(outcome)) => self.answer(turn, &asker, outcome),
                    Ok(RouteEnd::Later) => {}
                    Err(denial) => self.deny(turn, stream, Some(id), denial),
                }
            }
            ClientMessage::Notification { method, params }
                if method == "notifications/cancelled" =>
            {
                let id = params.get("requestId").map(str::to_owned);
                if let Some(id) = id {
                    self.cancel_request(turn, &OpenRequest { stream, id });
                }
            }
            // The pool answers for roots itself, and that a client is ready says nothing new.
            ClientMessage::Notification { .. } | ClientMessage::Stray => {}
            ClientMessage::Answer { id, answer } => self.take_client_answer(turn, id, answer),
            ClientMessage::Wrong { id, denial } => self.deny(turn, stream, id, denial),
        }
    }

    fn route(
        &mut self,
        turn: &mut InputStep<'_>,
        asker: &OpenRequest,
        method: &str,
        params: Params<'_>,
        headers: Option<&McpHeaders>,
    ) -> Result<RouteEnd, Denial> {
        if self.stage != ClientStage::Open {
            let message = "the endpoint is ending, and takes no more requests";
            return Err(Denial::new(DenialKind::Upstream, message).with(json!({
                "code": "closed", "retryable": true, "outcome": "not_sent" })));
        }
        let meta = meta::read(&params, self.facts.era, headers)?;
        let row = find(method, self.facts.era);
        self.check_headers(headers, method, row, &params)?;
        let unknown = || Denial::new(DenialKind::UnknownMethod, "the method is not known here");
        let row = row.ok_or_else(unknown)?;
        self.check_opened(row.route)?;
        let introducing = self.introducing(turn.offers);
        if row.capability.is_some_and(|capability| !introducing.has(capability)) {
            return Err(unknown());
        }
        if self.requests.contains_key(&self.request_key(asker)) || self.listens.contains_key(asker)
        {
            let message = "an open request has the same id";
            return Err(Denial::new(DenialKind::InvalidRequest, message));
        }
        let request = ClientRequest { asker: asker.clone(), params, meta, headers };
        self.routed(turn, row, request)
    }

    fn routed(
        &mut self,
        turn: &mut InputStep<'_>,
        row: &'static MethodRow,
        request: ClientRequest<'_>,
    ) -> Result<RouteEnd, Denial> {
        let params = &request.params;
        let body = match row.route {
            Route::Initialize => return self.initialize(turn, &request),
            Route::Ping => "{}".to_owned(),
            Route::Discover => self.introducing(turn.offers).discover(),
            Route::List(kind) => {
                let cursor = params.optional_text("cursor")?;
                page(self.introducing(turn.offers), kind, cursor.as_deref())?
            }
            Route::SetLevel => {
                let word = params.text("level")?;
                let message = "`params.level` is not a log level";
                let level = LogLevel::from_word(&word)
                    .ok_or_else(|| Denial::new(DenialKind::BadParams, message))?;
                self.log_level = Some(level);
                turn.push(Action::SetLogLevel { level });
                "{}".to_owned()
            }
            Route::Subscribe => return self.subscribe(turn, &request),
            Route::Unsubscribe => {
                self.unsubscribe(turn, params)?;
                "{}".to_owned()
            }
            Route::Listen => return self.listen(turn, &request),
            Route::ByName(_) | Route::ByUri | Route::ByReference => {
                return self.forward(turn, row, request);
            }
        };
        Ok(RouteEnd::Answered(ShownOutcome::Result(self.own_result(turn, body))))
    }

    /// The session agrees on the revision that the client asks for, or else on the newest.
    fn initialize(
        &mut self,
        turn: &mut InputStep<'_>,
        request: &ClientRequest<'_>,
    ) -> Result<RouteEnd, Denial> {
        let asked = request.params.text("protocolVersion")?;
        let revision = LEGACY.into_iter().find(|revision| *revision == asked);
        let revision = revision.unwrap_or(LEGACY[LEGACY.len() - 1]);
        let declared = request.params.get("capabilities").unwrap_or("{}");
        let message = "`params.capabilities` is not an object";
        let capabilities = ClientCapabilities::read(declared)
            .ok_or_else(|| Denial::new(DenialKind::BadParams, message))?
            .within(revision);
        self.opened = Some(Opened { revision, capabilities });
        turn.push(Action::OpenSession { stream: request.asker.stream });
        let result = self.introducing(turn.offers).initialize(revision);
        Ok(RouteEnd::Answered(ShownOutcome::Result(result)))
    }

    /// A legacy session begins with `initialize`, and has one.
    fn check_opened(&self, route: Route) -> Result<(), Denial> {
        let message = match (self.facts.era, route, self.opened) {
            (Era::Modern, ..) | (_, Route::Ping, _) => return Ok(()),
            (_, Route::Initialize, None) => return Ok(()),
            (_, Route::Initialize, Some(_)) => "the session is initialized already",
            (.., Some(_)) => return Ok(()),
            (.., None) => "the session is not initialized: `initialize` comes first",
        };
        Err(Denial::new(DenialKind::InvalidRequest, message))
    }

    fn check_headers(
        &self,
        headers: Option<&McpHeaders>,
        method: &str,
        row: Option<&MethodRow>,
        params: &Params<'_>,
    ) -> Result<(), Denial> {
        let Some(headers) = headers else { return Ok(()) };
        if self.is_modern() {
            let named = row.and_then(|row| row.named_by).and_then(|name| params.text(name).ok());
            return headers::check(headers, MODERN, method, named.as_deref());
        }
        let version = headers.get("mcp-protocol-version").map_err(|_| {
            let message = "the header `MCP-Protocol-Version` is there twice, with different values";
            Denial::new(DenialKind::HeaderMismatch, message)
        })?;
        match version {
            Some(version) if method != "initialize" && !LEGACY.contains(&version) => {
                Err(unspoken(version))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn request_key(&self, asker: &OpenRequest) -> RequestKey {
        (self.is_modern().then_some(asker.stream), asker.id.clone())
    }
}
