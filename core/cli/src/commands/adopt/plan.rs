//! What becomes of one file: which entries are replaced, and which are left alone and why.

use std::path::Path;

use serde_json::{Map, Value, json};
use trunkline::settings::{Format, ReadOptions, Source, Template, plain_document, read};
use trunkline_pool::config::LEADS_BACK;
use trunkline_pool::text::escaped;

use super::written::{entry_in, entry_text, replaced, span};
use crate::commands::import::{is_off, program};
use crate::commands::settings_file::Place;
use crate::console::adopted::AdoptedEntry;
use crate::console::exit::Exit;
use crate::console::failure::Failure;

/// What is to become of a file.
pub(super) struct Plan {
    pub(super) place: Place,
    pub(super) after: String,
    pub(super) entries: Vec<AdoptedEntry>,
    /// Servers that stay as they are: `{server, what}`.
    pub(super) left: Vec<Value>,
    /// The entries as a person sees them: before and after.
    pub(super) shown: Vec<(String, String)>,
}

/// Servers of other files of the user: what `connect` would find under their names.
pub(super) type Others = Vec<(String, Template)>;

/// Members of an entry that are about the product itself, and stay there: when it asks a person,
/// how long it waits, what it shows.
const KEPT: [&str; 24] = [
    "enabled",
    "disabled",
    "timeout",
    "autoApprove",
    "alwaysAllow",
    "trust",
    "includeTools",
    "excludeTools",
    "enabled_tools",
    "disabled_tools",
    "disabledTools",
    "default_tools_approval_mode",
    "tools",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "tool_timeout_sec",
    "required",
    "supports_parallel_tool_calls",
    "alwaysLoad",
    "description",
    "source",
    "gallery",
    "version",
    "metadata",
];

/// Plans the change of a file.
///
/// # Errors
/// `Settings` for a file that cannot be read, or not be edited.
pub(super) fn plan(place: Place, others: &Others) -> Result<Plan, Failure> {
    let (format, file) = (place.format, place.path.to_string_lossy().into_owned());
    let text = place.content().to_owned();
    let options = ReadOptions { format: Some(format), workspace: None, project: None };
    let source = read(&text, &file, &options)?;
    let root = plain_document(&text, source.syntax).unwrap_or_default();
    let mut plan = Plan {
        place,
        after: String::new(),
        entries: Vec::new(),
        left: Vec::new(),
        shown: Vec::new(),
    };
    let mut expected = root.clone();
    let mut edits = Vec::new();
    for server in &source.servers {
        let name = &*server.name;
        match replacement((&text, &root), (&source, format), name, others) {
            Err(what) => plan.left.push(json!({ "server": name, "what": what })),
            Ok((at, members)) => {
                let (was, written) = (
                    text[at.clone()].to_owned(),
                    entry_text((&text, &at), (format, name), &members),
                );
                let old = entry_in(&mut expected, format, name).map(|old| masked(old));
                let new = Value::Object(members.clone());
                plan.shown.push((old.unwrap_or_default(), new.to_string()));
                expected = replaced(expected, format, name, &members).unwrap_or_default();
                plan.entries.push(AdoptedEntry {
                    name: name.to_owned(),
                    was,
                    written: written.clone(),
                });
                edits.push((at, written));
            }
        }
    }
    edits.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    let mut after = text;
    for (at, written) in edits {
        after.replace_range(at, &written);
    }
    let is_meant = plain_document(&after, source.syntax) == Some(expected)
        && read(&after, &file, &options).is_ok_and(|after| is_led(&after, &plan.entries));
    if !is_meant {
        let message = format!("{} is written in a way that cannot be edited here", escaped(&file));
        let failure = Failure::new(Exit::Settings, message);
        return Err(failure.with_hint("nothing was written: edit the file by hand"));
    }
    plan.after = after;
    Ok(plan)
}

/// Whether each entry leads to `trunkline connect` now.
fn is_led(after: &Source, entries: &[AdoptedEntry]) -> bool {
    entries.iter().all(|entry| {
        after.skipped.iter().any(|one| one.name == entry.name && one.what == LEADS_BACK)
    })
}

/// Where the entry of a server stands, and what takes its place; or why it stays.
fn replacement(
    (text, root): (&str, &Value),
    (source, format): (&Source, Format),
    name: &str,
    others: &Others,
) -> Result<(std::ops::Range<usize>, Map<String, Value>), String> {
    let server = source.servers.iter().find(|server| server.name == name);
    let template = match server.map(|server| &server.template) {
        Some(Ok(template)) => template,
        Some(Err(error)) => return Err(format!("its entry is wrong: {}", error.message())),
        None => return Err("it is not there".to_owned()),
    };
    if is_off(source, template, name) {
        return Err("it is switched off".to_owned());
    }
    if !can_stand_in_a_path(name) {
        return Err(
            "its name cannot stand in a path: rename it to letters, digits, `-`, `_` and `.`"
                .into(),
        );
    }
    if template.configuration().values().any(asks_for_input) {
        return Err(format!("it asks for an input, which only {} declares", format.row().title));
    }
    let is_bound = |file: &str| Path::new(file).is_relative() && !file.starts_with(['$', '~']);
    if template.env_file().is_some_and(is_bound) {
        return Err("its file of variables has no whole path".to_owned());
    }
    if others.iter().any(|(other, known)| other == name && known != template) {
        return Err("another file has another server of that name".to_owned());
    }
    let unwritable = || "it is written in a way that cannot be edited here".to_owned();
    let at = span(text, format, name).ok_or_else(unwritable)?;
    let mut root = root.clone();
    let old = entry_in(&mut root, format, name).and_then(|entry| entry.as_object().cloned());
    let mut members = program(format, "trunkline", &["connect", name]);
    for (member, value) in old.ok_or_else(unwritable)? {
        if KEPT.contains(&&*member) && !members.contains_key(&member) {
            members.insert(member, value);
        }
    }
    Ok((at, members))
}

/// Whether `trunkline connect` can ask an endpoint for a server of that name.
fn can_stand_in_a_path(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().all(is_part) && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

fn asks_for_input(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${input:"),
        Value::Array(items) => items.iter().any(asks_for_input),
        Value::Object(members) => members.values().any(asks_for_input),
        _ => false,
    }
}

/// An entry on one line, without what may be a secret.
fn masked(entry: &Value) -> String {
    const SHOWN: [&str; 9] =
        ["command", "args", "type", "transport", "cwd", "url", "serverUrl", "httpUrl", "timeout"];
    let mut entry = entry.clone();
    for (name, value) in entry.as_object_mut().into_iter().flatten() {
        if !SHOWN.contains(&&**name) && !KEPT.contains(&&**name) {
            hide(value);
        }
    }
    entry.to_string()
}

fn hide(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(members) => members.values_mut().for_each(hide),
        value => *value = "…".into(),
    }
}
