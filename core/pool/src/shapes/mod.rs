//! The shapes in which model APIs take tools, made of definitions as servers sent them.
//!
//! | Shape | A tool is |
//! | --- | --- |
//! | `mcp` | its definition, under its exposed name |
//! | `openai` | `{type: "function", function: {name, description, parameters}}` |
//! | `openai_responses` | `{type: "function", name, description, parameters, strict: false}` |
//! | `anthropic` | `{name, description, input_schema}` |
//! | `gemini` | `{name, description, parametersJsonSchema}` |
//!
//! 1. A schema stays as the server wrote it, byte for byte, but for what the target refuses: one refused tool would
//!    fail the whole request of a host, and so all its other tools.
//! 2. What is taken out makes the schema wider, never narrower: the server checks the arguments itself.
//! 3. No name is changed: a model's arguments go to the server as they are.

mod schema;
#[cfg(test)]
mod tests;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, ErrorCode, Result};
use crate::json::members;
use crate::text::escaped;

/// How a model API takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// As the protocol lists them.
    Mcp,
    /// As OpenAI's Chat Completions take them, and what is compatible with them.
    OpenAi,
    /// As OpenAI's Responses take them.
    OpenAiResponses,
    /// As Anthropic's Messages take them.
    Anthropic,
    /// As Gemini's function declarations.
    Gemini,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 5] =
        [Shape::Mcp, Shape::OpenAi, Shape::OpenAiResponses, Shape::Anthropic, Shape::Gemini];

    /// Its word: `mcp`, `openai`, `openai_responses`, `anthropic`, `gemini`.
    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Mcp => "mcp",
            Shape::OpenAi => "openai",
            Shape::OpenAiResponses => "openai_responses",
            Shape::Anthropic => "anthropic",
            Shape::Gemini => "gemini",
        }
    }

    /// The shape of that word.
    ///
    /// # Errors
    /// `invalid_argument` with the path `shape` for any other.
    pub fn from_word(word: &str) -> Result<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.as_str() == word).ok_or_else(|| {
            let known = Shape::ALL.map(Shape::as_str).join("`, `");
            let message = format!("there is no shape \"{}\"", escaped(word));
            Error::new(ErrorCode::InvalidArgument, message)
                .with_detail("path", "shape")
                .with_hint(format!("the shapes are `{known}`"))
        })
    }

    /// One tool in this shape, as JSON text: its exposed name, and its definition, which a catalog accepted.
    pub fn tool(self, name: &str, definition: &str) -> String {
        let Ok(members) = members(definition) else {
            debug_assert!(false, "a catalog takes no such definition");
            return self.declared(name, None, r#"{"type":"object"}"#);
        };
        let member = |wanted: &str| {
            let found = members.iter().find(|(member, _)| member == wanted);
            found.map(|(_, value)| *value).filter(|value| value.get() != "null")
        };
        if self == Shape::Mcp {
            return renamed(name, &members);
        }
        // Gemini's own API wants a description of each function.
        let needed = member("name").filter(|_| self == Shape::Gemini);
        let description = member("description").or_else(|| member("title")).or(needed);
        let written = member("inputSchema").map_or("{}", RawValue::get);
        self.declared(name, description, &schema::fitted(self, written))
    }

    fn declared(self, name: &str, description: Option<&RawValue>, schema: &str) -> String {
        let name = quoted(name);
        let description =
            description.map_or(String::new(), |text| format!(r#""description":{text},"#));
        match self {
            Shape::Mcp => format!(r#"{{"name":{name},{description}"inputSchema":{schema}}}"#),
            Shape::OpenAi => format!(
                r#"{{"type":"function","function":{{"name":{name},{description}"parameters":{schema}}}}}"#
            ),
            Shape::OpenAiResponses => format!(
                r#"{{"type":"function","name":{name},{description}"parameters":{schema},"strict":false}}"#
            ),
            Shape::Anthropic => {
                format!(r#"{{"name":{name},{description}"input_schema":{schema}}}"#)
            }
            Shape::Gemini => {
                format!(r#"{{"name":{name},{description}"parametersJsonSchema":{schema}}}"#)
            }
        }
    }
}

/// A definition whose name is another, with everything else as it was.
fn renamed(name: &str, members: &[(String, &RawValue)]) -> String {
    let member = |(member, value): &(String, &RawValue)| match member.as_str() {
        "name" => format!(r#""name":{}"#, quoted(name)),
        _ => format!("{}:{value}", quoted(member)),
    };
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
