//! Times in the units of the products.

use super::{EntryReader, EntryResult, fault};
use crate::interface::{OptionKind, OptionScope, options};
use crate::json::joined;
use crate::settings::format::Unit;
use crate::settings::notes::FindingKind;
use crate::settings::syntax::{Content, SyntaxMember, SyntaxNode};
use crate::settings::template::Rule;

impl EntryReader {
    /// A time in the product's unit. One beyond our bounds is cut, since the file was written for
    /// another program.
    pub(super) fn time(
        &mut self,
        field: &'static str,
        unit: Unit,
        member: &SyntaxMember,
        path: &str,
    ) -> EntryResult {
        let Some(millis) = millis(&member.node, unit) else {
            return fault(path, format!("`{path}` must be {}", expected(unit)));
        };
        if millis < 0.0 {
            return fault(path, format!("`{path}` must not be negative"));
        }
        // A part of a millisecond is one: no time becomes none.
        let written = millis.ceil() as u64;
        if written == 0 {
            return fault(path, format!("`{path}` must be more than 0"));
        }
        let (min, max) = bounds(field);
        let cut = written.clamp(min, max);
        if cut != written {
            self.find(path, member.place, FindingKind::Cut);
        }
        let rule = match unit {
            Unit::Milliseconds => Rule::Milliseconds,
            Unit::Seconds => Rule::Seconds,
            Unit::DurationText => Rule::DurationText,
        };
        self.note(field, path, member.place, rule);
        self.put(field, cut.into(), path, member.place)
    }

    /// A time for the start, or an object of one for the start and one for each request.
    pub(super) fn times(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let Some(times) = member.node.members() else {
            return self.time("connect_timeout_ms", Unit::Milliseconds, member, path);
        };
        for time in times.iter().filter(|time| !time.node.is_null()) {
            let path = joined(path, &time.name);
            match time.name.as_str() {
                "startup" => self.time("connect_timeout_ms", Unit::Milliseconds, time, &path)?,
                "request" => self.time("call_timeout_ms", Unit::Milliseconds, time, &path)?,
                _ => self.find(&path, time.place, FindingKind::Unknown),
            }
        }
        Ok(())
    }
}

fn expected(unit: Unit) -> &'static str {
    match unit {
        Unit::Milliseconds => "a number of milliseconds",
        Unit::Seconds => "a number of seconds",
        Unit::DurationText => "a time such as `30s` or `1m30s`",
    }
}

fn millis(node: &SyntaxNode, unit: Unit) -> Option<f64> {
    match (&node.content, unit) {
        (Content::Number(number, _), Unit::Milliseconds) => number.as_f64(),
        (Content::Number(number, _), Unit::Seconds) => {
            number.as_f64().map(|seconds| seconds * 1_000.0)
        }
        (Content::Text(text), Unit::DurationText) => duration_text(text),
        _ => None,
    }
}

/// Numbers with units, one after the other: `1h`, `1m30s`, `1.5s`, `250ms`.
fn duration_text(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let mut millis = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let (letters, factor) = UNITS.iter().find(|(letters, _)| unit.starts_with(letters))?;
        millis += number * factor;
        rest = &unit[letters.len()..];
    }
    Some(sign * millis)
}

/// Units of a text, in milliseconds; `ms` before `m`.
const UNITS: [(&str, f64); 4] = [("ms", 1.0), ("h", 3_600_000.0), ("m", 60_000.0), ("s", 1_000.0)];

/// The bounds of a time in the pool's own configuration, in milliseconds.
fn bounds(field: &str) -> (u64, u64) {
    let row = options(OptionScope::Server).iter().find(|row| row.name == field);
    match row.map(|row| row.kind) {
        Some(OptionKind::Duration { min, max }) => (min, max),
        _ => (1, u64::MAX),
    }
}
