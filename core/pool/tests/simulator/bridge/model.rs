//! What a client and its servers may expect of the bridge, and the check of each action.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use trunkline_pool::bridge::{Action, CallId, QuestionId, StreamId};

/// A request of the client, by its stream and the JSON of its id.
pub type Request = (u64, String);

/// What a modern client carries.
#[derive(Clone, Debug)]
pub struct GivenState {
    pub state: String,
    pub canary: Option<String>,
    /// The keys that are to be answered.
    pub keys: Vec<String>,
    /// Whether its call waits: then it counts once.
    pub is_handle: bool,
}

/// A call that a server works on.
#[derive(Clone, Debug)]
pub struct Working {
    pub server: String,
    pub method: String,
    pub canary: String,
    pub relays_input: bool,
    pub progress: bool,
}

/// What is open, as both legs see it.
#[derive(Debug, Default)]
pub struct Model {
    pub is_http: bool,
    pub is_modern: bool,
    /// Requests without an answer, and the canary of each.
    pub requests: BTreeMap<Request, Option<String>>,
    /// Streams that can be sent on.
    pub streams: BTreeSet<u64>,
    /// The stream of a legacy session.
    pub own_stream: Option<u64>,
    pub calls: BTreeMap<CallId, Working>,
    /// Questions that servers wait for, and the call of each.
    pub questions: BTreeMap<QuestionId, CallId>,
    /// Questions that a legacy client was asked.
    pub asked: BTreeMap<u64, String>,
    /// States that a modern client was given.
    pub states: Vec<GivenState>,
    /// Handles of parked calls that were brought back, and requests that bring one again.
    pub used: BTreeSet<String>,
    pub repeated: BTreeSet<Request>,
    /// Resources that a listen was granted.
    pub granted: BTreeSet<(Request, (String, String))>,
    /// Everything ends: listens are over before their answer says so.
    pub is_ending: bool,
    /// Subscriptions: pending calls and active ones.
    pub pending: BTreeMap<CallId, (String, String)>,
    pub active: BTreeSet<(String, String)>,
    pub listens: BTreeSet<Request>,
    pub is_closed: bool,
    /// How often each thing happened.
    pub seen: BTreeMap<&'static str, u64>,
}

type Checked = Result<(), String>;

