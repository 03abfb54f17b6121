//! One incoming message, split but not built.

use serde_json::{Map, Value};

use crate::scan::{member, members};

/// The parts of a JSON-RPC message that decide what happens to it.
#[derive(Default)]
pub struct Message<'a> {
    /// The id as it stood; absent in a notification.
    pub id: Option<&'a [u8]>,
    /// The method with its quotes; absent in a reply.
    pub method: Option<&'a [u8]>,
    pub params: &'a [u8],
}

impl<'a> Message<'a> {
    /// Reads one line, or nothing when it is no JSON object.
    pub fn read(line: &'a [u8]) -> Option<Message<'a>> {
        let mut message = Message { params: b"{}", ..Message::default() };
        let mut walked = members(line);
        for (key, value) in walked.by_ref() {
            match key {
                b"id" => message.id = Some(value),
                b"method" => message.method = Some(value),
                b"params" => message.params = value,
                _ => {}
            }
        }
        (!walked.is_broken()).then_some(message)
    }
}

/// One `tools/call` that has been recognised.
pub struct Call<'a> {
    pub id: &'a [u8],
    /// The tool's name with its quotes.
    pub tool: &'a [u8],
    /// The arguments as they stood.
    pub arguments: &'a [u8],
    /// What it says besides, as it stood.
    pub meta: Option<&'a [u8]>,
    /// The answers to what an earlier round asked for, as they stood.
    pub responses: Option<&'a [u8]>,
    /// The state of an earlier round, as it stood.
    pub state: Option<&'a [u8]>,
}

impl<'a> Call<'a> {
    /// Reads the params of a `tools/call`, or nothing when they name no tool.
    pub fn read(id: &'a [u8], params: &'a [u8]) -> Option<Call<'a>> {
        let mut call =
            Call { id, tool: b"", arguments: b"{}", meta: None, responses: None, state: None };
        for (key, value) in members(params) {
            match key {
                b"name" => call.tool = value,
                b"arguments" => call.arguments = value,
                b"inputResponses" => call.responses = Some(value),
                b"requestState" => call.state = Some(value),
                b"_meta" => call.meta = Some(value),
                _ => {}
            }
        }
        (!call.tool.is_empty()).then_some(call)
    }

    /// The progress token as it stood.
    pub fn token(&self) -> Option<&'a [u8]> {
        member(self.meta?, "progressToken")
    }

    /// The arguments, built; no object is no arguments.
    pub fn built(&self) -> Arguments {
        Arguments(serde_json::from_slice(self.arguments).unwrap_or_default())
    }
}

/// Built arguments with the defaults of the tools in mind.
pub struct Arguments(Map<String, Value>);

impl Arguments {
    pub fn number(&self, key: &str) -> Option<u64> {
        self.0.get(key)?.as_u64()
    }

    pub fn signed(&self, key: &str) -> Option<i64> {
        self.0.get(key)?.as_i64()
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    pub fn flag(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// One value, or a list of values.
    pub fn values(&self, key: &str) -> Vec<&Value> {
        match self.0.get(key) {
            Some(Value::Array(items)) => items.iter().collect(),
            value => value.into_iter().collect(),
        }
    }

    /// One name, or a list of names.
    pub fn names(&self, key: &str) -> Vec<String> {
        let as_text = |value: &Value| value.as_str().map(str::to_string);
        match self.0.get(key) {
            Some(Value::Array(items)) => items.iter().filter_map(as_text).collect(),
            Some(value) => as_text(value).into_iter().collect(),
            None => Vec::new(),
        }
    }
}
