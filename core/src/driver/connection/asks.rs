//! What servers ask of hosts: whose handler answers (SPEC 15.1).
//!
//! In doubt nobody is asked: a question may quote another session's words.

use std::sync::Arc;

use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words;
use trunkline_pool::options::{HandlerFuture, HandlerKind, Refusal, ServerRequest};
use trunkline_pool::state::{ConnectionId, SessionId};

use crate::client::{Callers, ServerQuestion};
use crate::driver::{Driver, EntryCell, SessionPort};
use crate::events::EventSubject;

impl Driver {
    /// Has a session's handler answer. It is the connection's own session, or the only one with a
    /// call in flight.
    ///
    /// # Errors
    /// When that is nobody, or not known.
    pub(in crate::driver) fn ask_session(
        &self,
        cell: &EntryCell,
        id: ConnectionId,
        question: ServerQuestion<'_>,
    ) -> Result<HandlerFuture, Refusal> {
        let session = match (cell.owner, question.callers) {
            (Some(owner), _) => self.live_session(owner),
            (None, Callers::One(session)) => self.live_session(session),
            (None, Callers::Nobody) => {
                return Err(declined("no session has a call in flight on this connection"));
            }
            (None, Callers::Several) => {
                self.warn_of_doubt(cell, id, question.method);
                let message = "several sessions have calls in flight on this connection, \
                               and it is not known which one this belongs to";
                return Err(declined(message));
            }
        };
        let session = session.ok_or_else(|| declined("the session is closed"))?;
        let generation = id.generation.0;
        let request = ServerRequest::new(
            question.kind,
            session.recipient().id.clone(),
            question.method,
            question.params,
        );
        let request = request.from_server(cell.server.clone(), cell.index, generation);
        let handling = session.handlers().answer(request);
        let handling = handling.ok_or_else(|| declined("the session has no handler for this"))?;
        if question.kind == HandlerKind::ElicitationUrl {
            cell.elicitations.note_asked(question.params, session.recipient().number);
        }
        Ok(Box::pin(async move {
            tokio::select! {
                biased;
                () = session.closed() => Err(declined("the session is closed")),
                answer = handling => answer,
            }
        }))
    }

    /// The server says that what a session was asked to have opened is over. `shown` is the id
    /// without secrets.
    pub(in crate::driver) fn elicitation_completed(
        &self,
        cell: &EntryCell,
        connection: ConnectionId,
        (id, shown): (&str, &str),
    ) {
        let asked = cell.elicitations.take(id).or_else(|| cell.elicitations.take(shown));
        let Some(session) = asked.and_then(|session| self.live_session(session)) else { return };
        let fields = [("elicitation_id", shown.into())];
        let about = EventSubject::entry(&cell.named, connection.generation);
        let holds = || cell.is_held_by(session.recipient().number);
        self.hub.publish_if(
            EventKind::ElicitationCompleted,
            Some(session.recipient()),
            &about,
            &fields,
            holds,
        );
    }

    /// The session of that number, while it is open.
    pub(in crate::driver) fn live_session(
        &self,
        number: SessionId,
    ) -> Option<Arc<dyn SessionPort>> {
        let session = self.core().sessions.get(&number)?.upgrade();
        session.filter(|session| !session.recipient().is_closed())
    }

    /// The operator is told, since sharing is what the request failed by.
    fn warn_of_doubt(&self, cell: &EntryCell, id: ConnectionId, method: &str) {
        let message = format!(
            "a request {method} of the server was declined: several sessions have calls in flight on the connection"
        );
        let fields =
            [("code", words::warning_code::REQUEST_DECLINED.into()), ("message", message.into())];
        let about = EventSubject::entry(&cell.named, id.generation);
        self.hub.publish(EventKind::Warning, None, &about, &fields);
    }
}

/// A request that nobody is asked about.
pub(in crate::driver) fn declined(message: &str) -> Refusal {
    Refusal::new(Refusal::INTERNAL_ERROR, message)
}
