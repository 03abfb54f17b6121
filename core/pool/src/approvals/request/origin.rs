//! Where configurations come from: the one that is decided about, and the one that it hides.

use serde_json::{Value, json};

use crate::approvals::line::escaped_text;

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOrigin {
    /// The scope of its source, such as `project`.
    pub scope: String,
    /// The file, when it is from one.
    pub file: Option<String>,
    /// The line of its entry, from 1.
    pub line: Option<usize>,
}

/// An entry of the same name that a configuration would take the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenEntry {
    /// Its source.
    pub source: String,
    /// The file, when it is from one.
    pub file: Option<String>,
    /// The line of its entry, from 1.
    pub line: Option<usize>,
    /// Whether it needs no approval, so that a person takes it for their own.
    pub is_users: bool,
}

impl HiddenEntry {
    /// As JSON: `{source, file, line}`.
    pub fn to_json(&self) -> Value {
        let HiddenEntry { source, file, line, is_users: _ } = self;
        json!({ "source": source, "file": file, "line": line })
    }

    /// It in one line, escaped.
    pub(in crate::approvals) fn escaped(&self) -> String {
        let file = self.file.as_deref().map(|file| format!(", {}", escaped_text(file)));
        let line = self.line.map(|line| format!(":{line}"));
        let rest = [file, line].into_iter().flatten().collect::<String>();
        format!("{}{rest}", escaped_text(&self.source))
    }
}
