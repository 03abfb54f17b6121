//! What a command does to one server of a file, and what that is in lines and in values.

use std::ops::Range;

use serde_json::{Map, Value};
use trunkline::settings::Container;

/// What is to become of one server.
pub(super) enum Change {
    /// It is put in, with these members.
    Add(Map<String, Value>),
    Remove,
    /// One member of it gets this value.
    Set(&'static str, bool),
}

impl Change {
    /// The document with the change, where its servers stand in this container.
    pub(super) fn applied(&self, root: &Value, container: &Container, name: &str) -> Option<Value> {
        let mut root = root.clone();
        let servers = way(container).iter().try_fold(&mut root, |object, step| {
            let object = made(object).as_object_mut()?;
            Some(object.entry(*step).or_insert(Value::Null))
        })?;
        match container {
            Container::List(_) => self.apply_to_list(servers, name)?,
            _ => self.apply_to_map(made(servers).as_object_mut()?, name)?,
        }
        Some(root)
    }

    fn apply_to_map(&self, servers: &mut Map<String, Value>, name: &str) -> Option<()> {
        match self {
            Change::Add(members) => {
                let is_new = !servers.contains_key(name);
                is_new.then(|| servers.insert(name.into(), members.clone().into()))?;
            }
            Change::Remove => drop(servers.shift_remove(name)?),
            Change::Set(field, value) => {
                let entry = servers.get_mut(name)?.as_object_mut()?;
                entry.insert((*field).into(), (*value).into());
            }
        }
        Some(())
    }

    fn apply_to_list(&self, servers: &mut Value, name: &str) -> Option<()> {
        if servers.is_null() {
            *servers = Value::Array(Vec::new());
        }
        let servers = servers.as_array_mut()?;
        let at = servers.iter().position(|entry| entry["name"] == name);
        match self {
            Change::Add(members) => {
                let mut members = members.clone();
                members.insert("name".into(), name.into());
                servers.push(members.into());
            }
            Change::Remove => drop(servers.remove(at?)),
            Change::Set(field, value) => {
                servers[at?].as_object_mut()?.insert((*field).into(), (*value).into());
            }
        }
        Some(())
    }
}

/// An object, where there was nothing.
fn made(value: &mut Value) -> &mut Value {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value
}

fn way(container: &Container) -> &'static [&'static str] {
    match container {
        Container::Map(way) | Container::List(way) => way,
        _ => &[],
    }
}

/// The document without what is empty on the way to this container: its last server may take the
/// container away with it, or leave nothing in it.
pub(super) fn pruned(mut root: Value, container: &Container) -> Value {
    prune(&mut root, way(container));
    root
}

fn prune(value: &mut Value, way: &[&str]) {
    let [step, rest @ ..] = way else { return };
    let Some(object) = value.as_object_mut() else { return };
    let Some(inner) = object.get_mut(*step) else { return };
    prune(inner, rest);
    let is_empty = match inner {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if is_empty {
        object.shift_remove(*step);
    }
}

/// The lines of an entry that go with it: to the last one with content, and the comments behind it
/// that are deeper than the entry. Other comments are about what follows. Of empty lines around it
/// those before it stay.
pub(super) fn own_lines(lines: &[&str], entry: Range<usize>) -> Range<usize> {
    let is_content = |line: &str| !is_empty(line);
    let last = lines[entry.clone()].iter().rposition(|line| is_content(line));
    let mut end = last.map_or(entry.start, |last| entry.start + last) + 1;
    let depth = indent(lines[entry.start]);
    for (at, line) in lines.iter().enumerate().take(entry.end).skip(end) {
        match line.trim().is_empty() {
            true => {}
            false if indent(line) > depth => end = at + 1,
            false => break,
        }
    }
    let is_blank = |at: usize| lines.get(at).is_some_and(|line| line.trim().is_empty());
    if entry.start == 0 || is_blank(entry.start - 1) {
        while end < entry.end && is_blank(end) {
            end += 1;
        }
    }
    entry.start..end
}

/// The line with another value behind the place, and the rest as it was.
pub(super) fn switched(line: &str, from: usize, value: bool) -> String {
    let (before, rest) = line.split_at(from);
    let token = rest.trim_start_matches([' ', '\t']);
    let gap = match rest.len() - token.len() {
        0 => " ",
        gap => &rest[..gap],
    };
    let length = match token.chars().next() {
        Some(mark @ ('"' | '\'')) => token[1..].find(mark).map_or(token.len(), |end| end + 2),
        _ => token.find(|c: char| c.is_whitespace() || c == '#').unwrap_or(token.len()),
    };
    format!("{before}{gap}{value}{}", &token[length..])
}

/// How a line ends.
pub(super) fn ending(line: &str) -> &'static str {
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// Whether nothing stands there but a comment.
pub(super) fn is_empty(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('#')
}

pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
