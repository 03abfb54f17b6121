//! The inputs that a configuration takes, as its file declares them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::line::escaped_text;
use crate::expand::{Commands, needs};
use crate::settings::{Input, InputKind, Secrecy, Template};

/// Describes the inputs of a configuration to the host. It is a part of the configuration: the
/// person who answers goes by it, and a host may run the command that it names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Declared(BTreeMap<String, Value>);

/// An input as a person is shown it, escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeclaredInput {
    /// Its id.
    pub id: String,
    /// The word for how it is answered: `text`, `choice` or `command`.
    pub kind: String,
    /// The command that the host may run for it.
    pub command: Option<String>,
    /// What may be chosen.
    pub choices: Vec<String>,
    /// What it is where nobody answers.
    pub default: Option<String>,
    /// What the person who answers is asked.
    pub description: Option<String>,
    /// Whether its file calls the answer a secret.
    pub is_secret: bool,
}

impl Declared {
    /// Those of a file's inputs that the template takes.
    pub fn of(template: &Template, inputs: &[Input]) -> Declared {
        if inputs.is_empty() {
            return Declared::default();
        }
        let taken = needs(template, Commands::Refused).inputs;
        let declared = inputs.iter().filter(|input| taken.contains(&input.id));
        Declared(declared.map(|input| (input.id.clone(), fields(input))).collect())
    }

    pub(super) fn to_json(&self) -> Value {
        json!(self.0)
    }

    /// All of them, for a person.
    pub(super) fn shown(&self) -> Vec<DeclaredInput> {
        let text = |value: &Value| value.as_str().map(escaped_text);
        let inputs = self.0.iter().map(|(id, fields)| DeclaredInput {
            id: escaped_text(id),
            kind: text(&fields[0]).unwrap_or_default(),
            command: text(&fields[1]),
            choices: fields[1].as_array().into_iter().flatten().filter_map(text).collect(),
            description: text(&fields[2]),
            default: text(&fields[3]),
            is_secret: fields[4] == Value::Bool(true),
        });
        inputs.collect()
    }
}

impl DeclaredInput {
    pub(super) fn to_json(&self) -> Value {
        let DeclaredInput { id, kind, command, choices, default, description, is_secret } = self;
        json!({
            "id": id, "kind": kind, "command": command, "choices": choices,
            "default": default, "description": description, "secret": is_secret,
        })
    }
}

/// Taken apart without `..`, so that a new field has to be thought of (S-01). Where it stands does
/// not count.
fn fields(input: &Input) -> Value {
    let Input { id: _, place: _, kind, description, default, secrecy } = input;
    let (word, of_kind) = match kind {
        InputKind::Text => ("text", Value::Null),
        InputKind::Choice(choices) => ("choice", json!(choices)),
        InputKind::Command(command) => ("command", json!(command)),
    };
    let is_secret = match secrecy {
        Secrecy::Open => false,
        Secrecy::Secret => true,
    };
    json!([word, of_kind, description, default, is_secret])
}
