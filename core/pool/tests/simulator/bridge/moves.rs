//! The moves of a run: what a client does, and what servers do.

use super::model::GivenState;
use serde_json::{Value, json};
use trunkline_pool::bridge::{BridgeInput, CallId, Era, ListKinds, QuestionId, StreamId};
use trunkline_pool::error::{Error, ErrorCode};
use trunkline_pool::state::Moment;

use super::Run;

type Made = Result<(), String>;

/// The states that a modern client keeps; the oldest go.
const STATES_MAX: usize = 8;

impl Run {
    /// The first words of a client.
    pub fn open(&mut self) -> Made {
        if self.model.is_modern {
            return Ok(());
        }
        if !self.model.is_http {
            let stream = self.next();
            self.model.own_stream = Some(stream);
            self.model.streams.insert(stream);
            self.give(BridgeInput::Stream { stream: StreamId(stream) })?;
        }
        let capabilities =
            if self.chance.percent(80) { json!({ "elicitation": {} }) } else { json!({}) };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
        self.request("initialize", params, None)
    }

    pub fn make_a_move(&mut self) -> Made {
        self.now.moment = Moment(self.now.moment.0 + self.chance.below(1_000_000_000));
        self.now.unix_seconds = 1_000 + self.now.moment.0 / 1_000_000_000;
        match self.chance.below(16) {
            0..=3 => self.call(),
            4 => self.retry(),
            5 => self.client_answers(),
            6 => self.client_cancels(),
            7 => self.stream_closes(),
            8 => self.subscribes(),
            9..=11 => match self.some_call() {
                Some(call) => self.answer_call(call),
                None => Ok(()),
            },
            12 => self.ask(),
            13 => self.server_withdraws(),
            14 => self.announce(),
            _ => self.time_and_progress(),
        }
    }

    /// The stream and the id that the next request has.
    fn next_request(&self) -> (u64, String) {
        let id = self.last + 1;
        let stream = match (self.model.is_http, self.model.own_stream) {
            (false, Some(stream)) => stream,
            _ => id + 1,
        };
        (stream, id.to_string())
    }

