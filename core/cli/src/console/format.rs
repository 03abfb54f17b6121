//! Values as people see them: tables and texts, with nothing in them that a terminal would act on.

use serde_json::Value;
use trunkline_pool::approvals::{escaped_text, is_deceptive};
use trunkline_pool::text::{escaped, is_hidden};

use super::terminal::{Terminal, Tone};

/// One cell of a table.
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

/// A cell of that text, escaped.
pub(crate) fn cell(text: &str) -> Cell {
    toned(text, Tone::Plain)
}

/// The name of a server. One that may be read as another stands as its signs are called.
pub(crate) fn named(name: &str) -> Cell {
    let text = if is_deceptive(name) { escaped_text(name) } else { escaped(name) };
    Cell { text, tone: Tone::Plain }
}

/// The same in a tone.
pub(crate) fn toned(text: &str, tone: Tone) -> Cell {
    Cell { text: escaped(text), tone }
}

/// Writes rows below a head, in columns that are as wide as their widest cell.
pub(crate) fn table(terminal: &mut Terminal<'_>, head: &[&str], rows: &[Vec<Cell>]) {
    let mut widths: Vec<usize> = head.iter().map(|title| title.len()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.chars().count().min(COLUMN_CHARS_MAX));
        }
    }
    let titles: Vec<Cell> = head.iter().map(|title| toned(title, Tone::Bold)).collect();
    for row in std::iter::once(&titles).chain(rows) {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line.push_str(&terminal.toned(&cell.text, cell.tone));
            if index + 1 < row.len() {
                let padding = width.saturating_sub(cell.text.chars().count()) + 2;
                line.extend(std::iter::repeat_n(' ', padding));
            }
        }
        terminal.line(line.trim_end());
    }
}

/// What is longer in a column is shown whole, and moves its own row alone.
const COLUMN_CHARS_MAX: usize = 40;

/// The text of a member, or nothing.
pub(crate) fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

/// A text of several lines that others wrote, for a terminal: its lines stay lines.
pub(crate) fn lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(visible).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A text that others wrote, on one line.
pub(crate) fn plain(text: &str) -> String {
    visible(&text.replace('\t', "    "))
}

/// As [`escaped`], but a backslash is itself where nothing has to be escaped.
fn visible(text: &str) -> String {
    if text.chars().any(is_hidden) { escaped(text) } else { text.to_owned() }
}

/// Where an entry stands: its file and line, or its source.
pub(crate) fn place(row: &Value) -> String {
    match (row["file"].as_str(), row["line"].as_u64()) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.to_owned(),
        (None, _) => text(row, "source").to_owned(),
    }
}

/// A value on one line of JSON.
pub(crate) fn json(terminal: &mut Terminal<'_>, value: &Value) {
    terminal.line(&visible_json(&value.to_string()));
}

/// A number of a report, or whatever stands there instead.
pub(crate) fn number(value: &Value) -> String {
    visible_json(&value.to_string())
}

/// JSON of the same value without what a terminal would act on.
pub(crate) fn visible_json(json: &str) -> String {
    let mut visible = String::with_capacity(json.len());
    for character in json.chars() {
        // White space stands between values; a text has it escaped.
        if !is_hidden(character) || character.is_ascii_whitespace() {
            visible.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            visible.push_str(&format!("\\u{unit:04x}"));
        }
    }
    visible
}
