//! Requests of the server to its client: sampling, elicitation, roots, or whatever a test wants
//! sent.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::http::RELATED;
use crate::request::Call;
use crate::serve::{Turn, on_thread};
use crate::slow::{Cancel, Waited, lock};

/// How often a wait for an answer looks whether its call was cancelled.
const LOOK: Duration = Duration::from_millis(5);

/// The requests that wait for the client's answer, and the last answer that nobody waited for.
#[derive(Default)]
pub struct Asks {
    open: Mutex<HashMap<String, Sender<Value>>>,
    last: Mutex<Value>,
    numbers: AtomicU64,
}

impl Asks {
    /// Takes an answer of the client.
    pub fn answered(&self, line: &[u8]) {
        let Ok(mut answer) = serde_json::from_slice::<Map<String, Value>>(line) else { return };
        let id = answer.remove("id").unwrap_or_default().to_string();
        answer.remove("jsonrpc");
        let answer = Value::Object(answer);
        match lock(&self.open).remove(&id) {
            Some(waiting) => drop(waiting.send(answer)),
            None => *lock(&self.last) = answer,
        }
    }

    pub fn new_id(&self) -> Value {
        format!("ask-{}", self.numbers.fetch_add(1, Ordering::Relaxed)).into()
    }

    pub fn wait_for(&self, id: &Value) -> Receiver<Value> {
        let (to, from) = channel();
        lock(&self.open).insert(id.to_string(), to);
        from
    }
}

/// `ask`: sends the request `method` with `params` and answers with what the client says to it;
/// with `take_back_ms` the request is cancelled after that time. With `after` the call is answered
/// first, and `last_answer` has the client's. What is `related` comes on the call's own response,
/// over HTTP.
pub fn ask(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let (server, call_id) = (turn.server, call.id.to_vec());
    let id = arguments.value("id").cloned().unwrap_or_else(|| server.asks.new_id());
    let method = arguments.text("method").unwrap_or("roots/list");
    let params = arguments.value("params").cloned().unwrap_or_else(|| json!({}));
    let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    if arguments.flag("related") {
        request[RELATED] = serde_json::from_slice(call.id).unwrap_or_default();
    }
    if arguments.flag("after") {
        *lock(&server.asks.last) = Value::Null;
        turn.batch.text(call.id, "asking");
        return turn.batch.line(request.to_string().as_bytes());
    }
    let take_back = arguments.number("take_back_ms").map(Duration::from_millis);
    let answer = server.asks.wait_for(&id);
    on_thread(server, call.id, move |turn, cancel| {
        turn.batch.line(request.to_string().as_bytes());
        turn.batch.flush();
        match wait(&answer, cancel, take_back.map(|time| Instant::now() + time)) {
            Some(answer) => turn.batch.text(&call_id, &answer.to_string()),
            None => {
                let params = json!({ "requestId": id, "reason": "no longer needed" });
                turn.notify("notifications/cancelled", &params.to_string());
                turn.batch.text(&call_id, "taken back");
            }
        }
    });
}

/// `need`: asks for `requests` in `rounds` rounds, with the JSON text `state` and the number of the
/// round as its state; then answers with the id, the responses and the state that the last round
/// had.
pub fn need(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let text =
        |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let state = text(call.state);
    let before = state.as_deref().and_then(|state| state.trim_matches('"').rsplit('#').next());
    let round = before.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) + 1;
    if round > arguments.number("rounds").unwrap_or(1) {
        let id = text(Some(call.id));
        let had = json!({ "id": id, "responses": text(call.responses), "state": state });
        return turn.batch.text(call.id, &had.to_string());
    }
    let requests =
        arguments.value("requests").map(|requests| format!(r#","inputRequests":{requests}"#));
    let given = arguments.text("state").unwrap_or_default();
    let result = format!(
        r#"{{"resultType":"input_required"{},"requestState":"{given}#{round}"}}"#,
        requests.unwrap_or_default()
    );
    turn.batch.result(call.id, result.as_bytes());
}

/// `last_answer`: answers with what the client said to a request that no call waited for, once it
/// is there.
pub fn last_answer(turn: &mut Turn, call: &Call) {
    let (server, id) = (turn.server, call.id.to_vec());
    on_thread(server, call.id, move |turn, cancel| {
        while cancel.wait(LOOK) == Waited::Whole {
            let last = lock(&server.asks.last).take();
            if !last.is_null() {
                return turn.batch.text(&id, &last.to_string());
            }
        }
    });
}

/// `client`: answers with what the client said of itself: by the handshake, or in the modern era by
/// this call.
pub fn client(turn: &mut Turn, call: &Call) {
    let said = lock(&turn.server.client).clone();
    let said = if said.is_empty() { call.meta.unwrap_or_default() } else { &said };
    turn.batch.text(call.id, &String::from_utf8_lossy(said));
}

/// The answer, or nothing once the call is cancelled or the time is over.
pub fn wait(answer: &Receiver<Value>, cancel: &Cancel, until: Option<Instant>) -> Option<Value> {
    loop {
        match answer.recv_timeout(LOOK) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let over = until.is_some_and(|until| Instant::now() >= until);
        if over || cancel.wait(Duration::ZERO) == Waited::Cancelled {
            return None;
        }
    }
}
