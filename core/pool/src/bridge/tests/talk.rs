//! Conversations as tables: what happens, a line each, and what is done about it.
//!
//! ```text
//! 1 > 7 tools/call {"name":"echo"}   the client asks on stream 1, with the id 7
//! 1 > - notifications/x {}           it tells
//! 1 < 3 {"a":1}                      it answers question 3
//! 1 raw {…}                          it sends this text
//! answered 1 {…}   failed 1 -5 {…}   lost 1            the end of a call
//! asked 9 s 1 elicitation/create {}  unasked 9         a question of server `s` for call 1
//! progress 1 {…}   logged s 1 {…}    updated s x:y     lists
//! stream 5   closed 5   wait 300   drain   close
//! ```
//!
//! `META` stands for the `_meta` of a modern client, `META+` for that of one that can be asked
//! everything, and `STATE` for the state that the client was given last. What is done is compared
//! piece by piece: `…` stands for anything.

use std::time::Duration;

use serde_json::{Value, json};

use super::offered::{Servers, full};
use crate::bridge::{
    Action, BridgeInput, CallId, ClientFacts, ClientLimits, EndpointName, Era, LaneKind, ListKinds,
    Now, QuestionId, SealingKey, ServedClient, ServedPath, StreamId,
};
use crate::error::{Error, ErrorCode, Outcome};
use crate::options::Parking;
use crate::state::Moment;

/// One conversation.
pub struct Talk {
    client: ServedClient,
    pub servers: Servers,
    now: Now,
    state: String,
}

/// Facts of a client on the transparent path of the server `s`.
pub fn facts(era: Era, lane: LaneKind) -> ClientFacts {
    ClientFacts {
        era,
        lane,
        path: ServedPath { profile: None, server: Some("s".to_owned()) },
        principal: "p".to_owned(),
        endpoint: EndpointName { name: "trunkline".to_owned(), version: "1".to_owned() },
        parking: Parking::Park,
        limits: ClientLimits::default(),
        key: SealingKey([7; 32]),
        nonce: [9; 32],
    }
}

/// Goes through a conversation of such a client with the server `s` of that era.
pub fn talk(facts: ClientFacts, server: Era, table: &[(&str, &[&str])]) -> Talk {
    let mut talk = Talk::new(facts, Servers::of([("s", full(server))]));
    talk.go_on(table);
    talk
}

impl Talk {
    pub fn new(facts: ClientFacts, servers: Servers) -> Talk {
        let now = Now { moment: Moment(1), unix_seconds: 1000 };
        Talk { client: ServedClient::new(facts), servers, now, state: String::new() }
    }

    pub fn go_on(&mut self, table: &[(&str, &[&str])]) {
        for (line, expected) in table {
            let line = self.expanded(line);
            let done: Vec<String> = self.does(&line).iter().map(brief).collect();
            let fits = done.len() == expected.len()
                && done.iter().zip(*expected).all(|(done, pattern)| is_like(done, pattern));
            assert!(fits, "{line}\nis followed by {done:#?}\nand not by {expected:#?}");
        }
    }

    /// Whether nothing is kept of what was open.
    pub fn is_empty(&self) -> bool {
        self.client.is_empty()
    }

    /// The state that the client was given last.
    pub fn state(&self) -> &str {
        &self.state
    }

    pub fn next_deadline(&self) -> Option<Moment> {
        self.client.next_deadline()
    }

    fn expanded(&self, line: &str) -> String {
        let meta = |capabilities: Value| {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
            format!("\"_meta\":{meta}")
        };
        let all = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
        line.replace("META+", &meta(all))
            .replace("META", &meta(json!({})))
            .replace("STATE", &self.state)
    }

