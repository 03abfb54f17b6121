//! An edit of TOML whose servers have tables of their own, by its lines. The caller reads what
//! comes of it, so that a line that only looks like a head does no harm.

use serde_json::Value;
use trunkline::settings::{Container, Format};

use super::change::Change;
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
    let end_of = |is_end: &dyn Fn(&[String]) -> bool| {
        let end = heads[begin + 1..].iter().position(|head| head.as_deref().is_some_and(is_end));
        end.map_or(lines.len(), |end| begin + 1 + end)
    };
    let (range, replaced) = match change {
        Change::Set(field, value) => {
            let end = end_of(&|_| true);
            let is_field =
                |line: &&&str| line.split_once('=').is_some_and(|(key, _)| key.trim() == *field);
            let line = format!("{field} = {}\n", Value::from(*value));
            let found = lines[begin + 1..end].iter().position(|line| is_field(&line));
            match found {
                Some(at) => (begin + 1 + at..begin + 2 + at, line),
                None => (begin + 1..begin + 1, line),
            }
        }
        _ => (begin..end_of(&|head| !is_own(head)), String::new()),
    };
    let (before, after) = (lines[..range.start].concat(), lines[range.end..].concat());
    Some(format!("{before}{replaced}{after}"))
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
