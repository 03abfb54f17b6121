//! The text of a settings file that is made.

use serde_json::{Map, Value, json};
use trunkline::settings::{Container, Format, Syntax};
use trunkline_pool::text::is_hidden;

use crate::console::format;

/// Where a product has its servers today: in the first container, but for opencode, whose second
/// one every version reads.
pub(in crate::commands) fn main_container(format: Format) -> Container {
    let containers = format.row().containers;
    let found = if format == Format::Opencode { containers.last() } else { containers.first() };
    match found {
        Some(Container::Bare) | None => Container::Map(&["mcpServers"]),
        Some(container) => *container,
    }
}

/// The text of a file of that product with one server.
pub(in crate::commands) fn text_of(
    format: Format,
    name: &str,
    entry: &Map<String, Value>,
) -> String {
    text(format, vec![(name.to_owned(), entry.clone())])
}

/// The text of a file of that product with these servers.
pub(super) fn text(format: Format, servers: Vec<(String, Map<String, Value>)>) -> String {
    let row = format.row();
    let (way, is_list) = match main_container(format) {
        Container::Map(way) => (way, false),
        Container::List(way) => (way, true),
        _ => (&["mcpServers"][..], false),
    };
    let named = |(name, mut entry): (String, Map<String, Value>)| {
        entry.shift_insert(0, "name".into(), name.into());
        Value::Object(entry)
    };
    let servers: Value = match is_list {
        true => servers.into_iter().map(named).collect(),
        false => servers.into_iter().map(|(name, entry)| (name, Value::Object(entry))).collect(),
    };
    match row.syntax {
        Syntax::Toml => toml(way, &servers),
        Syntax::Yaml => yaml(way, &servers),
        _ => {
            let whole = way.iter().rev().fold(servers, |inner, step| json!({ *step: inner }));
            format::visible_json(&format!("{whole:#}\n"))
        }
    }
}

/// A table for each server.
fn toml(way: &[&str], servers: &Value) -> String {
    let mut text = String::new();
    for (name, entry) in servers.as_object().into_iter().flatten() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[{}.{}]\n", way.join("."), toml_key(name)));
        for (key, value) in entry.as_object().into_iter().flatten() {
            text.push_str(&format!("{} = {}\n", toml_key(key), toml_value(value)));
        }
    }
    text
}

fn toml_key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(is_bare) { name.into() } else { quoted(name) }
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{} = {}", toml_key(key), toml_value(value))
            };
            format!("{{ {} }}", map.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// As JSON quotes it. TOML and YAML read that alike, once it holds nothing raw that they refuse or
/// that a terminal acts on.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for character in Value::from(text).to_string().chars() {
        match (is_hidden(character), u32::from(character)) {
            (false, _) => out.push(character),
            (true, code @ ..=0xFFFF) => out.push_str(&format!("\\u{code:04x}")),
            // Neither takes the two halves that JSON has of it.
            (true, code) => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out
}

/// Two levels of blocks; what is in them stands on one line.
fn yaml(way: &[&str], servers: &Value) -> String {
    let mut text = String::new();
    for (depth, step) in way.iter().enumerate() {
        text.push_str(&format!("{}{step}:\n", "  ".repeat(depth)));
    }
    let indent = "  ".repeat(way.len());
    match servers {
        Value::Array(items) => {
            for item in items {
                for (index, (key, value)) in item.as_object().into_iter().flatten().enumerate() {
                    let begin = if index == 0 { "- " } else { "  " };
                    text.push_str(&format!("{indent}{begin}{key}: {}\n", yaml_value(value)));
                }
            }
        }
        servers => {
            for (name, entry) in servers.as_object().into_iter().flatten() {
                text.push_str(&format!("{indent}{}:\n", quoted(name)));
                for (key, value) in entry.as_object().into_iter().flatten() {
                    text.push_str(&format!("{indent}  {key}: {}\n", yaml_value(value)));
                }
            }
        }
    }
    text
}

fn yaml_value(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(yaml_value).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let member =
                |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), yaml_value(value));
            format!("{{{}}}", map.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}
