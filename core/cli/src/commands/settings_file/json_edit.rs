//! An edit of JSON with comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};
use trunkline::settings::{Container, Format};

use super::change::Change;
use crate::commands::import::main_container;

/// Where servers stand in a file.
enum Servers {
    Map(CstObject),
    List(CstArray),
}

/// The text with the change; nothing where the file is not written as one of its product.
pub(super) fn edited(text: &str, format: Format, name: &str, change: &Change) -> Option<String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    let object = root.object_value_or_create()?;
    let found =
        format.row().containers.iter().find_map(|container| servers(&object, container, false));
    match change {
        Change::Add(members) => {
            let found = found.or_else(|| servers(&object, &main_container(format), true))?;
            add(&found, name, members);
        }
        Change::Remove => match found? {
            Servers::Map(servers) => servers.get(name)?.remove(),
            Servers::List(servers) => entry_of_list(&servers, name)?.remove(),
        },
        Change::Set(field, value) => {
            let entry = match found? {
                Servers::Map(servers) => servers.object_value(name)?,
                Servers::List(servers) => entry_of_list(&servers, name)?,
            };
            match entry.get(field) {
                Some(member) => member.set_value(CstInputValue::Bool(*value)),
                None => drop(entry.append(field, CstInputValue::Bool(*value))),
            }
        }
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some(text)
}

fn add(servers: &Servers, name: &str, members: &Map<String, Value>) {
    match servers {
        Servers::Map(servers) => {
            servers.ensure_multiline();
            servers.append(name, input(&Value::Object(members.clone())));
        }
        Servers::List(servers) => {
            let mut members = members.clone();
            members.shift_insert(0, "name".into(), name.into());
            servers.ensure_multiline();
            servers.append(input(&Value::Object(members)));
        }
    }
}

/// The container, if it is there or is to be made.
fn servers(root: &CstObject, container: &Container, makes: bool) -> Option<Servers> {
    let inner = |object: &CstObject, step: &str| match makes {
        true => object.object_value_or_create(step),
        false => object.object_value(step),
    };
    match container {
        Container::Bare => (!makes).then(|| Servers::Map(root.clone())),
        Container::Map(way) => {
            let mut object = root.clone();
            for step in *way {
                object = inner(&object, step)?;
            }
            Some(Servers::Map(object))
        }
        Container::List(way) => {
            let (last, way) = way.split_last()?;
            let mut object = root.clone();
            for step in way {
                object = inner(&object, step)?;
            }
            let array = match makes {
                true => object.array_value_or_create(last),
                false => object.array_value(last),
            };
            array.map(Servers::List)
        }
        _ => None,
    }
}

fn entry_of_list(servers: &CstArray, name: &str) -> Option<CstObject> {
    let entries = servers.elements().into_iter().filter_map(|entry| entry.as_object());
    entries.into_iter().find(|entry| {
        let value = entry.get("name").and_then(|member| member.value());
        let text = value.and_then(|value| value.as_string_lit());
        text.and_then(|text| text.decoded_value().ok()).as_deref() == Some(name)
    })
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}
