//! `add`, `remove`, `enable` and `disable`: one server in one settings file.
//!
//! Only the lines of that server change: comments, order and every other entry stay. What comes of
//! an edit is read again before it is written, and is written only where nothing else changed.

mod change;
mod json_edit;
mod target_file;
mod toml_edit;
mod yaml_edit;

use clap::ArgMatches;
use serde_json::json;
use trunkline::settings::{Container, Format, ReadOptions, Source, Syntax, plain_document, read};
use trunkline_pool::text::escaped;

use self::change::{Change, pruned};
pub(super) use self::target_file::Place;
use self::target_file::placed;
pub(super) use self::toml_edit::table_lines;
use super::import::{entry, is_off, main_container, off_field};
use crate::console::arguments::{Common, text};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;

pub(super) fn add(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let Some(typed) = &common.typed else {
        let failure = Failure::usage("the command says nothing of the server");
        return Err(failure.with_hint("`--stdio COMMAND`, or an address, says what it is"));
    };
    let name = text(given, "name").unwrap_or_default();
    let place = placed(given, common)?;
    // Read as the library's own form, and written as the product has it.
    let own = json!({ "mcpServers": { name: typed.configuration } }).to_string();
    let own = read(&own, "the command line", &options(Format::Trunkline))?;
    let template = match own.servers.first().map(|server| &server.template) {
        Some(Ok(template)) => template,
        Some(Err(error)) => return Err(error.clone().into()),
        None => return Err(Failure::usage("the server has no name")),
    };
    let made = entry::entry(template, place.format, false);
    let Some(members) = made.members else {
        let message = format!("{} cannot have it: {}", place.format.name(), made.lost.join(", "));
        return Err(Failure::usage(message));
    };
    let notes = made.lost.iter().map(|what| format!("not written: {what}"));
    let literal =
        made.literal.iter().map(|what| format!("written as typed, and not expanded: {what}"));
    let notes: Vec<String> = notes.chain(literal).collect();
    done((name, "added", notes), &place, Change::Add(members), (common, terminal))
}

pub(super) fn remove(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let name = text(given, "name").unwrap_or_default();
    let place = placed(given, common)?;
    done((name, "removed", Vec::new()), &place, Change::Remove, (common, terminal))
}

pub(super) fn switch(
    is_on: bool,
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let name = text(given, "name").unwrap_or_default();
    let place = placed(given, common)?;
    let Some((field, off)) = off_field(place.format) else {
        let message = format!("{} has no field that switches a server off", place.format.name());
        return Err(Failure::usage(message).with_hint("`trunkline remove` takes the server out"));
    };
    let change = Change::Set(field, if is_on { !off } else { off });
    let said = if is_on { "enabled" } else { "disabled" };
    done((name, said, Vec::new()), &place, change, (common, terminal))
}

/// Carries an edit out, and says what was written.
fn done(
    (name, said, notes): (&str, &str, Vec<String>),
    place: &Place,
    change: Change,
    (common, terminal): (&Common, &mut Terminal<'_>),
) -> Result<Exit, Failure> {
    let file = place.path.to_string_lossy().into_owned();
    let text = place.content();
    let before = read(text, &file, &options(place.format))?;
    check_meant(&before, name, &change, &file)?;
    let after = match before.syntax {
        Syntax::Toml => toml_edit::edited(text, place.format, name, &change),
        Syntax::Yaml => yaml_edit::edited(text, place.format, name, &change),
        _ => json_edit::edited(text, place.format, name, &change),
    };
    let after = after.filter(|after| is_only_change((&before, text), after, (name, &change)));
    let Some(after) = after else {
        let message = format!("{file} is written in a way that cannot be edited here");
        let failure = Failure::new(Exit::Settings, message);
        return Err(failure.with_hint("nothing was written: edit the file by hand"));
    };
    place.write(&after)?;
    let leads_to = place.leads_to().map(|path| path.to_string_lossy());
    if common.json {
        let report = json!({
            "v": 1, "server": name, "done": said, "file": file, "leads_to": leads_to, "notes": notes,
        });
        format::json(terminal, &report);
        return Ok(Exit::Success);
    }
    let leads_to = leads_to.map(|path| format!(", which leads to {}", escaped(&path)));
    let leads_to = leads_to.unwrap_or_default();
    terminal.line(&format!("{said} {} in {}{leads_to}", escaped(name), escaped(&file)));
    notes.iter().for_each(|note| terminal.note(&escaped(note)));
    Ok(Exit::Success)
}

/// Whether there is anything to be done.
fn check_meant(before: &Source, name: &str, change: &Change, file: &str) -> Result<(), Failure> {
    let found = before.servers.iter().find(|server| server.name == name);
    let (name, file) = (escaped(name), escaped(file));
    match (found, change) {
        (Some(_), Change::Add(_)) => {
            let failure = Failure::usage(format!("`{name}` is in {file} already"));
            Err(failure.with_hint("`trunkline remove` takes it out"))
        }
        (None, Change::Remove | Change::Set(..)) => {
            Err(Failure::new(Exit::NotFound, format!("{file} has no server `{name}`")))
        }
        _ => Ok(()),
    }
}

/// Whether the text that was made says what was meant, and otherwise what was said: as a whole, and
/// not of servers alone.
fn is_only_change(
    (before, text): (&Source, &str),
    after: &str,
    (name, change): (&str, &Change),
) -> bool {
    let format = before.format;
    let Some(root) = plain_document(text, before.syntax) else { return false };
    let Some(root_after) = plain_document(after, before.syntax) else { return false };
    let containers = format.row().containers.iter().copied().chain([main_container(format)]);
    let is_change = |container: Container| {
        let wanted = change.applied(&root, &container, name);
        wanted.is_some_and(|wanted| {
            pruned(wanted, &container) == pruned(root_after.clone(), &container)
        })
    };
    if !containers.into_iter().any(is_change) {
        return false;
    }
    // What the product makes of it may depend on more than the entry.
    let Ok(after) = read(after, "edited", &options(format)) else { return false };
    let found = after.servers.iter().find(|server| server.name == name);
    let template = found.and_then(|server| server.template.as_ref().ok());
    match change {
        Change::Remove => found.is_none(),
        Change::Add(_) => template.is_some(),
        Change::Set(_, value) => {
            let off = off_field(format).map(|(_, off)| off);
            template.is_some_and(|template| is_off(&after, template, name) == (Some(*value) == off))
        }
    }
}

fn options(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), workspace: None, project: None }
}

#[cfg(test)]
mod tests;
