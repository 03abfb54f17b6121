//! The shapes in which model APIs take tools, made of definitions as servers sent them.
//!
//! | Shape | A tool is |
//! | --- | --- |
//! | `mcp` | its definition, under its exposed name |
//! | `openai` | `{type: "function", function: {name, description, parameters}}` |
//! | `openai_responses` | `{type: "function", name, description, parameters, strict: false}` |
//! | `anthropic` | `{name, description, input_schema}` |
//! | `gemini` | `{name, description, parametersJsonSchema}` |
//! | `any` | its definition, under its exposed name, with a schema that each of these APIs takes |
//!
//! 1. A schema stays as the server wrote it, byte for byte, but for what the lenient pass reads
//!    otherwise (SPEC 18.2) and what the target refuses: one refused tool would fail the whole
//!    request of a host, and so all its other tools.
//! 2. What is taken out makes the schema wider, never narrower: the server checks the arguments
//!    itself.
//! 3. An argument whose name the target refuses has another one there, and [`ArgumentNames::back`]
//!    is the way back.
//! 4. A reference that led somewhere leads there in what is made of it.
//! 5. What cannot be expressed is left out, and [`ToolFormat::fit`] says so.
//!
//! References are not inlined: the text would grow without end, and what refers to itself cannot be
//! said so. A renamed argument is always hashed, because a plain replacement could mean another
//! argument once the list changes.

mod arguments;
mod keywords;
mod left_out;
mod misfits;
mod references;
mod schema;
mod shape;
mod surface;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

pub use arguments::ArgumentNames;
pub use left_out::LeftOut;
pub use shape::ToolFormat;

use arguments::quoted;

use crate::error::Result;
use crate::json::members;
use crate::lenient::{kinds, lenient};

/// What became of a tool's arguments in a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// Those that have other names.
    pub names: ArgumentNames,
    /// What their schema does not say any more.
    pub left_out: Vec<LeftOut>,
}

impl Fit {
    /// `{renamed?, left_out?}`; nothing where the schema says what it said.
    pub fn to_json(&self) -> Option<Value> {
        let renamed: serde_json::Map<String, Value> =
            self.names.iter().map(|(shaped, own)| (shaped.to_owned(), own.into())).collect();
        let left_out = self.left_out.iter().take(LEFT_OUT_MAX);
        let left_out: Vec<Value> =
            left_out.map(|it| json!({ "path": it.path, "reason": it.reason })).collect();
        let mut out = serde_json::Map::new();
        if !renamed.is_empty() {
            out.insert("renamed".into(), renamed.into());
        }
        if !left_out.is_empty() {
            out.insert("left_out".into(), left_out.into());
        }
        (!out.is_empty()).then(|| out.into())
    }
}

/// How many things that are left out of one schema are told.
const LEFT_OUT_MAX: usize = 32;

impl ToolFormat {
    /// One tool in this shape, as JSON text: its exposed name, and its definition, which a catalog
    /// accepted.
    pub fn tool(self, name: &str, definition: &str) -> String {
        let read = self.read(definition);
        let Ok(members) = members(&read) else {
            debug_assert!(false, "a catalog takes no such definition");
            return self.declared(name, None, r#"{"type":"object","properties":{}}"#);
        };
        if self == ToolFormat::Mcp {
            return renamed(name, &members, None);
        }
        let fitted = schema::fitted(self, written_schema(&members)).text;
        if self == ToolFormat::Any {
            return renamed(name, &members, Some(&fitted));
        }
        let text = |wanted: &str| {
            let found = members.iter().find(|(member, _)| member == wanted);
            found.map(|(_, value)| *value)
        };
        // Gemini's own API wants a description of each function.
        let needed = text("name").filter(|_| self == ToolFormat::Gemini);
        let description = text("description").or_else(|| text("title")).or(needed);
        self.declared(name, description, &fitted)
    }

    /// A definition as this shape is made of it: through the lenient pass, but for the protocol's
    /// own.
    fn read(self, definition: &str) -> Cow<'_, str> {
        match self {
            ToolFormat::Mcp => Cow::Borrowed(definition),
            _ => lenient(definition, &kinds::TOOL),
        }
    }

    /// What becomes of a tool's arguments in this shape, of its definition.
    pub fn fit(self, definition: &str) -> Fit {
        let read = self.read(definition);
        let Ok(members) = members(&read) else { return Fit::default() };
        let fitted = schema::fitted(self, written_schema(&members));
        Fit { names: fitted.names, left_out: fitted.left_out }
    }

    /// Arguments as a model that was given the tool in this shape names them, as the server names
    /// them: those of its definition.
    ///
    /// # Errors
    /// Those of [`ArgumentNames::back`].
    pub fn own_arguments<'a>(self, definition: &str, arguments: &'a str) -> Result<Cow<'a, str>> {
        let renames = matches!(self, ToolFormat::Anthropic | ToolFormat::Any);
        if !renames || !arguments::may_be_renamed(arguments) {
            return Ok(Cow::Borrowed(arguments));
        }
        self.fit(definition).names.back(arguments)
    }

    fn declared(self, name: &str, description: Option<&RawValue>, schema: &str) -> String {
        let name = quoted(name);
        let description =
            description.map_or(String::new(), |text| format!(r#""description":{text},"#));
        match self {
            ToolFormat::Mcp | ToolFormat::Any => {
                format!(r#"{{"name":{name},{description}"inputSchema":{schema}}}"#)
            }
            ToolFormat::OpenAi => format!(
                r#"{{"type":"function","function":{{"name":{name},{description}"parameters":{schema}}}}}"#
            ),
            ToolFormat::OpenAiResponses => format!(
                r#"{{"type":"function","name":{name},{description}"parameters":{schema},"strict":false}}"#
            ),
            ToolFormat::Anthropic => {
                format!(r#"{{"name":{name},{description}"input_schema":{schema}}}"#)
            }
            ToolFormat::Gemini => {
                format!(r#"{{"name":{name},{description}"parametersJsonSchema":{schema}}}"#)
            }
        }
    }
}

/// The schema of a tool's arguments; one that is absent says nothing.
fn written_schema<'a>(members: &[(String, &'a RawValue)]) -> &'a str {
    let found = members.iter().find(|(member, _)| member == "inputSchema");
    found.map(|(_, value)| value.get()).unwrap_or("{}")
}

/// A definition whose name is another, and whose schema may be, with everything else as it was.
fn renamed(name: &str, members: &[(String, &RawValue)], schema: Option<&str>) -> String {
    let member = |(member, value): &(String, &RawValue)| match (member.as_str(), schema) {
        ("name", _) => format!(r#""name":{}"#, quoted(name)),
        ("inputSchema", Some(_)) => String::new(),
        _ => format!("{}:{value}", quoted(member)),
    };
    let mut all: Vec<String> = members.iter().map(member).filter(|it| !it.is_empty()).collect();
    all.extend(schema.map(|schema| format!(r#""inputSchema":{schema}"#)));
    format!("{{{}}}", all.join(","))
}
