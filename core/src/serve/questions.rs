//! What servers ask a served client: on its way there, and the answer on its way back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use trunkline_pool::bridge::{BridgeInput, QuestionId};
use trunkline_pool::options::{HandlerKind, HandlerResult, Handlers, Refusal, ServerRequest};

use super::client::PoolClient;

/// Every question of the process has a number of its own.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Every client is asked everything: its bridge knows what it declared. So all clients of an
/// endpoint offer servers the same, and share their connections.
const ASKED: [HandlerKind; 4] = [
    HandlerKind::Sampling,
    HandlerKind::SamplingTools,
    HandlerKind::Elicitation,
    HandlerKind::ElicitationUrl,
];

/// The way to a client that is still to be made: its session needs its handlers before.
#[derive(Clone, Default)]
pub(super) struct ClientLink(Arc<OnceLock<Weak<PoolClient>>>);

impl ClientLink {
    /// It was made.
    pub(super) fn set(&self, client: &Weak<PoolClient>) {
        self.0.get_or_init(|| client.clone());
    }

    fn upgrade(&self) -> Option<Arc<PoolClient>> {
        self.0.get()?.upgrade()
    }
}

/// The handlers of a session that a client is to have.
pub(super) fn handlers(client: &ClientLink) -> Handlers {
    let mut handlers = Handlers::new();
    for kind in ASKED {
        let client = client.clone();
        handlers = handlers.with(kind, move |request| ask(client.clone(), request));
    }
    let client = client.clone();
    handlers.with_logging(move |event| {
        if let Some(client) = client.upgrade() {
            logged(&client, event);
        }
    })
}

/// Asks a client, and waits for its answer. Dropping it takes the question back.
async fn ask(client: ClientLink, request: ServerRequest) -> HandlerResult {
    let question = QuestionId(LAST.fetch_add(1, Ordering::Relaxed));
    let (send, receive) = oneshot::channel();
    {
        let client = client.upgrade().ok_or_else(gone)?;
        if !client.keep_question(question, send) {
            return Err(gone());
        }
        let call = client.only_call(&request.server);
        let (server, method, params) = (&*request.server, &*request.method, &*request.params);
        client.input(BridgeInput::Asked { question, server, call, method, params });
    }
    let _open = OpenQuestion { client, question };
    receive.await.unwrap_or_else(|_| Err(gone()))
}

/// A question that nobody waits for any more when it is dropped.
struct OpenQuestion {
    client: ClientLink,
    question: QuestionId,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let Some(client) = self.client.upgrade() else { return };
        if client.take_question(self.question).is_some() {
            client.input(BridgeInput::Unasked { question: self.question });
        }
    }
}

impl PoolClient {
    /// Hands an answer over, if anybody waits for it.
    pub(super) fn answer(&self, question: QuestionId, answer: Result<String, (i32, String)>) {
        let Some(waiting) = self.take_question(question) else { return };
        // The server may have taken it back at this moment.
        let _ = waiting.send(answer.map_err(|(code, message)| Refusal::new(code, message)));
    }
}

/// A message of a server's log, out of the text of its event.
fn logged(client: &PoolClient, event: &str) {
    let Ok(event) = serde_json::from_str::<Map<String, Value>>(event) else { return };
    let Some(server) = event.get("server").and_then(Value::as_str) else { return };
    let mut params = json!({ "level": event.get("level"), "data": event.get("data") });
    if let Some(logger) = event.get("logger") {
        params["logger"] = logger.clone();
    }
    let (call, params) = (client.only_call(server), params.to_string());
    client.input(BridgeInput::Logged { server, params: &params, call });
}

fn gone() -> Refusal {
    Refusal::new(Refusal::INTERNAL_ERROR, "the client is gone")
}
