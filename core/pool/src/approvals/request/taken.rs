//! What a configuration takes of the host.

use serde_json::{Value, json};

use crate::approvals::line::escaped_text;
use crate::expand::{TakenKind, takes};
use crate::settings::Template;

/// What a configuration takes of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taken {
    /// What it is.
    pub kind: TakenKind,
    /// Its name, escaped.
    pub name: String,
    /// The paths of the fields that it goes into, such as `env.TOKEN`, escaped.
    pub fields: Vec<String>,
}

impl Taken {
    pub(super) fn to_json(&self) -> Value {
        let Taken { kind, name, fields } = self;
        json!({ "kind": kind.as_str(), "name": name, "fields": fields })
    }
}

pub(super) fn taken(template: &Template) -> Vec<Taken> {
    let taken = takes(template).into_iter().map(|((kind, name), fields)| Taken {
        kind,
        name: escaped_text(&name),
        fields: fields.iter().map(|field| escaped_text(field)).collect(),
    });
    taken.collect()
}
