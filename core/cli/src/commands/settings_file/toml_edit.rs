//! An edit of TOML whose servers have tables of their own, by its lines. The caller reads what
//! comes of it, so that a line that only looks like a head does no harm.

use std::ops::Range;

use trunkline::settings::{Container, Format};

use super::change::{Change, ending, is_empty, own_lines, switched};
use crate::commands::import::{main_container, text_of};

/// The text with the change; nothing where the server has no table of its own.
pub(super) fn edited(text: &str, format: Format, name: &str, change: &Change) -> Option<String> {
    let Container::Map(way) = main_container(format) else { return None };
    if let Change::Add(members) = change {
        let entry = text_of(format, name, members);
        let gap = if text.trim().is_empty() { "" } else { "\n" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{end}{gap}{entry}"));
    }
    let way: Vec<&str> = way.iter().copied().chain([name]).collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let heads: Vec<Option<Vec<String>>> = lines.iter().map(|line| head(line)).collect();
    let is_own =
        |head: &[String]| head.len() >= way.len() && head.iter().zip(&way).all(|(a, b)| a == b);
    let begin = heads.iter().position(|head| head.as_deref().is_some_and(is_own))?;
    let (range, replaced) = match change {
        Change::Set(field, value) => {
            // What stands in a table below it is a field of something else.
            let own =
                heads.iter().position(|head| head.as_ref().is_some_and(|head| head == &way))?;
            let end = heads[own + 1..].iter().position(Option::is_some);
            let end = end.map_or(lines.len(), |end| own + 1 + end);
            let is_field = |line: &&str| {
                let key = line.split_once('=').map(|(key, _)| key.trim().trim_matches(['"', '\'']));
                key == Some(*field)
            };
            match lines[own + 1..end].iter().position(is_field) {
                Some(at) => {
                    let line = lines[own + 1 + at];
                    (own + 1 + at..own + 2 + at, switched(line, line.find('=')? + 1, *value))
                }
                None => {
                    let end = ending(lines[own]);
                    let gap = if lines[own].ends_with('\n') { "" } else { end };
                    (own + 1..own + 1, format!("{gap}{field} = {value}{end}"))
                }
            }
        }
        _ => {
            let end = heads[begin + 1..]
                .iter()
                .position(|head| head.as_deref().is_some_and(|head| !is_own(head)));
            let end = end.map_or(lines.len(), |end| begin + 1 + end);
            (own_lines(&lines, begin..end), String::new())
        }
    };
    let (before, after) = (lines[..range.start].concat(), lines[range.end..].concat());
    Some(format!("{before}{replaced}{after}"))
}

/// The bytes of the tables of a server, to the last line with content.
pub(in crate::commands) fn table_lines(
    text: &str,
    format: Format,
    name: &str,
) -> Option<Range<usize>> {
    let Container::Map(way) = main_container(format) else { return None };
    let way: Vec<&str> = way.iter().copied().chain([name]).collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_own =
        |head: &[String]| head.len() >= way.len() && head.iter().zip(&way).all(|(a, b)| a == b);
    let heads: Vec<Option<Vec<String>>> = lines.iter().map(|line| head(line)).collect();
    let begin = heads.iter().position(|head| head.as_deref().is_some_and(is_own))?;
    let end = heads[begin + 1..]
        .iter()
        .position(|head| head.as_deref().is_some_and(|head| !is_own(head)));
    let end = end.map_or(lines.len(), |end| begin + 1 + end);
    let last = lines[begin..end].iter().rposition(|line| !is_empty(line))?;
    let start = lines[..begin].concat().len();
    Some(start..start + lines[begin..=begin + last].concat().len())
}

/// The keys of a line that is the head of a table.
fn head(line: &str) -> Option<Vec<String>> {
    let rest = line.trim().strip_prefix('[')?;
    let mut keys = vec![String::new()];
    let mut quote = None;
    for c in rest.chars() {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            (c, Some(_)) => keys.last_mut()?.push(c),
            ('"' | '\'', None) => quote = Some(c),
            ('.', None) => keys.push(String::new()),
            (']', None) => return Some(keys),
            (c, None) if c.is_whitespace() => {}
            (c, None) => keys.last_mut()?.push(c),
        }
    }
    None
}
