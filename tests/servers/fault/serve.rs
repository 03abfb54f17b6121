//! The reading loop: a small server of either era, whose answers are spoiled as the flags say.

use std::collections::HashMap;
use std::io::BufRead;

use serde_json::{Value, json};

use crate::features;
use crate::flags::Flags;
use crate::frames::{self, Frame, Wire};

/// Answers requests until the input ends.
pub fn serve(flags: &Flags) {
    let mut input = std::io::stdin().lock();
    let wire = Wire::new(flags.frame, &flags.before, flags.die_after);
    let mut server = Server { flags, wire, held: Vec::new(), asked: HashMap::new() };
    let mut line = Vec::new();
    while matches!(input.read_until(b'\n', &mut line), Ok(1..)) {
        if let (Ok(message), false) = (serde_json::from_slice::<Value>(&line), flags.silent) {
            server.take(&message);
        }
        line.clear();
    }
}

struct Server<'a> {
    flags: &'a Flags,
    wire: Wire,
    /// The calls of `other`, which wait for what comes of `any`.
    held: Vec<Value>,
    /// How often each method was asked for.
    asked: HashMap<String, u32>,
}

impl Server<'_> {
    fn take(&mut self, message: &Value) {
        let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
        let tool = message["params"]["name"].as_str().filter(|_| method == "tools/call");
        if method == "notifications/cancelled" && self.flags.frame == Some(Frame::LateReply) {
            self.wire.text(&message["params"]["requestId"], "late");
            self.release();
        }
        if method.is_empty() || id.is_null() || self.spoil(message) {
            return;
        }
        match tool {
            Some("other") => self.held.push(id.clone()),
            Some("hang") => {}
            Some("any") => self.answer_any(id, &message["params"]["arguments"]),
            None if self.listens(method) => {
                self.wire.send(&features::acknowledged(id, &message["params"]));
            }
            _ => match self.result(message) {
                Some(result) => self.wire.result(id, &result),
                None => self.wire.send(&json!({
                    "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no such method" },
                })),
            },
        }
    }

    /// Whether the answer is one that the flags spoil, which is done.
    fn spoil(&mut self, message: &Value) -> bool {
        let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
        if method == "tools/call" && message["params"]["name"] != "any" {
            return false;
        }
        let times = self.asked.entry(method.to_owned()).or_default();
        *times += 1;
        let Some(at) = self.flags.at.iter().find(|at| at.method == method && at.from <= *times)
        else {
            return false;
        };
        let result = self.result(message).unwrap_or_else(|| json!({}));
        at.trouble.spoil(id, &result, &mut self.wire);
        if method == "tools/call" {
            self.release();
        }
        true
    }

    fn answer_any(&mut self, id: &Value, arguments: &Value) {
        frames::answer(self.flags.frame, id, arguments, &mut self.wire);
        if self.flags.frame != Some(Frame::LateReply) {
            self.release();
        }
        frames::after(self.flags.frame);
    }

    fn release(&mut self) {
        for id in std::mem::take(&mut self.held) {
            self.wire.result(&id, &self.text("other"));
        }
    }

    /// The result of a request that nothing spoils, if the era has such requests.
    fn result(&self, message: &Value) -> Option<Value> {
        let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
        Some(match (method, self.flags.modern) {
            ("server/discover", true) => self.offering(frames::discovered()),
            ("initialize", false) => self.offering(frames::welcome(self.flags.frame)),
            ("ping", false) => json!({}),
            ("tools/list", _) => self.complete(frames::list(self.flags.frame, &params["cursor"])),
            ("tools/call", _) => match params["name"].as_str().unwrap_or_default() {
                "pid" => self.text(&std::process::id().to_string()),
                name => self.text(name),
            },
            _ if self.flags.features => self.complete(features::result(method, self.flags.modern)?),
            _ => return None,
        })
    }

    /// Whether a request asks for a stream of changes, and there are such.
    fn listens(&self, method: &str) -> bool {
        self.flags.features && self.flags.modern && method == "subscriptions/listen"
    }

    /// What the server says of itself, with all that it has.
    fn offering(&self, mut said: Value) -> Value {
        if self.flags.features {
            said["capabilities"] = features::capabilities(self.flags.modern);
        }
        said
    }

    /// A tool's result of one text block.
    fn text(&self, text: &str) -> Value {
        self.complete(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    /// A result as the era has them.
    fn complete(&self, mut result: Value) -> Value {
        if self.flags.modern {
            result["resultType"] = json!("complete");
        }
        result
    }
}
