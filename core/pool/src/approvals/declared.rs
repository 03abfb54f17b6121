//! The inputs that a configuration takes, as its file declares them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::expand::{Commands, needs};
use crate::settings::{Input, InputKind, Secrecy, Template};

/// What the host is told of the inputs that a configuration takes. It is a part of the configuration: whoever answers goes by it, and
/// a host may run the command that it names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Declared(BTreeMap<String, Value>);

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
}

/// Taken apart without `..`, so that a new field has to be thought of (S-01). Where it stands does not count.
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