    fn does(&mut self, line: &str) -> Vec<Action> {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap_or_default();
        let rest = |at: usize| line.splitn(at + 1, ' ').nth(at).unwrap_or("{}").to_owned();
        let call = |at: usize| words[at].parse::<u64>().ok().map(CallId);
        let failed = |code: i64, data: &str| {
            Error::new(ErrorCode::ServerError, "refused")
                .with_detail("code", code)
                .with_detail("message", "refused")
                .with_detail("data", serde_json::from_str::<Value>(data).unwrap_or_default())
        };
        match words[0] {
            "answered" => {
                let (call, result) = (CallId(number(1)), rest(2));
                self.take(BridgeInput::Answered { call, result: Ok(&result) })
            }
            "failed" => {
                let error = failed(words[2].parse().unwrap_or_default(), &rest(3));
                self.take(BridgeInput::Answered { call: CallId(number(1)), result: Err(&error) })
            }
            "lost" => {
                let error = Error::new(ErrorCode::CallInterrupted, "the connection was lost")
                    .with_outcome(Outcome::Unknown);
                self.take(BridgeInput::Answered { call: CallId(number(1)), result: Err(&error) })
            }
            "asked" => {
                let (method, params) = words[4].split_once(' ').unwrap_or((words[4], "{}"));
                let question = QuestionId(number(1));
                self.take(BridgeInput::Asked {
                    question,
                    server: words[2],
                    call: call(3),
                    method,
                    params,
                })
            }
            "unasked" => self.take(BridgeInput::Unasked { question: QuestionId(number(1)) }),
            "progress" => {
                self.take(BridgeInput::Progress { call: CallId(number(1)), params: &rest(2) })
            }
            "logged" => {
                self.take(BridgeInput::Logged { server: words[1], params: &rest(3), call: call(2) })
            }
            "updated" => {
                self.take(BridgeInput::ResourceUpdated { server: words[1], uri: words[2] })
            }
            "lists" => {
                let kinds = ListKinds { tools: true, prompts: true, resources: true };
                self.take(BridgeInput::ListsChanged { kinds })
            }
            "stream" => self.take(BridgeInput::Stream { stream: StreamId(number(1)) }),
            "closed" => self.take(BridgeInput::StreamClosed { stream: StreamId(number(1)) }),
            "drain" => self.take(BridgeInput::Drain),
            "close" => self.take(BridgeInput::Close),
            "wait" => {
                self.now.moment = self.now.moment.after(Duration::from_secs(number(1)));
                self.now.unix_seconds += number(1);
                self.take(BridgeInput::Tick)
            }
            _ => self.says(&words, rest),
        }
    }

    /// The client says something on a stream.
    fn says(&mut self, words: &[&str], rest: impl Fn(usize) -> String) -> Vec<Action> {
        let text = match words[1] {
            "raw" => rest(2),
            "<" => format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, words[2], rest(3)),
            _ => {
                let id = match words[2] {
                    "-" => String::new(),
                    id => format!(r#""id":{id},"#),
                };
                let (method, params) = (words[3], rest(4));
                format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#)
            }
        };
        let stream = StreamId(words[0].parse().unwrap_or_default());
        self.take(BridgeInput::Message { stream, text: &text, headers: None })
    }

    pub fn take(&mut self, input: BridgeInput<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        self.client.take(input, &self.servers, self.now, &mut actions);
        for action in &actions {
            let Action::Send { frame, .. } = action else { continue };
            let frame: Value = serde_json::from_str(frame).unwrap();
            if let Some(state) = frame["result"]["requestState"].as_str() {
                self.state = state.to_owned();
            }
        }
        actions
    }
}

/// An action in one line.
fn brief(action: &Action) -> String {
    match action {
        Action::Send { stream, frame, last, status, droppable } => {
            let last = if *last { " last" } else { "" };
            let droppable = if *droppable { " droppable" } else { "" };
            let frame = frame.replace(r#""jsonrpc":"2.0","#, "");
            format!("send {}{last}{droppable} {status} {frame}", stream.0)
        }
        Action::Accepted { stream } => format!("accepted {}", stream.0),
        Action::End { stream } => format!("end {}", stream.0),
        Action::OpenSession { stream } => format!("open {}", stream.0),
        Action::Call { call, server, method, params, needs } => {
            let progress = if needs.progress { " progress" } else { "" };
            let relays = if needs.relays_input { " relays" } else { "" };
            let level = needs.log_level.map_or("", |level| level.as_str());
            let capabilities = needs.capabilities.as_deref().unwrap_or("");
            let needs = format!("{progress}{relays} {level} {capabilities}");
            format!("call {} {server} {method} {params}{}", call.0, needs.trim_end())
        }
        Action::Cancel { call } => format!("cancel {}", call.0),
        Action::Answer { question, answer: Ok(answer) } => {
            format!("answer {} {answer}", question.0)
        }
        Action::Answer { question, answer: Err((code, _)) } => {
            format!("answer {} {code}", question.0)
        }
        Action::Subscribe { call, server, uri } => format!("subscribe {} {server} {uri}", call.0),
        Action::Unsubscribe { server, uri } => format!("unsubscribe {server} {uri}"),
        Action::SetLogLevel { level } => format!("level {}", level.as_str()),
        Action::Dropped { server, what } => format!("dropped {server} {what:?}"),
        Action::Close => "close".to_owned(),
    }
}

/// Whether a line has the pieces of a pattern in their order, from its beginning to its end.
fn is_like(line: &str, pattern: &str) -> bool {
    let pieces: Vec<&str> = pattern.split('…').collect();
    let Some(mut rest) = line.strip_prefix(pieces[0]) else { return false };
    if pieces.len() == 1 {
        return rest.is_empty();
    }
    for piece in &pieces[1..pieces.len() - 1] {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(pieces[pieces.len() - 1])
}
