//! Where an entry stands in the text of a file, and the text that takes its place. Every other byte
//! of the file stays.

use std::ops::Range;

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};
use trunkline::settings::{Container, Format, Syntax};
use trunkline_pool::text::is_hidden;

use crate::commands::import::text_of;
use crate::commands::settings_file::table_lines;
use crate::console::format;

/// The bytes of an entry: the value of its member, or the lines of its tables.
pub(super) fn span(text: &str, format: Format, name: &str) -> Option<Range<usize>> {
    match format.row().syntax {
        Syntax::Toml => table_lines(text, format, name),
        _ => {
            let parsed =
                parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
            let root = parsed.value?;
            let root = root.as_object()?;
            let ways = ways(format);
            let found = ways.iter().find_map(|way| below(root, way)?.get(name))?;
            let range = found.value.range();
            Some(range.start..range.end)
        }
    }
}

/// The ways to the servers of a file of that product.
fn ways(format: Format) -> Vec<&'static [&'static str]> {
    let containers = format.row().containers.iter();
    let way = |container: &Container| match container {
        Container::Map(way) => Some(*way),
        _ => None,
    };
    containers.filter_map(way).collect()
}

fn below<'o, 't>(root: &'o Object<'t>, way: &[&str]) -> Option<&'o Object<'t>> {
    way.iter().try_fold(root, |object, step| object.get_object(step))
}

/// The document with another entry of that name; nothing where it has none.
pub(super) fn replaced(
    mut root: Value,
    format: Format,
    name: &str,
    members: &Map<String, Value>,
) -> Option<Value> {
    *entry_in(&mut root, format, name)? = Value::Object(members.clone());
    Some(root)
}

/// The entry of that name in a document.
pub(super) fn entry_in<'v>(
    root: &'v mut Value,
    format: Format,
    name: &str,
) -> Option<&'v mut Value> {
    let ways = ways(format);
    let find = |way: &&&[&str]| {
        let end = way.iter().try_fold(&*root, |value, step| value.get(step));
        end.is_some_and(|servers| servers.get(name).is_some())
    };
    let way = *ways.iter().find(find)?;
    let servers = way.iter().try_fold(root, |value, step| value.get_mut(*step))?;
    servers.get_mut(name)
}

/// The text of an entry in the place of one that was written so.
pub(super) fn entry_text(
    (text, span): (&str, &Range<usize>),
    (format, name): (Format, &str),
    members: &Map<String, Value>,
) -> String {
    let was = &text[span.clone()];
    let end = if was.contains("\r\n") { "\r\n" } else { "\n" };
    if format.row().syntax == Syntax::Toml {
        let table = text_of(format, name, members);
        let table = if was.ends_with('\n') { &table } else { table.trim_end_matches('\n') };
        let table = table.replace('\n', end);
        // What a person wrote behind the head of the table stays.
        return match (was.split_once('\n'), table.split_once('\n')) {
            (Some((head, _)), Some((plain, rest))) if head.starts_with(plain.trim_end()) => {
                format!("{head}\n{rest}")
            }
            _ => table,
        };
    }
    let members = members.iter().map(|(name, value)| {
        format!("{}: {}", visible(&Value::from(name.as_str()).to_string()), one_line(value))
    });
    let members: Vec<String> = members.collect();
    let Some((_, second)) = was.split_once('\n') else {
        return format!("{{ {} }}", members.join(", "));
    };
    let line = text[..span.start].rsplit('\n').next().unwrap_or_default();
    let (outer, inner) = (indent(line), indent(second));
    let inner = match inner.len() > outer.len() && !second.trim_start().starts_with('}') {
        true => inner.to_owned(),
        false => format!("{outer}  "),
    };
    format!("{{{end}{inner}{}{end}{outer}}}", members.join(&format!(",{end}{inner}")))
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// A value on one line.
fn one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) if !members.is_empty() => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}: {}", visible(&Value::from(name.as_str()).to_string()), one_line(value))
            };
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        value => visible(&value.to_string()),
    }
}

fn visible(json: &str) -> String {
    if json.contains(is_hidden) { format::visible_json(json) } else { json.to_owned() }
}

/// The text of a settings file with these entries alone, each as it is written.
pub(super) fn settings(format: Format, entries: &[(String, String)]) -> String {
    if format.row().syntax == Syntax::Toml {
        let tables = entries.iter().map(|(_, was)| format!("{}\n", was.trim_end()));
        return tables.collect::<Vec<_>>().join("\n");
    }
    let member = |(name, was): &(String, String)| {
        format!("{}: {was}", visible(&Value::from(name.as_str()).to_string()))
    };
    let servers = entries.iter().map(member).collect::<Vec<_>>().join(",\n");
    let way = ways(format).last().copied().unwrap_or_default();
    let whole = way
        .iter()
        .rev()
        .fold(format!("{{\n{servers}\n}}"), |inner, step| format!("{{ \"{step}\": {inner} }}"));
    format!("{whole}\n")
}