impl Model {
    pub fn note(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// Checks one action, and does what it wants.
    pub fn carry_out(&mut self, action: &Action) -> Checked {
        if self.is_closed {
            return Err(format!("behind the end: {action:?}"));
        }
        match action {
            Action::Send { stream, frame, last, .. } => self.sent(stream.0, frame, *last),
            Action::Accepted { stream } | Action::End { stream } => self.ended(*stream),
            Action::Call { call, server, method, params, needs } => {
                let read: Value = serde_json::from_str(params).map_err(|why| why.to_string())?;
                let canary = canary_of(&read).unwrap_or_default();
                let working = Working {
                    server: server.clone(),
                    method: method.clone(),
                    canary,
                    relays_input: needs.relays_input,
                    progress: needs.progress,
                };
                match self.calls.insert(*call, working) {
                    None => Ok(()),
                    Some(_) => Err(format!("{call:?} is begun twice")),
                }
            }
            Action::Cancel { call } => {
                self.note("cancel");
                let was = self.calls.remove(call).is_some() || self.pending.remove(call).is_some();
                let open = self.questions.values().any(|of| of == call);
                match (was, open) {
                    (true, false) => Ok(()),
                    (false, _) => Err(format!("{call:?} is cancelled, and is not open")),
                    (_, true) => Err(format!("{call:?} is cancelled with an open question")),
                }
            }
            Action::Answer { question, .. } => match self.questions.remove(question) {
                Some(_) => Ok(()),
                None => Err(format!("{question:?} is answered, and is not open")),
            },
            Action::Subscribe { call, server, uri } => {
                let resource = (server.clone(), uri.clone());
                let is_doubled = self.active.contains(&resource)
                    || self.pending.values().any(|pending| *pending == resource);
                self.pending.insert(*call, resource);
                if is_doubled { Err("a subscription is doubled".to_owned()) } else { Ok(()) }
            }
            Action::Unsubscribe { server, uri } => {
                let resource = (server.clone(), uri.clone());
                let holds = |(listen, granted): &&(Request, (String, String))| {
                    *granted == resource && self.listens.contains(listen)
                };
                if !self.is_ending && self.granted.iter().any(|granted| holds(&granted)) {
                    return Err(format!("{resource:?} ends, and a listen has it"));
                }
                match self.active.remove(&resource) {
                    true => Ok(()),
                    false => Err("a subscription ends that was not active".to_owned()),
                }
            }
            Action::Close => {
                self.is_closed = true;
                Ok(())
            }
            Action::OpenSession { .. } | Action::SetLogLevel { .. } | Action::Dropped { .. } => {
                Ok(())
            }
        }
    }

    /// A stream ends: nothing on it may be without an answer, unless it was cancelled.
    fn ended(&mut self, stream: StreamId) -> Checked {
        if self.own_stream == Some(stream.0) {
            self.own_stream = None;
        }
        self.requests.retain(|(of, _), _| *of != stream.0);
        self.listens.retain(|(of, _)| *of != stream.0);
        match self.streams.remove(&stream.0) {
            true => Ok(()),
            false => Err(format!("{stream:?} is ended twice")),
        }
    }

    fn sent(&mut self, stream: u64, frame: &str, last: bool) -> Checked {
        if !self.streams.contains(&stream) {
            return Err(format!("sent on stream {stream}, which is over: {frame}"));
        }
        let read: Value = serde_json::from_str(frame).map_err(|why| why.to_string())?;
        let is_answer = read.get("result").is_some() || read.get("error").is_some();
        match (is_answer, read.get("id")) {
            (true, Some(id)) => self.answered((stream, id.to_string()), &read)?,
            (false, Some(id)) => self.questioned(stream, id, &read)?,
            _ => self.notified(stream, &read)?,
        }
        if !last {
            return Ok(());
        }
        if self.requests.keys().any(|(of, _)| *of == stream) {
            return Err(format!("stream {stream} ends before its last answer"));
        }
        self.ended(StreamId(stream))
    }

    fn answered(&mut self, request: Request, read: &Value) -> Checked {
        let Some(canary) = self.requests.remove(&request) else {
            return Err(format!("answered, and not open: {read}"));
        };
        self.listens.remove(&request);
        if self.repeated.remove(&request) && read.get("error").is_none() {
            return Err(format!("a handle counted twice: {read}"));
        }
        let result = &read["result"];
        if result["resultType"] == "input_required" {
            let state = result["requestState"].as_str().ok_or("a state is missing")?;
            let requests = result["inputRequests"].as_object().ok_or("requests are missing")?;
            for question in requests.values() {
                if question["params"]["message"].as_str() != canary.as_deref() {
                    return Err(format!("the wrong client is asked: {read}, not {canary:?}"));
                }
            }
            self.note("asks for input");
            let keys = requests.keys().cloned().collect();
            let waits = |working: &Working| Some(&working.canary) == canary.as_ref();
            let is_handle = self.calls.values().any(waits);
            self.states.push(GivenState { state: state.to_owned(), canary, keys, is_handle });
            return Ok(());
        }
        match result["echo"].as_str() {
            Some(echo) if Some(echo) != canary.as_deref() => {
                Err(format!("the wrong client is answered: {echo}, not {canary:?}"))
            }
            Some(_) => {
                self.note("answer of a server");
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A legacy client is asked, on the stream of its call.
    fn questioned(&mut self, stream: u64, id: &Value, read: &Value) -> Checked {
        let id = id.as_u64().ok_or("a question has no number")?;
        let canary = read["params"]["message"].as_str().unwrap_or_default().to_owned();
        let caused = self
            .requests
            .iter()
            .any(|((of, _), had)| *of == stream && had.as_deref() == Some(canary.as_str()));
        if self.is_modern || !caused {
            return Err(format!("the wrong client is asked: {read}"));
        }
        self.note("question");
        match self.asked.insert(id, canary) {
            None => Ok(()),
            Some(_) => Err(format!("question {id} is asked twice")),
        }
    }

    fn notified(&mut self, stream: u64, read: &Value) -> Checked {
        let method = read["method"].as_str().unwrap_or_default();
        let params = &read["params"];
        match method {
            "notifications/cancelled" if !self.is_modern => {
                let id = params["requestId"].as_u64().unwrap_or_default();
                let was = self.asked.remove(&id).is_some();
                if was { Ok(()) } else { Err(format!("question {id} is withdrawn twice")) }
            }
            "notifications/progress" => {
                self.note("progress");
                let token = params["progressToken"].as_str().unwrap_or_default().to_owned();
                let of = |((of, _), canary): (&Request, &Option<String>)| {
                    *of == stream && canary.as_deref() == Some(token.as_str())
                };
                match self.requests.iter().any(of) {
                    true => Ok(()),
                    false => Err(format!("progress for nobody: {read}")),
                }
            }
            _ if self.is_modern && method != "notifications/message" => {
                let id = params["_meta"]["io.modelcontextprotocol/subscriptionId"].to_string();
                let id = if method == "notifications/cancelled" {
                    params["requestId"].to_string()
                } else {
                    id
                };
                self.note("announcement");
                let listen = (stream, id);
                let uris = params["notifications"]["resourceSubscriptions"].as_array();
                for uri in uris.into_iter().flatten().filter_map(Value::as_str) {
                    // On a transparent path it is the one server's own.
                    let shown = uri.strip_prefix("trunkline://");
                    let (server, own) =
                        shown.and_then(|shown| shown.split_once('/')).unwrap_or(("a", uri));
                    let resource = (server.to_owned(), own.to_owned());
                    self.granted.insert((listen.clone(), resource));
                }
                match self.listens.contains(&listen) {
                    true => Ok(()),
                    false => Err(format!("an announcement for no listen: {read}")),
                }
            }
            _ => {
                self.note("announcement");
                Ok(())
            }
        }
    }
}

/// The canary of a request: an argument, or a variable part of what is read.
fn canary_of(params: &Value) -> Option<String> {
    params["arguments"]["canary"].as_str().map(str::to_owned)
}
