//! An edit of YAML whose servers stand in blocks, by its lines. The caller reads what comes of it,
//! so that a line that only looks like an entry does no harm.

use std::ops::Range;

use trunkline::settings::{Container, Format};

use super::change::{Change, ending, indent, is_empty, own_lines, switched};
use crate::commands::import::{main_container, text_of};

/// The text with the change; nothing where the servers stand in no block.
pub(super) fn edited(text: &str, format: Format, name: &str, change: &Change) -> Option<String> {
    let (way, is_list) = match main_container(format) {
        Container::Map(way) => (way, false),
        Container::List(way) => (way, true),
        _ => return None,
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let block = block(&lines, way);
    if let Change::Add(members) = change {
        return Some(added(text, &lines, block, (way, &text_of(format, name, members))));
    }
    let entry = entries(&lines, block?, is_list).into_iter().find(|entry| {
        let key = match is_list {
            true => field(&lines, entry.clone(), "name").map(|(at, from)| &lines[at][from..]),
            false => key(lines[entry.start]),
        };
        let key = key.map(|key| key.split(" #").next().unwrap_or_default().trim());
        key.is_some_and(|key| key.trim_matches(['"', '\'']) == name)
    })?;
    let (range, replaced) = match change {
        Change::Set(field, value) => set(&lines, entry, field, *value),
        _ => (own_lines(&lines, entry), String::new()),
    };
    let (before, after) = (lines[..range.start].concat(), lines[range.end..].concat());
    Some(format!("{before}{replaced}{after}"))
}

/// The entry that was written for a new file, at the end of the block that is there.
fn added(
    text: &str,
    lines: &[&str],
    block: Option<Range<usize>>,
    (way, written): (&[&str], &str),
) -> String {
    let mut text_before = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text_before.push('\n');
    }
    let Some(block) = block else { return format!("{text_before}{written}") };
    // The lines below the way, as deep as those that are there.
    let entry: Vec<&str> = written.split_inclusive('\n').skip(way.len()).collect();
    let first = lines[block.clone()].iter().find(|line| is_content(line));
    let depth = first.map_or(2 * way.len(), |line| indent(line));
    let own = entry.first().map_or(0, |line| indent(line));
    let entry: String =
        entry.iter().map(|line| format!("{}{}", " ".repeat(depth), &line[own..])).collect();
    // Behind the last line of the block, before what only follows it.
    let end = lines[..block.end].iter().rposition(|line| is_content(line)).map_or(0, |at| at + 1);
    let mut before = lines[..end].concat();
    if !before.ends_with('\n') {
        before.push('\n');
    }
    format!("{before}{entry}{}", lines[end..].concat())
}

fn set(lines: &[&str], entry: Range<usize>, name: &str, value: bool) -> (Range<usize>, String) {
    if let Some((at, from)) = field(lines, entry.clone(), name) {
        return (at..at + 1, switched(lines[at], from, value));
    }
    let (first, at) = (lines[entry.start], entry.start + 1);
    let end = ending(first);
    let gap = if first.ends_with('\n') { "" } else { end };
    let depth = " ".repeat(fields_depth(lines, entry));
    (at..at, format!("{gap}{depth}{name}: {value}{end}"))
}

/// How deep the fields of an entry stand: those of an item begin on its own line.
fn fields_depth(lines: &[&str], entry: Range<usize>) -> usize {
    let first = lines[entry.start];
    if let Some(rest) = first.trim_start().strip_prefix("- ") {
        return first.len() - rest.trim_start().len();
    }
    let second = lines[entry.start + 1..entry.end].iter().find(|line| is_content(line));
    second.map_or(indent(first) + 2, |line| indent(line))
}

/// The line of the entry's own field of that name, and where its value begins. What stands deeper
/// is a field of something else.
fn field(lines: &[&str], entry: Range<usize>, name: &str) -> Option<(usize, usize)> {
    let depth = fields_depth(lines, entry.clone());
    let is_item = lines[entry.start].trim_start().starts_with("- ");
    let begin = if is_item { entry.start } else { entry.start + 1 };
    (begin..entry.end).find_map(|at| {
        let is_first = is_item && at == entry.start;
        let is_own = is_first || is_content(lines[at]) && indent(lines[at]) == depth;
        let line = lines[at];
        (is_own && key(line) == Some(name)).then(|| line.find(':').map(|colon| (at, colon + 1)))?
    })
}

/// The lines below the key at the end of the way.
fn block(lines: &[&str], way: &[&str]) -> Option<Range<usize>> {
    let mut range = 0..lines.len();
    for step in way {
        let at = range.clone().find(|at| {
            let is_alone = lines[*at].split_once(':').is_some_and(|(_, rest)| is_empty(rest));
            is_alone && key(lines[*at]) == Some(*step)
        })?;
        let depth = indent(lines[at]);
        let is_below = |line: &str| {
            indent(line) > depth || (indent(line) == depth && line.trim_start().starts_with("- "))
        };
        let end = (at + 1..range.end).find(|at| is_content(lines[*at]) && !is_below(lines[*at]));
        range = at + 1..end.unwrap_or(range.end);
    }
    Some(range)
}

/// The entries of a block, each with its lines.
fn entries(lines: &[&str], block: Range<usize>, is_list: bool) -> Vec<Range<usize>> {
    let content = block.clone().find(|at| is_content(lines[*at]));
    let Some(depth) = content.map(|at| indent(lines[at])) else { return Vec::new() };
    let begins = |at: &usize| {
        let line = lines[*at];
        let is_item = line.trim_start().starts_with("- ");
        is_content(line) && indent(line) == depth && is_item == is_list
    };
    let starts: Vec<usize> = block.clone().filter(begins).collect();
    let ends = starts.iter().skip(1).copied().chain([block.end]);
    starts.iter().zip(ends).map(|(start, end)| *start..end).collect()
}

/// The key of a line, without what begins an item of a list.
fn key(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("- ");
    line.split_once(':').map(|(key, _)| key.trim().trim_matches(['"', '\'']))
}

fn is_content(line: &str) -> bool {
    !is_empty(line)
}