    /// Sends a request on a stream of its own over HTTP, and else on the one of the connection.
    fn request(&mut self, method: &str, mut params: Value, canary: Option<String>) -> Made {
        let id = self.next().to_string();
        let stream = match (self.model.is_http, self.model.own_stream) {
            (false, Some(stream)) => stream,
            _ => self.next(),
        };
        if self.model.is_modern && !self.model.is_http && self.model.own_stream.is_none() {
            self.model.own_stream = Some(stream);
        }
        self.model.streams.insert(stream);
        if self.model.is_modern {
            let capabilities =
                if self.chance.percent(90) { json!({ "elicitation": {} }) } else { json!({}) };
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
                "progressToken": canary,
            });
        } else if canary.is_some() {
            params["_meta"] = json!({ "progressToken": canary });
        }
        self.model.requests.insert((stream, id.clone()), canary);
        if method == "subscriptions/listen" {
            self.model.listens.insert((stream, id.clone()));
        }
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.give(BridgeInput::Message { stream: StreamId(stream), text: &text, headers: None })
    }

    fn notify(&mut self, method: &str, params: &Value) -> Made {
        let stream = match (self.model.is_http, self.model.own_stream) {
            (false, Some(stream)) => stream,
            _ => self.next(),
        };
        self.model.streams.insert(stream);
        let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        self.give(BridgeInput::Message { stream: StreamId(stream), text: &text, headers: None })
    }

    fn name_of(&self, server: &str, own: &str) -> String {
        match self.path.server {
            Some(_) => own.to_owned(),
            None => format!("{server}__{own}"),
        }
    }

    fn server(&mut self) -> &'static str {
        let servers = self.offered.eras.len() as u64;
        super::NAMES[self.chance.below(servers) as usize]
    }

    fn call(&mut self) -> Made {
        let server = self.server();
        let canary = format!("canary-{}", self.next());
        let (method, own) =
            self.chance.pick(&[("tools/call", "t"), ("tools/call", "t"), ("prompts/get", "p")]);
        let name = self.name_of(server, own);
        let params = json!({ "name": name, "arguments": { "canary": canary } });
        self.sent.insert(canary.clone(), (method, params.clone()));
        self.request(method, params, Some(canary))
    }

    /// A modern client comes back with a state: one of its own, used before or not, or a forged one.
    fn retry(&mut self) -> Made {
        if self.model.states.is_empty() {
            return Ok(());
        }
        let place = self.chance.below(self.model.states.len() as u64) as usize;
        let GivenState { mut state, canary, keys, is_handle } = self.model.states[place].clone();
        if self.chance.percent(80) {
            self.model.states.remove(place);
        }
        let Some((method, mut params)) =
            canary.as_ref().and_then(|canary| self.sent.get(canary)).cloned()
        else {
            return Ok(());
        };
        let is_repeated = is_handle && self.model.used.contains(&state);
        if self.chance.percent(10) {
            state.insert(0, 'x');
        } else if is_handle {
            self.model.used.insert(state.clone());
        }
        let mut answers = serde_json::Map::new();
        for key in keys {
            if self.chance.percent(80) {
                answers.insert(key, json!({ "action": "accept", "content": {} }));
            }
        }
        params["requestState"] = json!(state);
        params["inputResponses"] = Value::Object(answers);
        self.model.note("retry");
        while self.model.states.len() > STATES_MAX {
            self.model.states.remove(0);
        }
        if is_repeated {
            let (stream, id) = self.next_request();
            self.model.repeated.insert((stream, id));
            self.model.note("repeated handle");
        }
        self.request(method, params, canary)
    }

    fn client_answers(&mut self) -> Made {
        let asked: Vec<u64> = self.model.asked.keys().copied().collect();
        let Some(id) = self.chance.pick_some(&asked) else { return Ok(()) };
        self.model.asked.remove(&id);
        let stream = match (self.model.is_http, self.model.own_stream) {
            (false, Some(stream)) => stream,
            _ => self.next(),
        };
        self.model.streams.insert(stream);
        let text = match self.chance.percent(80) {
            true => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#),
            false => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"n"}}}}"#)
            }
        };
        self.model.note("answer of a client");
        self.give(BridgeInput::Message { stream: StreamId(stream), text: &text, headers: None })
    }

    fn client_cancels(&mut self) -> Made {
        let open: Vec<_> = self.model.requests.keys().cloned().collect();
        if open.is_empty() {
            return Ok(());
        }
        let (stream, id) = open[self.chance.below(open.len() as u64) as usize].clone();
        let of_server = self.model.requests[&(stream, id.clone())].is_some();
        let is_listen = self.model.listens.contains(&(stream, id.clone()));
        // A modern client cancels over HTTP by closing the stream.
        if self.model.is_http && self.model.is_modern || !(of_server || is_listen) {
            return Ok(());
        }
        // Over HTTP the bridge ends the stream; on lines nothing more comes.
        if !self.model.is_http {
            self.model.requests.remove(&(stream, id.clone()));
            self.model.listens.remove(&(stream, id.clone()));
        }
        // The questions of the call are withdrawn, each by a message of its own.
        self.notify(
            "notifications/cancelled",
            &json!({ "requestId": serde_json::from_str::<Value>(&id).unwrap_or_default() }),
        )
    }

    fn stream_closes(&mut self) -> Made {
        if !self.model.is_http {
            return Ok(());
        }
        let streams: Vec<u64> = self.model.streams.iter().copied().collect();
        let Some(stream) = self.chance.pick_some(&streams) else { return Ok(()) };
        self.model.note("stream closed");
        if self.model.own_stream == Some(stream) {
            self.model.own_stream = None;
            self.model.streams.remove(&stream);
        } else if self.model.is_modern {
            self.model.requests.retain(|(of, _), _| *of != stream);
            self.model.listens.retain(|(of, _)| *of != stream);
            self.model.streams.remove(&stream);
        }
        self.give(BridgeInput::StreamClosed { stream: StreamId(stream) })
    }

    fn subscribes(&mut self) -> Made {
        let server = self.server();
        let uri = match self.path.server {
            Some(_) => "r:1".to_owned(),
            None => format!("trunkline://{server}/r:1"),
        };
        if self.model.is_modern {
            let filter =
                json!({ "toolsListChanged": true, "resourceSubscriptions": [uri, "no:1"] });
            return self.request("subscriptions/listen", json!({ "notifications": filter }), None);
        }
        match self.chance.below(4) {
            0 => self.request("resources/unsubscribe", json!({ "uri": uri }), None),
            1 if self.model.is_http => {
                let stream = self.next();
                self.model.streams.insert(stream);
                let given = self.give(BridgeInput::Stream { stream: StreamId(stream) });
                self.model.own_stream = Some(stream);
                given
            }
            2 => self.request("tools/list", json!({}), None),
            _ => self.request("resources/subscribe", json!({ "uri": uri }), None),
        }
    }

    fn some_call(&mut self) -> Option<CallId> {
        let calls: Vec<CallId> =
            self.model.calls.keys().chain(self.model.pending.keys()).copied().collect();
        self.chance.pick_some(&calls)
    }

    /// A server answers a call: with its canary, an error, or a request for input.
    pub fn answer_call(&mut self, call: CallId) -> Made {
        let Some(working) = self.model.calls.remove(&call) else {
            return self.answer_subscription(call);
        };
        let error =
            Error::new(ErrorCode::ServerError, "no").with_detail("code", -32042).with_detail(
                "data",
                json!({ "elicitations": [{ "url": "u:v", "message": working.canary }] }),
            );
        let canary = &working.canary;
        let asks = json!({ "resultType": "input_required", "requestState": "s", "inputRequests": {
            "k": { "method": "elicitation/create", "params": { "message": canary } } } });
        let echo = json!({ "echo": canary });
        let is_modern = self.offered.era(&working.server) == Era::Modern;
        match self.chance.below(5) {
            0 => self.give(BridgeInput::Answered { call, result: Err(&error) }),
            1 if is_modern && working.relays_input && working.method != "completion/complete" => {
                self.give(BridgeInput::Answered { call, result: Ok(&asks.to_string()) })
            }
            _ => self.give(BridgeInput::Answered { call, result: Ok(&echo.to_string()) }),
        }
    }

    pub fn answer_subscription(&mut self, call: CallId) -> Made {
        let Some(resource) = self.model.pending.remove(&call) else { return Ok(()) };
        if self.chance.percent(20) {
            let error = Error::new(ErrorCode::ServerError, "no");
            return self.give(BridgeInput::Answered { call, result: Err(&error) });
        }
        self.model.active.insert(resource);
        self.give(BridgeInput::Answered { call, result: Ok("{}") })
    }

    /// A server asks: in a call, or outside of any.
    fn ask(&mut self) -> Made {
        let calls: Vec<CallId> = self.model.calls.keys().copied().collect();
        let call = self.chance.pick_some(&calls);
        let question = QuestionId(self.next());
        let server = match call {
            Some(call) => self.model.calls[&call].server.clone(),
            None => self.server().to_owned(),
        };
        // A modern server asks in its result.
        if call.is_some() && self.model.is_modern && self.offered.era(&server) == Era::Modern {
            return Ok(());
        }
        let canary = call.map(|call| self.model.calls[&call].canary.clone()).unwrap_or_default();
        self.model.questions.insert(question, call.unwrap_or(CallId(0)));
        let params = json!({ "message": canary }).to_string();
        let method = "elicitation/create";
        self.give(BridgeInput::Asked { question, server: &server, call, method, params: &params })
    }

    fn server_withdraws(&mut self) -> Made {
        let open: Vec<QuestionId> = self.model.questions.keys().copied().collect();
        let Some(question) = self.chance.pick_some(&open) else { return Ok(()) };
        self.model.questions.remove(&question);
        self.model.note("withdrawn question");
        self.give(BridgeInput::Unasked { question })
    }

    fn announce(&mut self) -> Made {
        let server = self.server();
        match self.chance.below(3) {
            0 => self.give(BridgeInput::ResourceUpdated { server, uri: "r:1" }),
            1 => {
                let params = json!({ "level": "info", "data": "d" }).to_string();
                self.give(BridgeInput::Logged { server, params: &params, call: None })
            }
            _ => {
                let kinds =
                    ListKinds { tools: true, prompts: self.chance.percent(50), resources: false };
                self.give(BridgeInput::ListsChanged { kinds })
            }
        }
    }

    fn time_and_progress(&mut self) -> Made {
        if self.chance.percent(30) {
            let before = self.model.seen.get("cancel").copied();
            let given = self.give(BridgeInput::Tick);
            if self.model.seen.get("cancel").copied() != before {
                self.model.note("parked call given up");
            }
            return given;
        }
        let calls: Vec<CallId> = self.model.calls.keys().copied().collect();
        let Some(call) = self.chance.pick_some(&calls) else { return Ok(()) };
        if !self.model.calls[&call].progress {
            return Ok(());
        }
        self.give(BridgeInput::Progress { call, params: r#"{"progressToken":"own","progress":1}"# })
    }
}
